package tensor

import (
	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
)

// Where the processor has vector instructions, loops written for them take the
// place of those in Go.
var (
	vectors32 = cpu.Float32s()
	vectors64 = cpu.Float64s()
)

// vector1 returns a loop with one operand in vector instructions, or else the
// one in Go.
func vector1[T numbers.Number](vector, portable func(dst, x []T)) func(dst, x []T) {
	if vector == nil {
		return portable
	}
	return vector
}

// vector2 is vector1 for two operands.
func vector2[T numbers.Number](vector, portable func(dst, x, y []T)) func(dst, x, y []T) {
	if vector == nil {
		return portable
	}
	return vector
}

// swapped is vector2 for a loop that takes its operands in the other order.
func swapped[T numbers.Number](vector, portable func(dst, x, y []T)) func(dst, x, y []T) {
	if vector == nil {
		return portable
	}
	return func(dst, x, y []T) { vector(dst, y, x) }
}

// vectorKernels is floatKernels with a loop for float32 that does not go by way
// of float64; package cpu states the error of each.
func vectorKernels(vector func(dst, x []float32), f func(float64) float64) unaryKernels {
	k := floatKernels(f)
	k.f32 = vector1(vector, k.f32)
	return k
}

// bothKernels is vectorKernels with a loop for float64 too.
func bothKernels(f32 func(dst, x []float32), f64 func(dst, x []float64), f func(float64) float64) unaryKernels {
	k := vectorKernels(f32, f)
	k.f64 = vector1(f64, k.f64)
	return k
}
