package tensor

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lectern-go/lectern/autograd"
	"github.com/lectern-go/lectern/internal/goroutine"
	"github.com/lectern-go/lectern/tensor/internal/memory"
)

// RequireGrad makes t a leaf of the graph: Backward will leave the gradient of
// the loss with respect to t in t.Grad(). It returns t. It panics if t is not floating
// point. A tensor that is the result of tracked operations already takes part, and
// stays as it is.
func (t *Tensor) RequireGrad() *Tensor {
	t.exist("require grad")
	if !t.dtype.IsFloat() {
		fail(ErrDtype, "require grad", t.dtype.String(), "only floating-point tensors have gradients", "convert with To(tensor.Float32)")
	}
	if !t.RequiresGrad() {
		// A leaf has no history, not even that of the tensor it is a view of.
		t.node, t.base = autograd.Leaf[*Tensor](), nil
		t.storage.Role.CompareAndSwap(uint32(NoRole), uint32(Parameter))
		if observed() {
			announceStorage(RoleSet, t)
		}
	}
	return t
}

// StopGrad takes a leaf out of the graph: it no longer requires a gradient, and
// the one it holds is dropped. It returns t. It panics if t is the result of an
// operation; Detach gives a view of it outside the graph.
func (t *Tensor) StopGrad() *Tensor {
	t.exist("stop grad")
	if !t.IsLeaf() {
		fail(ErrGrad, "stop grad", describe(t), fmt.Sprintf("the tensor is the result of %q; only a leaf can be taken out of the graph", t.graph().Function().Name()),
			"use Detach()")
	}
	t.node = nil
	return t
}

// RequiresGrad reports whether t takes part in a gradient.
func (t *Tensor) RequiresGrad() bool {
	t.known("requires grad")
	if t.upToDate() {
		return t.node != nil
	}
	return t.base.node != nil
}

// IsLeaf reports whether t has no history: it was made by the user, or without
// recording.
func (t *Tensor) IsLeaf() bool {
	t.known("is leaf")
	if t.upToDate() {
		return t.node == nil || t.node.IsLeaf()
	}
	return t.base.node == nil
}

// Grad returns the gradient that Backward left, or nil. It is the tensor
// itself, not a copy. Results of operations keep theirs only after RetainGrad.
func (t *Tensor) Grad() *Tensor {
	t.known("grad")
	g := t.borrowGrad()
	if g != nil {
		g.storage.Lend()
	}
	return g
}

// borrowGrad is Grad for callers that let go of it before ZeroGrad removes it: its
// memory may then go to another tensor.
func (t *Tensor) borrowGrad() *Tensor {
	node := t.node
	if !t.upToDate() && t.base.node != nil {
		node = t.graph()
	}
	if node == nil {
		return nil
	}
	g, _ := node.Grad()
	return g
}

// SetGrad replaces the gradient; nil removes it. It panics if t takes no part in
// gradients, or if the shape or dtype of g differs.
func (t *Tensor) SetGrad(g *Tensor) {
	t.exist("set grad")
	if g == nil {
		t.ZeroGrad()
		return
	}
	t.existBeside("set grad", g)
	t.settle()
	if t.node == nil {
		fail(ErrGrad, "set grad", describe(t), "the tensor does not require a gradient", "call RequireGrad first")
	}
	if !slices.Equal(g.layout.Shape, t.layout.Shape) || g.dtype != t.dtype {
		fail(ErrShape, "set grad", describe(t, g), "a gradient has the shape and dtype of its tensor", "")
	}
	g.storage.Lend()
	t.node.SetGrad(ownGradient(g))
}

// ZeroGrad removes the gradient, so that the next Backward starts afresh.
func (t *Tensor) ZeroGrad() {
	t.exist("zero grad")
	t.settle()
	if t.node == nil {
		return
	}
	if g, ok := t.node.Grad(); ok {
		t.node.ClearGrad()
		if g.storage.Lent() {
			g.storage.NoteDropped()
		} else {
			g.storage.Free()
		}
	}
}

// RetainGrad makes Backward keep the gradient of a result, as it does for
// leaves. It returns t. It panics if t takes no part in gradients.
func (t *Tensor) RetainGrad() *Tensor {
	t.exist("retain grad")
	if !t.RequiresGrad() {
		fail(ErrGrad, "retain grad", describe(t), "the tensor does not take part in a gradient", "call RequireGrad on an input first")
	}
	t.settle()
	t.node.RetainGrad()
	return t
}

