package tensor

import (
	"math"
	"unsafe"

	"github.com/lectern-go/lectern/tensor/internal/numbers"
)

// Choosing and logic without branches: which element of a mask is set can't be
// predicted, and a wrong guess costs more than all else.

// chosen writes x where c is not 0, else y.
func chosen[T numbers.Number](dst, x, y []T, c []uint8) {
	switch dst := any(dst).(type) {
	case []float32:
		choose32(sameBits[uint32](dst), sameBits[uint32](any(x).([]float32)), sameBits[uint32](any(y).([]float32)), c)
	case []float64:
		choose64(sameBits[uint64](dst), sameBits[uint64](any(x).([]float64)), sameBits[uint64](any(y).([]float64)), c)
	case []int64:
		choose64(sameBits[uint64](dst), sameBits[uint64](any(x).([]int64)), sameBits[uint64](any(y).([]int64)), c)
	}
}

// sameBits returns the memory of numbers as other ones of the same size.
func sameBits[S, T any](x []T) []S {
	return unsafe.Slice((*S)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

func choose32(dst, x, y []uint32, c []uint8) {
	x, y, c = x[:len(dst)], y[:len(dst)], c[:len(dst)]
	for i := range dst {
		set := uint32(-int32(c[i]) >> 31)
		dst[i] = y[i] ^ (x[i]^y[i])&set
	}
}

func choose64(dst, x, y []uint64, c []uint8) {
	x, y, c = x[:len(dst)], y[:len(dst)], c[:len(dst)]
	for i := range dst {
		set := uint64(-int64(c[i]) >> 63)
		dst[i] = y[i] ^ (x[i]^y[i])&set
	}
}

// onBools returns a forward that works on bools eight at a time where all operands are
// contiguous bools of one shape, and otherwise does what forward does.
func onBools(forward func(c *call) *Tensor, words func(x, y uint64) uint64) func(c *call) *Tensor {
	return func(c *call) *Tensor {
		x := c.in[0]
		if c.device != nil {
			return forward(c)
		}
		for _, in := range c.in {
			if in.dtype != Bool || !in.IsContiguous() || !sameShape(in, x) {
				return forward(c)
			}
		}
		out := c.result(Bool, x.layout.Shape, false)
		to, left := stored[uint8](out), stored[uint8](x)
		right := left
		if len(c.in) > 1 {
			right = stored[uint8](c.in[1])
		}
		parallel(len(to), parallelFrom, func(start, end int) {
			eight := (end - start) &^ 7
			dst, a, b := eights(to[start:][:eight]), eights(left[start:][:eight]), eights(right[start:][:eight])
			for i := range dst {
				dst[i] = words(a[i], b[i])
			}
			for i := start + eight; i < end; i++ {
				to[i] = uint8(words(uint64(left[i]), uint64(right[i]))) & 1
			}
		})
		return out
	}
}

// eights returns bools, each a byte of 0 or 1, as words.
func eights(x []uint8) []uint64 {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(&x[0])), len(x)/8)
}

const eachTrue = 0x0101010101010101

// isNaN32 and isNaN64 test in vector instructions, where there are any.
func isNaN32(dst, x []float32) { differs(dst, x, vectors32.Differ, testKernel[float32](math.IsNaN)) }
func isNaN64(dst, x []float64) { differs(dst, x, vectors64.Differ, testKernel[float64](math.IsNaN)) }

func differs[T numbers.Number](dst, x []T, differ func(dst, x, y []T), portable func(dst, x []T)) {
	if differ == nil {
		portable(dst, x)
		return
	}
	differ(dst, x, x)
}
