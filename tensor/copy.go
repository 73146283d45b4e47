package tensor

import (
	"fmt"

	"github.com/lectern-go/lectern/tensor/internal/loops"
)

// Clone returns a copy with its own storage, without gaps, whose axes have the same
// order in memory as those of t: the copy of a transposed matrix is transposed, too.
// [Tensor.Contiguous] puts elements in row-major order. Gradients pass through it:
// d(clone(x))/dx = 1.
func (t *Tensor) Clone() *Tensor { return opClone.apply(false, t) }

// inOrderCopy is Clone with the elements in row-major order.
func (t *Tensor) inOrderCopy() *Tensor { return opClone.apply(true, t) }

// rowMajorOrder, given to opClone, says whether the copy is to be contiguous.
type rowMajorOrder bool

var opClone opOf[rowMajorOrder]

func init() {
	define(&opClone.op, op{
		name: "clone",
		forward: func(c *call) *Tensor {
			x := c.input()
			if opClone.given(c) {
				return x.converted(x.dtype)
			}
			if x.IsContiguous() {
				out := x.converted(x.dtype)
				copy(out.layout.Strides, x.layout.Strides) // strides of axes of size 1 may have any value
				return out
			}
			// In memory order the copy is contiguous.
			order := x.layout.MemoryOrder()
			l := x.permuted(order)
			out := x.alias(l).converted(x.dtype)
			if l.IsContiguous() {
				copy(out.layout.Strides, l.Strides)
			}
			out.layout = out.permuted(inverse(order))
			return out
		},
		gradients: []gradient{{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g }}},
	})
}

// To returns t in another dtype, on another device, or both, as a copy; t itself
// if nothing changes:
//
//	x.To(tensor.BFloat16)
//	x.To(device, tensor.BFloat16)
//
// Floating-point values are rounded to nearest, ties to even; integers lose
// their fraction. Gradients pass through it, converted and copied back. It panics if a
// device has no room.
func (t *Tensor) To(targets ...Target) *Tensor {
	t.exist("to")
	to := placement{t.dtype, t.Device()}
	for _, target := range targets {
		switch target := target.(type) {
		case Dtype:
			to.dtype = target
		case Device:
			to.device = target
		default:
			fail(ErrValue, "to", describe(t), fmt.Sprintf("a tensor can't be converted or copied to a %T", target), "give a Dtype or a Device")
		}
	}
	if to.dtype == t.dtype && to.device.backend == t.backend() {
		return t
	}
	return opTo.apply(to, t)
}

// placement is the target that To was given.
type placement struct {
	dtype  Dtype
	device Device
}

var opTo opOf[placement]

var convert = inMemoryOrder(func(c *call) *Tensor { return c.input().converted(opTo.given(c).dtype) })

func init() {
	define(&opTo.op, op{
		name: "to",
		forward: func(c *call) *Tensor {
			x, to := c.input(), opTo.given(c)
			switch {
			case x.backend() == to.device.backend:
				return convert(c)
			case x.dtype.Size() <= to.dtype.Size(): // convert on the side that saves bytes on the way
				return x.moved(to.device).inOrder(to.dtype)
			}
			return x.inOrder(to.dtype).moved(to.device)
		},
		gradients: []gradient{{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g }}},
	})
}

// ToSaturating is To for the 8-bit floats, except that numbers outside the
// range, infinities included, become its largest and smallest values, as training
// recipes require. NaN stays NaN. Gradients pass through it. It panics unless dtype is
// floating point.
func (t *Tensor) ToSaturating(dtype Dtype) *Tensor {
	if !dtype.IsFloat() {
		fail(ErrDtype, "to saturating", dtype.String(), "only floating-point formats saturate", "use To")
	}
	return opToSaturating.apply(dtype, t)
}

var opToSaturating opOf[Dtype]

func init() {
	define(&opToSaturating.op, op{
		name: "to saturating",
		forward: inMemoryOrder(func(c *call) *Tensor {
			dtype, x := opToSaturating.given(c), c.input()
			largest := formats[dtype].max
			compute := Float32
			if x.dtype == Float64 || dtype == Float64 {
				compute = Float64
			}
			if c.device != nil {
				out := c.result(dtype, x.layout.Shape, false)
				mapOn("saturate", compute, out, x, largest)
				return out
			}
			x = x.converted(compute)
			loops.Saturate(x.array(), largest)
			return x.converted(dtype)
		}),
		gradients: []gradient{{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g }}},
	})
}

// converted returns a contiguous copy in a dtype.
func (t *Tensor) converted(dtype Dtype) *Tensor {
	out := t.beside(dtype, t.layout.Shape, false)
	out.assign(t)
	return out
}

// contiguously calls f with the elements of t in contiguous memory. A copy made for that is freed.
func (t *Tensor) contiguously(f func(x *Tensor)) {
	if t.IsContiguous() {
		f(t)
		return
	}
	x := t.converted(t.dtype)
	f(x)
	x.Free()
}

// assign writes x, which has the same shape, into t and converts it. The two
// must not overlap.
func (t *Tensor) assign(x *Tensor) {
	if t.storage.Device != nil || x.storage.Device != nil {
		t.assignAcross(x)
		return
	}
	if t.dtype == x.dtype && t.Bytes() >= loops.LargeCopy && t.IsContiguous() && x.IsContiguous() {
		loops.CopyLarge(t.memory(), x.memory())
		return
	}
	if !loops.Relay(t.array(), x.array()) {
		loops.Convert(t.array(), x.array())
	}
}

// fill writes one value to every element, converted to the dtype.
func (t *Tensor) fill(value float64) {
	t.assign(scalar(value, t.dtype).expanded(t.layout.Shape))
	t.storage.Version.Add(1)
}
