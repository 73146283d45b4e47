package tensor

import (
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/lectern-go/lectern/autograd"
	"github.com/lectern-go/lectern/tensor/layout"
)

// In-place operations write through the layout of their receiver: views that share the
// storage see the change, and Backward refuses a graph that saved the old value.
//
// A tensor that takes part in a gradient gets a new history: after y.MulInPlace(3),
// the node of y is that of a product whose left input is the node that y had before.
// If y is a view, its base gets the new history: the base's new node is a "put" of the
// product into the old base. All views of the base then have an outdated history;
// graph replaces it by a "pick" of their part from the base as it is now. So a write
// is seen everywhere, whichever view it goes through, as in PyTorch.

// AddInPlace adds other, a number or a tensor that can be broadcast to t's shape, to t
// and returns t. It panics as described at [Tensor.CopyFrom].
func (t *Tensor) AddInPlace(other any) *Tensor { return t.update(&opAdd, nil, other) }

// SubInPlace subtracts other from t and returns t; see [Tensor.AddInPlace].
func (t *Tensor) SubInPlace(other any) *Tensor { return t.update(&opSub, nil, other) }

// MulInPlace multiplies t by other and returns t; see [Tensor.AddInPlace].
func (t *Tensor) MulInPlace(other any) *Tensor { return t.update(&opMul, nil, other) }

// DivInPlace divides t by other and returns t; see [Tensor.AddInPlace].
func (t *Tensor) DivInPlace(other any) *Tensor { return t.update(&opDiv, nil, other) }

// PowInPlace raises t to the power of other and returns t; see
// [Tensor.AddInPlace].
func (t *Tensor) PowInPlace(other any) *Tensor { return t.update(&opPow, nil, other) }

// Fill sets every element to value, converted to the dtype, and returns t. It panics
// as described at [Tensor.CopyFrom], except that t may be expanded.
func (t *Tensor) Fill(value float64) *Tensor {
	once := t.exist("fill")
	if slices.Contains(t.layout.Strides, 0) {
		once = t.alias(t.layout.WithoutRepeats())
		once.viewOf(t)
		once.node = t.graph()
	}
	once.checkWritable("fill")
	once.put(scalar(value, Float64))
	return t
}

// CopyFrom writes the elements of x, expanded to t's shape and converted to its
// dtype, into t and returns t. x may overlap t. Gradients of values that are computed
// from t afterwards go to x, and no longer to what t was computed from.
//
// Like every in-place operation, it panics if t is expanded or its elements overlap,
// if the shapes don't fit, and, outside [NoGrad], if t is a leaf that requires a
// gradient or a view of one.
func (t *Tensor) CopyFrom(x *Tensor) *Tensor {
	t.existBeside("copy from", x)
	t.checkWritable("copy from")
	return t.put(x)
}

// put writes x into t.
func (t *Tensor) put(x *Tensor) *Tensor {
	l, err := x.layout.Expand(t.layout.Shape...)
	if err != nil {
		e := err.(*layout.Error)
		fail(e.Kind, "copy from", describe(t, x), e.Reason, e.Hint)
	}
	source := x.alias(l)
	if source.storage == t.storage {
		source = source.Clone()
	}
	return t.putBy(x, func() { t.assign(source) })
}

// putBy is put for a function that does the writing: of all elements of x, or of a few in their places.
func (t *Tensor) putBy(x *Tensor, assign func()) *Tensor {
	base := t
	if t.base != nil {
		base = t.base
	}
	c := &call{op: &opPut.op, attr: windowOf(base, t)}
	c.in = append(c.few[:0], base, x)
	write := func() *Tensor {
		assign()
		t.storage.Version.Add(1)
		if base.dtype.IsFloat() && c.tracks() {
			base.rebase(c)
		}
		return t
	}
	if observed() {
		return c.watched(write)
	}
	return write()
}

