package tensor

// passing gives the memory of gradients back while Backward goes on: each as soon
// as it was passed on to the inputs, and what was needed to compute it even before.
// So they go through little memory, which stays in the near caches. Nobody else can
// hold them but a node, which marks what it keeps as Gradient, and functions of the
// user, which see them by [shown].
type passing struct {
	*scope                  // what was made since hold was last called
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

// hold notes that g is on its way. All else that was made since the last call was
// needed to compute g, or is kept.
func (p *passing) hold(g *Tensor) {
	for _, m := range p.made {
		if m == g.storage {
			p.uses[m] = 0
		} else {
			p.done(m)
		}
	}
	p.made = p.made[:0]
	if n, mine := p.uses[g.storage]; mine { // and neither an input of the graph nor a value that it saved
		p.uses[g.storage] = n + 1
	}
}

// drop notes that g has arrived.
func (p *passing) drop(g *Tensor) {
	n, mine := p.uses[g.storage]
	switch {
	case mine && n == 1:
		delete(p.uses, g.storage)
		p.done(g.storage)
	case mine:
		p.uses[g.storage] = n - 1
	}
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
	for _, m := range s.made {
		s.outer.note(m)
	}
	s.made = s.made[:0]
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
