package mine

import (
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lectern-go/lectern/kernel/internal/rewrite"
)

// An extraction takes a function, and what it needs, out of a program.
type extraction struct {
	kept      Function
	functions []Function // that the package can hold
	program   string
	set       *token.FileSet
	file      *ast.File
	info      *types.Info
	pkg       *types.Package
	others    map[string]bool       // what the other files of the package declare
	decls     map[types.Object]decl // of the program
	methods   map[string][]*ast.FuncDecl
	taken     []ast.Node              // the declarations that go along
	renamed   map[types.Object]string // to what
	imports   map[string]string       // name in the program to path
}

// A decl is where something is declared.
type decl struct {
	node  ast.Node
	names []*ast.Ident
}

// extract returns the file of a function: the one that the program gives to lesson.Grade for an exercise.
func (p *Package) extract(k Function, program string) (string, error) {
	files, err := p.others(k)
	if err != nil {
		return "", err
	}
	x := &extraction{kept: k, functions: p.Functions, program: program, set: token.NewFileSet(), decls: map[types.Object]decl{}, methods: map[string][]*ast.FuncDecl{},
		others: map[string]bool{}, renamed: map[types.Object]string{}, imports: map[string]string{}}
	if x.file, err = parser.ParseFile(x.set, "cell.go", program, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		return "", err
	}
	x.info = &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	check := types.Config{Importer: p.Importer, Error: func(error) {}} // unused names are no mistake here
	x.pkg, _ = check.Check("main", x.set, []*ast.File{x.file}, x.info)
	x.index()
	for _, text := range files {
		x.declaredIn(text)
	}
	f, err := x.graded()
	if err != nil {
		return "", err
	}
	x.renamed[f] = k.Name
	if err := x.take(f); err != nil {
		return "", err
	}
	text, err := x.write()
	if err != nil {
		return "", err
	}
	return text, compiles(fileOf(k.Name), text, files, p.Importer)
}

// index notes what the program declares.
func (x *extraction) index() {
	for _, d := range x.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				typ := rewrite.ReceiverType(d.Recv.List[0].Type)
				x.methods[typ] = append(x.methods[typ], d)
				continue
			}
			x.decls[x.info.Defs[d.Name]] = decl{d, []*ast.Ident{d.Name}}
		case *ast.GenDecl:
			names := rewrite.Declared(d)
			for _, id := range names {
				x.decls[x.info.Defs[id]] = decl{d, names}
			}
		}
	}
}

// declaredIn notes what another file of the package declares.
func (x *extraction) declaredIn(text string) {
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil { // it was changed by hand, and the go command reports the mistake
		return
	}
	for _, i := range f.Imports { // a name that a file imports can't be declared by another
		path, _ := strconv.Unquote(i.Path.Value)
		name := path[strings.LastIndexByte(path, '/')+1:]
		if i.Name != nil {
			name = i.Name.Name
		}
		x.others[name] = true
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			x.others[d.Name.Name] = x.others[d.Name.Name] || d.Recv == nil
		case *ast.GenDecl:
			for _, id := range rewrite.Declared(d) {
				x.others[id.Name] = true
			}
		}
	}
}

// graded finds the function that the program gives to lesson.Grade. If there are several, we can't tell which has all
// points.
func (x *extraction) graded() (types.Object, error) {
	var given []types.Object // nil is not one that a cell declares
	ast.Inspect(x.file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) < 2 {
			return true
		}
		if s, ok := call.Fun.(*ast.SelectorExpr); !ok || s.Sel.Name != "Grade" {
			return true
		}
		if lit, ok := call.Args[0].(*ast.BasicLit); ok {
			if key, _ := strconv.Unquote(lit.Value); key != x.kept.Key {
				return true
			}
		}
		var f types.Object
		if id, ok := ast.Unparen(call.Args[1]).(*ast.Ident); ok {
			if o, ok := x.info.Uses[id].(*types.Func); ok && o.Parent() == x.pkg.Scope() {
				f = o
			}
		}
		if !slices.Contains(given, f) {
			given = append(given, f)
		}
		return true
	})
	switch {
	case len(given) > 1:
		return nil, fmt.Errorf("the cell grades several functions for exercise %s; grade the one that you want to keep in a cell of its own", x.kept.Key)
	case len(given) == 0 || given[0] == nil:
		return nil, fmt.Errorf("only a function that a cell declares, with func %s(…), can be part of a package", x.kept.Func)
	}
	return given[0], nil
}

// take notes that a declaration goes along, and what it needs.
func (x *extraction) take(o types.Object) error {
	d, ok := x.decls[o]
	if !ok || slices.Contains(x.taken, d.node) {
		return nil
	}
	if v, ok := o.(*types.Var); ok {
		return fmt.Errorf("a function in a package does not see the variable %s of your cells; make it an argument or a constant, and grade the function again", v.Name())
	}
	nodes := []ast.Node{d.node}
	for _, id := range d.names {
		o := x.info.Defs[id]
		if x.renamed[o] == "" && x.others[id.Name] { // another function's helper has the name
			x.renamed[o] = lowerFirst(x.kept.Name) + upperFirst(id.Name)
		}
		if _, is := o.(*types.TypeName); is {
			for _, m := range x.methods[id.Name] {
				nodes = append(nodes, m)
			}
		}
	}
	x.taken = append(x.taken, nodes...)
	for _, n := range nodes {
		for _, o := range x.uses(n) {
			if name := x.keptAs(o); name != "" {
				x.renamed[o] = name
			} else if err := x.take(o); err != nil {
				return err
			}
		}
	}
	return nil
}

