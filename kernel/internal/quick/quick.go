// Package quick answers questions about a program that is being written, from its types: what can come at a place, and
// what a name means. It takes milliseconds and next to no memory.
package quick

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/build"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lectern-go/lectern/internal/glob"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
)

// An Item is one completion.
type Item struct {
	Text   string // to be inserted
	Kind   string // "function", "variable", …
	Detail string // its type or signature
}

// hole stands where a name is being written, so that the parser finds a name there.
const hole = "lecternHole"

// A program is a checked text.
type program struct {
	file *ast.File
	fset *token.FileSet
	info *types.Info
	pkg  *types.Package
	at   token.Pos // of the name that was asked for
}

// check parses and checks text, mistakes and all.
func check(text string, at int, imports types.Importer) *program {
	p := &program{fset: token.NewFileSet(), info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Scopes: map[ast.Node]*types.Scope{}, Instances: map[*ast.Ident]types.Instance{}}}
	p.file, _ = rewrite.ParseFile(p.fset, text, parser.SkipObjectResolution|parser.AllErrors|parser.ParseComments)
	if p.file == nil {
		return nil
	}
	c := types.Config{Importer: imports, Error: func(error) {}, Sizes: types.SizesFor("gc", runtime.GOARCH)}
	p.pkg = rewrite.TypeCheck(&c, p.fset, p.file, p.info)
	p.at = p.fset.File(p.file.FileStart).Pos(at)
	return p
}

// Complete lists what can come at an offset of a program text, by name, and the offset from which it replaces what is
// there. packages are names for which an import would be found.
func Complete(text string, off int, imports types.Importer, packages []string) (items []Item, start int) {
	start = off
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:start])
		if !letter(r) {
			break
		}
		start -= size
	}
	end := off
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		if !letter(r) {
			break
		}
		end += size
	}
	typed := text[start:off]
	p := check(text[:start]+hole+text[end:], start, imports)
	if p == nil || p.pkg == nil {
		return nil, start
	}
	seen := map[string]bool{hole: true, "_": true}
	points := map[string]float64{}
	add := func(name, kind, detail string, score float64) {
		if seen[name] || len(name) < len(typed) || !strings.EqualFold(name[:len(typed)], typed) {
			return
		}
		seen[name], points[name] = true, score
		items = append(items, Item{name, kind, detail})
	}
	r := newRank(p)
	depth := 0
	object := func(o types.Object) { add(o.Name(), kind(o), p.detail(o), r.score(o, depth)) }
	if x := p.selected(); x != nil {
		p.members(x, object)
	} else {
		if r.literal != nil {
			for f := range r.literal.Fields() {
				if f.Exported() || f.Pkg() == p.pkg {
					add(f.Name(), kind(f), p.detail(f), 100+r.score(f, 0))
				}
			}
		}
		for scope := p.pkg.Scope().Innermost(p.at); scope != nil; scope = scope.Parent() {
			for _, name := range scope.Names() {
				o := scope.Lookup(name)
				local := scope != types.Universe && scope != p.pkg.Scope() && scope.Parent() != p.pkg.Scope() // files' scopes hold imports
				if !local || o.Pos() < p.at {
					object(o)
				}
			}
			depth++
		}
		for _, name := range packages {
			add(name, "module", "package "+name, 30*r.uses[name])
		}
		for t := token.BREAK; t <= token.VAR; t++ {
			add(t.String(), "keyword", "", r.keyword(t))
		}
	}
	// Names that begin as it was typed come first, then likely ones.
	slices.SortStableFunc(items, func(a, b Item) int {
		if x, y := strings.HasPrefix(a.Text, typed), strings.HasPrefix(b.Text, typed); x != y {
			if x {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(points[b.Text], points[a.Text]), strings.Compare(a.Text, b.Text))
	})
	return items, start
}

func letter(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// selected is what comes before the dot before the name; nil if there is none.
func (p *program) selected() (x ast.Expr) {
	ast.Inspect(p.file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Pos() == p.at {
			x = s.X
		}
		return x == nil
	})
	return x
}

// members calls f with the fields and methods of a value, or what a package exports.
func (p *program) members(x ast.Expr, f func(types.Object)) {
	if id, ok := x.(*ast.Ident); ok {
		if name, ok := p.info.Uses[id].(*types.PkgName); ok {
			scope := name.Imported().Scope()
			for _, n := range scope.Names() {
				if ast.IsExported(n) {
					f(scope.Lookup(n))
				}
			}
			return
		}
	}
	tv, ok := p.info.Types[x]
	if !ok || tv.Type == nil {
		return
	}
	visible := func(o types.Object) {
		if o.Exported() || o.Pkg() == p.pkg {
			f(o)
		}
	}
	if !tv.IsType() {
		p.fields(tv.Type, map[types.Type]bool{}, visible)
	}
	t := tv.Type
	if _, isPointer := t.Underlying().(*types.Pointer); !isPointer && !types.IsInterface(t) {
		t = types.NewPointer(t) // a variable has the methods of its address, too
	}
	for m := range types.NewMethodSet(t).Methods() {
		visible(m.Obj())
	}
}

