package tensor

import (
	"github.com/lectern-go/lectern/internal/goroutine"
	"github.com/lectern-go/lectern/tensor/internal/memory"
)

// Of a device's memory the collector sees nothing but small objects, so that a loop
// can fill a device before the collector runs; package gpu then starts it, which
// takes time. Free and FreeAfter give memory back at once. That of the processor is
// recycled then, see internal/memory.

// Free gives the memory of t back, for t and all its views: any further use of
// their elements panics. The next result of that size is then as fast as one in
// place. Slices that [Data] or RawBytes returned stay as they are.
func (t *Tensor) Free() {
	t.exist("free")
	t.storage.free()
}

func (s *storage) free() {
	if s.freed || s.size == 0 {
		return
	}
	s.freed = true
	switch {
	case s.memory != nil:
		s.memory.Free()
		s.memory = nil
	case s.pooled && !s.lent.Load():
		memory.Give(s.data, s.size)
	}
	s.data = nil // the rest is left to the collector
}

// FreeAfter runs f, and then gives back the memory of all tensors that were made in
// it, on its goroutine, except for parameters, gradients and the state of
// optimizers, which outlive a step, and of what f passes to keep, which returns
// its argument. Gradients are given back by the call in which ZeroGrad removes
// them:
//
//	for step := range steps {
//		tensor.FreeAfter(func(keep func(*tensor.Tensor) *tensor.Tensor) {
//			optimizer.ZeroGrad(true)
//			loss := model.Forward(x)
//			loss.Backward()
//			optimizer.Step()
//			last = keep(loss.Detach())
//		})
//	}
//
// It does so too if f panics. Calls may be nested. What was given back can't be
// used any more; see [Tensor.Free]. Until f ends all of it is held, so that f should
// be one step of a loop, not the loop.
func FreeAfter(f func(keep func(*Tensor) *Tensor)) {
	s := newScope(true)
	kept := map[*storage]bool{}
	defer func() {
		for _, m := range s.dropped {
			if !kept[m] {
				m.free()
			}
		}
		for _, m := range s.made {
			if kept[m] || m.outlives() {
				s.outer.note(m)
			} else {
				m.free()
			}
		}
	}()
	scopes.With(s, func() {
		f(func(t *Tensor) *Tensor {
			kept[t.storage] = true
			return t
		})
	})
}

// needMemory panics if the memory of s, that of an operand, was given back.
func (s *storage) needMemory(op string, operands ...*Tensor) {
	if s.freed {
		fail(ErrFreed, op, describe(operands...), "the memory of an operand was given back by Free, or by FreeAfter", "pass what is to outlive FreeAfter to keep")
	}
}

// outlives reports whether s is in use after the step that made it.
func (s *storage) outlives() bool {
	role := Role(s.role.Load())
	return role != NoRole && role != Input
}

// scope is what was made on a goroutine, in a function that will give it back.
type scope struct {
	outer   *scope // nil if there is none
	all     bool   // it is a FreeAfter
	made    []*storage
	dropped []*storage // gradients that are none any more
}

// scopes is the innermost scope of each goroutine that is inside one.
var scopes goroutine.Local[*scope]

func newScope(all bool) *scope {
	outer, _ := scopes.Get()
	return &scope{outer: outer, all: all}
}

// note leaves m to s; without a scope, which is nil, it is left to the collector. Only
// FreeAfter, which ends the use of all tensors alike, cares for small ones.
func (s *scope) note(m *storage) {
	if s != nil && (s.all || m.pooled || m.device != nil) {
		s.made = append(s.made, m)
	}
}

// noteMade notes that memory was taken.
func (s *storage) noteMade() {
	if inner, ok := scopes.Get(); ok {
		inner.note(s)
	}
}

// noteDropped notes that what s holds is nobody's gradient any more.
func (s *storage) noteDropped() {
	inner, _ := scopes.Get()
	for inner != nil && !inner.all {
		inner = inner.outer
	}
	if inner != nil {
		inner.dropped = append(inner.dropped, s)
	}
}
