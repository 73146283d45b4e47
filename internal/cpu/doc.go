// Package cpu holds the kernels that tensor operations run on a processor: matrix products, loops over slices,
// sums, and the workers that share them out.
//
// A kernel exists once for each [Level] of instructions: AVX-512, AVX2, NEON and the vectors of WebAssembly (both for
// matmul only), and portable Go. The level is chosen once, when the program starts; the environment variable
// LECTERN_CPU names another one (generic, neon, simd128, avx2, avx512), for tests and for comparisons. The assembly in
// the files z_*.s is written by the program in gen; change that and run go generate.
//
// Matmuls of bfloat16 use AMX where the processor has it and Linux permits it, unless the variable names a level.
// Without such a processor, tests run that path with a version in Go and with an interpreter for its instructions.
// Before the first product, one with a known result is computed, and if that comes out wrong, AMX is not used.
//
// Results depend neither on the number of threads nor on where a slice starts: each element of a product is one sum in
// the order of its terms, cut at places that depend only on the number of terms, and sums over slices have a fixed
// shape.
//
// Slices that a kernel writes must either be the operands themselves or not overlap them.
package cpu

//go:generate go run ./gen
