package rewrite

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/lectern-go/lectern/kernel/keep"
)

// Packages says what cells can import.
type Packages interface {
	types.Importer
	ByName(name string) string       // the path that a package name most likely means, or ""
	Stateful(path string) bool       // the package has state that lives on from cell to cell
	Reaches(path, other string) bool // the package imports another one, itself or through others
	Names() []string
}

// A Session is what is known about the cells that a kernel has run. Rewrite never changes it: the result holds the session that the
// cell would lead to.
type Session struct {
	packages Packages
	manifest func() *keep.Manifest // what is kept at the moment

	current  int // the number of the last cell
	sources  map[int]*Source
	decls    map[string]*decl    // by key: a name, or Type.Method
	vars     map[string]variable // by name
	sent     map[string]string   // variables that GoNB has declared: name to type
	imports  map[string]string   // name to path
	blank    []string            // paths imported for their effect
	literals map[string]*literal // variables that hold a function literal, by name
	gone     map[string]string   // names that are no more, and why
	pending  []*decl             // declared but not yet sent to GoNB
}

// A decl is a remembered func, type or const declaration, or a var of a cell that GoNB got as it was.
type decl struct {
	key    string
	names  []string // that it declares; none for a method
	tok    token.Token
	src    *Source
	lo, hi int
	edits  edits // as it was sent to GoNB
	order  int
}

// A variable is remembered by its static type, as Go source with packages named as in the session's imports.
type variable struct {
	typ   string
	types []string // named types of cells that the type is made of
}

// A literal is the source of a function literal that a variable was defined with. All that it can capture is package-level, so a later cell may
// evaluate it again and have the same function.
type literal struct {
	src    *Source
	lo, hi int // of the literal
	order  int
}

// NewSession returns the session of a kernel that has run nothing. manifest tells what values are kept.
func NewSession(p Packages, manifest func() *keep.Manifest) *Session {
	return &Session{packages: p, manifest: manifest, sources: map[int]*Source{}, decls: map[string]*decl{}, vars: map[string]variable{},
		sent: map[string]string{}, imports: map[string]string{}, literals: map[string]*literal{}, gone: map[string]string{}}
}

func (s *Session) clone() *Session {
	c := *s
	c.sources, c.decls, c.vars, c.sent = maps.Clone(s.sources), maps.Clone(s.decls), maps.Clone(s.vars), maps.Clone(s.sent)
	c.imports, c.literals, c.gone = maps.Clone(s.imports), maps.Clone(s.literals), maps.Clone(s.gone)
	c.blank, c.pending = slices.Clone(s.blank), slices.Clone(s.pending)
	return &c
}

// Source returns the text of a cell that has run, or nil.
func (s *Session) Source(cell int) *Source { return s.sources[cell] }

// Vars returns the names and types of the remembered variables.
func (s *Session) Vars() map[string]string {
	m := make(map[string]string, len(s.vars)+len(s.literals))
	for n, v := range s.vars {
		m[n] = v.typ
	}
	return m
}

// Settle drops variables that the cell just run did not get to keep, and returns the names. saved says whether the cell's
// values were kept at all.
func (s *Session) Settle() []string {
	m := s.manifest()
	var lost []string
	for name := range s.vars {
		if _, ok := m.Vars[name]; ok || s.literals[name] != nil {
			continue
		}
		lost = append(lost, name)
		delete(s.vars, name)
		s.gone[name] = m.Notes[name]
	}
	sort.Strings(lost)
	return lost
}

// Sent notes that GoNB has compiled what Rewrite gave it: declarations that waited are remembered there now.
func (s *Session) Sent() { s.pending = nil }

// Remove forgets names, as GoNB's %rm does.
func (s *Session) Remove(names ...string) {
	for _, n := range names {
		delete(s.decls, n)
		delete(s.vars, n)
		delete(s.sent, n)
		delete(s.literals, n)
		delete(s.imports, n)
		s.gone[n] = "it was removed with %rm"
	}
	s.pending = slices.DeleteFunc(s.pending, func(d *decl) bool { return slices.Contains(names, d.key) })
}

// Reset forgets everything but the cells' texts.
func (s *Session) Reset() {
	clear(s.decls)
	clear(s.vars)
	clear(s.sent)
	clear(s.imports)
	clear(s.literals)
	clear(s.gone)
	s.blank, s.pending = nil, nil
}

// sortedDecls returns the remembered declarations in the order in which they were made.
func (s *Session) sortedDecls() []*decl {
	return slices.SortedFunc(maps.Values(s.decls), func(a, b *decl) int {
		if a.order != b.order {
			return a.order - b.order
		}
		return strings.Compare(a.key, b.key)
	})
}

