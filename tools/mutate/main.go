// Command mutate says what the tests of a package would notice: it changes the package's code in one place at a time,
// and a change after which all tests still pass is a survivor.
//
//	go run ./tools/mutate -n 40 ./tensor/layout                    40 changes, which the package's own tests look for
//	go run ./tools/mutate -by ./tensor ./tensor/internal/loops     or those of another package
//	go run ./tools/mutate -by ./optim,./internal/oracle ./optim    or those of several
//	go run ./tools/mutate -only 17,203 ./tensor/layout             these alone, by the numbers of an earlier run
//
// Conditions are negated, moved by one at their boundary, or lose their second half; numbers are off by one;
// statements are left out. All changes are compiled into one test program, in which a variable of the environment
// turns one of them on, so a change costs no more than the tests that run until one fails. They run with the
// processor's vectors, and then without. No file of the package is written. What is only slower survives, and so does
// what can't be told apart: read a survivor before you write its test.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lectern-go/lectern/internal/cpu"
)

func main() {
	count := flag.Int("n", 40, "how many changes are tried; 0 for all")
	seed := flag.Uint64("seed", 1, "which ones")
	only := flag.String("only", "", "numbers of changes, with commas between them")
	by := flag.String("by", "", "the packages whose tests look, with commas between them; the changed one if empty")
	run := flag.String("run", "", "the tests that look, a regular expression as go test -run takes it; all if empty")
	limit := flag.Duration("limit", 5*time.Minute, "tests that take longer have noticed")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "name one package, such as ./optim")
		os.Exit(2)
	}
	tests := strings.Split(cmp.Or(*by, flag.Arg(0)), ",")
	if err := mutate(flag.Arg(0), tests, *run, *only, *count, *seed, *limit); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func mutate(pkg string, by []string, run, only string, count int, seed uint64, limit time.Duration) error {
	p, err := load(pkg)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	var tests []*exec.Cmd
	overlay, err := p.overlay(scratch)
	if err != nil {
		return err
	}
	for i, pkg := range by {
		its, err := load(pkg)
		if err != nil {
			return err
		}
		program := filepath.Join(scratch, fmt.Sprintf("tests%d", i))
		if _, err := output("go", "test", "-vet=off", "-c", "-o", program, "-overlay", overlay, pkg); err != nil {
			return err
		}
		args := []string{program, "-test.failfast", "-test.short", "-test.run=" + run}
		if flags, _ := exec.Command(program, "-help").CombinedOutput(); strings.Contains(string(flags), "rapid.nofailfile") {
			args = append(args, "-rapid.nofailfile") // which it would write into the package
		}
		for _, vectors := range []string{cpu.Override + "=", cpu.Override + "=generic"} {
			tests = append(tests, &exec.Cmd{Path: program, Args: args, Dir: its.Dir, Env: append(os.Environ(), vectors)})
		}
	}
	noticed := func(number int) (bool, error) {
		for _, test := range tests {
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			c := exec.CommandContext(ctx, test.Path, test.Args[1:]...)
			c.Dir, c.WaitDelay = test.Dir, time.Second
			c.Env = append(slices.Clip(test.Env), fmt.Sprintf("%s=%d", variable, number))
			err := c.Run()
			late := ctx.Err() != nil
			cancel()
			if exit := (*exec.ExitError)(nil); late || errors.As(err, &exit) {
				return true, nil
			} else if err != nil {
				return false, err
			}
		}
		return false, nil
	}
	if failed, err := noticed(0); err != nil || failed {
		return errors.Join(err, fmt.Errorf("the tests of %s fail as they are", strings.Join(by, " and ")))
	}

	chosen := rand.New(rand.NewPCG(seed, 0)).Perm(len(p.changes))
	if count > 0 {
		chosen = chosen[:min(count, len(chosen))]
	}
	if only != "" {
		chosen = nil
		for number := range strings.SplitSeq(only, ",") {
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 || n > len(p.changes) {
				return fmt.Errorf("there is no change %q: %s has 1 to %d", number, pkg, len(p.changes))
			}
			chosen = append(chosen, n-1)
		}
	}
	killed := 0
	for _, i := range chosen {
		failed, err := noticed(i + 1)
		if err != nil {
			return err
		}
		if failed {
			killed++
			continue
		}
		fmt.Printf("nothing notices %d: %s\n", i+1, p.changes[i])
	}
	fmt.Printf("%s: %d of %d changes were tried, tests noticed %d: score %.0f %%\n", pkg, len(chosen), len(p.changes), killed, 100*float64(killed)/float64(len(chosen)))
	return nil
}

