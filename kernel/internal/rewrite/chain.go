package rewrite

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Chain makes one program of cells that are to run one after another, where building a program takes longer than
// most of them run. The program has a function for each cell, which does what the cell's own program does; between
// them values are kept as ever. Variables that the program has already need not be restored.
//
// A cell is part of a chain only where nobody can tell the difference. What one process does not do for several cells
// as several processes do for one each, ends the chain: types that get a new meaning, goroutines, standard input, and
// packages that tell of the process. A function or variable that a cell declares again has another name in the program
// from there on, and so have functions that use it.
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
		len(r.Earlier) > 0 || len(r.Embeds) > 0 || len(r.Removed) > 0 || len(r.Forget) > 0 || r.Missing != "" {
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
	p := link{Chain: c, cell: cell, text: r.Program, names: map[string]string{}, values: map[string]bool{}, again: map[string]bool{}}
	for _, name := range r.Defines {
		if c.touched[name] && !slices.Contains(r.Restores, name) { // pointers to the earlier one must not see the new one
			p.again[name] = true
		}
	}
	if !p.read() || !p.settle() {
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
	cell    int
	text    *Text
	names   map[string]string // of imports, to paths
	effects []string          // paths imported for their effect
	pieces  []*piece          // its declarations
	inside  *piece            // of main
	values  map[string]bool   // functions that are values in it
	again   map[string]bool   // what it declares again, and functions that use that
}

// A piece is a declaration in a program, or the inside of its main.
type piece struct {
	names  []string
	lo, hi int
	tok    token.Token
	name   int              // where the name of a variable, or of a function without receiver, stands; else -1
	uses   map[string][]int // identifiers that mean something at the package level, and where they stand
	key    map[string]bool  // identifiers that mean that, or a field
	tells  []span           // calls by which it tells package persist what there is
	there  bool             // the chain has it already
}

// A span is a part of a program's text.
type span struct{ lo, hi int }

// tellers are packages by which a program looks at its process, or has state in it that ends with a cell.
var tellers = map[string]bool{"expvar": true, "flag": true, "log": true, "os/signal": true, "runtime": true, "runtime/debug": true, "runtime/metrics": true,
	"runtime/pprof": true, "runtime/trace": true, "testing": true, "unsafe": true, measurePath: true, widgetPath: true}

// lasting are names of what has to do with standard input, changes the process, or goes on when a cell has ended.
var lasting = map[string]bool{"Stdin": true, "Scan": true, "Scanln": true, "Scanf": true, "Setenv": true, "Unsetenv": true, "Clearenv": true, "Chdir": true, "Exit": true,
	"Go": true, "AfterFunc": true, "Pull": true, "Pull2": true}

// read takes the program apart, and reports whether it may be part of a chain.
func (p *link) read() bool {
	fs := token.NewFileSet()
	f, err := parser.ParseFile(fs, "", p.text.String(), parser.ParseComments)
	if err != nil {
		return false
	}
	offset := func(pos token.Pos) int { return fs.Position(pos).Offset }
	// above reports whether an identifier means nothing that is declared within its declaration.
	above := func(id *ast.Ident) bool { return id.Obj == nil || id.Obj == f.Scope.Lookup(id.Name) }
	for _, i := range f.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		switch {
		case tellers[path] || i.Name == nil:
			return false
		case i.Name.Name == "_":
			p.effects = append(p.effects, path)
		default:
			p.names[i.Name.Name] = path
		}
	}
	for _, d := range f.Decls {
		part := &piece{lo: offset(d.Pos()), hi: offset(d.End()), name: -1, uses: map[string][]int{}, key: map[string]bool{}}
		var doc *ast.CommentGroup
		switch d := d.(type) {
		case *ast.FuncDecl:
			doc, part.tok = d.Doc, token.FUNC
			switch {
			case d.Recv != nil && len(d.Recv.List) == 1:
				part.names = []string{ReceiverType(d.Recv.List[0].Type) + "." + d.Name.Name}
			case d.Name.Name == "main":
				part.lo, part.hi, doc = offset(d.Body.Lbrace)+1, offset(d.Body.Rbrace), nil
				p.inside = part
			default:
				part.names, part.name = []string{d.Name.Name}, offset(d.Name.Pos())
			}
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
			doc, part.tok = d.Doc, d.Tok
			ids := Declared(d)
			for _, id := range ids {
				part.names = append(part.names, id.Name)
			}
			if d.Tok == token.VAR && len(ids) == 1 {
				part.name = offset(ids[0].Pos())
			}
		}
		if doc != nil {
			part.lo = offset(doc.Pos())
		}
		for i, name := range part.names {
			if name == "_" || name == "init" { // of these there may be many
				part.names[i] = fmt.Sprint(name, " ", i, p.text.String()[part.lo:part.hi])
			}
		}
		if !p.look(part, d, above, offset) {
			return false
		}
		if len(part.names) > 0 {
			p.pieces = append(p.pieces, part)
		}
	}
	return p.inside != nil
}

