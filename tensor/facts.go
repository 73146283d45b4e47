package tensor

import (
	"hash/maphash"
	"math"
	"reflect"

	"github.com/lectern-go/lectern/autograd"
	"github.com/lectern-go/lectern/internal/facts"
	"github.com/lectern-go/lectern/tensor/internal/printed"
)

// stripLimit is how many elements of a memory the stepper of notebooks draws.
const stripLimit = 48

func init() {
	facts.Of = &facts.Library{
		Type:     reflect.TypeFor[*Tensor](),
		Describe: func(v any, limit int) (facts.Tensor, bool) { return factsOf(v.(*Tensor), limit) },
		Stamp:    func(v any) any { return stampOf(v.(*Tensor)) },
		Reach:    func(v any, visit func(any, int)) { reach(v.(*Tensor), visit) },
		Trace:    traceOps,
	}
}

func factsOf(t *Tensor, limit int) (f facts.Tensor, ok bool) {
	if t == nil || t.storage == nil || t.storage.freed {
		return f, false
	}
	f = facts.Tensor{Text: t.printable().Line(limit), Memory: MemoryOf(t), Size: t.storage.size, Dtype: t.dtype.String(), Shape: t.Shape(), Strides: t.Strides(),
		Offset: t.layout.Offset, Tracked: t.RequiresGrad()}
	if g := t.borrowGrad(); g != nil {
		f.Grad = g
	}
	if n := t.storage.size / t.dtype.Size(); n > 0 && n <= stripLimit && n*t.dtype.Size() == t.storage.size && t.backend() == nil {
		whole := t.alias(Layout{Shape: []int{n}, Strides: []int{1}})
		f.Strip = whole.printable().Elements()
	}
	return f, true
}

// A stamp tells states of a tensor apart.
type stamp struct {
	memory, grad           Memory
	version, gradVersion   uint64
	freed, tracked, isLeaf bool
	sum                    uint64 // of elements that somebody may write past the library: versions don't count that
}

func stampOf(t *Tensor) (s stamp) {
	if t == nil || t.storage == nil {
		return s
	}
	s.memory, s.version, s.freed = MemoryOf(t), t.storage.version.Load(), t.storage.freed
	if s.freed {
		return s
	}
	s.tracked, s.isLeaf = t.RequiresGrad(), t.IsLeaf()
	if t.storage.lent.Load() {
		s.sum = t.sumShown()
	}
	if g := t.borrowGrad(); g != nil && g.storage != nil {
		s.grad, s.gradVersion = MemoryOf(g), g.storage.version.Load()
	}
	return s
}

var stampSeed = maphash.MakeSeed()

// sumShown tells states of the elements apart that are printed.
func (t *Tensor) sumShown() uint64 {
	if t.backend() == nil && t.IsContiguous() && t.Len() <= printed.Threshold {
		size := t.dtype.Size()
		return maphash.Bytes(stampSeed, t.storage.bytes()[t.layout.Offset*size:][:t.Len()*size])
	}
	var h maphash.Hash
	h.SetSeed(stampSeed)
	a := t.printable()
	a.Shown(func(index []int) {
		if a.Float {
			maphash.WriteComparable(&h, math.Float64bits(a.At(index...)))
		} else {
			maphash.WriteComparable(&h, a.Whole(index...))
		}
	})
	return h.Sum64()
}

// reach visits what t keeps alive: its elements, its gradient, and what its graph has saved.
func reach(t *Tensor, visit func(memory any, size int)) {
	one := func(t *Tensor) {
		if t != nil && t.storage != nil && t.storage.device == nil && t.storage.data != nil {
			visit(MemoryOf(t), t.storage.size)
		}
	}
	if one(t); t == nil || t.storage == nil || t.storage.freed || !t.RequiresGrad() {
		return
	}
	root := t.graph()
	if root == nil {
		return
	}
	seen := map[*autograd.Node[*Tensor]]bool{root: true}
	for todo := []*autograd.Node[*Tensor]{root}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if g, ok := n.Grad(); ok {
			one(g)
		}
		if c, ok := n.Function().(*call); ok {
			for _, s := range c.saved {
				one(s.tensor)
			}
		}
		for _, in := range n.Inputs() {
			if in != nil && !seen[in] {
				seen[in] = true
				todo = append(todo, in)
			}
		}
	}
}

func traceOps(f func(facts.Op)) (stop func()) {
	return trace(&observer{1 << Ran, func(e Event) {
		f(facts.Op{Name: e.Op, Backward: e.Backward, Of: e.Of, Input: e.Input, Inputs: e.Inputs, Output: e.Output,
			FLOPs: e.FLOPs, Bytes: e.Bytes, Elapsed: e.Elapsed})
	}})
}