// parseDecl reads what an item declares; nil if it does not parse.
func parseDecl(src *Source, it item) *decl {
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+src.Code[it.lo:it.hi], parser.SkipObjectResolution)
	if err != nil || len(f.Decls) != 1 {
		return nil
	}
	d := &decl{src: src, lo: it.lo, hi: it.hi, order: src.Cell<<20 + it.lo}
	switch n := f.Decls[0].(type) {
	case *ast.FuncDecl:
		d.tok, d.key = token.FUNC, n.Name.Name
		if n.Recv != nil && len(n.Recv.List) == 1 {
			d.key = receiverType(n.Recv.List[0].Type) + "." + n.Name.Name
		} else {
			d.names = []string{d.key}
		}
	case *ast.GenDecl:
		d.tok = n.Tok
		for _, sp := range n.Specs {
			switch sp := sp.(type) {
			case *ast.TypeSpec:
				d.names = append(d.names, sp.Name.Name)
			case *ast.ValueSpec:
				for _, id := range sp.Names {
					if id.Name != "_" {
						d.names = append(d.names, id.Name)
					} else if n.Tok == token.CONST {
						// GoNB takes all blank constants of a notebook for one and the same.
						at := it.lo + int(id.Pos()) - 1 - len("package p\n")
						d.edits.replace(at, at+1, blankName(src.Cell, at))
					}
				}
			default:
				return nil
			}
		}
		d.key = strings.Join(d.names, ",")
	}
	return d
}

func blankName(cell, at int) string { return fmt.Sprintf("lecternBlank%d_%d", cell, at) }

// receiverType is the name of the type in a receiver, without pointer and type parameters.
func receiverType(x ast.Expr) string {
	for {
		switch t := x.(type) {
		case *ast.StarExpr:
			x = t.X
		case *ast.ParenExpr:
			x = t.X
		case *ast.IndexExpr:
			x = t.X
		case *ast.IndexListExpr:
			x = t.X
		case *ast.Ident:
			return t.Name
		default:
			return "?"
		}
	}
}

// remember adds a declaration and returns names whose old meaning GoNB must forget.
func (s *Session) remember(d *decl) (remove []string) {
	for _, name := range d.names {
		delete(s.gone, name)
		if _, ok := s.vars[name]; ok || s.sent[name] != "" {
			remove = append(remove, name)
			delete(s.vars, name)
			delete(s.sent, name)
			delete(s.literals, name)
		}
		for key, old := range s.decls {
			if key == d.key || !slices.Contains(old.names, name) {
				continue
			}
			// The name moves from a group, or from another kind of declaration, to this one.
			remove = append(remove, old.names...)
			delete(s.decls, key)
			s.pending = slices.DeleteFunc(s.pending, func(p *decl) bool { return p == old })
			if rest := without(old, name); rest != nil {
				s.decls[rest.key] = rest
				s.pending = append(s.pending, rest)
			}
		}
	}
	if d.tok == token.TYPE {
		s.retype(d)
	}
	if old := s.decls[d.key]; old != nil {
		s.pending = slices.DeleteFunc(s.pending, func(p *decl) bool { return p == old })
		if old.tok != d.tok || d.tok == token.CONST {
			remove = append(remove, old.names...)
		}
	}
	s.decls[d.key] = d
	return remove
}

// without returns a const or var group in which name has become blank, so that iota still counts it; nil if nothing else is left or the
// declaration is of another kind.
func without(d *decl, name string) *decl {
	if d.tok != token.CONST || len(d.names) < 2 {
		return nil
	}
	r := *d
	r.names = nil
	for _, n := range d.names {
		if n != name {
			r.names = append(r.names, n)
		}
	}
	r.key = strings.Join(r.names, ",")
	r.edits = slices.Clone(d.edits)
	for _, t := range tokens(d.src.Code[d.lo:d.hi]) {
		if t.tok == token.IDENT && t.lit == name {
			r.edits.replace(d.lo+t.lo, d.lo+t.hi, blankName(d.src.Cell, d.lo+t.lo))
			break
		}
	}
	return &r
}

// retype drops variables whose values have the structure of an earlier version of the types that d declares.
func (s *Session) retype(d *decl) {
	for _, name := range d.names {
		var old *decl
		for _, o := range s.decls {
			if slices.Contains(o.names, name) {
				old = o
			}
		}
		if old == nil || sameTokens(old.src.Code[old.lo:old.hi], d.src.Code[d.lo:d.hi]) {
			continue
		}
		for v, x := range s.vars {
			if slices.Contains(x.types, name) {
				delete(s.vars, v)
				delete(s.literals, v)
				s.gone[v] = fmt.Sprintf("its type %s changed in cell [%d]: run the cell that defines %s again", name, d.src.Cell, v)
			}
		}
	}
}

func sameTokens(a, b string) bool {
	same := func(a, b tok) bool { return a.tok == b.tok && a.lit == b.lit }
	code := func(s string) []tok {
		return slices.DeleteFunc(tokens(s), func(t tok) bool { return t.tok == token.COMMENT })
	}
	return slices.EqualFunc(code(a), code(b), same)
}

// Current returns the number of the last cell.
func (s *Session) Current() int { return s.current }
