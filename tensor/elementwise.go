package tensor

import (
	"slices"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/internal/memory"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Elementwise operations: one or two numbers in, one number out, at each position.
// Operands are broadcast to a common shape, the result is a new contiguous tensor of
// the promoted dtype.

// onePerElement counts one FLOP for each element of the result.
func onePerElement(_ *call, out *Tensor) int { return out.Len() }

// perElement counts n FLOPs for each element of the result. Each call of a
// function such as exp counts as one, unless the operation's comment says
// otherwise.
func perElement(n int) func(c *call, out *Tensor) int {
	return func(_ *call, out *Tensor) int { return n * out.Len() }
}

// dtypeRule chooses, from the promoted dtype of its operands, the dtype that an
// operation computes in, and that of its result.
type dtypeRule func(promoted Dtype) (compute, result Dtype)

func sameDtype(d Dtype) (compute, result Dtype) { return d, d }
func boolDtype(d Dtype) (compute, result Dtype) { return d, Bool }

// floatDtype turns integers into float32.
func floatDtype(d Dtype) (compute, result Dtype) {
	if !d.IsFloat() {
		d = Float32
	}
	return d, d
}

// unary returns the forward of an operation with one operand.
// A device other than the processor is given the operation's name and params.
func unary(k loops.UnaryKernels, rule dtypeRule, params ...float64) func(c *call) *Tensor {
	return inMemoryOrder(func(c *call) *Tensor {
		x := c.in[0]
		compute, result := rule(x.dtype)
		out := c.result(result, x.layout.Shape, false)
		if c.device != nil {
			mapOn(c.op.name, compute, out, x, params...)
			return out
		}
		k.Map(device.Type(compute), out.array(), x.array())
		return out
	})
}

// binary returns the forward of an operation with two operands. ints, if it isn't nil, computes
// with int32 in the places of float32.
func binary(k loops.BinaryKernels, rule dtypeRule, ints ...func(dst, x, y []float32)) func(c *call) *Tensor {
	return inMemoryOrder(func(c *call) *Tensor {
		x, y := c.in[0], c.in[1]
		compute, result := rule(resultDtype(c.op.name, x, y))
		x, y, shape := broadcast(c.op.name, x, y)
		out := c.into
		if out == nil || out.dtype != result || !slices.Equal(out.layout.Shape, shape) {
			out = c.result(result, shape, false)
		}
		if len(ints) > 0 && ints[0] != nil && compute == Int32 && c.device == nil && asFloats(x, y) {
			to := out
			if result == Int32 {
				to = out.as(Float32)
			}
			narrow := loops.BinaryKernels{F32: ints[0]}
			narrow.Zip(device.Float32, to.array(), x.inInt32().as(Float32).array(), y.inInt32().as(Float32).array())
			return out
		}
		zipAs(c.op.name, compute, out, x, y, k)
		return out
	})
}

// inMemoryOrder returns a forward whose result lies in memory as the operands do, if all operands of its shape hold
// their axes in the same order, other than row-major: nothing has to change places, and memory is read from start to
// end.
func inMemoryOrder(forward func(c *call) *Tensor) func(c *call) *Tensor {
	return func(c *call) *Tensor {
		whole := c.outOfOrder()
		if whole == nil {
			return forward(c)
		}
		order := whole.layout.MemoryOrder()
		turned := &call{op: c.op, attr: c.attr, device: c.device}
		turned.in = turned.few[:0]
		for _, x := range c.in {
			if x.Dim() > 0 {
				x = x.expanded(whole.layout.Shape)
				x = x.alias(x.permuted(order))
			}
			turned.in = append(turned.in, x)
		}
		out := forward(turned)
		out.layout = out.permuted(inverse(order))
		return out
	}
}

// permuted returns the layout of t with its axes in another order.
func (t *Tensor) permuted(order []int) Layout {
	l, err := t.layout.Permute(order...)
	t.must("permute", err)
	return l
}

// inverse returns the order that undoes an order.
func inverse(order []int) []int {
	back := make([]int, len(order))
	for i, axis := range order {
		back[axis] = i
	}
	return back
}

// outOfOrder returns an operand with the shape of the result that fills its memory in an order other than
// row-major, if all operands of this shape do so; otherwise nil.
func (c *call) outOfOrder() *Tensor {
	whole := c.in[0]
	for _, x := range c.in[1:] {
		if x.Len() > whole.Len() {
			whole = x
		}
	}
	if whole.IsContiguous() || c.into != nil {
		return nil
	}
	for _, x := range c.in {
		if sameShape(x, whole) {
			if !slices.Equal(x.layout.Strides, whole.layout.Strides) {
				return nil
			}
		} else if _, err := x.layout.Expand(whole.layout.Shape...); err != nil {
			return nil
		}
	}
	if l := whole.permuted(whole.layout.MemoryOrder()); !l.IsContiguous() {
		return nil
	}
	return whole
}

// broadcast returns views of both operands in their common shape.
func broadcast(op string, x, y *Tensor) (bx, by *Tensor, shape []int) {
	if slices.Equal(x.layout.Shape, y.layout.Shape) {
		return x, y, x.layout.Shape
	}
	shape, err := layout.Broadcast(x.layout.Shape, y.layout.Shape)
	if err != nil {
		e := err.(*layout.Error)
		fail(e.Kind, op, describe(x, y), e.Reason, e.Hint)
	}
	return x.expanded(shape), y.expanded(shape), shape
}

// expanded returns a view, outside the graph, in a shape that layout.Broadcast found.
func (t *Tensor) expanded(shape []int) *Tensor {
	if slices.Equal(t.layout.Shape, shape) {
		return t
	}
	l, err := t.layout.Expand(shape...)
	t.must("expand", err)
	return t.alias(l)
}

// zipAs computes out = f(x, y) in the arithmetic of a dtype. Another device is given
// the name of f and params.
func zipAs(name string, compute Dtype, out, x, y *Tensor, k loops.BinaryKernels, params ...float64) {
	if out.storage.Device != nil {
		zipOn(name, compute, out, x, y, params...)
		return
	}
	k.Zip(device.Type(compute), out.array(), x.array(), y.array())
}

// asFloats reports whether int32 operands can be passed on as if they were float32.
func asFloats(in ...*Tensor) bool {
	for _, x := range in {
		if !x.layout.RepeatsOne() && x.dtype != Int32 {
			return false
		}
	}
	return true
}

// as returns the memory of t as a dtype of the same size.
func (t *Tensor) as(d Dtype) *Tensor {
	view := t.alias(t.layout)
	view.dtype = d
	return view
}

// inInt32 returns t, or the one element that it repeats, as int32.
func (t *Tensor) inInt32() *Tensor {
	if t.dtype == Int32 {
		return t
	}
	var value [1]int64
	newReader[int64](t.alias(Layout{Offset: t.layout.Offset})).Copy(value[:], 0)
	few := []int32{int32(value[0])}
	one := &Tensor{storage: &memory.Storage{Data: unsafe.Pointer(&few[0]), Size: 4}, dtype: Int32}
	return one.expanded(t.layout.Shape)
}

// array returns the elements of t as loops see them. It panics if they aren't in the processor's memory.
func (t *Tensor) array() loops.Array {
	s := t.storage
	if s.Freed() || s.Device != nil {
		needHost(s)
	}
	return loops.Array{Data: s.Data, Size: s.Size, Layout: &t.layout, Element: loops.Element{Dtype: device.Type(t.dtype), Width: uint8(t.dtype.Size())}}
}

func arrays(in []*Tensor) []loops.Array {
	all := make([]loops.Array, len(in))
	for i, x := range in {
		all[i] = x.array()
	}
	return all
}

// newReader, newWriter, plain and stored are those of package loops.
func newReader[T numbers.Number](t *Tensor) *loops.Reader[T] { return loops.NewReader[T](t.array()) }
func newWriter[T numbers.Number](t *Tensor) *loops.Writer[T] { return loops.NewWriter[T](t.array()) }
func plain[T numbers.Number](t *Tensor) []T                  { return loops.Stored[T](t.array()) }
func stored[T any](t *Tensor) []T                            { return loops.Stored[T](t.array()) }

// Operations along one axis whose result has the shape of the input: cumulative
// sums, softmax. The elements along that axis are brought together as a row,
// whatever their layout.

// rowsLast returns views of both with an axis as the last one; a single number is a
// row of one.
func rowsLast(out, x *Tensor, axis int) (rowsOut, rows *Tensor) {
	if x.Dim() == 0 {
		return out.alias(ContiguousLayout(1)), x.alias(Layout{Shape: []int{1}, Strides: []int{1}, Offset: x.layout.Offset})
	}
	last := reduced{axes: make([]bool, x.Dim())}
	last.axes[axis] = true
	return last.lastAxes(out), last.lastAxes(x)
}

// rowForward returns the forward of an operation along the axis given to it.
func rowForward(o *opOf[int], k loops.UnaryKernels, rule dtypeRule) func(c *call) *Tensor {
	return func(c *call) *Tensor {
		x, axis := c.input(), o.given(c)
		compute, result := rule(x.dtype)
		out := c.result(result, x.layout.Shape, false)
		if c.device != nil {
			rowsOn(c.op.name, compute, out, x, axis)
			return out
		}
		k.MapRows(device.Type(compute), out.array(), x.array(), axis)
		return out
	}
}

// rowsAlong returns how many rows a tensor has along an axis.
func rowsAlong(t *Tensor, axis int) int {
	if t.Dim() == 0 {
		return 1
	}
	return t.Len() / max(t.Size(axis), 1)
}

// rowAxis is axis for operations that treat a single number as a row of one.
func (t *Tensor) rowAxis(op string, axis int) int {
	if t.exist(op).Dim() == 0 && (axis == 0 || axis == -1) {
		return 0
	}
	return t.axis(op, axis)
}
