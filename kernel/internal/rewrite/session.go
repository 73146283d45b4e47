package rewrite

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/lectern-go/lectern/kernel/persist"
)

// Packages says what cells can import.
type Packages interface {
	types.Importer
	ByName(name string) string       // the path that a package name most likely means, or ""
	Stateful(path string) bool       // the package has state that lives on from cell to cell
	Reaches(path, other string) bool // the package imports another one, itself or through others
	Names() []string
}

// A Session is the state that the cells of a kernel have left. Rewrite never changes it: the result holds the
// session that the cell would lead to.
type Session struct {
	packages Packages
	manifest func() *persist.Manifest // of the values that are kept at the moment
	assumed  map[string]bool          // variables that are taken to be kept, too
	vet      Vet                      // may be nil

	current        int // the number of the last cell
	sources        map[int]*Source
	decls          map[string]*decl    // by each of their names, or Type.Method
	vars           map[string]variable // by name
	imports        map[string]string   // what the cells have imported: name to path
	aliases        map[string]string   // the names under which code of ours imports packages: name to path
	blank          []string            // paths imported for their effect
	args           string              // of the program, as %args has set them
	gone           map[string]string   // names that are no more, and why
	noted          map[string]bool     // notes that are given once, and have been
	whole          bool                // programs have all that is declared, reachable or not
	broken         map[string]bool     // keys of declarations that may not compile any more, since something was removed
	unkept         map[string]string   // variables that the next cell is not to keep, and why
	unkeptLiterals bool                // function literals of the next cell stay where they are
	alone          bool                // programs are for a reader and need no kernel
	steps          bool                // those of the next cell are recorded
	noSteps        bool                // nor are those of a //step cell
}

// A decl is a remembered declaration: func, type or const, or a function literal of a cell that has moved to the
// package level.
type decl struct {
	key    string   // the first of its names; or Type.Method; or its place
	names  []string // that it declares; none for a method
	tok    token.Token
	src    *Source
	lo, hi int
	edits  edits // what the program has instead of the user's text
	text   *Text // of a literal: all of it
	order  int

	places  map[string]edit // that take its names from a group of constants or types
	generic bool            // a literal of a generic function

	uses    []use             // packages that it names
	funcs   map[string]string // functions that it mentions without calling them: by identity, how to write them
	shared  map[string]bool   // variables of packages into whose memory it may point: see pointedInto
	effects effects
	meaning string // its code, without comments and layout
}

// A use is a place where a declaration names a package.
type use struct {
	name, path string
	lo, hi     int
}

// A variable is remembered by its static type.
type variable struct {
	typ    string   // as Go source; packages have our aliases
	shown  string   // for a reader
	types  []string // named types of cells that the type is made of
	hidden bool     // its name is one of Go's own, which functions go on seeing
	beside []string // earlier variables that the := that defined this one assigned to
}

// Keeping is the session with another account of the kept values.
func (s *Session) Keeping(manifest func() *persist.Manifest) *Session {
	c := s.clone()
	c.manifest, c.assumed = manifest, nil
	return c
}

// Assuming is the session with variables that cells which have yet to run are taken to keep.
func (s *Session) Assuming(names []string) *Session {
	c := s.clone()
	c.assumed = maps.Clone(s.assumed)
	if c.assumed == nil {
		c.assumed = map[string]bool{}
	}
	for _, name := range names {
		c.assumed[name] = true
	}
	for _, carried := range carried { // perhaps; and if not, no harm is done
		if s.vars[carried.name].typ != "" {
			c.assumed[carried.name] = true
		}
	}
	return c
}

// An account says which values are kept, at one moment.
type account struct {
	*persist.Manifest
	assumed map[string]bool
}

func (s *Session) account() account { return account{s.manifest(), s.assumed} }

// value describes the kept value of a variable; if ok is false, it has none. A value that is only assumed is
// in a group whose members are not known yet.
func (a account) value(name string) (v persist.Var, ok bool) {
	if a.assumed[name] {
		return persist.Var{Group: -1}, true
	}
	v, ok = a.Vars[name]
	return v, ok
}