// fields calls f with the fields of a struct, also of those embedded in it.
func (p *program) fields(t types.Type, seen map[types.Type]bool, f func(types.Object)) {
	if seen[t] {
		return
	}
	seen[t] = true
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return
	}
	for field := range s.Fields() {
		f(field)
	}
	for field := range s.Fields() {
		if field.Embedded() {
			p.fields(field.Type(), seen, f)
		}
	}
}

// kind is what editors call a kind of object.
func kind(o types.Object) string {
	switch o := o.(type) {
	case *types.Func, *types.Builtin:
		return "function"
	case *types.Const:
		return "constant"
	case *types.PkgName:
		return "module"
	case *types.TypeName:
		if types.IsInterface(o.Type()) {
			return "interface"
		}
		return "class"
	case *types.Var:
		if o.IsField() {
			return "property"
		}
	}
	return "variable"
}

// detail is the type of an object, with packages by their names.
func (p *program) detail(o types.Object) string {
	switch o := o.(type) {
	case *types.PkgName:
		return "package " + o.Imported().Path()
	case *types.TypeName:
		return types.TypeString(o.Type().Underlying(), p.qualifier)
	}
	if o.Type() == nil || o.Type() == types.Typ[types.Invalid] {
		return ""
	}
	return types.TypeString(o.Type(), p.qualifier)
}

func (p *program) qualifier(other *types.Package) string {
	if other == p.pkg {
		return ""
	}
	return other.Name()
}

// Describe returns what the name at an offset of a program text is: its declaration; the path of the package that it
// belongs to, and its name there, by which its documentation is found; and the comment before it if it is the text's
// own. ok is false if nothing is known.
func Describe(text string, off int, imports types.Importer) (d Description, ok bool) {
	p := check(text, off, imports)
	if p == nil || p.pkg == nil {
		return d, false
	}
	var o types.Object
	var name *ast.Ident
	for id, used := range p.info.Uses {
		if id.Pos() <= p.at && p.at <= id.End() {
			o, name = used, id
		}
	}
	for id, defined := range p.info.Defs {
		if id.Pos() <= p.at && p.at <= id.End() && defined != nil {
			o, name = defined, id
		}
	}
	if o == nil {
		return d, false
	}
	d.Declaration = p.declaration(o, name)
	switch o := o.(type) {
	case *types.PkgName:
		d.Path = o.Imported().Path()
		return d, true
	case *types.Func:
		if recv := o.Signature().Recv(); recv != nil {
			t := recv.Type()
			if ptr, ok := t.(*types.Pointer); ok {
				t = ptr.Elem()
			}
			if named, ok := t.(*types.Named); ok {
				d.Name = named.Obj().Name() + "."
			}
		}
	case *types.Var:
		p.describeType(o.Type(), &d)
		if o.IsField() {
			return d, true
		}
	}
	if o.Pkg() == nil {
		d.Path = "builtin"
	} else if o.Pkg() != p.pkg {
		d.Path = o.Pkg().Path()
	} else {
		if _, function := o.(*types.Func); function || o.Parent() == p.pkg.Scope() {
			d.Comment = p.comment(o.Pos())
		}
		return d, true
	}
	d.Name += o.Name()
	return d, true
}

// declaration writes an object as Go declares it; a generic function as it is instantiated by the name.
func (p *program) declaration(o types.Object, name *ast.Ident) string {
	switch o := o.(type) {
	case *types.Const:
		return types.ObjectString(o, p.qualifier) + " = " + o.Val().String()
	case *types.Func:
		sig := o.Signature()
		if i, ok := p.info.Instances[name].Type.(*types.Signature); ok {
			sig = i
		} else if sig.TypeParams() != nil {
			break
		}
		var b bytes.Buffer
		b.WriteString("func ")
		if recv := o.Signature().Recv(); recv != nil {
			b.WriteString(strings.Replace("("+recv.Name()+" ", "( ", "(", 1) + types.TypeString(recv.Type(), p.qualifier) + ") ")
		} else if of := p.qualifier(o.Pkg()); of != "" {
			b.WriteString(of + ".")
		}
		b.WriteString(o.Name())
		types.WriteSignature(&b, sig, p.qualifier)
		return b.String()
	}
	return types.ObjectString(o, p.qualifier)
}