// update computes o(t, operands...) and puts the result into t.
func (t *Tensor) update(o *op, attr any, operands ...any) *Tensor {
	name := o.name + " in place"
	c := &call{op: o, attr: attr}
	c.in = append(c.few[:0], t)
	for _, x := range operands {
		c.in = append(c.in, operand(name, x))
	}
	for _, x := range c.in {
		if x == nil || x.storage == nil {
			failMissing(name, c.in...)
		}
	}
	t.checkWritable(name)
	if observed() {
		return c.watched(func() *Tensor { return t.become(c, name) })
	}
	return t.become(c, name)
}

// become puts the result of c, whose first input is t, into t.
func (t *Tensor) become(c *call, name string) *Tensor {
	tracked := t.dtype.IsFloat() && c.tracks()
	var needed reads
	if tracked {
		needed = c.link()
	}
	if needed&readsLeft == 0 && t.holds(c) {
		c.into = t
	}
	result := c.forward()
	if !slices.Equal(result.layout.Shape, t.layout.Shape) {
		fail(ErrShape, name, describe(c.in...), fmt.Sprintf("the result has shape %v, which t can't hold", result.layout.Shape), "")
	}
	if formats[result.dtype].class > formats[t.dtype].class {
		fail(ErrDtype, name, fmt.Sprintf("%s x %s", t.dtype, c.in[len(c.in)-1].dtype),
			fmt.Sprintf("the result is %s, which a %s tensor can't hold", result.dtype, t.dtype), "convert t with To first")
	}
	if tracked {
		if needed&readsLeft != 0 { // the value that is about to be overwritten
			c.in[0] = t.Detach().Clone()
		}
		c.keepInputs(needed)
	}
	if result != t {
		t.assign(result)
		if !tracked && !slices.ContainsFunc(c.in, func(x *Tensor) bool { return x.storage == result.storage }) {
			result.Free()
		}
	}
	t.storage.Version.Add(1)
	if !tracked {
		return t
	}
	node := c.record(needed, t)
	if t.base == nil {
		t.follow(node)
		return t
	}
	// The base becomes what it was, with this result in t's place.
	put := &call{op: &opPut.op, attr: windowOf(t.base, t)}
	value := t.alias(t.layout)
	value.node = node
	put.in = append(put.few[:0], t.base, value)
	t.base.rebase(put)
	return t
}

// holds reports whether c, whose first input is t, may write its result straight into t:
// whether each element depends on t's element at its own place, and on nothing else of
// t.
func (t *Tensor) holds(c *call) bool {
	if !c.op.direct {
		return false
	}
	for _, x := range c.in[1:] {
		same := x.layout.Offset == t.layout.Offset && slices.Equal(x.layout.Shape, t.layout.Shape) && slices.Equal(x.layout.Strides, t.layout.Strides)
		if x.storage == t.storage && !same {
			return false
		}
	}
	return true
}

// rebase records c, a put into t, as what t was computed by.
func (t *Tensor) rebase(c *call) {
	needed := c.link()
	c.keepInputs(needed)
	t.follow(c.record(needed, t))
}

// follow gives t, which is not a view, another history.
func (t *Tensor) follow(node *autograd.Node[*Tensor]) {
	moveGrad(t.node, node)
	t.node = node
	t.rebased++
}

// moveGrad gives a new node of a tensor the gradient that the old one keeps.
func moveGrad(old, node *autograd.Node[*Tensor]) {
	if old == nil || !old.RetainsGrad() {
		return
	}
	node.RetainGrad()
	if g, ok := old.Grad(); ok {
		g.storage.Lend() // two nodes have it
		node.SetGrad(g)
	}
}

// viewOf says that t shares the memory of x.
func (t *Tensor) viewOf(x *Tensor) {
	t.base = x
	if x.base != nil {
		t.base = x.base
	}
	t.rebased = t.base.rebased
}

// upToDate reports whether the node of t belongs to the current history of its memory.
func (t *Tensor) upToDate() bool { return t.base == nil || t.rebased == t.base.rebased }