// OnGrad adds a hook that Backward calls with the gradient of t, once it is complete.
// What the hook returns takes the gradient's place; nil leaves it as it is. OnGrad
// panics if t takes no part in gradients, and Backward panics if the hook returns
// another shape or dtype. A notebook keeps the hook for later cells if it is a
// function or a function literal of a cell.
func (t *Tensor) OnGrad(hook func(g *Tensor) *Tensor) {
	t.exist("on grad")
	if !t.RequiresGrad() {
		fail(ErrGrad, "hook", describe(t), "the tensor does not take part in a gradient", "call RequireGrad first")
	}
	t.settle()
	t.node.OnGrad(hook)
}

// callHook returns the gradient to continue with after a hook has seen g.
func callHook(hook func(*Tensor) *Tensor, g *Tensor) *Tensor {
	h := shown(g, func() *Tensor { return hook(g) })
	if h == nil {
		return g
	}
	if !slices.Equal(h.layout.Shape, g.layout.Shape) || h.dtype != g.dtype {
		fail(ErrShape, "hook", fmt.Sprintf("%s %s", describe(g, h), h.dtype), fmt.Sprintf("a hook must return a gradient of the same shape and dtype, %v %s", g.layout.Shape, g.dtype), "")
	}
	return h
}

// Detach returns a view of t that takes no part in gradients. It shares the
// storage.
func (t *Tensor) Detach() *Tensor {
	t.known("detach")
	return t.alias(t.layout)
}

// A BackwardOption changes what Backward does.
type BackwardOption func(*backwardOptions)

type backwardOptions struct {
	retain, create bool
	grad           *Tensor
	only           map[*autograd.Node[*Tensor]]*Tensor // see Grad
}

// Retain keeps the saved values, so that Backward can be called again.
func Retain() BackwardOption { return func(o *backwardOptions) { o.retain = true } }

// CreateGraph records the operations of Backward, so that gradients can
// themselves be differentiated. It implies Retain.
func CreateGraph() BackwardOption {
	return func(o *backwardOptions) { o.create, o.retain = true, true }
}

// WithGrad starts from g, the gradient of the loss with respect to t, instead
// of 1. It is needed where t is not a single number.
func WithGrad(g *Tensor) BackwardOption { return func(o *backwardOptions) { o.grad = g } }

// Backward computes the gradient of t with respect to every leaf that t was computed
// from, and adds it to the leaf's Grad.
//
// It panics if t takes no part in gradients, if t is not a single number and no
// gradient is given, if an earlier Backward released the saved values, or if one of
// them has been changed in place since. Then no gradient has changed.
//
// In a notebook, t may have been computed in an earlier cell. If its graph can't be
// kept, the cell that computed t says so and why.
func (t *Tensor) Backward(options ...BackwardOption) {
	t.exist("backward")
	var o backwardOptions
	for _, option := range options {
		option(&o)
	}
	t.backward(&o)
}

// Grad returns the gradients of loss with respect to inputs, which may be leaves or
// results that loss was computed from. It changes no tensor's Grad. The gradients that
// it returns share no storage with other tensors, and are recorded, as with
// [CreateGraph], so that they can be differentiated again:
//
//	slope := tensor.Grad(y, x)[0]
//	curvature := tensor.Grad(slope.Sum(), x)[0]
//
// It panics as Backward does, if loss is not a single number, or if it does not depend on one of the inputs.
func Grad(loss *Tensor, inputs ...*Tensor) []*Tensor {
	o := backwardOptions{retain: true, create: true, only: map[*autograd.Node[*Tensor]]*Tensor{}}
	loss.exist("grad")
	for i, x := range inputs {
		x.exist("grad")
		if !x.RequiresGrad() {
			fail(ErrGrad, "grad", describe(loss, x), fmt.Sprintf("input %d takes no part in a gradient", i), "call RequireGrad on it before computing the loss")
		}
		o.only[x.graph()] = nil
	}
	loss.backward(&o)
	grads := make([]*Tensor, len(inputs))
	for i, x := range inputs {
		if grads[i] = o.only[x.graph()]; grads[i] == nil {
			fail(ErrGrad, "grad", describe(loss, x), fmt.Sprintf("the loss was not computed from input %d", i), "")
		}
		grads[i].storage.Lend()
	}
	return grads
}

