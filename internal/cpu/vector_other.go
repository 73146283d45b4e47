//go:build !amd64

package cpu

var (
	vectorsF32 [0]Vectors[float32]
	vectorsF64 [0]Vectors[float64]
)

// Converters returns the conversions of the chosen level.
func Converters() Conversions { return Conversions{} }

func powersAt(Level) func(dst, x, y []float32) { return nil }

func reverseAt(Level) func(dst, x []uint32) { return nil }
