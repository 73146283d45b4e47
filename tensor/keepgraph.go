package tensor

import (
	"github.com/lectern-go/lectern/autograd"
	"github.com/lectern-go/lectern/internal/cellstate"
	"github.com/lectern-go/lectern/tensor/internal/random"
)

// A graph lives on from one notebook cell to the next, so that the loss can be
// computed in one and Backward called in another. That is possible because an
// operation is a record known by its name: what else a call holds is data.
//
// Not all graphs are kept. One that Backward can't go through any more, as an
// earlier one released saved values, ends with its cell: its values are of no use.
// So does one that needs a function which package kernel/persist can't keep; the cell
// is told then. What is left in its place, an endedGraph, knows the reason.

// keptNode is a place in the graph as package kernel/persist sees it.
type keptNode autograd.Node[*Tensor]

// keptNodeState is what is kept of a place in the graph, with the operation that
// made the value. All that is plain data is one string: it takes less time than
// fields do, which matters as each cell that uses the graph writes it down again, and
// shares no memory with tensors that are not part of the graph.
type keptNodeState struct {
	Call    string      // see packCall; "" in a leaf
	Ended   *endedGraph // or else
	Attr    *keptAttr   // nil if there is none
	Values  []*storage  // of the values of the call, nil where they were not saved
	Inputs  []*keptNode
	Grad    *Tensor
	Retains bool
	Hooks   []func(*Tensor) *Tensor

	// Of operations that run functions.
	Function Differentiable
	Again    func(in ...*Tensor) *Tensor
	Module   Forwarder
	Once     []keptOnce
}

// keptOnce is a value that Once returned.
type keptOnce struct {
	Draw  *random.Draw
	Other any
}

// KeepState returns what is kept of n; see keep.go.
func (n *keptNode) KeepState() any {
	node := (*autograd.Node[*Tensor])(n)
	s := &keptNodeState{Retains: node.RetainsGrad()}
	if g, ok := node.Grad(); ok {
		g.storage.lend()
		s.Grad = g
	}
	if whyNotHooks(node) == "" {
		s.Hooks = node.Hooks()
	}
	switch f := node.Function().(type) {
	case nil:
		if why := whyNotHooks(node); why != "" {
			cellstate.Note(why + ": it ends with this cell, and so do graphs through it")
		}
	case *endedGraph:
		s.Ended = f
	case *call:
		if s.Ended = ends.of(node); s.Ended != nil {
			break
		}
		if cellstate.Spare() {
			s.Ended = &endedGraph{Op: f.op.name, Cell: cellstate.Cell(), Why: noRoom}
			cellstate.Note("gradient graphs end with this cell, since " + noRoom + ": call Backward in this cell")
			break
		}
		s.keep(f)
	}
	return s
}

const noRoom = "with what they saved the kept values would pass the limit that the environment variable LECTERN_KEEP_LIMIT sets"

// keep writes down a call.
func (s *keptNodeState) keep(c *call) {
	cast := Float32
	switch a := c.attr.(type) {
	case nil:
	case *custom:
		s.Function = a.of
	case *segment:
		s.Again, s.Module, s.Once, cast = a.f, a.module, a.kept, a.cast
		for _, v := range a.values {
			if d, ok := v.(random.Draw); ok {
				s.Once = append(s.Once, keptOnce{Draw: &d})
			} else {
				s.Once = append(s.Once, keptOnce{Other: v})
			}
		}
	default:
		s.Attr = keepAttr(a)
	}
	s.Call, s.Values = packCall(c, cast)
	s.Inputs = make([]*keptNode, len(c.inputs))
	for i, in := range c.inputs {
		s.Inputs[i] = (*keptNode)(in)
	}
}

// RestoreState makes n what KeepState returned. What n points at may be restored
// later: only pointers are taken over.
func (n *keptNode) RestoreState(state any) {
	s := state.(*keptNodeState)
	node := (*autograd.Node[*Tensor])(n)
	switch {
	case s.Call == "" && s.Ended == nil:
		*node = *autograd.Leaf[*Tensor]()
	case s.Ended != nil:
		*node = *autograd.Record(autograd.Function[*Tensor](s.Ended))
	default:
		c := s.call()
		c.node = node
		*node = *autograd.Record(c, c.inputs...)
	}
	if s.Retains {
		node.RetainGrad()
	}
	if s.Grad != nil {
		node.SetGrad(s.Grad)
	}
	for _, hook := range s.Hooks {
		node.OnGrad(hook)
	}
}

// call returns the call that was written down. It is older than any that this cell
// records, as its number 0 says.
func (s *keptNodeState) call() *call {
	c, cast := unpackCall(s.Call, s.Values)
	switch {
	case s.Function != nil:
		c.attr = &custom{Function: s.Function.Function(), of: s.Function}
	case s.Again != nil, s.Module != nil:
		c.attr = &segment{f: s.Again, module: s.Module, cast: cast, kept: s.Once}
	case s.Attr != nil:
		c.attr = s.Attr.value()
	}
	c.inputs = make([]*autograd.Node[*Tensor], len(s.Inputs))
	for i, in := range s.Inputs {
		c.inputs[i] = (*autograd.Node[*Tensor])(in)
	}
	return c
}
