package rewrite

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

func isMain(d *decl) bool { return d.tok == token.FUNC && d.key == "main" }

// isInit reports whether a declaration is a func init. It runs in its own cell, and there may be several.
func isInit(d *decl) bool { return strings.HasPrefix(d.key, initName) }

// isSetup reports whether a function is one that GoNB calls at the beginning of every program.
func isSetup(d *decl) bool { return d.tok == token.FUNC && strings.HasPrefix(d.key, "init_") }

// imports reads an import declaration; false means that it is wrong.
func (w *work) imports(it item) bool {
	f, offset, err := parsePart(w.code[it.lo:it.hi], parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		w.fail(it.lo, "this import can't be read", `write import "path", or import name "path"`)
		return false
	}
	for _, sp := range f.Imports {
		path, _ := strconv.Unquote(sp.Path.Value)
		at := it.lo + offset(sp.Pos())
		if path == cgoPath {
			doc := sp.Doc
			if g, ok := f.Decls[0].(*ast.GenDecl); ok && !g.Lparen.IsValid() {
				doc = g.Doc
			}
			if w.n.imports[cgoPath] = cgoPath; doc != nil {
				w.src.c += preamble(w.src, it.lo+offset(doc.Pos()), it.lo+offset(doc.End()))
			}
			continue
		}
		p, err := w.n.packages.Import(path)
		switch {
		case err != nil:
			w.r.Missing = path
			w.fail(at, err.Error(), "")
			return false
		case sp.Name == nil:
			w.importAs(p.Name(), path)
		case sp.Name.Name == ".":
			w.fail(at, "import . does not work in a notebook", "import "+path+" by its name, so that later cells know where a name comes from")
			return false
		case sp.Name.Name == "_":
			if !slices.Contains(w.n.blank, path) {
				w.n.blank = append(w.n.blank, path)
			}
		default:
			w.importAs(sp.Name.Name, path)
		}
		if path == devicesPath && !slices.Contains(w.n.blank, path) {
			w.n.blank = append(w.n.blank, path)
		}
	}
	return true
}

// importAs gives a name to a package, which it may have had before a variable or declaration of that name.
func (w *work) importAs(name, path string) {
	if old := w.n.imports[name]; old != "" && old != path {
		w.n.shadow(name) // earlier declarations mean the other package
	}
	w.n.take(name, fmt.Sprintf("%s has been the package %s since cell [%d]", name, path, w.src.Cell))
	delete(w.n.noted, "package "+name)
	w.n.imports[name] = path
	w.imported[name] = true
}

// sort takes the cell's items apart; false means that something was wrong.
func (w *work) sort(items []item) bool {
	for _, it := range items {
		switch it.kind {
		case token.IMPORT:
			if !w.imports(it) {
				return false
			}
		case token.FUNC, token.TYPE, token.CONST:
			d := parseDecl(&Source{Cell: w.src.Cell, Code: w.code}, it)
			if d == nil { // it does not parse: the check reports why
				d = &decl{key: fmt.Sprint("unread ", it.lo), tok: it.kind, lo: it.lo, hi: it.hi, order: w.src.Cell<<20 + it.lo}
			}
			d.src, d.meaning = w.src, meaning(w.src.Code[d.lo:d.hi])
			d.edits = slices.Clone(w.base)
			if !w.allowed(d) {
				return false
			}
			if (isMain(d) || d.key == "init" && d.tok == token.FUNC) && hasParameters(w.code[d.lo:d.hi]) {
				w.fail(d.lo, "func "+d.key+" takes no arguments and returns nothing", "Go calls it for you: if you call it yourself, give it another name")
				return false
			}
			if isMain(d) { // the program's own main calls it
				w.main = d
				w.rename(d, mainName)
				w.n.put(d)
				if w.call == "" {
					w.call = mainName
				}
				continue
			}
			w.declare(d)
		default:
			w.stmts = append(w.stmts, it)
		}
	}
	var names []string
	for _, d := range w.decls {
		names = append(names, d.names...)
	}
	for _, name := range w.n.shadow(names...) {
		w.noteShadow(name)
	}
	for _, it := range w.stmts {
		switch {
		case it.kind == token.VAR:
		case w.main != nil:
			w.fail(it.lo, "statement outside func main", "a cell that has a func main runs only that: put the statement into it, or leave func main out")
			return false
		case w.tests:
			w.fail(it.lo, "statement outside a function", "a %test cell holds declarations only: put the statement into a function")
			return false
		}
	}
	w.stmts = inOrder(w.code, w.stmts, items, func(name string) bool {
		_, ok := w.n.vars[name]
		return ok
	})
	return true
}

