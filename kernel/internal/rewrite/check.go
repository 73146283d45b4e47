package rewrite

import (
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"regexp"
	"strconv"
	"strings"
)

// An Error is a mistake in a cell, at its place in the user's text.
type Error struct {
	Pos  Pos
	End  int // column after the last character meant, on the same line; 0 if unknown
	Msg  string
	Hint string // what to do about it; may be empty

	exact bool   // the place is the user's own text
	row   string // of hints, if one of them explains it
}

// checked is a program with the type checker's findings.
type checked struct {
	text *Text
	fset *token.FileSet
	file *ast.File
	info *types.Info
	pkg  *types.Package
	main *ast.FuncDecl
	used map[string]string // imports that it needs: name to path
	syn  scanner.ErrorList
	errs []types.Error

	bodiless *Error // a function of the user's without a body
}

// helpers are the packages that rewritten code uses.
var helpers = map[string]string{persistName: persistPath, showName: showPath}

// check parses and type-checks a program. Imports are found by the names that it uses.
func (s *Session) check(text *Text, imports map[string]string) *checked {
	c := &checked{text: text, fset: token.NewFileSet(), used: map[string]string{}}
	f, err := ParseFile(c.fset, text.String(), 0)
	if err != nil {
		if list, ok := err.(scanner.ErrorList); ok {
			c.syn = list
		} else {
			c.syn = scanner.ErrorList{{Msg: err.Error()}}
		}
		return c
	}
	c.file = f
	var specs []ast.Spec
	add := func(name, path string) {
		if c.used[name] == "" {
			c.used[name] = path
			id := ast.NewIdent(name)
			if path == cgoPath { // which may have no other
				id = nil
			}
			specs = append(specs, &ast.ImportSpec{Name: id, Path: &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(path)}})
		}
	}
	selected := map[*ast.Ident]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok {
				selected[id] = true
			}
		}
		return true
	})
	for _, id := range f.Unresolved {
		if !selected[id] {
			continue
		}
		if path, ok := helpers[id.Name]; ok { // in remembered declarations
			add(id.Name, path)
		} else if path, ok := s.aliases[id.Name]; ok {
			add(id.Name, path)
		} else if path, ok := imports[id.Name]; ok {
			add(id.Name, path)
		} else if _, lost := s.gone[id.Name]; !lost && types.Universe.Lookup(id.Name) == nil {
			if path := s.packages.ByName(id.Name); path != "" {
				add(id.Name, path)
			}
		}
	}
	if len(specs) > 0 {
		f.Decls = append([]ast.Decl{&ast.GenDecl{Tok: token.IMPORT, TokPos: f.Name.End(), Specs: specs}}, f.Decls...)
	}
	c.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Instances: map[*ast.Ident]types.Instance{}, Implicits: map[ast.Node]types.Object{}}
	conf := types.Config{Importer: s.packages, FakeImportC: true, DisableUnusedImportCheck: true, Error: func(err error) { c.errs = append(c.errs, err.(types.Error)) }}
	c.pkg = TypeCheck(&conf, c.fset, f, c.info)
	for _, d := range f.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if fd.Name.Name == "main" && fd.Recv == nil {
			c.main = fd
		}
		if fd.Body == nil && c.bodiless == nil {
			e := c.errorAt(c.offset(fd.Name.Pos()), "func "+fd.Name.Name+" has no body")
			e.Hint = "write what it does in { }"
			c.bodiless = &e
		}
	}
	return c
}

// offset is a position in the program's text.
func (c *checked) offset(p token.Pos) int {
	return c.fset.File(c.file.FileStart).Offset(p)
}

// user returns where a node's first byte is in a cell; exact is false if no user wrote it.
func (c *checked) user(p token.Pos) (src *Source, off int, exact bool) {
	return c.text.Locate(c.offset(p))
}

// source returns the program's text of a node.
func (c *checked) source(n ast.Node) string {
	return c.text.String()[c.offset(n.Pos()):c.offset(n.End())]
}

// errorAt turns a place in the program into an error of the user's.
func (c *checked) errorAt(off int, msg string) Error {
	src, at, exact := c.text.Locate(off)
	e := Error{Msg: UserNames(msg), exact: exact}
	if src == nil {
		return e
	}
	if !exact { // the end of what the user wrote before
		at = len(strings.TrimRight(src.Code[:at], " \t\n"))
	}
	e.Pos = src.Pos(at)
	if exact {
		if t := tokens(src.Code[at:min(len(src.Code), at+200)]); len(t) > 0 && t[0].lo == 0 && !strings.Contains(t[0].lit, "\n") {
			e.End = src.Pos(at + t[0].hi).Col
		}
	}
	return e
}

// syntaxErrors returns the first error of the parser: those after it are mostly its consequences.
func (c *checked) syntaxErrors() []Error {
	e := c.syn[0]
	return []Error{c.errorAt(e.Pos.Offset, e.Msg)}
}

// UserNames removes the names that we write into programs from a text about a program.
func UserNames(msg string) string {
	if !strings.Contains(msg, ownPrefix) {
		return msg
	}
	msg = capturedName.ReplaceAllString(msg, "$1")
	return strings.NewReplacer(aliasPrefix, "", HiddenPrefix, "").Replace(msg)
}

var capturedName = regexp.MustCompile(`\(\*` + captured + `\.(\w+)\)`)
