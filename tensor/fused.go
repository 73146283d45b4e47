package tensor

import (
	"errors"
	"iter"
	"slices"

	"github.com/lectern-go/lectern/internal/device"
)

// Some operations are single ones because that saves memory or work: attention never holds all of its scores at
// once. A device may have kernels for such an operation as a whole (device.Fuser). It is asked first, and if it
// has none, or none for these operands, the operation runs in steps that every device has.

// unfilled returns a tensor on the device for a result that fused will fill. It has no memory until then.
func (c *call) unfilled(dtype Dtype, shape ...int) *Tensor { return without(c.device, dtype, shape) }

// fused has the device compute an operation as a whole, from in and numbers into out: tensors that unfilled has
// made, or parts of one. If the device can't, fused reports false and has done nothing.
func (c *call) fused(out, in []*Tensor, numbers ...float64) bool {
	return c.fusedAs(c.op.name, out, in, numbers...)
}

// fusedGradients is fused for gradients that take several operations elsewhere, under their own name. Observers are
// told of those operations on every device, and the operations have gradients, if those are wanted.
func (c *call) fusedGradients(name string, out, in []*Tensor) bool {
	if observed() || slices.ContainsFunc(in, (*Tensor).RequiresGrad) {
		return false
	}
	for i, x := range in {
		in[i] = x.Detach().Contiguous()
	}
	return c.fusedAs(name, out, in)
}

// fusedGradient is fusedGradients for one gradient, from dL/dy and a tensor of the shape and dtype of the result. It
// returns nil if the device can't.
func (c *call) fusedGradient(name string, g, x *Tensor) *Tensor {
	if c.device == nil || x.Dim() == 0 {
		return nil
	}
	out := c.unfilled(x.dtype, x.layout.Shape...)
	if !c.fusedGradients(name, []*Tensor{out}, []*Tensor{g, x}) {
		return nil
	}
	return out
}

func (c *call) fusedAs(name string, out, in []*Tensor, numbers ...float64) bool {
	on, ok := c.device.(device.Fuser)
	if !ok || out[0].Len() == 0 {
		return false
	}
	var fresh []*Tensor // one for each storage
	for _, t := range out {
		if t.storage.Memory == nil && t.storage.Size > 0 {
			t.allocateOn(false)
			fresh = append(fresh, t)
		}
	}
	err := on.Fused(name, viewsOf(out), viewsOf(in), numbers...)
	if errors.Is(err, device.ErrUnsupported) {
		for _, t := range fresh {
			t.storage.Memory.Free()
			t.storage.Memory = nil
		}
		return false
	}
	out[0].orFail(name, err)
	for _, t := range fresh {
		t.made()
	}
	return true
}

func viewsOf(list []*Tensor) []device.View {
	views := make([]device.View, len(list))
	for i, t := range list {
		views[i] = t.view()
	}
	return views
}

// asTheyAreAndWidened yields the inputs to try fused with: as they are and, if they include small floats, in the
// dtype that those are computed in.
func (c *call) asTheyAreAndWidened() iter.Seq[[]*Tensor] {
	return func(yield func([]*Tensor) bool) {
		if yield(c.in) && slices.ContainsFunc(c.in, func(x *Tensor) bool { return wideSum(x.dtype) != x.dtype }) {
			yield(c.widened())
		}
	}
}
