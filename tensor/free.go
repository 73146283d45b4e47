package tensor

import (
	"iter"
	"weak"

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
// used any more; see [Tensor.Free]. What f can't reach any more the collector may take
// before f ends, but it needs time to find that, so that f should be one step of a loop,
// not the loop.
func FreeAfter(f func(keep func(*Tensor) *Tensor)) {
	s := newScope(true)
	kept := map[*storage]bool{}
	defer func() {
		for m := range s.dropped.all() {
			if !kept[m] {
				m.free()
			}
		}
		for m := range s.made.all() {
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
	made    storages
	dropped storages // gradients that are none any more
}

// scopes is the innermost scope of each goroutine that is inside one.
var scopes goroutine.Local[*scope]

func newScope(all bool) *scope {
	outer, _ := scopes.Get()
	return &scope{outer: outer, all: all, made: storages{letGo: all}, dropped: storages{letGo: all}}
}

// note leaves m to s; without a scope, which is nil, it is left to the collector. Only
// FreeAfter, which ends the use of all tensors alike, cares for small ones.
func (s *scope) note(m *storage) {
	if s != nil && (s.all || m.pooled || m.device != nil) {
		s.made.add(m)
	}
}

// storages are those that will be given back. What holds all that a step makes until the
// step ends, holds more than the step needs: the operands that an operation converts
// for itself, and all that saved values are computed from. So the collector may take
// large ones that nobody else reaches.
type storages struct {
	held      []*storage
	reachable []weak.Pointer[storage]
	letGo     bool // of large ones
}

func (s *storages) add(m *storage) {
	if s.letGo && m.size >= large {
		s.reachable = append(s.reachable, weak.Make(m))
	} else {
		s.held = append(s.held, m)
	}
}

// all goes through those that are still there.
func (s *storages) all() iter.Seq[*storage] {
	return func(yield func(*storage) bool) {
		for _, m := range s.held {
			if !yield(m) {
				return
			}
		}
		for _, p := range s.reachable {
			if m := p.Value(); m != nil && !yield(m) {
				return
			}
		}
	}
}

// clear forgets them all.
func (s *storages) clear() { s.held, s.reachable = s.held[:0], s.reachable[:0] }

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
		inner.dropped.add(s)
	}
}

// passing gives the memory of gradients back while Backward goes on: each as soon
// as it was passed on to the inputs, and what was needed to compute it even before.
// So they go through little memory, which stays in the near caches. Nobody else can
// hold them but a node, which marks what it keeps as Gradient, and functions of the
// user, which see them by [shown].
type passing struct {
	*scope                  // what was made since Hold was last called
	leave  func()           // ends the scope
	uses   map[*storage]int // how often a gradient is on its way
}

func newPassing() *passing {
	p := &passing{scope: newScope(false), uses: map[*storage]int{}}
	p.leave = scopes.Set(p.scope)
	return p
}

// end leaves what is still there, as after a panic, to whoever called Backward.
func (p *passing) end() {
	p.leave()
	p.passOn()
	for m := range p.uses {
		p.outer.note(m)
	}
}

// Hold notes that g is on its way. All else that was made since the last call was
// needed to compute g, or is kept.
func (p *passing) Hold(g *Tensor) {
	for m := range p.made.all() {
		if m == g.storage {
			p.uses[m] = 0
		} else {
			p.done(m)
		}
	}
	p.made.clear()
	if n, mine := p.uses[g.storage]; mine { // and neither an input of the graph nor a value that it saved
		p.uses[g.storage] = n + 1
	}
}

// Drop notes that g has arrived.
func (p *passing) Drop(g *Tensor) {
	n, mine := p.uses[g.storage]
	switch {
	case mine && n == 1:
		delete(p.uses, g.storage)
		p.done(g.storage)
	case mine:
		p.uses[g.storage] = n - 1
	}
}

// AddTo adds g to the gradient that a node keeps, unless somebody else may have
// that one, who is not to see it change.
func (*passing) AddTo(kept, g *Tensor) bool {
	if kept.storage.lent.Load() || kept.node != nil || g.node != nil {
		return false
	}
	NoGrad(func() { kept.AddInPlace(g) })
	return true
}

func (p *passing) done(m *storage) {
	if m.lent.Load() || m.outlives() {
		p.outer.note(m)
	} else {
		m.free()
	}
}

// passOn leaves to the outer scope what s was to give back.
func (s *scope) passOn() {
	for m := range s.made.all() {
		s.outer.note(m)
	}
	s.made.clear()
}

// shown calls f, a function of the user, which sees the gradient g: it may hold that,
// whatever it makes, and what it returns, for longer than Backward and ZeroGrad.
func shown(g *Tensor, f func() *Tensor) *Tensor {
	g.storage.lend()
	out := f()
	if out != nil {
		out.storage.lend()
	}
	if s, _ := scopes.Get(); s != nil && !s.all {
		s.passOn()
	}
	return out
}