// A Description describes a name.
type Description struct {
	Declaration string
	Path, Name  string // of the package and in it, such as Builder.WriteString, for Documentation; "" for a name that is no package's
	Comment     string // of what the text itself declares

	TypePath, TypeName string // of a value whose type has a name, as Path and Name
	TypeComment        string // if the text itself declares it
}

// describeType describes a value's type.
func (p *program) describeType(t types.Type, d *Description) {
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		t = ptr.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	switch {
	case !ok || named.Obj().Pkg() == nil: // error needs no explanation
	case named.Obj().Pkg() == p.pkg:
		d.TypeComment = p.comment(named.Obj().Pos())
	default:
		d.TypePath, d.TypeName = named.Obj().Pkg().Path(), named.Obj().Name()
	}
}

// comment is what comes before the declaration of a name.
func (p *program) comment(pos token.Pos) string {
	i := slices.IndexFunc(p.file.Decls, func(d ast.Decl) bool { return d.Pos() <= pos && pos < d.End() })
	if i < 0 {
		return ""
	}
	switch d := p.file.Decls[i].(type) {
	case *ast.FuncDecl:
		return d.Doc.Text()
	case *ast.GenDecl:
		return d.Doc.Text()
	}
	return ""
}

// Documentation reads the documentation of a name, as Markdown, and how it is declared, from the source of its package
// in a folder. The name "" is the package itself, whose path is given. Names in brackets become links to pkg.go.dev.
func Documentation(dir, path, name string) (declaration, markdown string) {
	declaration, text, names := find(dir, name)
	parser := comment.Parser{LookupSym: func(recv, name string) bool { return names[strings.TrimPrefix(recv+"."+name, ".")] }}
	url := func(l *comment.DocLink) string {
		if l.ImportPath == "" {
			l.ImportPath = path
		}
		return l.DefaultURL("https://pkg.go.dev")
	}
	printer := comment.Printer{DocLinkURL: url, HeadingID: func(*comment.Heading) string { return "" }}
	return declaration, string(printer.Markdown(parser.Parse(text)))
}

// find also returns what else the package declares.
func find(dir, name string) (declaration, text string, names map[string]bool) {
	names = map[string]bool{}
	files, _ := glob.In(dir, "*.go")
	fset := token.NewFileSet()
	for _, file := range files {
		// Files of other systems declare the same names.
		if match, err := build.Default.MatchFile(dir, filepath.Base(file)); err == nil && !match || strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, _ := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if f == nil {
			continue
		}
		if name == "" && text == "" && f.Doc.Text() != "" {
			declaration, text = "package "+f.Name.Name, f.Doc.Text()
		}
		for _, decl := range f.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				names[methodName(d)] = true
				if methodName(d) == name {
					d.Body = nil
					text, d.Doc = d.Doc.Text(), nil
					declaration = source(fset, d)
				}
			case *ast.GenDecl:
				for _, id := range rewrite.Declared(d) {
					names[id.Name] = true
				}
				for _, spec := range d.Specs {
					if doc, ok := declares(spec, name); ok {
						if doc == "" {
							doc = d.Doc.Text()
						}
						declaration, text = source(fset, visible(spec)), doc
					}
				}
			}
		}
	}
	return declaration, text, names
}

// methodName is the name of a function, with that of its type if it is a method.
func methodName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	return rewrite.ReceiverType(d.Recv.List[0].Type) + "." + d.Name.Name
}

// declares reports whether a declaration is that of a name, with the comment that is its own.
func declares(spec ast.Spec, name string) (doc string, ok bool) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return s.Doc.Text(), s.Name.Name == name
	case *ast.ValueSpec:
		return s.Doc.Text(), slices.ContainsFunc(s.Names, func(id *ast.Ident) bool { return id.Name == name })
	}
	return "", false
}

// visible removes from a struct what only its package sees.
func visible(spec ast.Spec) ast.Spec {
	if t, ok := spec.(*ast.TypeSpec); ok {
		if s, ok := t.Type.(*ast.StructType); ok {
			s.Fields.List = slices.DeleteFunc(s.Fields.List, func(f *ast.Field) bool {
				return len(f.Names) > 0 && !slices.ContainsFunc(f.Names, (*ast.Ident).IsExported)
			})
			if len(s.Fields.List) == 0 {
				t.Type = ast.NewIdent("struct{ … }")
			}
		}
		t.Doc = nil
	}
	return spec
}

func source(fset *token.FileSet, node any) string {
	var b strings.Builder
	if format.Node(&b, fset, node) != nil {
		return ""
	}
	return b.String()
}
