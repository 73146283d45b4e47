package rewrite

import (
	"fmt"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// A Chain makes one program of cells that are to run one after another, where building a program takes longer than
// most of them run. The program has a function for each cell, which does what the cell's own program does; between
// them values are kept as usual. Variables that the program has already need not be restored.
//
// A cell is part of a chain only where that makes no difference. Whatever one process does not do for several cells as
// one process each would, ends the chain: types that get a new meaning, goroutines, standard input, and packages that
// report on the process. A function or variable that a cell declares again has another name in the program from there
// on, and so do functions that use it.
//
// Package export makes a program of cells, too: one to be read, which keeps nothing and knows no places of cells.
type Chain struct {
	cells     []int                        // that have something to run
	imports   map[string]string            // names to paths
	blank     map[string]bool              // paths imported for their effect
	decls     map[string]string            // text of what declares a name, as the last cell has it
	called    map[string]string            // functions and variables by now
	meant     map[string]map[string]string // those that declarations use, as they were called then
	mentioned map[string]bool              // functions that are values somewhere
	touched   map[string]bool              // variables that a cell has restored or defined
	known     map[string]bool              // what cells have told package persist, once for all
	body      Text
	main      strings.Builder
}

const (
	// PartName begins the names of the functions that run the cells of a chain.
	PartName = ownPrefix + "Cell"
	// AgainName begins the new names of what a cell of a chain declares again; the cell's number and _ follow.
	AgainName = ownPrefix + "Again"
)

// Add adds a cell, unless it must have a program of its own.
func (c *Chain) Add(cell int, r *Result) bool {
	if len(r.Errors) > 0 || r.Whole != "" || len(r.Commands) > 0 || r.Wasm || r.GoNB != "" || r.Cgo || r.Tests || r.Race || r.Timed || r.Steps || r.Args != "" ||
		len(r.Earlier) > 0 || len(r.Removed) > 0 || len(r.Forget) > 0 || r.Missing != "" {
		return false
	}
	if c.decls == nil {
		c.imports, c.blank = map[string]string{persistName: persistPath}, map[string]bool{}
		c.decls, c.called, c.meant = map[string]string{}, map[string]string{}, map[string]map[string]string{}
		c.mentioned, c.touched, c.known = map[string]bool{}, map[string]bool{}, map[string]bool{}
	}
	declared := link{Chain: c, again: map[string]bool{}}
	for _, name := range r.Declares { // perhaps none of them is in a program yet
		declared.again[name] = c.called[name] != ""
	}
	if declared.held() {
		return false
	} else if r.Program == nil {
		return true
	}
	p := link{Chain: c, cell: cell, r: r, names: map[string]string{}, again: map[string]bool{}}
	for _, name := range r.Defines {
		if c.touched[name] && !slices.Contains(r.Restores, name) { // pointers to the earlier one must not see the new one
			p.again[name] = true
		}
	}
	if !p.read() || !p.fit() {
		return false
	}
	for _, name := range slices.Concat(r.Restores, r.Defines) {
		c.touched[name] = true
	}
	p.write()
	c.cells = append(c.cells, cell)
	return true
}

// Cells are those with something to run.
func (c *Chain) Cells() []int { return c.cells }

// Program is package main, with the paths that it imports.
func (c *Chain) Program() (program *Text, imports []string) {
	t := &Text{}
	t.Inject("package main\n")
	t.imports(c.imports)
	for _, path := range c.imports {
		imports = append(imports, path)
	}
	for _, path := range sortedKeys(c.blank) {
		if !slices.Contains(imports, path) {
			t.Inject(fmt.Sprintf("import _ %q\n", path))
			imports = append(imports, path)
		}
	}
	t.Inject("func main() {\n", c.main.String(), "}\n") // before the cells' code, so that it is no line of theirs
	t.Append(&c.body)
	slices.Sort(imports)
	return t, slices.Compact(imports)
}

// link is the program of a cell on its way into a chain.
type link struct {
	*Chain
	cell   int
	r      *Result
	names  map[string]string // of imports, to paths
	pieces []*chained        // its declarations
	inside *chained          // of main
	again  map[string]bool   // what it declares again, and functions that use that
}

// chained is a piece of a program on its way into a chain.
type chained struct {
	*Piece
	code  string
	there bool // the chain has it already
}

// tellers are packages through which a program looks at its process, or whose state in it ends with a cell.
var tellers = map[string]bool{"expvar": true, "flag": true, "log": true, "os/signal": true, "runtime": true, "runtime/debug": true, "runtime/metrics": true,
	"runtime/pprof": true, "runtime/trace": true, "testing": true, "unsafe": true, measurePath: true, widgetPath: true}

// read takes the program apart, and reports whether it may be part of a chain.
func (p *link) read() bool {
	if p.r.effects.alone() || slices.ContainsFunc(p.r.Imports, func(path string) bool { return tellers[path] }) {
		return false
	}
	pieces, main, err := p.r.Pieces()
	if err != nil {
		return false
	}
	p.inside = &chained{Piece: main}
	for _, d := range pieces {
		p.pieces = append(p.pieces, &chained{Piece: d, code: d.String()})
	}
	for _, d := range append(pieces, main) {
		for _, u := range d.Uses {
			if u.Path != "" {
				p.names[u.Name] = u.Path
			}
		}
	}
	return true
}

// mayRename reports whether a declaration is that of one function or variable, which may get another name.
func (d *chained) mayRename() bool {
	return len(d.Names) == 1 && d.Owner == "" && (d.Kind == token.FUNC || d.Kind == token.VAR)
}

// fit finds out what the chain has already and what gets a new name, and reports whether the program can join it.
func (p *link) fit() bool {
	for name, path := range p.names {
		if p.imports[name] != "" && p.imports[name] != path || p.decls[name] != "" {
			return false
		}
	}
	for name := range p.again {
		if !slices.ContainsFunc(p.pieces, func(d *chained) bool { return d.Kind == token.VAR && d.mayRename() && d.Names[0] == name }) {
			return false // it has another name in programs, or it is not alone
		}
	}
	for stable := false; !stable; {
		stable = true
		for _, d := range p.pieces {
			same, other := 0, 0
			for _, name := range d.Names {
				switch was := p.decls[name]; {
				case was == d.code:
					same++
				case was != "" || p.imports[name] != "" || p.names[name] != "":
					other++
				}
			}
			d.there = same == len(d.Names)
			if same+other == 0 || d.there && p.meansAsBefore(d) || d.mayRename() && p.again[d.Names[0]] {
				continue
			}
			if d.Kind != token.FUNC || !d.mayRename() || p.called[d.Names[0]] == "" || strings.HasPrefix(d.Names[0], literalName) {
				return false
			}
			p.again[d.Names[0]], stable = true, false
		}
	}
	return !p.held()
}

// held reports whether a value may hold a function that is declared again, or what uses something that is: function
// values do, and values with methods. As a process of its own a later cell would have the new one there.
func (p *link) held() bool {
	seen := map[string]bool{}
	var reaches func(name string) bool
	reaches = func(name string) bool {
		if p.again[name] {
			return true
		} else if seen[name] {
			return false
		}
		seen[name] = true
		for other := range p.meant[name] {
			if reaches(other) {
				return true
			}
		}
		return false
	}
	for name := range p.decls {
		if (p.mentioned[name] || strings.Contains(name, ".") || strings.HasPrefix(name, literalName)) && reaches(name) {
			return true
		}
	}
	return false
}

// namesNow says what the functions and variables are called by now that a declaration uses.
func (p *link) namesNow(d *chained) map[string]string {
	m := map[string]string{}
	for _, u := range d.Uses {
		if now := p.now(u.Name); now != "" && u.Path == "" {
			m[u.Name] = now
		}
	}
	return m
}

// meansAsBefore reports whether a declaration that the chain has uses what it used then. A name that meant nothing at
// the package level is one of its own.
func (p *link) meansAsBefore(d *chained) bool {
	for name, then := range p.meant[d.Names[0]] {
		if p.now(name) != then {
			return false
		}
	}
	return true
}

// now is the name that a function or variable of the cells has in the program from this cell on, or "".
func (p *link) now(name string) string {
	if p.again[name] {
		return fmt.Sprint(AgainName, p.cell, "_", name)
	}
	return p.called[name]
}

// write adds the program to the chain.
func (p *link) write() {
	maps.Copy(p.imports, p.names)
	for _, name := range p.r.values {
		p.mentioned[name] = true
	}
	paths := slices.Collect(maps.Values(p.names))
	for _, path := range p.r.Imports {
		if !slices.Contains(paths, path) {
			p.blank[path] = true
		}
	}
	for _, d := range p.pieces {
		if d.mayRename() && p.called[d.Names[0]] == "" {
			p.called[d.Names[0]] = d.Names[0]
		}
	}
	for name := range p.again {
		p.called[name] = p.now(name)
	}
	for _, d := range p.pieces {
		if d.there && !p.again[d.Names[0]] {
			continue
		}
		for _, name := range d.Names {
			p.decls[name] = d.code
		}
		p.meant[d.Names[0]] = p.namesNow(d)
		p.emit(d)
		p.body.Inject("\n")
	}
	name := fmt.Sprint(PartName, p.cell)
	p.body.Inject("func ", name, "() {")
	p.turn()
	p.body.Inject("}\n")
	if len(p.cells) > 0 {
		p.main.WriteString(persistName + ".Turn()\n")
	}
	p.main.WriteString(name + "()\n")
}

// emit writes a declaration with the names that functions and variables have by now.
func (p *link) emit(d *chained) {
	p.body.Append(p.renamed(d))
}

func (p *link) renamed(d *chained) *Text {
	return d.Renamed(func(u Use) string {
		if u.Path != "" {
			return ""
		}
		return p.now(u.Name)
	})
}

// turn writes what the cell itself does, without telling package persist once more what another cell has told it.
func (p *link) turn() {
	t := p.renamed(p.inside)
	at := 0
	for _, call := range p.r.tells {
		i := at + strings.Index(t.String()[at:], call)
		p.body.Append(t.part(at, i))
		if at = i; p.known[call] {
			at += len(call)
		}
		p.known[call] = true
	}
	p.body.Append(t.part(at, t.Len()))
}
