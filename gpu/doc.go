// Package gpu adds NVIDIA GPUs: a program that imports it can put tensors on "cuda:0".
//
//	import _ "github.com/lectern-go/lectern/gpu"
//
// Nothing of CUDA is needed to build it. The driver, NVRTC, which compiles the kernels, and cuBLASLt, which multiplies
// matrices, are opened when they are first used, so that the same program runs with and without a GPU. Where there is
// none, and on systems other than Linux or without cgo, [Why] says so in one sentence.
//
// # Libraries
//
// The driver comes with the system (libcuda.so.1, CUDA 11.2 or later). NVRTC and cuBLASLt are looked for where the
// system's loader looks, in CUDA_HOME, below /usr/local/cuda, and in Python environments (VIRTUAL_ENV, CONDA_PREFIX,
// LECTERN_PYTHON, the python3 that is found first), whose wheels nvidia-cuda-nvrtc-cu12 and nvidia-cublas-cu12 bring
// them. Without cuBLASLt matrices are multiplied by a kernel of our own, slowly. [Libraries] says what was found.
// Compiled kernels are kept in the user's cache folder.
//
// # Order and failures
//
// Each device does all work in the order in which it was asked for, after the calls have returned; only prefetched
// copies go on beside it. A failure of a kernel therefore shows in a later call. Errors are [*Error] values; errors.Is
// finds [ErrOutOfMemory], [ErrLost], [ErrUnsupported] and [ErrNoDevice] in them. After ErrLost no operation works any
// more until the program is started again: the driver offers no other way.
//
// # Memory
//
// Freed memory is kept for reuse; [EmptyCache] gives it back. The collector of Go doesn't see how much device
// memory hangs on a small object, so it is started when a quarter of the device was asked for since the last time, and
// when the device is full, before one more try. Loops that can't wait for it give tensors back themselves.
//
// # What was seen to work
//
// The tests run everything on a driver, an NVRTC and a cuBLASLt that stand in for the real ones: kernels are
// compiled from the same source by g++, and products obey the rules of cuBLASLt about what it can read and
// multiply. Kernels are also compiled by the real NVRTC where one is found. Tests whose names begin with
// TestRealGPU do the same on a device, and say why they are skipped where there is none. docs/gpu.md says on which
// device they ran last, and how fast it was.
//
// # Environment
//
//	LECTERN_CUDA=0            there is no device, whatever the machine has
//	LECTERN_CUDA_LIB          the file of the driver
//	LECTERN_NVRTC_LIB         the file of NVRTC
//	LECTERN_CUBLASLT_LIB      the file of cuBLASLt
//	LECTERN_CUDA_BLOCKING=1   wait after each operation, so that the one that failed is the one that says so
//	LECTERN_AUTOTUNE=1        measure the ways to multiply matrices of each size before the first product of that size;
//	                          another run may then choose another way, whose last digits differ
package gpu