// look notes the identifiers of a declaration, and reports whether it may be part of a chain.
func (p *link) look(in *piece, d ast.Decl, above func(*ast.Ident) bool, offset func(token.Pos) int) (fine bool) {
	fine = true
	own := map[*ast.Ident]bool{} // those that declare something, or are names of something within a value
	declares := func(list ...*ast.Ident) {
		for _, id := range list {
			own[id] = true
		}
	}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			fine = false
		case *ast.SelectorExpr:
			fine = fine && !lasting[n.Sel.Name]
			own[n.Sel] = true
		case *ast.CallExpr:
			fun := n.Fun
			if i, ok := fun.(*ast.IndexExpr); ok { // Reg[T]
				fun = i.X
			}
			s, ok := fun.(*ast.SelectorExpr)
			if !ok {
				break
			}
			switch x, ok := s.X.(*ast.Ident); {
			case !ok || x.Name != persistName:
			case s.Sel.Name == "Same" || s.Sel.Name == "Reg" || s.Sel.Name == "Lit":
				in.tells = append(in.tells, span{offset(n.Pos()), offset(n.End())})
				return false // it says what os.Stdin is, perhaps, and reads nothing
			case s.Sel.Name == "Fn" && len(n.Args) == 2:
				if id, ok := n.Args[1].(*ast.Ident); ok {
					p.values[id.Name] = true
				}
			}
		case *ast.CompositeLit:
			switch n.Type.(type) {
			case *ast.MapType, *ast.ArrayType: // whose keys are values
				return true
			}
			for _, x := range n.Elts {
				if e, ok := x.(*ast.KeyValueExpr); ok {
					if id, ok := e.Key.(*ast.Ident); ok && above(id) {
						in.key[id.Name] = true
					}
				}
			}
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				fine = fine && !p.imported(x)
			}
		case *ast.IncDecStmt:
			fine = fine && !p.imported(n.X)
		case *ast.UnaryExpr:
			fine = fine && (n.Op != token.AND || !p.imported(n.X))
		case *ast.Field:
			declares(n.Names...)
		case *ast.ValueSpec:
			declares(n.Names...)
		case *ast.TypeSpec:
			declares(n.Name)
		case *ast.FuncDecl:
			own[n.Name] = true
		case *ast.Ident:
			if !own[n] && above(n) {
				in.uses[n.Name] = append(in.uses[n.Name], offset(n.Pos()))
			}
		}
		return fine
	})
	return fine
}

// imported reports whether an expression is a variable of a package, which a cell has for itself.
func (p *link) imported(x ast.Expr) bool {
	s, ok := x.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id, ok := s.X.(*ast.Ident)
	return ok && p.names[id.Name] != ""
}