// source is the name that the program's variable has.
func (v variable) source(name string) string {
	if v.hidden {
		return HiddenPrefix + name
	}
	return name
}

// HiddenPrefix is what the names of variables begin with in programs that hide one of Go's own names.
const HiddenPrefix = ownPrefix + "Var"

const (
	ownPrefix   = "lectern" // of all names that we write into programs
	aliasPrefix = "lecternpkg_"
	literalName = persist.LiteralName
	mainName    = "lecternMain" // of the user's own func main
	initName    = "lecternInit" // of the cell's own func init
)

// NewSession returns the session of a kernel that has run nothing. manifest tells what values are kept; if it is nil,
// none are.
func NewSession(p Packages, manifest func() *persist.Manifest) *Session {
	if manifest == nil {
		manifest = func() *persist.Manifest { return &persist.Manifest{} }
	}
	s := &Session{packages: p, manifest: manifest, sources: map[int]*Source{}}
	s.Reset()
	return s
}

// Reset forgets everything but the cells' texts.
func (s *Session) Reset() {
	s.decls, s.vars = map[string]*decl{}, map[string]variable{}
	s.imports, s.aliases = map[string]string{}, map[string]string{}
	s.gone, s.noted, s.broken = map[string]string{}, map[string]bool{}, map[string]bool{}
	s.blank, s.args = nil, ""
}

func (s *Session) clone() *Session {
	c := *s
	c.sources, c.decls, c.vars = maps.Clone(s.sources), maps.Clone(s.decls), maps.Clone(s.vars)
	c.imports, c.aliases = maps.Clone(s.imports), maps.Clone(s.aliases)
	c.gone, c.noted, c.broken = maps.Clone(s.gone), maps.Clone(s.noted), maps.Clone(s.broken)
	c.blank = slices.Clone(s.blank)
	return &c
}

// Whole says whether programs are to have all that is declared, and not just what they can reach: a report of what has
// run must name the rest, too.
func (s *Session) Whole(all bool) { s.whole = all }

// Stepped returns a session that records the steps of the next cell, or leaves out even those of a //step cell.
func (s *Session) Stepped(yes bool) *Session {
	c := s.clone()
	c.steps, c.noSteps = yes, !yes
	return c
}

// KeepLess returns a session that keeps less of the next cell: not the variables in names, whose values say why not,
// and no function literals if literals is false. It is for code of ours that the compiler refuses.
func (s *Session) KeepLess(names map[string]string, literals bool) *Session {
	c := s.clone()
	c.unkept, c.unkeptLiterals = names, !literals
	return c
}

// Alone makes a session for a notebook that becomes one program: what Rewrite makes of its cells keeps and restores
// nothing, and has all that a cell declares, whether or not the cell runs it.
func (s *Session) Alone() *Session {
	c := s.clone()
	c.alone = true
	return c
}

// Source returns the text of a cell that has run, or nil.
func (s *Session) Source(cell int) *Source { return s.sources[cell] }

// Current returns the number of the last cell.
func (s *Session) Current() int { return s.current }

// Vars returns the names and types of the remembered variables.
func (s *Session) Vars() map[string]string {
	m := make(map[string]string, len(s.vars))
	for n, v := range s.vars {
		if !isOwn(n) {
			m[n] = v.shown
		}
	}
	return m
}

// Names returns the names that are remembered, sorted, by kind: Imports, Constants, Types, Variables and Functions,
// among which methods are called Type.Method.
func (s *Session) Names() map[string][]string {
	kinds := map[string][]string{"Imports": sortedKeys(s.imports), "Variables": sortedKeys(s.Vars())}
	for d := range s.eachDecl() {
		switch {
		case d.text != nil || strings.HasPrefix(d.key, "_ "):
		case d.key == mainName:
			kinds["Functions"] = append(kinds["Functions"], "main")
		case d.tok == token.CONST:
			kinds["Constants"] = append(kinds["Constants"], d.names...)
		case d.tok == token.TYPE:
			kinds["Types"] = append(kinds["Types"], d.names...)
		case d.tok == token.FUNC:
			kinds["Functions"] = append(kinds["Functions"], d.key)
		}
	}
	for _, names := range kinds {
		slices.Sort(names)
	}
	return kinds
}