// uses lists what else of the program a declaration names, in order.
func (x *extraction) uses(n ast.Node) (list []types.Object) {
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		switch o := x.info.Uses[id].(type) {
		case nil:
		case *types.PkgName:
			if o.Imported().Name() != Name {
				x.imports[id.Name] = o.Imported().Path()
			}
		default:
			if o.Parent() == x.pkg.Scope() {
				list = append(list, o)
			}
		}
		return true
	})
	return list
}

// keptAs is the name that a function of another exercise of the same lesson has in the package.
func (x *extraction) keptAs(o types.Object) string {
	if _, is := o.(*types.Func); !is || x.renamed[o] == x.kept.Name {
		return ""
	}
	for _, k := range x.functions {
		if k.Func == o.Name() && k.lesson() == x.kept.lesson() && k != x.kept && x.others[k.Name] {
			return k.Name
		}
	}
	return ""
}

// write writes what was taken as a file of the package.
func (x *extraction) write() (string, error) {
	var b strings.Builder
	b.WriteString("package " + Name + "\n\n")
	var ofGo, others []string // imports
	for _, name := range slices.Sorted(maps.Keys(x.imports)) {
		path := x.imports[name]
		spec := strconv.Quote(path)
		if path != name && !strings.HasSuffix(path, "/"+name) {
			spec = name + " " + spec
		}
		if strings.Contains(path, ".") {
			others = append(others, spec)
		} else {
			ofGo = append(ofGo, spec)
		}
	}
	switch specs := append(ofGo, others...); {
	case len(specs) == 1:
		b.WriteString("import " + specs[0] + "\n")
	case len(specs) > 1:
		if len(ofGo) > 0 && len(others) > 0 {
			specs[len(ofGo)-1] += "\n"
		}
		b.WriteString("import (\n" + strings.Join(specs, "\n") + "\n)\n")
	}
	slices.SortFunc(x.taken, func(a, b ast.Node) int { return int(a.Pos() - b.Pos()) })
	for _, n := range x.taken {
		b.WriteString("\n" + x.text(n) + "\n")
	}
	text, err := format.Source([]byte(b.String()))
	return string(text), err
}

// text is that of a declaration, with its comment, its new names, and what other lessons call mine.X as X.
func (x *extraction) text(n ast.Node) string {
	offset := func(p token.Pos) int { return x.set.Position(p).Offset }
	var b strings.Builder
	at := offset(n.Pos())
	replace := func(lo, hi token.Pos, text string) {
		b.WriteString(x.program[at:offset(lo)] + text)
		at = offset(hi)
	}
	switch d := n.(type) {
	case *ast.FuncDecl:
		name := x.renamed[x.info.Defs[d.Name]]
		switch {
		case d.Doc != nil:
			if at = offset(d.Doc.Pos()); name != "" && strings.HasPrefix(d.Doc.List[0].Text, "// "+d.Name.Name+" ") {
				replace(d.Doc.Pos(), d.Doc.Pos()+token.Pos(len("// "+d.Name.Name)), "// "+name)
			}
		case name == x.kept.Name:
			fmt.Fprintf(&b, "// %s is the function %s of exercise %s.\n", name, x.kept.Func, x.kept.Key)
		}
	case *ast.GenDecl:
		if d.Doc != nil {
			at = offset(d.Doc.Pos())
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok {
				if p, ok := x.info.Uses[id].(*types.PkgName); ok && p.Imported().Name() == Name {
					replace(id.Pos(), n.Sel.Pos(), "")
					return false
				}
			}
		case *ast.Ident:
			o := x.info.Uses[n]
			if o == nil {
				o = x.info.Defs[n]
			}
			if name := x.renamed[o]; o != nil && name != "" {
				replace(n.Pos(), n.End(), name)
			}
		}
		return true
	})
	b.WriteString(x.program[at:offset(n.End())])
	return b.String()
}

// compiles says why a file does not compile with the others of its package, if it doesn't. Mistakes in the others don't
// count.
func compiles(name, text string, files map[string]string, importer types.Importer) error {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	var parsed []*ast.File
	for other, text := range files {
		if f, err := parser.ParseFile(set, other, text, parser.SkipObjectResolution); err == nil {
			parsed = append(parsed, f)
		}
	}
	wrong := func(files []*ast.File) (list []string) {
		check := types.Config{Importer: importer, Error: func(err error) {
			if e, ok := errors.AsType[types.Error](err); ok {
				said, _, _ := strings.Cut(e.Msg, "\n")
				if at := set.Position(e.Pos); at.Filename != name {
					said = fmt.Sprintf("%s (%s/%s:%d)", said, Name, at.Filename, at.Line)
				}
				list = append(list, said)
			}
		}}
		check.Check(Name, set, files, nil)
		return list
	}
	before := wrong(parsed)
	for _, said := range wrong(append(parsed, f)) { // it comes last, so that a second declaration counts as its mistake
		if !slices.Contains(before, said) {
			return fmt.Errorf("without your cells it does not compile: %s", said)
		}
	}
	return nil
}

func upperFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}
