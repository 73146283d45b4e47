package tensor

import (
	"fmt"
	"slices"

	"github.com/lectern-go/lectern/autograd"
	"github.com/lectern-go/lectern/internal/device"
)

// op is everything that is known about one operation: how to compute it, its
// derivative with respect to each input, what the derivative reads, and what it costs.
// Every operation is run by apply, and code that cares about operations hooks in
// there.
type op struct {
	name string

	// forward checks the operands and returns the result.
	forward func(c *call) *Tensor

	// gradients has one entry for each input; an input without one is not
	// differentiable. An operation with any number of inputs has one entry
	// and sets variadic.
	gradients []gradient
	variadic  bool

	// broadcasts is set when inputs are repeated to the shape of the result:
	// their gradients are then summed over what was repeated.
	broadcasts bool

	// composite is set when forward consists of operations that observers are to hear of
	// instead of the operation itself.
	composite bool

	// direct is set when the in-place form may write its result straight over the first
	// input: each element depends only on that input's element at the same place.
	direct bool

	// cast says what Autocast converts the operands to.
	cast cast

	// flops counts the floating-point operations of one call, as a reader would count them
	// in the formula: one for each sum, product, quotient, rounding, choice of the larger
	// number, and call to a function such as exp; sums begin at 0. Comparing, moving,
	// converting and choosing by a mask count as none. nil means none.
	flops func(c *call, out *Tensor) int

	// products counts the part of flops that matrix products take; nil means none.
	products func(c *call, out *Tensor) int

	// bytes counts what one call reads and writes; nil means each input once and
	// the result once.
	bytes func(c *call, out *Tensor) int
}

// opOf is an operation whose calls are given an A besides tensors, such as the axes to
// reduce. It must be plain data, so that graphs can be kept; see keptAttr.
type opOf[A any] struct{ op }

// apply runs the operation.
func (o *opOf[A]) apply(given A, in ...*Tensor) *Tensor { return apply(&o.op, given, in...) }

// given returns the A that a call to the operation was given.
func (o *opOf[A]) given(c *call) A { return c.attr.(A) }

// ops holds every operation, in the order of their definition: the table that tests
// walk.
var ops []*op

// define fills in the record of an operation. Records are defined in init
// functions because they and the methods that apply them refer to each other.
func define(o *op, record op) {
	*o = record
	ops = append(ops, o)
}

// gradient is the derivative of an operation with respect to one input.
type gradient struct {
	// reads names the values that of looks at. These, and only these, are kept between
	// forward and backward.
	reads reads
	// of returns the gradient with respect to the input, given that with
	// respect to the output: a vector-Jacobian product. i is the number of the
	// input, for variadic operations.
	of func(c *call, g *Tensor, i int) *Tensor
}

// reads is a set of values of a call.
type reads uint8

const (
	readsNothing reads = 0
	readsLeft    reads = 1 << 0 // the first input
	readsRight   reads = 1 << 1 // the second
	readsThird   reads = 1 << 2
	readsOutput  reads = 1 << 7
	readsInput         = readsLeft // of an operation with one input
)

// call is one use of an operation. As long as a gradient may still be asked for, it
// holds the values that the derivative reads; it is the autograd.Function of the
// result.
type call struct {
	op   *op
	attr any       // what the method was given besides tensors; see opOf
	in   []*Tensor // inputs that are not saved are kept without their storage, for their shapes
	out  *Tensor   // set if the derivative reads it, without its storage otherwise

	device device.Backend // where the operation runs, nil for the processor

	saved    []savedValue
	inputs   []*autograd.Node[*Tensor]
	node     *autograd.Node[*Tensor] // of the output
	scope    string                  // where it was recorded, while someone observes; see Scope
	released bool
	number   uint64 // counts recorded operations; see Recompute

	along []computed // gradients that were computed along with another one

	into *Tensor    // where an operation in place may put its result, see become
	few  [2]*Tensor // room for in
}

// savedValue is a tensor that a derivative will read, with the version it had when it was saved.
type savedValue struct {
	tensor  *Tensor
	version uint64
	what    string
}

// computed is the gradient with respect to an input, given that with respect to the output.
type computed struct {
	given *Tensor
	input int
	grad  *Tensor
}

