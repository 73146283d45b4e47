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

func sortingAt(Level) (runs func(words []uint64), merge func(dst, x, y []uint64)) { return nil, nil }

func search(out []int64, sorted, keys []uint64) { searchEach(out, sorted, keys) }

func whereSetAt(dst []int64, x []uint8, first int) (n int) { return whereSetEach(dst, x, first) }

func rampAt(Level) func(dst []float32, x []float64, start, step, first float64) { return nil }
