package tensor

import (
	"fmt"
	"sync"

	"github.com/lectern-go/lectern/autograd"
	"github.com/lectern-go/lectern/internal/cellstate"
	"github.com/lectern-go/lectern/tensor/internal/random"
)

// Which graphs end with their notebook cell, and what is left of them.

// endedGraph stands for a graph that ended with the cell that made it.
type endedGraph struct {
	Op       string // the operation that made the value
	Released string // the operation whose saved values Backward released, or else

	Why  string // the reason why it was not kept
	Cell int    // the last cell that had it, or else

	Freed                  bool // what Ready said, with ErrFreed or ErrGrad
	Operands, Reason, Hint string
}

// Name returns the name of the operation.
func (e *endedGraph) Name() string { return e.Op }

// Ready says why there is no gradient any more.
func (e *endedGraph) Ready() error {
	switch {
	case e.Released != "":
		return &autograd.FreedError{Op: e.Released}
	case e.Why != "":
		return &Error{Kind: ErrGrad, Op: "backward", Reason: fmt.Sprintf("the graph behind a result of %q ended with cell %d, since %s", e.Op, e.Cell, e.Why),
			Hint: "compute the loss and call Backward in the same cell"}
	case e.Freed:
		return &Error{Kind: ErrFreed, Op: "backward", Operands: e.Operands, Reason: e.Reason, Hint: e.Hint}
	}
	return &Error{Kind: ErrGrad, Op: "backward", Operands: e.Operands, Reason: e.Reason, Hint: e.Hint}
}

func (e *endedGraph) Gradient(int, *Tensor) *Tensor { return nil }
func (e *endedGraph) Release()                      {}

// endings finds out whether graphs can be kept, once for each node and each time
// that a cell is saved.
type endings struct {
	sync.Mutex
	known map[*autograd.Node[*Tensor]]*endedGraph // nil if the graph can be kept
}

var ends = endings{known: map[*autograd.Node[*Tensor]]*endedGraph{}}

func init() {
	cellstate.Register("tensor/graphs", func() []byte { // called when all is saved
		ends.Lock()
		defer ends.Unlock()
		clear(ends.known)
		return nil
	}, func([]byte) error { return nil })
}

// of returns what is left of the graph of a node, or nil if it can be kept whole.
func (e *endings) of(root *autograd.Node[*Tensor]) *endedGraph {
	e.Lock()
	defer e.Unlock()
	path := []*autograd.Node[*Tensor]{root} // a stack of its own, as graphs may be deep
	for len(path) > 0 {
		n := path[len(path)-1]
		if _, done := e.known[n]; done {
			path = path[:len(path)-1]
			continue
		}
		var end *endedGraph
		open := len(path)
		for _, in := range n.Inputs() {
			if in == nil {
				continue
			}
			found, done := e.known[in]
			if !done {
				path = append(path, in)
			} else if found != nil {
				end = found // the last one: Backward meets it first
			}
		}
		if len(path) > open {
			continue
		}
		path = path[:open-1]
		if own := ownEnd(n); own != nil {
			end = own
		}
		if end != nil && n.Function() != nil && end.Op != n.Function().Name() {
			named := *end
			named.Op = n.Function().Name()
			end = &named
		}
		e.known[n] = end
	}
	return e.known[root]
}

// ownEnd returns why Backward can't go through n itself, in this cell or in a later
// one, or nil if it can.
func ownEnd(n *autograd.Node[*Tensor]) *endedGraph {
	if f, ok := n.Function().(*endedGraph); ok {
		return f
	}
	c, _ := n.Function().(*call)
	if c != nil {
		switch err := c.Ready().(type) {
		case *autograd.FreedError:
			return &endedGraph{Op: c.op.name, Released: err.Op}
		case *Error:
			return &endedGraph{Op: c.op.name, Freed: err.Kind == ErrFreed, Operands: err.Operands, Reason: err.Reason, Hint: err.Hint}
		}
	}
	why := whyNotHooks(n)
	hint := "call Backward in this cell"
	if c != nil {
		switch a := c.attr.(type) {
		case *custom:
			if !cellstate.Keeps(a.of) {
				why = fmt.Sprintf("the derivative of %q is a function that can't be kept", a.Name)
				hint += ", or pass tensor.Apply a value of a type with a method Function"
			}
		case *segment:
			if !a.keeps() {
				why = "what Recompute is to run again is a function that can't be kept"
				hint += ", or use tensor.RecomputeModule"
			}
		}
	}
	if why == "" {
		return nil
	}
	if c == nil {
		return &endedGraph{Cell: cellstate.Cell(), Why: why}
	}
	cellstate.Note("the gradient graph ends with this cell, since " + why + ": " + hint)
	return &endedGraph{Op: c.op.name, Cell: cellstate.Cell(), Why: why}
}

// whyNotHooks says why the hooks of a node can't be kept, "" if they can.
func whyNotHooks(n *autograd.Node[*Tensor]) string {
	for _, hook := range n.Hooks() {
		if !cellstate.Keeps(hook) {
			return "a hook that OnGrad was given is a function that can't be kept"
		}
	}
	return ""
}

// keeps reports whether a segment can be run again in a later cell.
func (s *segment) keeps() bool {
	for _, v := range s.values {
		if _, ok := v.(random.Draw); !ok && !cellstate.Keeps(v) {
			return false
		}
	}
	return cellstate.Keeps(s.f) && cellstate.Keeps(s.module)
}