// wait keeps a gradient that was computed along with another one until alongWith asks for it.
func (c *call) wait(g *Tensor, i int, grad *Tensor) {
	earlier := func(a computed) bool { return a.given != g }
	c.along = append(slices.DeleteFunc(c.along, earlier), computed{g, i, grad})
	grad.storage.NoteWaiting()
}

// alongWith returns the gradient with respect to input i if it was computed along with another one, else nil.
func (c *call) alongWith(g *Tensor, i int) *Tensor {
	at := slices.IndexFunc(c.along, func(a computed) bool { return a.input == i && a.given == g })
	if at < 0 {
		return nil
	}
	grad := c.along[at].grad
	c.along = slices.Delete(c.along, at, at+1)
	return grad
}

// left, right and input name the inputs.
func (c *call) left() *Tensor  { return c.in[0] }
func (c *call) right() *Tensor { return c.in[1] }
func (c *call) input() *Tensor { return c.in[0] }

// apply runs an operation: the one way in which tensors are made from tensors.
func apply(o *op, attr any, in ...*Tensor) *Tensor {
	c := &call{op: o, attr: attr}
	c.in = append(c.few[:0], in...)
	for _, x := range in {
		if x == nil || x.storage == nil {
			failMissing(o.name, in...)
		}
	}
	c.autocast()
	if observed() {
		return c.runWatched()
	}
	return c.run()
}

// run computes the result and gives it its place in the graph.
func (c *call) run() *Tensor { return c.linked(c.forward()) }

// linked gives a result its place in the graph.
func (c *call) linked(out *Tensor) *Tensor {
	if len(c.in) > 0 && out.storage == c.in[0].storage {
		out.viewOf(c.in[0])
	}
	if out.dtype.IsFloat() && c.tracks() {
		needed := c.link()
		c.keepInputs(needed)
		out.node = c.record(needed, out)
	}
	return out
}

// forward computes the result on the device of the operands.
func (c *call) forward() *Tensor {
	c.place()
	return c.op.forward(c)
}

// tracks reports whether the operation is to be recorded: whether an input
// takes part in a gradient that passes through it.
func (c *call) tracks() bool {
	if len(c.op.gradients) == 0 {
		return false
	}
	for i, x := range c.in {
		if x.RequiresGrad() && c.gradient(i).of != nil {
			return GradEnabled()
		}
	}
	return false
}

func (c *call) gradient(i int) gradient {
	if c.op.variadic {
		i = 0
	}
	return c.op.gradients[i]
}

// link finds the nodes of the inputs and returns what the derivatives with respect to
// them will read; an input that needs no gradient adds nothing.
func (c *call) link() (needed reads) {
	c.inputs = make([]*autograd.Node[*Tensor], len(c.in))
	for i, x := range c.in {
		g := c.gradient(i)
		if g.of == nil {
			continue
		}
		if c.inputs[i] = x.graph(); c.inputs[i] != nil {
			needed |= g.reads
		}
	}
	return needed
}

// keepInputs replaces the inputs by the parts of them that are kept.
func (c *call) keepInputs(needed reads) {
	for i, x := range c.in {
		c.in[i] = c.keep(x, needed&(1<<min(i, 6)) != 0, inputName(i, len(c.in)))
	}
}

// record keeps the needed part of the result and returns its node.
func (c *call) record(needed reads, out *Tensor) *autograd.Node[*Tensor] {
	c.out = c.keep(out, needed&readsOutput != 0, "its result")
	if value, ok := c.attr.(*Tensor); ok { // forward needed its elements, no gradient does
		c.attr = c.keep(value, false, "")
	}
	c.node = autograd.Record(c, c.inputs...)
	c.number = recorded.Add(1)
	if observed() {
		c.announceSaved()
	}
	return c.node
}

// keep returns x outside the graph: with its storage if it is to be saved, else only
// its shape.
func (c *call) keep(x *Tensor, save bool, what string) *Tensor {
	if save {
		return c.save(x, what)
	}
	kept := x.alias(x.layout)
	kept.number = x.number
	if !x.number { // graphs show numbers, which cost next to nothing
		kept.storage = x.storage.Elsewhere()
	}
	return kept
}

// save keeps x, outside the graph, until Release.
func (c *call) save(x *Tensor, what string) *Tensor {
	kept := x.alias(x.layout)
	kept.number = x.number
	c.saved = append(c.saved, savedValue{kept, x.storage.Version.Load(), what})
	return kept
}

