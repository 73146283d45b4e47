// Package api holds the list of what the module exports, and the test that nothing of it is lost or changed by
// accident.
package api

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/testenv"
)

var update = flag.Bool("update", false, "write the list again")

const (
	module = "github.com/lectern-go/lectern/"
	list   = "testdata/api.txt"
)

// What the kernel's parts export is for each other, what tools export is for the project's own commands, and what
// package mine exports is for lessons. Cells and lessons use show, widget and lesson.
func public(path string) bool {
	return path != module+"notebooks/mine" && !strings.Contains(path, "/internal/") && !strings.HasPrefix(path, module+"tools/") && (!strings.HasPrefix(path, module+"kernel/") || path == module+"kernel/show" || path == module+"kernel/show/widget")
}

// TestAPI compares what the module exports with the list. Adding something is one run with -update; taking something
// away, or giving it another type, breaks programs of others and belongs in CHANGELOG.md.
func TestAPI(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not here")
	}
	got := exported(t)
	if *update {
		if err := os.WriteFile(list, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	stored, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(string(stored), "\n"), "\n")
	for _, line := range want {
		if _, ok := slices.BinarySearch(got, line); !ok {
			t.Errorf("gone or changed: %s", line)
		}
	}
	for _, line := range got {
		if _, ok := slices.BinarySearch(want, line); !ok {
			t.Errorf("not in the list: %s", line)
		}
	}
	if t.Failed() {
		t.Log("if that is meant, run go test ./internal/api -update, and tell users of a break in CHANGELOG.md")
	}
}

// TestChangesAreSeen asks that the lines name what programs depend on.
func TestChangesAreSeen(t *testing.T) {
	got := exported(t)
	for _, line := range []string{
		"tensor: func (*Tensor) Matmul(*Tensor) *Tensor",
		"tensor: func Zeros(",
		"tensor: const Float32 ",
		"tensor: type Tensor struct",
		"optim: func NewAdamW(",
	} {
		if !slices.ContainsFunc(got, func(l string) bool { return strings.HasPrefix(l, line) }) {
			t.Errorf("no line begins with %q", line)
		}
	}
}

// exported returns a sorted line for each exported constant, variable, function, type, method and field of the public
// packages.
func exported(t *testing.T) []string {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Name,Module", "./...")
	cmd.Dir = "../.."
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	archives := map[string]string{}
	var paths []string
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Export, Name string
			Module                   *struct{ Main bool }
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		archives[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Main && p.Name != "main" && public(p.ImportPath) {
			paths = append(paths, p.ImportPath)
		}
	}
	imp := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(archives[path]) })
	var lines []string
	for _, path := range paths {
		p, err := imp.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range exports(p) {
			lines = append(lines, strings.TrimPrefix(path, module)+": "+line)
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// exports returns a line for each exported object of p, without the names of values that are private.
func exports(p *types.Package) []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	in := func(other *types.Package) string {
		if other == p {
			return ""
		}
		return other.Name()
	}
	str := func(t types.Type) string { return types.TypeString(t, in) }
	function := func(f *types.Func, receiver string) {
		s := f.Signature()
		unnamed := types.NewSignatureType(nil, nil, nil, nameless(s.Params()), nameless(s.Results()), s.Variadic())
		add("func %s%s%s%s", receiver, f.Name(), parameters(s.TypeParams(), str), strings.TrimPrefix(str(unnamed), "func"))
	}
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		switch o := o.(type) {
		case *types.Const:
			add("const %s %s", name, str(o.Type()))
		case *types.Var:
			add("var %s %s", name, str(o.Type()))
		case *types.Func:
			function(o, "")
		case *types.TypeName:
			if o.IsAlias() {
				add("type %s = %s", name, str(types.Unalias(o.Type())))
				continue
			}
			n, ok := o.Type().(*types.Named)
			if !ok {
				continue
			}
			add("type %s%s %s", name, parameters(n.TypeParams(), str), kind(n.Underlying(), str))
			if s, ok := o.Type().Underlying().(*types.Struct); ok {
				for f := range s.Fields() {
					if f.Exported() {
						add("type %s struct, %s %s", name, f.Name(), str(f.Type()))
					}
				}
			}
			if !types.IsInterface(n) {
				for m := range n.Methods() {
					if m.Exported() {
						function(m, "("+str(m.Signature().Recv().Type())+") ")
					}
				}
			}
		}
	}
	return lines
}

// kind is what of a type's definition others can see.
func kind(t types.Type, str func(types.Type) string) string {
	if _, ok := t.(*types.Struct); ok {
		return "struct"
	}
	return str(t)
}

// nameless is a tuple without the names, which callers don't write.
func nameless(t *types.Tuple) *types.Tuple {
	var vars []*types.Var
	for v := range t.Variables() {
		vars = append(vars, types.NewParam(token.NoPos, v.Pkg(), "", v.Type()))
	}
	return types.NewTuple(vars...)
}

func parameters(t *types.TypeParamList, str func(types.Type) string) string {
	if t.Len() == 0 {
		return ""
	}
	var list []string
	for p := range t.TypeParams() {
		list = append(list, p.Obj().Name()+" "+str(p.Constraint()))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "../..") }
