package tensor

import "github.com/lectern-go/lectern/tensor/internal/loops"

// Choosing and logic without branches: which element of a mask is set can't be
// predicted, and a wrong guess costs more than all else.

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
		loops.Parallel(len(to), loops.ParallelFrom, func(start, end int) {
			eight := (end - start) &^ 7
			dst, a, b := loops.Eights(to[start:][:eight]), loops.Eights(left[start:][:eight]), loops.Eights(right[start:][:eight])
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
