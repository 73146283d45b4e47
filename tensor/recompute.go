package tensor

import (
	"fmt"
	"sync/atomic"

	"github.com/lectern-go/lectern/autograd"
	"github.com/lectern-go/lectern/internal/goroutine"
)

// Recompute returns f(in...) and trades time for memory (activation checkpointing,
// gradient checkpointing): nothing that f computes on the way is saved for the
// gradient. When Backward gets there, it runs f again from the inputs, which are all
// that is kept.
//
//	h = tensor.Recompute(func(in ...*tensor.Tensor) *tensor.Tensor {
//		return in[0].Matmul(w1).ReLU().Matmul(w2).ReLU()
//	}, h)
//
// f must compute the same values when it is run again: random numbers repeat by themselves, and anything else that
// changes from run to run goes through [Once]. It may use leaves such as w1 directly, but results of tracked operations
// only as inputs: Backward panics otherwise. The result always takes part in gradients, unless recording is off. There
// are no second derivatives through it. A notebook keeps f for Backward in a later cell if it is a function or a
// function literal of a cell; see [RecomputeModule] for methods.
func Recompute(f func(in ...*Tensor) *Tensor, in ...*Tensor) *Tensor {
	if !GradEnabled() {
		return f(in...)
	}
	return (&segment{f: f}).record(in)
}

// Forwarder is a module, or anything else with a forward pass that takes one tensor.
type Forwarder interface {
	Forward(x *Tensor) *Tensor
}

// RecomputeModule is [Recompute] for m.Forward. A notebook keeps m for Backward in a
// later cell, if it keeps values of its type at all.
func RecomputeModule(m Forwarder, x *Tensor) *Tensor {
	if !GradEnabled() {
		return m.Forward(x)
	}
	return (&segment{module: m}).record([]*Tensor{x})
}

// record applies s, which is new.
func (s *segment) record(in []*Tensor) *Tensor {
	s.cast, _ = AutocastDtype()
	// The first input is a leaf without elements, so that a gradient is asked for even if
	// f uses only leaves that it captured.
	trigger := newTensor(Float32, []int{0}, false)
	trigger.node = autograd.Leaf[*Tensor]()
	return opRecompute.apply(s, append([]*Tensor{trigger}, in...)...)
}

// segment is the part of a computation that is run again.
type segment struct {
	f      func(in ...*Tensor) *Tensor // or else
	module Forwarder
	cast   Dtype     // what Autocast converted to, Float32 if it was off
	grads  []*Tensor // of the inputs, kept from when they are computed until they are fetched

	values  []any      // what Once returned in f, in order
	kept    []keptOnce // the same, as an earlier cell kept it, until f is run again
	next    int        // of values, while f is run again
	again   bool       // f is being run again
	outside *segment   // the one whose f, being run again, made this one
}

// running holds the segments whose f is being run, by goroutine.
var running goroutine.Local[*segment]

// run calls f with s as the segment that Once consults.
func (s *segment) run(again bool, in []*Tensor) *Tensor {
	s.again, s.next = again, 0
	for _, v := range s.kept {
		if v.Draw != nil {
			v.Other = *v.Draw
		}
		s.values = append(s.values, v.Other)
	}
	s.kept = nil
	if !again {
		s.outside, _ = running.Get()
	}
	defer running.Set(s)()
	if s.module != nil {
		return s.module.Forward(in[0])
	}
	return s.f(in...)
}

// Once returns compute(). In a function that [Recompute] runs again, it returns what
// it returned the first time, without calling compute: for layers that adapt to their
// inputs, which must happen only once, and for anything that differs a second time. It
// must be called on the goroutine that runs the function.
func Once[T any](compute func() T) T {
	s, ok := running.Get()
	if !ok {
		return compute()
	}
	v, ok := s.once(func() any { return compute() }).(T)
	if !ok {
		fail(ErrGrad, "recompute", "", "the function asks for different values than the first time", "it must do the same each time it is run")
	}
	return v
}

func (s *segment) once(compute func() any) any {
	if s.again {
		if s.next == len(s.values) {
			return nil
		}
		s.next++
		return s.values[s.next-1]
	}
	var v any
	if s.outside != nil {
		v = s.outside.once(compute)
	} else {
		v = compute()
	}
	s.values = append(s.values, v)
	return v
}

// The gradients are those of f, which is run again to get them.
var opRecompute opOf[*segment]

func init() {
	const everyInput = reads(1<<7 - 1)
	define(&opRecompute.op, op{
		name:      "recompute",
		variadic:  true,
		composite: true,
		forward: func(c *call) *Tensor {
			var out *Tensor
			NoGrad(func() { out = opRecompute.given(c).run(false, c.in[1:]) })
			for _, x := range c.in {
				if out.storage == x.storage {
					return out.Detach().Clone()
				}
			}
			return out.Detach()
		},
		gradients: []gradient{{everyInput, func(c *call, g *Tensor, i int) *Tensor {
			s := opRecompute.given(c)
			if g.node != nil {
				fail(ErrGrad, "recompute", describe(c.out), "gradients of gradients don't pass through a function that is run again", "leave Recompute out where CreateGraph is used")
			}
			if i == 0 {
				s.grads = s.backward(c, g)
				return newTensor(Float32, []int{0}, false)
			}
			grad := s.grads[i-1]
			s.grads[i-1] = nil
			if grad == nil { // f does not depend on it
				grad = c.in[i].beside(c.in[i].dtype, c.in[i].layout.Shape, true)
			}
			return grad
		}}},
	})
}

// recorded numbers the recorded operations, so that those of a segment can be told
// from older ones.
var recorded atomic.Uint64

// backward runs the segment again, recorded, and then Backward through it.
func (s *segment) backward(c *call, g *Tensor) []*Tensor {
	in := make([]*Tensor, len(c.in)-1)
	for i := range in {
		in[i] = c.in[i+1].Detach()
		if c.inputs[i+1] != nil {
			in[i].node = autograd.Leaf[*Tensor]()
		}
	}
	start := recorded.Load()
	var out *Tensor
	record(func() { Autocast(s.cast, func() { out = s.run(true, in) }) })
	root := out.graph()
	if root == nil {
		return make([]*Tensor, len(in))
	}
	for _, n := range autograd.Order(root) {
		if used, ok := n.Function().(*call); ok && used.number <= start {
			fail(ErrGrad, "recompute", describe(out), fmt.Sprintf("the function uses a result of %q, of shape %v, that was computed before", used.op.name, used.out.layout.Shape),
				"give it to Recompute as an input")
		}
	}
	out.Backward(WithGrad(g))
	grads := make([]*Tensor, len(in))
	for i, x := range in {
		grads[i] = x.Grad()
		x.ZeroGrad()
	}
	return grads
}

// record runs f with recording on, even inside NoGrad.
func record(f func()) {
	if GradEnabled() {
		f()
		return
	}
	noGrad.With(false, f)
}