// kind is what a name stands for in the cells so far, in Go's keywords; "" if it stands for nothing.
func (s *Session) kind(name string) string {
	d := s.decls[name]
	switch _, imported := s.imports[name]; {
	case s.vars[name].typ != "":
		return "var"
	case d != nil:
		return d.tok.String()
	case imported:
		return "import"
	}
	return ""
}

// Settle drops variables that the cell just run did not get to keep, and returns their names; and it forgets function
// literals that neither a value nor a declaration needs any more.
func (s *Session) Settle() []string {
	m := s.account()
	var lost []string
	for name := range s.vars {
		if _, ok := m.value(name); ok {
			continue
		}
		delete(s.vars, name)
		if isOwn(name) {
			continue
		}
		lost = append(lost, name)
		s.gone[name] = cmp.Or(m.Notes[name], name+" was not kept: the cell that defines it ended too early, so run it again")
	}
	sort.Strings(lost)
	live := s.liveLiterals(m, func(string) bool { return true })
	for key, d := range s.decls {
		if d.text != nil && !live[key] {
			delete(s.decls, key)
		}
	}
	return lost
}

// liveLiterals returns the function literals that kept variables hold, those of them that holds names, and that
// declarations mention.
func (s *Session) liveLiterals(m account, holds func(name string) bool) map[string]bool {
	live := map[string]bool{}
	var todo []string
	mark := func(text string) {
		for rest := text; ; {
			i := strings.Index(rest, literalName)
			if i < 0 {
				return
			}
			rest = rest[i:]
			n := len(literalName)
			for n < len(rest) && (rest[n] == '_' || rest[n] >= '0' && rest[n] <= '9') {
				n++
			}
			if name := rest[:n]; !live[name] {
				live[name] = true
				todo = append(todo, name)
			}
			rest = rest[n:]
		}
	}
	for _, g := range m.Groups {
		if !slices.ContainsFunc(g.Vars, holds) {
			continue
		}
		for _, id := range g.Funcs {
			mark(literalName + id)
		}
	}
	written := func(d *decl) string {
		t := &Text{}
		d.emit(t)
		return t.String()
	}
	for d := range s.eachDecl() {
		if d.text == nil {
			mark(written(d))
		}
	}
	for len(todo) > 0 {
		d := s.decls[todo[len(todo)-1]]
		todo = todo[:len(todo)-1]
		if d != nil {
			mark(written(d))
		}
	}
	return live
}

// forget forgets names, as %rm does.
func (s *Session) forget(names []string) {
	for _, n := range names {
		if n == "main" && s.vars[n].typ == "" {
			n = mainName
		}
		if !s.take(n, fmt.Sprintf("%%rm removed it in cell [%d]", s.current)) {
			delete(s.imports, n)
		}
		if s.packages.ByName(n) != "" { // that is what it means from here on
			delete(s.gone, n)
		}
	}
	for d := range s.eachDecl() {
		if slices.ContainsFunc(tokens(d.src.Code[d.lo:d.hi]), func(t tok) bool { return t.tok == token.IDENT && slices.Contains(names, t.lit) }) {
			s.broken[d.key] = true
		}
	}
}

