package memory

import (
	"iter"
	"slices"
	"weak"

	"github.com/lectern-go/lectern/internal/goroutine"
)

// The collector sees only small objects of a device's memory, so a loop can fill a
// device before the collector runs; package gpu then starts it, which takes time. So
// scopes note the results that are made, to free them at once.

// FreeAfter runs f, and then frees all storages that were made in it, on its goroutine, and the gradients that it
// dropped, except for what outlives a step, and what f passes to keep. It does so even if f panics.
func FreeAfter(f func(keep func(*Storage))) {
	s := newScope(true)
	kept := map[*Storage]bool{}
	defer func() {
		for m := range s.dropped.all() {
			if !kept[m] {
				m.Free()
			}
		}
		for m := range s.made.all() {
			if kept[m] || m.outlives() {
				s.outer.note(m)
			} else {
				m.Free()
			}
		}
	}()
	scopes.With(s, func() { f(func(m *Storage) { kept[m] = true }) })
}

// scope holds what was made on a goroutine, in a function that will free it.
type scope struct {
	outer   *scope // nil if there is none
	all     bool   // it is a FreeAfter
	made    storages
	waiting []*Storage // of those, gradients that will be held
	dropped storages   // former gradients
}

// scopes is the innermost scope of each goroutine that is inside one.
var scopes goroutine.Local[*scope]

func newScope(all bool) *scope {
	outer, _ := scopes.Get()
	return &scope{outer: outer, all: all, made: storages{letGo: all}, dropped: storages{letGo: all}}
}

// note leaves m to s, or to the collector if s is nil, which means no scope. Only
// FreeAfter, which ends the use of all tensors alike, cares about small ones.
func (s *scope) note(m *Storage) {
	if s != nil && (s.all || m.pooled || m.Device != nil) {
		s.made.add(m)
	}
}

// storages are those that will be freed. Holding everything that a step makes until it
// ends would hold more than the step needs: the operands that an operation converts for
// itself, and everything that saved values are computed from. So the collector may take
// large ones that nothing else reaches.
type storages struct {
	held      []*Storage
	reachable []weak.Pointer[Storage]
	letGo     bool // of large ones
}

func (s *storages) add(m *Storage) {
	if s.letGo && m.Size >= Large {
		s.reachable = append(s.reachable, weak.Make(m))
	} else {
		s.held = append(s.held, m)
	}
}

// all yields those that are still there.
func (s *storages) all() iter.Seq[*Storage] {
	return func(yield func(*Storage) bool) {
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

// NoteMade notes that memory was taken.
func (s *Storage) NoteMade() {
	if inner, ok := scopes.Get(); ok {
		inner.note(s)
	}
}

// NoteWaiting notes that s is a gradient that was computed along with another one and will be asked for next.
func (s *Storage) NoteWaiting() {
	if inner, ok := scopes.Get(); ok {
		inner.waiting = append(inner.waiting, s)
	}
}

// NoteDropped notes that s holds no gradient any more.
func (s *Storage) NoteDropped() {
	inner, _ := scopes.Get()
	for inner != nil && !inner.all {
		inner = inner.outer
	}
	if inner != nil {
		inner.dropped.add(s)
	}
}

// Passing frees the memory of gradients while Backward goes on: each as soon as it has
// been passed on to the inputs, and what was needed to compute it even before. So they
// go through little memory, which stays in the near caches. Nothing else can hold them
// but a node, which marks what it keeps as Gradient, and functions of the user, which
// see what was lent.
type Passing struct {
	*scope                  // what was made since Hold was last called
	leave  func()           // ends the scope
	uses   map[*Storage]int // how often a gradient is on its way
}

// NewPassing begins on this goroutine.
func NewPassing() *Passing {
	p := &Passing{scope: newScope(false), uses: map[*Storage]int{}}
	p.leave = scopes.Set(p.scope)
	return p
}

// End leaves the rest, as after a panic, to the scope around it.
func (p *Passing) End() {
	p.leave()
	p.passOn()
	for m := range p.uses {
		p.outer.note(m)
	}
}

// Hold notes that g is on its way. Everything else that was made since the last call
// was needed to compute g, or is kept.
func (p *Passing) Hold(g *Storage) {
	for m := range p.made.all() {
		if m == g || slices.Contains(p.waiting, m) {
			p.uses[m] = 0
		} else {
			p.done(m)
		}
	}
	p.made.clear()
	p.waiting = p.waiting[:0]
	if n, mine := p.uses[g]; mine { // and neither an input of the graph nor a value that it saved
		p.uses[g] = n + 1
	}
}

// Drop notes that g has arrived.
func (p *Passing) Drop(g *Storage) {
	n, mine := p.uses[g]
	switch {
	case mine && n == 1:
		delete(p.uses, g)
		p.done(g)
	case mine:
		p.uses[g] = n - 1
	}
}

func (p *Passing) done(m *Storage) {
	if m.Lent() || m.outlives() {
		p.outer.note(m)
	} else {
		m.Free()
	}
}

// passOn leaves to the outer scope what s was to free.
func (s *scope) passOn() {
	for m := range s.made.all() {
		s.outer.note(m)
	}
	s.made.clear()
}

// Shown says that a function of the user has run inside a Passing, and may hold whatever it made.
func Shown() {
	if s, _ := scopes.Get(); s != nil && !s.all {
		s.passOn()
	}
}