// graph returns the node of t, nil if it takes part in no gradient. A view whose
// base was given another history gets a new one when it is first asked for.
func (t *Tensor) graph() *autograd.Node[*Tensor] {
	if t.upToDate() || t.base.node == nil {
		return t.node
	}
	// Several goroutines may read a view: the new node is not put into t.node.
	last := t.node
	if p := (*pickedNode)(atomic.LoadPointer(&t.picked)); p != nil {
		if p.rebased == t.base.rebased {
			return p.node
		}
		last = p.node
	}
	c := &call{op: &opPick.op, attr: windowOf(t.base, t)}
	c.in = append(c.few[:0], t.base)
	needed := c.link()
	c.keepInputs(needed)
	node := c.record(needed, t)
	moveGrad(last, node)
	atomic.StorePointer(&t.picked, unsafe.Pointer(&pickedNode{node, t.base.rebased}))
	return node
}

// pickedNode is the node of a view for one history of its base.
type pickedNode struct {
	node    *autograd.Node[*Tensor]
	rebased int
}

// settle makes the node that graph returns the node of t, so that hooks and gradients
// can be kept there.
func (t *Tensor) settle() {
	if !t.upToDate() {
		t.node, t.rebased = t.graph(), t.base.rebased
	}
}

// checkWritable panics if t can't be written in place.
func (t *Tensor) checkWritable(op string) {
	t.exist(op)
	if t.layout.MayOverlap() {
		fail(ErrWrite, op, describe(t), "several positions share one element of memory, so a write has no clear meaning", "write to a Clone()")
	}
	base := t
	if t.base != nil {
		base = t.base
	}
	if base.node == nil && t.node == nil || !GradEnabled() {
		return
	}
	const hint = "write inside tensor.NoGrad, or to a Clone()"
	switch {
	case t.node != nil && t.node.IsLeaf():
		fail(ErrWrite, op, describe(t), "the tensor is a leaf that requires a gradient, which a recorded write would turn into a result", hint)
	case base.node != nil && base.node.IsLeaf():
		fail(ErrWrite, op, describe(t), fmt.Sprintf("the tensor is a view of a leaf of shape %v that requires a gradient, which a recorded write would turn into a result", base.layout.Shape), hint)
	case base.node != nil && t.upToDate() && t.node == nil:
		fail(ErrWrite, op, describe(t), "the tensor is a view that was taken inside NoGrad of a tensor that takes part in a gradient", "take the view outside NoGrad, or write inside it")
	case base.layout.MayOverlap():
		fail(ErrWrite, op, describe(t), "the tensor is a view of an expanded tensor that takes part in a gradient", "write to a Clone()")
	}
}

// window is a part of a tensor, given by the layouts of both in memory that begins
// with the tensor's first element.
type window struct{ whole, part Layout }

func windowOf(base, view *Tensor) window {
	w := window{base.layout, view.layout}
	w.part.Offset -= w.whole.Offset
	w.whole.Offset = 0
	return w
}

// span returns how many elements of memory the whole extends over.
func (w window) span() int {
	span := 1
	for i, size := range w.whole.Shape {
		if size == 0 {
			return 0
		}
		span += (size - 1) * w.whole.Strides[i]
	}
	return span
}

// frame returns a copy of x in new memory, laid out as the whole is.
func (w window) frame(x *Tensor) *Tensor {
	span := w.span()
	out := x.beside(x.dtype, []int{span}, span != x.Len()).alias(w.whole)
	out.assign(x)
	return out
}

// d put(x, v)/dx = 1 outside the part, 0 within; d put(x, v)/dv = 1
var opPut opOf[window]

// d pick(x)/dx = 1 for the part that is picked
var opPick opOf[window]

// unpick puts the elements of a part back among zeros, and adds up those that came
// from the same place: the part may be an expanded view.
var opUnpick opOf[window]