// settle finds out what the chain has already and what gets a new name, and reports whether the program goes with it.
func (p *link) settle() bool {
	code := p.text.String()
	for name, path := range p.names {
		if p.imports[name] != "" && p.imports[name] != path || p.decls[name] != "" {
			return false
		}
	}
	for name := range p.again {
		if !slices.ContainsFunc(p.pieces, func(d *piece) bool { return d.tok == token.VAR && d.name >= 0 && d.names[0] == name }) {
			return false // it has another name in programs, or it is not alone
		}
	}
	for settled := false; !settled; {
		settled = true
		for _, d := range p.pieces {
			same, other := 0, 0
			for _, name := range d.names {
				switch was := p.decls[name]; {
				case was == code[d.lo:d.hi]:
					same++
				case was != "" || p.imports[name] != "" || p.names[name] != "":
					other++
				}
			}
			d.there = same == len(d.names)
			if same+other == 0 || d.there && p.meansAsBefore(d) || d.name >= 0 && p.again[d.names[0]] {
				continue
			}
			if d.tok != token.FUNC || d.name < 0 || p.called[d.names[0]] == "" || strings.HasPrefix(d.names[0], literalName) {
				return false
			}
			p.again[d.names[0]], settled = true, false
		}
	}
	if p.held() {
		return false
	}
	for _, d := range append(p.pieces, p.inside) {
		for name, now := range p.means(d) {
			if now != name && d.key[name] && (!d.there || p.again[d.names[0]]) {
				return false
			}
		}
	}
	return true
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

// means says what the functions and variables are called by now that a declaration uses.
func (p *link) means(d *piece) map[string]string {
	m := map[string]string{}
	for name := range d.uses {
		if now := p.now(name); now != "" {
			m[name] = now
		}
	}
	return m
}

// meansAsBefore reports whether a declaration that the chain has uses what it used then. A name that meant nothing at
// the package level is one of its own.
func (p *link) meansAsBefore(d *piece) bool {
	for name, then := range p.meant[d.names[0]] {
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
	maps.Copy(p.mentioned, p.values)
	for _, path := range p.effects {
		p.blank[path] = true
	}
	for _, d := range p.pieces {
		if d.name >= 0 && p.called[d.names[0]] == "" {
			p.called[d.names[0]] = d.names[0]
		}
	}
	for name := range p.again {
		p.called[name] = p.now(name)
	}
	for _, d := range p.pieces {
		if d.there && !p.again[d.names[0]] {
			continue
		}
		for _, name := range d.names {
			p.decls[name] = p.text.String()[d.lo:d.hi]
		}
		p.meant[d.names[0]] = p.means(d)
		p.emit(d)
		p.body.Inject("\n")
	}
	name := fmt.Sprint(PartName, p.cell)
	p.body.Inject("func ", name, "() {")
	p.emit(p.inside)
	p.body.Inject("}\n")
	if len(p.cells) > 0 {
		p.main.WriteString(persistName + ".Turn()\n")
	}
	p.main.WriteString(name + "()\n")
}

// emit writes a declaration with the names that functions and variables have by now.
func (p *link) emit(d *piece) {
	var places []edit
	if d.name >= 0 && p.called[d.names[0]] != d.names[0] {
		places = append(places, edit{d.name, d.name + len(d.names[0]), p.called[d.names[0]]})
	}
	for name, now := range p.means(d) {
		for _, at := range d.uses[name] {
			if now != name {
				places = append(places, edit{at, at + len(name), now})
			}
		}
	}
	for _, t := range d.tells {
		text := p.text.String()[t.lo:t.hi]
		if p.known[text] {
			places = append(places, edit{t.lo, t.hi, ""})
		}
		p.known[text] = true
	}
	slices.SortFunc(places, func(a, b edit) int { return a.lo - b.lo })
	lo := d.lo
	for _, e := range places {
		p.body.Append(p.text.part(lo, e.lo))
		p.body.Inject(e.s)
		lo = e.hi
	}
	p.body.Append(p.text.part(lo, d.hi))
}
