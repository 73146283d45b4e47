package nn

import "github.com/lectern-go/lectern/tensor"

// Func is a function as a [Module] without parameters.
type Func func(x *tensor.Tensor) *tensor.Tensor

// Forward returns f(x).
func (f Func) Forward(x *tensor.Tensor) *tensor.Tensor { return f(x) }

// Recompute returns f(x) and keeps only x for Backward, which calls f again:
// activation checkpointing. Dropout leaves out the same elements in the second call,
// and scales of 8-bit layers are those of the first call; see [tensor.Recompute].
//
//	x = nn.Recompute(block.Forward, x)
func Recompute(f func(x *tensor.Tensor) *tensor.Tensor, x *tensor.Tensor) *tensor.Tensor {
	return tensor.RecomputeModule(Func(f), x)
}
