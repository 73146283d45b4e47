// Package stale keeps account of which cell reads what other cells have written. It says which cells have used
// something else than what is there now, and which depend on which.
//
// It goes by what has happened, not by where cells stand in the notebook, which a kernel isn't told: a cell depends on
// the cell that had last written what it read. So nothing is ever stale that runs for the first time, one cell after
// the other, however often a name gets another value on the way.
package stale

import "slices"

// A Run is what a cell has done.
type Run struct {
	ID       string   // of the cell: the same when it is run again
	Number   int      // of the execution
	Code     string   //
	Reads    []string // the names that it reached of what was there before
	Defines  []string // variables that it has defined, whatever they were before
	Declares []string // functions, types and constants that it has declared
	// Groups gives variables that share memory the same number.
	Groups map[string]int
	// Now is what names mean when the cell has ended: those of all variables and of all that any cell has read or
	// declared. A name that means nothing any more is left out.
	Now map[string]string
}

// A Cell is what is known of a cell from its last run.
type Cell struct {
	ID     string
	Number int
	Code   string

	reads  map[string]read
	makes  map[string]bool   // what it has defined or declared
	writes map[string]bool   // that, and the variables that it has changed
	marks  map[string]string // names it has used an earlier value of, with the cell whose run has changed them
	lost   map[string]bool   // those of them for which no value makes up: what it has made of them is lost
}

// A read is what a cell has seen.
type read struct {
	from string // the cell that had written it
	saw  string // what it meant
}

// A Book is the account of a kernel's cells. The zero value is an empty one.
type Book struct {
	cells   []*Cell // in the order of their first runs
	now     map[string]string
	writer  map[string]*Cell   // who has written a name last
	changes map[string][]*Cell // of a variable: who has defined it last, and who has changed it since
	groups  map[string]int     // as in a Run
	decls   map[string]bool    // names of declarations, which a cell can't change by running
}

// Cell returns the account of a cell, or nil.
func (b *Book) Cell(id string) *Cell {
	if i := slices.IndexFunc(b.cells, func(c *Cell) bool { return c.ID == id }); i >= 0 {
		return b.cells[i]
	}
	return nil
}

// Names are those whose meaning the book wants to know after each run, beside all variables.
func (b *Book) Names() map[string]bool {
	names := map[string]bool{}
	for _, c := range b.cells {
		for n := range c.reads {
			names[n] = true
		}
		for n := range c.makes {
			names[n] = true
		}
	}
	return names
}

// Ran takes down a run.
func (b *Book) Ran(r Run) {
	if b.now == nil {
		b.now, b.writer, b.changes, b.decls = map[string]string{}, map[string]*Cell{}, map[string][]*Cell{}, map[string]bool{}
	}
	c := b.Cell(r.ID)
	if c == nil {
		c = &Cell{ID: r.ID}
		b.cells = append(b.cells, c)
	}
	before := *c
	c.Number, c.Code, c.marks, c.lost = r.Number, r.Code, nil, nil
	c.reads, c.makes, c.writes = map[string]read{}, map[string]bool{}, map[string]bool{}
	for _, n := range r.Reads {
		x := read{saw: b.now[n]}
		if w := b.writer[n]; w == c { // what it has made of something itself
			x.from = before.reads[n].from
		} else if w != nil {
			x.from = w.ID
		}
		c.reads[n] = x
	}
	changed := map[string]bool{}
	for n, was := range b.now {
		changed[n] = r.Now[n] != was
	}
	for _, n := range slices.Concat(r.Defines, r.Declares) { // a new one, or one that meant nothing for a while
		changed[n] = r.Now[n] != b.now[n]
	}
	groups := b.groups
	b.now, b.groups = r.Now, r.Groups
	for _, n := range r.Declares {
		b.decls[n] = true
		c.makes[n] = true
	}
	for _, n := range r.Defines {
		b.decls[n] = false
		c.makes[n] = true
	}
	for n := range before.makes {
		if c.makes[n] {
			continue
		}
		for _, other := range b.cells { // what it no longer makes may be there still, but a fresh kernel wouldn't have it
			if other != c && other.reads[n].from == c.ID {
				other.mark(n, c)
			}
		}
	}
	for n := range c.makes {
		c.writes[n] = true
	}
	for n, yes := range changed {
		if yes {
			c.writes[n] = true
		}
	}
	for n := range c.writes {
		b.wrote(c, n, changed[n])
	}
	for n := range c.makes {
		if _, reads := c.reads[n]; !reads && !b.decls[n] {
			b.parted(c, n, groups)
		}
	}
}

