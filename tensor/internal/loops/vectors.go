package loops

import (
	"math"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
)

// If the processor has vector instructions, loops written for them take the place of
// those in Go.
var (
	Vectors32 = cpu.Float32s()
	Vectors64 = cpu.Float64s()
)

// Vector1 returns a loop with one operand in vector instructions, or else the one in
// Go.
func Vector1[T numbers.Number](vector, portable func(dst, x []T)) func(dst, x []T) {
	if vector == nil {
		return portable
	}
	return vector
}

// Vector2 is Vector1 for two operands.
func Vector2[T numbers.Number](vector, portable func(dst, x, y []T)) func(dst, x, y []T) {
	if vector == nil {
		return portable
	}
	return vector
}

// Swapped is Vector2 for a loop that takes its operands in the other order.
func Swapped[T numbers.Number](vector, portable func(dst, x, y []T)) func(dst, x, y []T) {
	if vector == nil {
		return portable // nil, too, if there is none
	}
	return func(dst, x, y []T) { vector(dst, y, x) }
}

// VectorKernels is FloatKernels with a loop for float32 that does not go through
// float64; package cpu states the error of each.
func VectorKernels(vector func(dst, x []float32), f func(float64) float64) UnaryKernels {
	k := FloatKernels(f)
	k.F32 = Vector1(vector, k.F32)
	return k
}

// ShareKernels is VectorKernels for x times a fraction that is 0 for -Inf. Vector loops give the limit there, -0,
// and so does every loop for float32; float64 gives NaN, as in PyTorch.
func ShareKernels(vector func(dst, x []float32), share func(x float64) float64) UnaryKernels {
	k := VectorKernels(vector, func(x float64) float64 { return x * share(x) })
	if vector == nil {
		k.F32 = FloatKernels(func(x float64) float64 {
			if math.IsInf(x, -1) {
				return math.Copysign(0, -1)
			}
			return x * share(x)
		}).F32
	}
	return k
}

// BothKernels is VectorKernels with a loop for float64, too.
func BothKernels(f32 func(dst, x []float32), f64 func(dst, x []float64), f func(float64) float64) UnaryKernels {
	k := VectorKernels(f32, f)
	k.F64 = Vector1(f64, k.F64)
	return k
}