// take ends what a name means in the cells so far, for the reason why, and reports whether it meant anything.
func (s *Session) take(name, why string) (found bool) {
	if _, ok := s.vars[name]; ok {
		delete(s.vars, name)
		found = true
	}
	if d := s.decls[name]; d != nil { // its name may be that of a method, Type.Method
		found = true
		delete(s.decls, name)
		s.cut(d, name)
		if d.tok == token.TYPE {
			for key := range s.decls { // its methods go with it
				if strings.HasPrefix(key, name+".") {
					delete(s.decls, key)
				}
			}
			s.orphan(name, fmt.Sprintf("%s has not been a type since cell [%d]", name, s.current))
		}
	}
	if found && why != "" {
		s.gone[name] = why
	}
	return found
}

// eachDecl yields the remembered declarations.
func (s *Session) eachDecl() iter.Seq[*decl] {
	return func(yield func(*decl) bool) {
		for name, d := range s.decls {
			if name == d.key && !yield(d) {
				return
			}
		}
	}
}

// put remembers a declaration.
func (s *Session) put(d *decl) {
	s.decls[d.key] = d
	for _, name := range d.names {
		s.decls[name] = d
	}
}

// cut takes one of its names from a declaration.
func (s *Session) cut(d *decl, name string) {
	for _, n := range d.names {
		delete(s.decls, n)
	}
	if rest := without(d, name); rest != nil {
		s.put(rest)
	}
}

// sortedDecls returns the remembered declarations in the order in which they were made.
func (s *Session) sortedDecls() []*decl {
	return slices.SortedFunc(s.eachDecl(), func(a, b *decl) int {
		return cmp.Or(a.order-b.order, strings.Compare(a.key, b.key))
	})
}

// alias returns the name under which code of ours imports a package. No name of a user's hides it.
func (s *Session) alias(path, name string) string {
	for n, p := range s.aliases {
		if p == path {
			return n
		}
	}
	n := aliasPrefix + name
	for s.aliases[n] != "" {
		n += "_"
	}
	s.aliases[n] = path
	return n
}

// Declared lists the names that a declaration of types, variables or constants declares.
func Declared(d *ast.GenDecl) (ids []*ast.Ident) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			ids = append(ids, s.Name)
		case *ast.ValueSpec:
			ids = append(ids, s.Names...)
		}
	}
	return ids
}

// ReceiverType is the name of the type in a receiver, without pointer and type parameters, or "?".
func ReceiverType(x ast.Expr) string {
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

// remember adds a declaration. Whatever its names meant before is gone, but the methods of a type that is declared
// again stay.
func (s *Session) remember(d *decl) {
	if d.tok == token.TYPE {
		s.retype(d)
	}
	for _, name := range d.names {
		if old := s.decls[name]; old != nil && old.tok == token.TYPE && d.tok == token.TYPE {
			s.cut(old, name)
		} else {
			s.take(name, "")
		}
		delete(s.gone, name)
	}
	s.put(d)
}

// without returns a group of constants in which name has become blank, so that iota still counts it, or a group of
// types that lacks name; nil if nothing else is left.
func without(d *decl, name string) *decl {
	place, ok := d.places[name]
	if !ok || len(d.names) < 2 {
		return nil
	}
	r := *d
	r.names = slices.DeleteFunc(slices.Clone(d.names), func(n string) bool { return n == name })
	r.key, r.edits = r.names[0], append(slices.Clone(d.edits), place)
	return &r
}

// retype drops variables whose values have the structure of an earlier version of the types that d declares.
func (s *Session) retype(d *decl) {
	for _, name := range d.names {
		if old := s.decls[name]; old != nil && old.tok == token.TYPE && old.meaning != d.meaning {
			s.orphan(name, fmt.Sprintf("the type %s changed in cell [%d]", name, d.src.Cell))
		}
	}
}

// orphan drops the variables that hold values of a type that is no more, for the reason why.
func (s *Session) orphan(typ, why string) {
	m := s.account()
	for v, x := range s.vars {
		if value, _ := m.value(v); slices.Contains(x.types, typ) || slices.Contains(value.Types, typ) {
			delete(s.vars, v)
			s.gone[v] = fmt.Sprintf("%s, and %s was made from the earlier one: run the cell that defines %s again", why, v, v)
		}
	}
}
