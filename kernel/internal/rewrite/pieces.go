package rewrite

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strconv"
)

// A Piece is a declaration of a cell's program, or the inside of its main. Code that joins the programs of several
// cells goes by pieces: a [Chain] for one that runs, package export for one to be read.
type Piece struct {
	Names []string        // that it declares; of a method Type.Method. Blank names are followed by the piece's text
	Owner string          // the type of a method, or ""
	Kind  token.Token     // FUNC, TYPE, CONST or VAR; FUNC for the inside of main
	Uses  []Use           // in the order of their places
	Own   map[string]bool // all its names, but those of packages, and those after dots

	text *Text
}

// A Use is a place where a piece names a package, with what it means there, or something that the program declares.
type Use struct {
	Name   string
	Path   string // of the package; "" for something that the program declares
	Member string // what of the package
	lo, hi int    // in the piece's text
}

func (p *Piece) String() string { return p.text.String() }

// Renamed is the piece's text with the name that name returns for each use; "" leaves the use as it is.
func (p *Piece) Renamed(name func(Use) string) *Text {
	t, at := &Text{}, 0
	for _, u := range p.Uses {
		if now := name(u); now != "" && now != u.Name {
			t.Append(p.text.part(at, u.lo))
			t.Inject(now)
			at = u.hi
		}
	}
	if at == 0 {
		return p.text
	}
	t.Append(p.text.part(at, p.text.Len()))
	return t
}

// Pieces takes the program apart. main is the inside of its main, or, in a test program, of its init.
func (r *Result) Pieces() (declarations []*Piece, main *Piece, err error) {
	fset := token.NewFileSet()
	f, err := ParseFile(fset, r.Program.String(), parser.ParseComments)
	if err != nil {
		return nil, nil, err
	}
	s := &splitter{text: r.Program, file: f, in: fset.File(f.FileStart), packages: map[string]string{}, fields: r.fields()}
	for _, i := range f.Imports {
		if path, _ := strconv.Unquote(i.Path.Value); i.Name != nil && i.Name.Name != "_" {
			s.packages[i.Name.Name] = path
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			switch name := d.Name.Name; {
			case d.Recv != nil && len(d.Recv.List) == 1:
				owner := ReceiverType(d.Recv.List[0].Type)
				declarations = append(declarations, s.piece(d, d.Doc, &Piece{Names: []string{owner + "." + name}, Owner: owner, Kind: token.FUNC}))
			case name == "main" || name == "init" && r.Tests:
				main = s.cut(d.Body, d.Body.Lbrace+1, d.Body.Rbrace, &Piece{Kind: token.FUNC})
			default:
				declarations = append(declarations, s.piece(d, d.Doc, &Piece{Names: []string{name}, Kind: token.FUNC}))
			}
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
			p := &Piece{Kind: d.Tok}
			for _, id := range Declared(d) {
				p.Names = append(p.Names, id.Name)
			}
			declarations = append(declarations, s.piece(d, d.Doc, p))
		}
	}
	return declarations, main, nil
}

// A splitter cuts a program into pieces.
type splitter struct {
	text     *Text
	file     *ast.File
	in       *token.File
	packages map[string]string // that it imports, by name
	fields   map[origin]bool   // see work.fields
}

// piece fills in a piece that is a declaration.
func (s *splitter) piece(d ast.Decl, doc *ast.CommentGroup, p *Piece) *Piece {
	lo := d.Pos()
	if doc != nil {
		lo = doc.Pos()
	}
	s.cut(d, lo, d.End(), p)
	for i, name := range p.Names {
		if name == "_" { // of these there may be many
			p.Names[i] = fmt.Sprint("_ ", i, p)
		}
	}
	return p
}

// cut fills in what a piece says from lo to hi.
func (s *splitter) cut(n ast.Node, lo, hi token.Pos, p *Piece) *Piece {
	p.text, p.Own = s.text.part(s.in.Offset(lo), s.in.Offset(hi)), map[string]bool{}
	member := map[*ast.Ident]*ast.SelectorExpr{} // of what comes before a dot
	unused := map[*ast.Ident]bool{}              // those that use nothing: names of fields and methods
	use := func(name, path, member string, from, to token.Pos) {
		p.Uses = append(p.Uses, Use{name, path, member, int(from - lo), int(to - lo)})
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			embedded := s.file.Scope.Lookup(n.Sel.Name) != nil && s.fields[s.origin(n.Sel)]
			if unused[n.Sel] = !embedded; !embedded {
				if id, ok := n.X.(*ast.Ident); ok {
					member[id] = n
				}
			}
		case *ast.Field:
			for _, id := range n.Names {
				unused[id], p.Own[id.Name] = true, true
			}
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok {
				embeds, field := s.fields[s.origin(id)]
				unused[id] = field && !embeds
			}
		case *ast.FuncDecl:
			unused[n.Name] = n.Recv != nil
			p.Own[n.Name.Name] = true
		case *ast.Ident:
			path, declared := s.packages[n.Name], s.file.Scope.Lookup(n.Name)
			switch sel := member[n]; {
			case unused[n] || n.Name == "_":
			case n.Obj == nil && sel != nil && path != "":
				use(n.Name, path, sel.Sel.Name, n.Pos(), sel.End())
				return true
			case declared != nil && (n.Obj == declared || n.Obj == nil || s.fields[s.origin(n)]):
				use(n.Name, "", "", n.Pos(), n.End())
			}
			if !unused[n] {
				p.Own[n.Name] = true
			}
		}
		return true
	})
	slices.SortFunc(p.Uses, func(a, b Use) int { return a.lo - b.lo })
	return p
}

// An origin is a byte of a cell.
type origin struct {
	src *Source
	off int
}

// origin is where a user has written an identifier.
func (s *splitter) origin(id *ast.Ident) (at origin) {
	if src, off, exact := s.text.Locate(s.in.Offset(id.Pos())); exact {
		at = origin{src, off}
	}
	return at
}

// fields are the places where users name fields, and whether that is by a type of theirs which is embedded. Go's syntax
// does not tell a field from a variable where a composite literal has keys: the type checker has, once.
func (w *work) fields() map[origin]bool {
	found := map[origin]bool{}
	for _, c := range slices.Compact([]*checked{w.user, w.final}) {
		for id, o := range c.info.Uses {
			v, ok := o.(*types.Var)
			if !ok || !v.IsField() {
				continue
			}
			if src, off, exact := c.user(id.Pos()); exact {
				found[origin{src, off}] = v.Embedded() && c.declares(v.Type())
			}
		}
	}
	return found
}

// declares reports whether a type, or what it points to, is declared at the package level of the program.
func (c *checked) declares(t types.Type) bool {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := t.(interface{ Obj() *types.TypeName })
	return ok && named.Obj().Parent() == c.pkg.Scope()
}