// hasParameters reports whether a function that is declared takes or returns anything.
func hasParameters(code string) bool {
	var after []token.Token
	for _, t := range tokens(code) {
		if t.tok != token.COMMENT {
			after = append(after, t.tok)
		}
	}
	return len(after) < 5 || after[2] != token.LPAREN || after[3] != token.RPAREN || after[4] != token.LBRACE
}

// rename gives a function of the cell, which no other code names, a name of ours.
func (w *work) rename(d *decl, name string) {
	for _, t := range tokens(w.code[d.lo:d.hi]) {
		if t.tok == token.IDENT {
			w.base.replace(d.lo+t.lo, d.lo+t.hi, name)
			break
		}
	}
	d.key, d.names = name, nil
}

// allowed refuses declarations that a notebook can't live with.
func (w *work) allowed(d *decl) bool {
	for _, name := range d.names {
		switch {
		case types.Universe.Lookup(name) != nil:
			w.fail(d.lo, name+" is one of Go's own names", "later cells would lose Go's "+name+": choose another name")
			return false
		case Reserved(name):
			w.fail(d.lo, reservedMsg(name), "choose another name")
			return false
		}
	}
	return true
}

// declare adds a declaration of the cell to the book.
func (w *work) declare(d *decl) {
	if d.tok == token.FUNC && d.key == "init" {
		w.rename(d, fmt.Sprint(initName, d.lo))
	} else {
		w.n.remember(d)
	}
	w.decls = append(w.decls, d)
}

// parsePart parses a declaration alone. offset is the inverse of its positions.
func parsePart(code string, mode parser.Mode) (f *ast.File, offset func(token.Pos) int, err error) {
	const head = "package p\n"
	fs := token.NewFileSet()
	f, err = ParseFile(fs, head+code, mode)
	return f, func(p token.Pos) int { return fs.Position(p).Offset - len(head) }, err
}

// parseDecl reads what an item declares; nil if it does not parse.
func parseDecl(src *Source, it item) *decl {
	f, offset, err := parsePart(src.Code[it.lo:it.hi], parser.SkipObjectResolution)
	if err != nil || len(f.Decls) != 1 {
		return nil
	}
	d := &decl{src: src, lo: it.lo, hi: it.hi, order: src.Cell<<20 + it.lo, places: map[string]edit{}}
	d.key = fmt.Sprint("_ ", d.order)
	declares := func(id *ast.Ident, instead string, n ast.Node) {
		if id.Name != "_" {
			d.names = append(d.names, id.Name)
			d.places[id.Name] = edit{it.lo + offset(n.Pos()), it.lo + offset(n.End()), instead}
		}
	}
	switch n := f.Decls[0].(type) {
	case *ast.FuncDecl:
		d.tok = token.FUNC
		if n.Recv == nil || len(n.Recv.List) != 1 {
			declares(n.Name, "", n)
			break
		}
		d.key = ReceiverType(n.Recv.List[0].Type) + "." + n.Name.Name
		if n.Name.Name == "_" {
			d.key += fmt.Sprint(d.order)
		}
	case *ast.GenDecl:
		d.tok = n.Tok
		for _, sp := range n.Specs {
			switch sp := sp.(type) {
			case *ast.TypeSpec:
				declares(sp.Name, "", sp)
			case *ast.ValueSpec:
				for _, id := range sp.Names {
					declares(id, "_", id)
				}
			default:
				return nil
			}
		}
	}
	if len(d.names) > 0 {
		d.key = d.names[0]
	}
	return d
}