func (t *Tensor) backward(o *backwardOptions) {
	if observed() {
		defer enterBackward()()
	}
	root := t.graph()
	if root == nil {
		fail(ErrGrad, "backward", describe(t), "the tensor was not computed from one that requires a gradient", "call RequireGrad on an input before computing")
	}
	rules := autograd.Rules[*Tensor]{Add: (*Tensor).addGradient, Own: ownGradient, Hook: callHook, Retain: o.retain, Only: o.only}
	if !o.create {
		p := memory.NewPassing()
		defer p.End()
		rules.Reuse = passing{p}
	}
	seed := o.grad
	switch {
	case seed == nil && t.Len() != 1:
		fail(ErrGrad, "backward", describe(t), "without a starting gradient, the tensor must hold exactly one number",
			"reduce with Sum or Mean, or pass tensor.WithGrad")
	case seed == nil:
		seed = t.beside(t.dtype, t.layout.Shape, false)
		seed.fill(1)
	case !slices.Equal(seed.layout.Shape, t.layout.Shape):
		fail(ErrShape, "backward", describe(t, seed), "the given gradient has another shape than the tensor", "")
	default:
		seed = seed.Detach().To(t.dtype).inOrderCopy()
	}
	if o.create {
		seed.node = autograd.Leaf[*Tensor]()
	}
	defer suspendAutocast()()
	if err := autograd.Backward(root, seed, rules); err != nil {
		var mine *Error
		if errors.As(err, &mine) {
			fail(mine.Kind, mine.Op, mine.Operands, mine.Reason, mine.Hint)
		}
		var freed *autograd.FreedError
		if errors.As(err, &freed) {
			fail(ErrGrad, "backward", describe(t), "the values saved by \""+freed.Op+"\" were released by an earlier Backward",
				"call the first one with tensor.Retain(), or compute the loss again")
		}
		panic(err)
	}
}

func (t *Tensor) addGradient(g *Tensor) *Tensor { return t.Add(g) }

// ownGradient returns a tensor that a node may keep: contiguous, and not kept by
// another node.
func ownGradient(g *Tensor) *Tensor {
	if !g.IsContiguous() || g.Bytes() != g.storage.Size || !g.storage.Role.CompareAndSwap(uint32(NoRole), uint32(Gradient)) {
		g = g.inOrderCopy()
		g.storage.Role.Store(uint32(Gradient))
	}
	if g.node != nil { // a graph may have saved it
		g.storage.Lend()
	}
	if observed() {
		announceStorage(RoleSet, g)
	}
	return g
}

// passing frees the memory of gradients while Backward goes on.
type passing struct{ *memory.Passing }

func (p passing) Hold(g *Tensor) { p.Passing.Hold(g.storage) }
func (p passing) Drop(g *Tensor) { p.Passing.Drop(g.storage) }

// AddTo adds g to the gradient that a node keeps, unless other code may hold that
// gradient and must not see it change.
func (passing) AddTo(kept, g *Tensor) bool {
	if kept.storage.Lent() || kept.node != nil || g.node != nil {
		return false
	}
	NoGrad(func() { kept.AddInPlace(g) })
	return true
}

// shown calls f, a function of the user that sees the gradient g: it may hold on to g,
// to whatever it makes, and to what it returns, for longer than Backward and ZeroGrad.
func shown(g *Tensor, f func() *Tensor) *Tensor {
	g.storage.Lend()
	out := f()
	if out != nil {
		out.storage.Lend()
	}
	memory.Shown()
	return out
}

// noGrad is true for the goroutines that are inside NoGrad.
var noGrad goroutine.Local[bool]

// NoGrad runs f without recording: results of operations take no part in
// gradients. It applies to the goroutine that calls it, not to others, nor to those
// that f starts.
//
//go:noinline // a program would compile all that goroutine.Local is made of
func NoGrad(f func()) { noGrad.With(true, f) }

// GradEnabled reports whether operations of this goroutine are recorded.
func GradEnabled() bool {
	off, _ := noGrad.Get()
	return !off
}