// variable of the environment holds the number of the change that is on.
const variable = "LECTERN_MUTANT"

// added to the package is what turns changes on.
const added = `
var mutantChosen, _ = strconv.Atoi(os.Getenv("` + variable + `"))

func mutantIs(n int) bool { return n == mutantChosen }

func mutantPlus[T interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}](n int, v T) T {
	if n == mutantChosen {
		v++
	}
	return v
}
`

// pack is a package and its changes.
type pack struct {
	Dir, ImportPath, Name string
	GoFiles               []string

	changes []string // what each does, and where
	files   map[string]string
}

// load reads a package.
func load(pkg string) (*pack, error) {
	text, err := output("go", "list", "-json=Dir,ImportPath,Name,GoFiles", pkg)
	if err != nil {
		return nil, err
	}
	p := &pack{files: map[string]string{}}
	return p, json.Unmarshal(text, p)
}

// overlay writes the package with all changes in it, and returns the file that go test -overlay takes.
func (p *pack) overlay(scratch string) (string, error) {
	if err := p.change(); err != nil {
		return "", err
	}
	if len(p.changes) == 0 {
		return "", fmt.Errorf("%s has nothing to change", p.ImportPath)
	}
	replace := map[string]string{}
	p.files["mutant.go"] = "package " + p.Name + "\n\nimport (\n\"os\"\n\"strconv\"\n)\n" + added
	for name, text := range p.files {
		at := filepath.Join(scratch, name)
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(p.Dir, name)] = at
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(scratch, "overlay.json")
	return file, os.WriteFile(file, overlay, 0o600)
}

// change finds all changes, and writes the files with them.
func (p *pack) change() error {
	fset := token.NewFileSet()
	var files []*ast.File
	sources := map[string][]byte{}
	for _, name := range p.GoFiles {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		sources[name], files = text, append(files, file)
	}
	exports, err := exports(p.ImportPath)
	if err != nil {
		return err
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	checker := types.Config{Importer: importer.ForCompiler(fset, "gc", open)}
	if _, err := checker.Check(p.ImportPath, fset, files, &info); err != nil {
		return err
	}
	for i, file := range files {
		if ast.IsGenerated(file) {
			continue
		}
		c := changer{p, fset, &info, sources[p.GoFiles[i]], map[int]string{}, map[int]string{}}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				c.block(f.Body)
			}
		}
		p.files[p.GoFiles[i]] = c.text()
	}
	return nil
}

// exports returns the files from which the types of what a package imports are read.
func exports(pkg string) (map[string]string, error) {
	text, err := output("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", pkg)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		all[path] = file
	}
	return all, nil
}

func output(name string, args ...string) ([]byte, error) {
	c := exec.Command(name, args...)
	text, err := c.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, exit.Stderr)
	}
	return text, err
}

// changer makes the changes of a file: texts that are put in at places.
type changer struct {
	p      *pack
	fset   *token.FileSet
	info   *types.Info
	source []byte

	before, behind map[int]string // what is put in at a place: behind what ends there, and before what begins there
}

// block changes the statements of a block, and the expressions in them.
func (c *changer) block(b ast.Node) {
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			c.statements(n.List)
		case *ast.CaseClause:
			c.statements(n.Body)
		case *ast.CommClause:
			c.statements(n.Body)
		case *ast.IfStmt:
			c.condition(n.Cond)
		case *ast.ForStmt:
			if n.Cond != nil {
				c.condition(n.Cond)
			}
		case *ast.BinaryExpr:
			c.binary(n)
		case *ast.CallExpr: // what is made too large only has room to spare
			return !c.named(n, "make")
		}
		return true
	})
}