func inputName(i, n int) string {
	switch {
	case n == 1:
		return "its input"
	case i == 0:
		return "its left operand"
	case i == 1 && n == 2:
		return "its right operand"
	}
	return fmt.Sprintf("its input %d", i)
}

// Name returns the name of the operation.
func (c *call) Name() string { return c.op.name }

// Ready reports whether the saved values are still there and unchanged.
func (c *call) Ready() error {
	if c.released && len(c.saved) > 0 {
		return &autograd.FreedError{Op: c.op.name}
	}
	for _, s := range c.saved {
		if s.tensor.storage.Freed() {
			return &Error{Kind: ErrFreed, Op: "backward", Operands: fmt.Sprintf("%s of shape %v", c.op.name, c.out.layout.Shape),
				Reason: fmt.Sprintf("%s, of shape %v, was saved for the gradient, and its memory was freed by Free or FreeAfter", s.what, s.tensor.layout.Shape),
				Hint:   "call Backward before"}
		}
		if now := s.tensor.storage.Version.Load(); now != s.version {
			return &Error{Kind: ErrGrad, Op: "backward", Operands: fmt.Sprintf("%s of shape %v", c.op.name, c.out.layout.Shape),
				Reason: fmt.Sprintf("%s, of shape %v, was changed in place after it was saved for the gradient (version %d, now %d)",
					s.what, s.tensor.layout.Shape, s.version, now),
				Hint: "change a Clone(), or use the method that returns a new tensor"}
		}
	}
	return nil
}

// Release drops the saved values.
func (c *call) Release() {
	if observed() && !c.released {
		c.announceReleased()
	}
	c.released = true
	c.along = nil
	for i := range c.saved {
		c.saved[i].tensor.storage = c.saved[i].tensor.storage.Elsewhere()
	}
}

// Gradient returns the gradient with respect to input i in the shape and dtype
// of that input.
func (c *call) Gradient(i int, g *Tensor) *Tensor {
	if g.node != nil {
		c = c.inGraph()
	}
	if observed() {
		defer c.enterGradient(i)()
	}
	in := c.in[i]
	of := c.gradient(i).of
	var grad *Tensor
	if c.op.composite { // it runs functions of the user
		grad = shown(g, func() *Tensor { return of(c, g, i) })
	} else {
		grad = of(c, g, i)
	}
	if c.op.broadcasts && !slices.Equal(grad.layout.Shape, in.layout.Shape) {
		grad = grad.sumTo(in.layout.Shape)
	}
	return grad.To(in.dtype, in.Device())
}

// inGraph returns the call with its saved values back in their graph, so that the
// gradient itself can be differentiated.
func (c *call) inGraph() *call {
	again := *c
	again.in = make([]*Tensor, len(c.in))
	attach := func(x *Tensor, node *autograd.Node[*Tensor]) *Tensor {
		attached := *x
		attached.node = node
		return &attached
	}
	for i, x := range c.in {
		again.in[i] = attach(x, c.inputs[i])
	}
	again.out = attach(c.out, c.node)
	return &again
}

// sumTo sums over the axes that broadcasting added or repeated.
func (t *Tensor) sumTo(shape []int) *Tensor {
	extra := len(t.layout.Shape) - len(shape)
	axes := make([]int, 0, len(t.layout.Shape))
	for i, size := range t.layout.Shape {
		if i < extra || shape[i-extra] == 1 && size != 1 {
			axes = append(axes, i)
		}
	}
	if len(axes) > 0 {
		t = t.Sum(append(axes, KeepDim)...)
	}
	return t.Reshape(shape...)
}

// operand turns a right-hand side, a tensor or a Go number, into a tensor. A
// number adapts to the dtype of the other operand, as in PyTorch.
func operand(op string, x any) *Tensor {
	if t, ok := x.(*Tensor); ok {
		return t // apply checks that it is valid
	}
	t, ok := fromNumber(x)
	if !ok {
		kind := "nil"
		if x != nil {
			kind = fmt.Sprintf("a %T", x)
		}
		fail(ErrValue, op, "", "the operand is "+kind, "give a *tensor.Tensor or a number")
	}
	t.number = true
	return t
}