func init() {
	define(&opPut.op, op{
		name: "put",
		forward: func(c *call) *Tensor {
			w := opPut.given(c)
			out := w.frame(c.left())
			part := out.alias(w.part)
			part.assign(c.right().expanded(w.part.Shape))
			return out
		},
		gradients: []gradient{
			{readsNothing, func(c *call, g *Tensor, _ int) *Tensor {
				return opPut.apply(opPut.given(c), g, scalar(0, g.dtype))
			}},
			{readsNothing, func(c *call, g *Tensor, _ int) *Tensor {
				return opPick.apply(opPut.given(c), g).sumTo(c.right().layout.Shape)
			}},
		},
	})
	define(&opPick.op, op{
		name: "pick",
		forward: func(c *call) *Tensor {
			w, x := opPick.given(c), c.input()
			if !slices.Equal(x.layout.Strides, w.whole.Strides) {
				x = w.frame(x)
			}
			part := w.part
			part.Offset += x.layout.Offset
			return x.alias(part)
		},
		gradients: []gradient{{readsNothing, func(c *call, g *Tensor, _ int) *Tensor { return opUnpick.apply(opPick.given(c), g) }}},
	})
	define(&opUnpick.op, op{
		name: "pick backward",
		forward: func(c *call) *Tensor {
			w, g := opUnpick.given(c), c.input()
			sum := g.beside(wideSum(g.dtype), []int{w.span()}, true)
			accumulate(sum, w.part, g)
			return sum.alias(w.whole).To(g.dtype)
		},
		gradients: []gradient{{readsNothing, func(c *call, g *Tensor, _ int) *Tensor { return opPick.apply(opUnpick.given(c), g) }}},
		flops:     func(c *call, _ *Tensor) int { return additions(opUnpick.given(c).part) },
	})
}

// In-place forms of operations on one tensor. They return t and panic as
// described at [Tensor.CopyFrom]; a result of a higher class than t's dtype, such
// as the root of integers, is refused.

// Zero sets every element to 0 and returns t.
func (t *Tensor) Zero() *Tensor { return t.Fill(0) }

// NegInPlace replaces t by -t.
func (t *Tensor) NegInPlace() *Tensor { return t.update(&opNeg, nil) }

// AbsInPlace replaces each element by its magnitude.
func (t *Tensor) AbsInPlace() *Tensor { return t.update(&opAbs, nil) }

// ExpInPlace replaces each element x by eˣ.
func (t *Tensor) ExpInPlace() *Tensor { return t.update(&opExp, nil) }

// LogInPlace replaces each element by its natural logarithm.
func (t *Tensor) LogInPlace() *Tensor { return t.update(&opLog, nil) }

// SqrtInPlace replaces each element by its square root.
func (t *Tensor) SqrtInPlace() *Tensor { return t.update(&opSqrt, nil) }

// SquareInPlace replaces each element by its square.
func (t *Tensor) SquareInPlace() *Tensor { return t.update(&opSquare, nil) }

// ReciprocalInPlace replaces each element x by 1/x.
func (t *Tensor) ReciprocalInPlace() *Tensor { return t.update(&opReciprocal, nil) }

// ReLUInPlace replaces negative elements by 0.
func (t *Tensor) ReLUInPlace() *Tensor { return t.update(&opReLU, nil) }

// SigmoidInPlace replaces each element by its sigmoid.
func (t *Tensor) SigmoidInPlace() *Tensor { return t.update(&opSigmoid, nil) }

// TanhInPlace replaces each element by its hyperbolic tangent.
func (t *Tensor) TanhInPlace() *Tensor { return t.update(&opTanh, nil) }

// ClampInPlace limits the elements to [low, high]; see [Tensor.Clamp].
func (t *Tensor) ClampInPlace(low, high float64) *Tensor {
	return t.update(&opClamp.op, bounds{low, high})
}

// MaskedFillInPlace sets the elements where mask is set to value; see
// [Tensor.MaskedFill].
func (t *Tensor) MaskedFillInPlace(mask *Tensor, value float64) *Tensor {
	return t.update(&opMaskedFill.op, value, mask)
}

// RemainderInPlace replaces t by t mod other, a tensor or a number.
func (t *Tensor) RemainderInPlace(other any) *Tensor { return t.update(&opRemainder, nil, other) }

// FloorDivInPlace replaces t by t / other rounded down, for a tensor or a number.
func (t *Tensor) FloorDivInPlace(other any) *Tensor { return t.update(&opFloorDiv, nil, other) }