// parted marks the cells that have made something which shared memory with a variable, as a view or a pointer does,
// that a cell has made anew. groups are those before.
func (b *Book) parted(c *Cell, n string, groups map[string]int) {
	for _, other := range b.cells {
		if other == c || other.reads[n].from != c.ID {
			continue
		}
		for y := range other.makes {
			if y != n && !c.makes[y] && groups[y] != 0 && groups[y] == groups[n] && b.groups[y] != 0 && b.groups[y] != b.groups[n] {
				other.lose(n, c)
			}
		}
	}
}

// Later takes down what names mean now, after something that a cell has left behind has run again, as a function does
// that a widget calls. What has changed is that cell's doing; if the cell isn't known any more, nobody's.
func (b *Book) Later(id string, now map[string]string, groups map[string]int) {
	if b.now == nil {
		return // nothing has run
	}
	changed := map[string]bool{}
	for n, was := range b.now {
		if now[n] != was {
			changed[n] = true
		}
	}
	b.now, b.groups = now, groups
	c := b.Cell(id)
	if c == nil {
		return
	}
	for _, n := range sorted(changed) {
		all := b.changes[n]
		c.writes[n] = true
		b.wrote(c, n, false)
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
		b.changes[n] = all // nothing is undone
	}
}

// wrote takes down that a cell has written a name.
func (b *Book) wrote(c *Cell, n string, changed bool) {
	_, reads := c.reads[n]
	if c.makes[n] && !reads {
		if old := b.changes[n]; changed && len(old) > 0 && old[0] == c && !b.decls[n] {
			for _, other := range old[1:] { // what they have made of it is undone
				if other != c {
					other.lose(n, c)
				}
			}
		}
		b.changes[n] = []*Cell{c}
	} else if !slices.Contains(b.changes[n], c) {
		b.changes[n] = append(b.changes[n], c)
	}
	b.writer[n] = c
	for _, other := range b.cells {
		if x, ok := other.reads[n]; ok && other != c && x.from == c.ID && !other.lost[n] {
			if x.saw != b.now[n] {
				if b.place(other) > b.place(c) || !b.depends(c, other) { // two that change a variable in turn don't mark each other
					other.mark(n, c)
				}
			} else {
				delete(other.marks, n)
			}
		}
	}
}

func (c *Cell) mark(name string, by *Cell) {
	if c.marks == nil {
		c.marks = map[string]string{}
	}
	c.marks[name] = by.ID
}

// depends reports whether a cell has read from another, itself or by way of others.
func (b *Book) depends(c, on *Cell) bool {
	seen := map[string]bool{}
	var from func(c *Cell) bool
	from = func(c *Cell) bool {
		if c == nil || seen[c.ID] {
			return false
		}
		seen[c.ID] = true
		for _, x := range c.reads {
			if x.from == on.ID || from(b.Cell(x.from)) {
				return true
			}
		}
		return false
	}
	return from(c)
}

// lose marks the cell because what it has made of a name is lost.
func (c *Cell) lose(name string, by *Cell) {
	c.mark(name, by)
	if c.lost == nil {
		c.lost = map[string]bool{}
	}
	c.lost[name] = true
}

// Forget takes cells out that are not in the notebook any more.
func (b *Book) Forget(ids ...string) {
	b.cells = slices.DeleteFunc(b.cells, func(c *Cell) bool { return slices.Contains(ids, c.ID) })
}

// Reset forgets all cells.
func (b *Book) Reset() { *b = Book{} }

// A Stale cell has used something that has changed since.
type Stale struct {
	*Cell
	Names  []string // what it has used, sorted
	Causes []string // the cells whose runs have changed that, sorted
}

