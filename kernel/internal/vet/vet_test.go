package vet

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// mistakes has a program for each analyzer that it must say something of, and what.
var mistakes = map[string]struct{ imports, code, want string }{
	"appends":          {"", "var xs []int\nxs = append(xs)", "append with no values"},
	"assign":           {"", "x := 1\nx = x", "self-assignment"},
	"atomic":           {"sync/atomic", "var n int64\nn = atomic.AddInt64(&n, 1)", "direct assignment to atomic value"},
	"bools":            {"", "x := 1\n_ = x == 1 || x == 1", "redundant or"},
	"copylocks":        {"sync", "var mu sync.Mutex\nother := mu\n_ = &other", "assignment copies lock value"},
	"defers":           {"time", "start := time.Now()\ndefer print(time.Since(start))", "call to time.Since is not deferred"},
	"errorsas":         {"errors", "var err error\nvar t *error\nerrors.As(err, *t)", "second argument to errors.As"},
	"hostport":         {"fmt net", "net.Dial(\"tcp\", fmt.Sprintf(\"%s:%d\", \"::1\", 80))", "does not work with IPv6"},
	"httpresponse":     {"net/http", "r, err := http.Get(\"\")\ndefer r.Body.Close()\nif err != nil {\n\treturn\n}", "before checking for errors"},
	"ifaceassert":      {"io", "var r interface{ Read(int) }\n_, _ = r.(io.Reader)", "impossible type assertion"},
	"lostcancel":       {"context", "f := func() {\n\tctx, cancel := context.WithCancel(context.Background())\n\tif ctx.Err() != nil {\n\t\tcancel()\n\t}\n}\nf()", "the cancel function is not used on all paths"},
	"nilfunc":          {"", "_ = main == nil", "comparison of function main == nil is always false"},
	"printf":           {"fmt", "fmt.Printf(\"%d\", \"a\")", "has arg \"a\" of wrong type"},
	"shift":            {"", "var x int8\n_ = x << 9", "too small for shift"},
	"sigchanyzer":      {"os os/signal", "c := make(chan os.Signal)\nsignal.Notify(c)", "misuse of unbuffered os.Signal channel"},
	"slog":             {"log/slog", "slog.Info(\"a\", \"key\")", "missing a final value"},
	"stdmethods":       {"", "type t interface{ ReadByte() byte }\nvar _ t", "should have signature"},
	"stringintconv":    {"", "x := 65\n_ = string(x)", "yields a string of one rune"},
	"structtag":        {"", "type t struct {\n\tA int `json:a`\n}\nvar _ t", "not compatible with reflect.StructTag"},
	"testinggoroutine": {"testing", "func TestA(t *testing.T) {\n\tgo func() { t.Fatal(1) }()\n}", "non-test goroutine"},
	"timeformat":       {"time", "time.Now().Format(\"2006-02-01\")", "should be 2006-01-02"},
	"unmarshal":        {"encoding/json", "var x int\njson.Unmarshal(nil, x)", "passes non-pointer"},
	"unreachable":      {"", "return\nprint(1)", "unreachable code"},
	"waitgroup":        {"sync", "var wg sync.WaitGroup\ngo func() { wg.Add(1) }()\nwg.Wait()", "WaitGroup.Add called from inside new goroutine"},
}

// TestEachAnalyzer: none of them is lost, by a panic in it for example.
func TestEachAnalyzer(t *testing.T) {
	for _, a := range analyzers {
		c, ok := mistakes[a.Name]
		if !ok {
			t.Errorf("%s has no program", a.Name)
			continue
		}
		if said := check(t, c.imports, c.code); len(said) != 1 || !strings.Contains(said[0], c.want) {
			t.Errorf("%s says %q, want %q", a.Name, said, c.want)
		}
	}
	if len(mistakes) != len(analyzers) {
		t.Errorf("%d analyzers, programs for %d", len(analyzers), len(mistakes))
	}
}

// TestQuiet: a cell's own variables live on, and so does their cancel function.
func TestQuiet(t *testing.T) {
	for imports, code := range map[string]string{
		"context":     "ctx, cancel := context.WithCancel(context.Background())\n_, _ = ctx, cancel",
		"context log": "f := func() {\n\tctx, cancel := context.WithCancel(context.Background())\n\tif ctx.Err() != nil {\n\t\tlog.Fatal(1)\n\t}\n\tcancel()\n}\nf()",
	} {
		if said := check(t, imports, code); len(said) > 0 {
			t.Errorf("%s\n%q", code, said)
		}
	}
}

func check(t *testing.T, imports, code string) (said []string) {
	t.Helper()
	if !strings.HasPrefix(code, "func ") {
		code = "func main() {\n" + code + "\n}"
	}
	var specs []ast.Spec
	for _, path := range strings.Fields(imports) { // without places, as the kernel adds them
		specs = append(specs, &ast.ImportSpec{Path: &ast.BasicLit{Kind: token.STRING, Value: "\"" + path + "\""}})
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "cell", "package main\n"+code+"\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(specs) > 0 {
		file.Decls = slices.Insert(file.Decls, 0, ast.Decl(&ast.GenDecl{Tok: token.IMPORT, TokPos: file.Name.End(), Specs: specs}))
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Instances: map[*ast.Ident]types.Instance{}, Implicits: map[ast.Node]types.Object{}}
	conf := types.Config{Importer: importer.Default(), Error: func(error) {}}
	pkg, _ := conf.Check("main", fset, []*ast.File{file}, info)
	Check(fset, file, pkg, info, func(_ token.Pos, what string) { said = append(said, what) })
	return said
}