func (c *changer) named(call *ast.CallExpr, names ...string) bool {
	name, ok := call.Fun.(*ast.Ident)
	return ok && slices.Contains(names, name.Name)
}

// statements leaves each out. The last call may be what never returns.
func (c *changer) statements(all []ast.Stmt) {
	for i, s := range all {
		c.statement(s, i == len(all)-1)
	}
}

func (c *changer) statement(s ast.Stmt, last bool) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		if call, ok := s.X.(*ast.CallExpr); !ok || last || c.named(call, "panic") {
			return
		}
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE || slices.ContainsFunc(s.Lhs, func(x ast.Expr) bool { id, ok := x.(*ast.Ident); return ok && id.Name == "_" }) {
			return
		}
	case *ast.IncDecStmt:
	default:
		return
	}
	n := c.add(s, "is left out")
	c.around(s, fmt.Sprintf("if !mutantIs(%d) { ", n), " }")
}

// condition negates one.
func (c *changer) condition(x ast.Expr) {
	if c.info.Types[x].Value != nil {
		return
	}
	c.around(x, fmt.Sprintf("mutantIs(%d) != bool(", c.add(x, "is negated")), ")")
}

// binary changes an operation on two operands.
func (c *changer) binary(x *ast.BinaryExpr) {
	t := c.info.Types[x]
	if t.Value != nil {
		return
	}
	text := func(n ast.Node) string { return string(c.source[c.place(n.Pos()):c.place(n.End())]) }
	switch x.Op {
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		n := c.add(x, "is moved by one at its boundary")
		c.around(x, "((", fmt.Sprintf(") != (mutantIs(%d) && (%s) == (%s)))", n, text(x.X), text(x.Y)))
	case token.LAND:
		c.around(x.Y, "(", fmt.Sprintf(" || mutantIs(%d))", c.add(x, "loses its second half")))
	case token.LOR:
		c.around(x.Y, "((", fmt.Sprintf(") && !mutantIs(%d))", c.add(x, "loses its second half")))
	case token.ADD, token.SUB, token.MUL, token.QUO, token.REM:
		if numeric(t.Type) {
			c.around(x, fmt.Sprintf("mutantPlus(%d, ", c.add(x, "is 1 more")), ")")
		}
	}
}

// numeric says whether mutantPlus takes a type.
func numeric(t types.Type) bool {
	if p, ok := t.(*types.TypeParam); ok {
		t = p.Constraint()
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&(types.IsInteger|types.IsFloat) != 0 && u.Info()&types.IsUntyped == 0
	case *types.Interface: // of a type parameter
		for e := range u.EmbeddedTypes() {
			switch e := e.(type) {
			case *types.Union:
				for term := range e.Terms() {
					if !numeric(term.Type()) {
						return false
					}
				}
			default:
				if !numeric(e) {
					return false
				}
			}
		}
		return u.NumEmbeddeds() > 0
	}
	return false
}

// add counts a change and returns its number.
func (c *changer) add(n ast.Node, what string) int {
	text := string(c.source[c.place(n.Pos()):c.place(n.End())])
	if line, _, more := strings.Cut(text, "\n"); more {
		text = line + " …"
	}
	c.p.changes = append(c.p.changes, fmt.Sprintf("%s: %s %s", c.fset.Position(n.Pos()), text, what))
	return len(c.p.changes)
}

func (c *changer) place(p token.Pos) int { return c.fset.Position(p).Offset }

// around puts text before a node and behind it, within what is there already: outer nodes come first.
func (c *changer) around(n ast.Node, before, behind string) {
	from, to := c.place(n.Pos()), c.place(n.End())
	c.before[from] += before
	c.behind[to] = behind + c.behind[to]
}

// text returns the file with its changes.
func (c *changer) text() string {
	var b strings.Builder
	for i := range len(c.source) + 1 {
		b.WriteString(c.behind[i] + c.before[i])
		if i < len(c.source) {
			b.WriteByte(c.source[i])
		}
	}
	return b.String()
}