// Stale returns the cells that have used something else than what is there now, or what such cells have
// made, in the order of their first runs.
func (b *Book) Stale() []Stale {
	found := map[string]*Stale{}
	add := func(c *Cell, name string, causes ...string) (more bool) {
		s := found[c.ID]
		if s == nil {
			s = &Stale{Cell: c}
			found[c.ID] = s
		}
		if !slices.Contains(s.Names, name) {
			s.Names, more = append(s.Names, name), true
		}
		for _, x := range causes {
			if !slices.Contains(s.Causes, x) {
				s.Causes, more = append(s.Causes, x), true
			}
		}
		return more
	}
	for _, c := range b.cells {
		for n, by := range c.marks {
			add(c, n, by)
		}
	}
	for more := true; more; {
		more = false
		for _, c := range b.cells {
			for n, x := range c.reads {
				from := found[x.from]
				if from == nil || x.from == c.ID || b.decls[n] {
					continue
				}
				causes := slices.DeleteFunc(slices.Clone(from.Causes), func(id string) bool { return id == c.ID }) // it has seen what it did itself
				if len(causes) > 0 {
					more = add(c, n, causes...) || more
				}
			}
		}
	}
	var list []Stale
	for _, c := range b.cells {
		if s := found[c.ID]; s != nil {
			slices.Sort(s.Names)
			slices.Sort(s.Causes)
			list = append(list, *s)
		}
	}
	return list
}

// Because returns the stale cells that the last run of a cell has made so, first those that have used a
// name that it has changed and then those that have used what came of it; and these names, sorted.
// Those that except accepts are left out.
func (b *Book) Because(id string, except func(*Cell) bool) (direct, indirect []*Cell, names []string) {
	changed := map[string]bool{}
	for _, s := range b.Stale() {
		if !slices.Contains(s.Causes, id) || except(s.Cell) {
			continue
		}
		marked := false
		for n, by := range s.marks {
			if by == id {
				changed[n], marked = true, true
			}
		}
		if marked {
			direct = append(direct, s.Cell)
		} else {
			indirect = append(indirect, s.Cell)
		}
	}
	return direct, indirect, sorted(changed)
}

// Next returns the stale cell that is to be run first, or nil: one that reads from no other stale cell, if there is
// one. It leaves out those that done accepts.
func (b *Book) Next(done func(*Cell) bool) *Cell {
	stale := b.Stale()
	stale = slices.DeleteFunc(stale, func(s Stale) bool { return done(s.Cell) })
	for _, s := range stale {
		waits := false
		for n, x := range s.reads {
			waits = waits || x.from != s.ID && !b.decls[n] && slices.ContainsFunc(stale, func(o Stale) bool { return o.ID == x.from })
		}
		if !waits {
			return s.Cell
		}
	}
	if len(stale) > 0 { // they read from each other
		return stale[0].Cell
	}
	return nil
}

// A Link says that a cell has read names that another one has written.
type Link struct {
	From, To *Cell
	Names    []string
}

// Links returns what depends on what, ordered by the cells that read.
func (b *Book) Links() (links []Link) {
	for _, c := range b.cells {
		at := len(links)
		for n, x := range c.reads {
			from := b.Cell(x.from)
			if from == nil || from == c {
				continue
			}
			i := slices.IndexFunc(links[at:], func(l Link) bool { return l.From == from })
			if i < 0 {
				links = append(links, Link{From: from, To: c})
				i = len(links) - 1 - at
			}
			links[at+i].Names = append(links[at+i].Names, n)
		}
		for i := range links[at:] {
			slices.Sort(links[at+i].Names)
		}
		slices.SortFunc(links[at:], func(x, y Link) int { return b.place(x.From) - b.place(y.From) })
	}
	return links
}

func (b *Book) place(c *Cell) int { return slices.Index(b.cells, c) }

// Cells returns all cells in the order of their first runs.
func (b *Book) Cells() []*Cell { return slices.Clone(b.cells) }

// Writes returns the names that the cell has defined, declared or changed, sorted.
func (c *Cell) Writes() []string { return sorted(c.writes) }

func sorted(m map[string]bool) []string {
	var names []string
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
