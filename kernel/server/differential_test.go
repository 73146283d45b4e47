//go:build unix

package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lectern-go/lectern/kernel/jupyter"
)

// A notebook must do what Go does: programs that the go command compiles and runs as a whole are split into
// cells at random places, and the kernel must print the same. The programs lie in testdata/programs, with
// what they print; others are generated.

var update = flag.Bool("update", false, "write the outputs of programs that have none yet into testdata/programs, and the steps of testdata/steps.txt")

// A program is one Go program without its package clause, and what it prints.
type program struct {
	name, file, src, want string
}

// readPrograms reads testdata/programs. A program follows a line "=== name"; its output follows a line "--- output".
func readPrograms(t *testing.T) (list []program) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "programs", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal("no programs: ", err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split("\n"+string(b), "\n=== ")[1:] {
			name, rest, _ := strings.Cut(part, "\n")
			src, want, ok := strings.Cut(rest, "\n--- output")
			want = strings.TrimPrefix(want, "\n")
			if !ok || seen[name] {
				t.Fatalf("%s: %s has no output, or there are two of that name", file, name)
			}
			seen[name] = true
			if want != "" && !strings.HasSuffix(want, "\n") {
				want += "\n"
			}
			list = append(list, program{name, file, src, want})
		}
	}
	return list
}

// whole is a program as a file.
func (p program) whole() string { return "package main\n\n" + p.src + "\n" }

// goRun compiles programs with the go command, all in one module, and returns what each prints.
func goRun(t *testing.T, programs []program) []string {
	t.Helper()
	if len(programs) == 0 {
		return nil
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module programs\n\ngo 1.26.0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for i, p := range programs {
		sub := filepath.Join(dir, fmt.Sprint("p", i))
		if err := os.Mkdir(sub, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sub, "main.go"), []byte(p.whole()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	bin := filepath.Join(dir, "bin") + string(os.PathSeparator)
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", bin, "./...")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the programs don't compile: %v\n%s", err, out)
	}
	outs := make([]string, len(programs))
	for i, p := range programs {
		cmd := exec.Command(filepath.Join(bin, fmt.Sprint("p", i)))
		cmd.Env = append(os.Environ(), "TZ=UTC")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
		outs[i] = string(out)
		if s := outs[i]; s != "" && !strings.HasSuffix(s, "\n") {
			t.Fatalf("%s: its output must end with a line break", p.name)
		}
	}
	return outs
}

// TestPrograms holds what the files say that the programs print to what they print.
func TestPrograms(t *testing.T) {
	programs := readPrograms(t)
	if !*update {
		needLong(t)
	}
	if len(programs) < 300 {
		t.Errorf("%d programs, want 300 at least", len(programs))
	}
	for name := range readLimits(t) {
		if !slices.ContainsFunc(programs, func(p program) bool { return p.name == name }) {
			t.Errorf("testdata/limits.txt has %s, which is no program", name)
		}
	}
	if *update {
		var missing []program
		var at []int
		for i, p := range programs {
			if p.want == "" {
				missing, at = append(missing, p), append(at, i)
			}
		}
		for i, out := range goRun(t, missing) {
			programs[at[i]].want = out
		}
		files := map[string]*strings.Builder{}
		for _, p := range programs {
			b := files[p.file]
			if b == nil {
				b = &strings.Builder{}
				files[p.file] = b
			}
			fmt.Fprintf(b, "=== %s\n%s\n--- output\n%s", p.name, p.src, p.want)
		}
		for name, b := range files {
			if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	outs := goRun(t, programs)
	for i, p := range programs {
		if outs[i] != p.want {
			t.Errorf("%s: %s prints\n%s\nand not\n%s", p.file, p.name, outs[i], p.want)
		}
	}
}

// cellsOf splits a program into cells at places that rng chooses. A cell never uses what a later cell declares.
func cellsOf(src string, rng *rand.Rand, steps bool) ([]string, error) {
	text := "package main\n\n" + src + "\n"
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "main.go", text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	at := func(p token.Pos) int { return fset.Position(p).Offset }
	// The declarations, each from behind the one before: comments go with what they precede.
	type piece struct {
		text      string
		node      ast.Node
		statement bool
	}
	var pieces []piece
	var body *ast.BlockStmt
	start := at(file.Name.End())
	hasInit := false
	for _, d := range file.Decls {
		end := at(d.End())
		if i := strings.IndexByte(text[end:], '\n'); i >= 0 { // a comment at the end of its line
			end += i
		}
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Recv == nil && f.Name.Name == "main" {
			body = f.Body
			start = end
			continue
		}
		hasInit = hasInit || ok && f.Name.Name == "init"
		pieces = append(pieces, piece{text: strings.TrimSpace(text[start:end]), node: d})
		start = end
	}
	if body == nil {
		return nil, fmt.Errorf("no func main")
	}
	inner := strings.TrimSpace(text[at(body.Lbrace)+1 : at(body.Rbrace)])
	if hasInit { // it runs before main, once
		return []string{src}, nil
	}
	if n := len(body.List); n > 0 && !mustStayWhole(file, body) {
		start := at(body.Lbrace) + 1
		for i, s := range body.List {
			end := at(body.Rbrace)
			if i+1 < n {
				end = at(s.End())
				if j := strings.IndexByte(text[end:], '\n'); j >= 0 && end+j < at(body.List[i+1].Pos()) {
					end += j
				}
			}
			pieces = append(pieces, piece{strings.TrimSpace(text[start:end]), s, true})
			start = end
		}
	} else if rng.IntN(2) == 0 {
		pieces = append(pieces, piece{inner, body, true})
	} else {
		pieces = append(pieces, piece{"func main() {\n" + inner + "\n}", body, false})
	}
	// Cuts are allowed where nothing before uses a name that is declared behind.
	first, last := map[string]int{}, map[string]int{} // of each name: the first use, and the last declaration
	for i, p := range pieces {
		declared := declaredBy(p.node, p.statement)
		for _, name := range declared {
			last[name] = i
		}
		ast.Inspect(p.node, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if _, used := first[id.Name]; !used {
					first[id.Name] = i
				}
			}
			return true
		})
	}
	allowed := make([]bool, len(pieces)) // a cut behind piece i
	for i := range pieces[:len(pieces)-1] {
		allowed[i] = true
	}
	for name, f := range first {
		if l, ok := last[name]; ok && !strings.HasPrefix(name, "_") {
			for i := f; i < l; i++ {
				if !pieces[l].statement {
					allowed[i] = false
				}
			}
		}
	}
	var cells []string
	var cell []string
	statements := false
	flush := func() {
		if len(cell) == 0 {
			return
		}
		code := strings.Join(cell, "\n")
		if statements && steps && !strings.Contains(code, "func main()") {
			code = "//step\n" + code
		}
		cells = append(cells, code)
		cell, statements = nil, false
	}
	rate := 0.2 + 0.6*rng.Float64()
	for i, p := range pieces {
		cell = append(cell, p.text)
		statements = statements || p.statement
		if allowed[i] && rng.Float64() < rate {
			flush()
		}
	}
	flush()
	return cells, nil
}

// declaredBy lists the names that a declaration makes for others. A method counts under its own name, and under its
// type's, so that nothing uses a type before it has its methods.
func declaredBy(n ast.Node, statement bool) (names []string) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		names = append(names, n.Name.Name)
		if n.Recv != nil {
			ast.Inspect(n.Recv.List[0].Type, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					names = append(names, id.Name)
				}
				return true
			})
		}
	case *ast.GenDecl:
		for _, s := range n.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, id := range s.Names {
					names = append(names, id.Name)
				}
			}
		}
	case *ast.DeclStmt:
		return declaredBy(n.Decl, statement)
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			for _, l := range n.Lhs {
				names = append(names, l.(*ast.Ident).Name)
			}
		}
	}
	return names
}

// mustStayWhole reports whether main's statements belong in one cell: they jump, return or defer, or a name of theirs
// hides one of the package or an import, which the other cells would see changed.
func mustStayWhole(file *ast.File, body *ast.BlockStmt) bool {
	outer := map[string]bool{}
	for _, d := range file.Decls {
		for _, name := range declaredBy(d, false) {
			outer[name] = true
		}
		if g, ok := d.(*ast.GenDecl); ok {
			for _, s := range g.Specs {
				if i, ok := s.(*ast.ImportSpec); ok {
					path, _ := strconv.Unquote(i.Path.Value)
					outer[strings.TrimSuffix(filepath.Base(path), "/v2")] = true
				}
			}
		}
	}
	whole := false
	seen := map[string]bool{}
	for _, s := range body.List {
		for _, name := range declaredBy(s, true) {
			whole = whole || outer[name]
		}
		if d, ok := s.(*ast.DeclStmt); ok {
			for _, name := range declaredBy(d, true) {
				whole = whole || seen[name]
				seen[name] = true
			}
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.DeferStmt, *ast.LabeledStmt, *ast.ReturnStmt:
			whole = true
		case *ast.BranchStmt:
			whole = whole || n.Label != nil
		}
		return true
	})
	return whole
}

// readLimits reads the known limits: the name of a program and the sentence that the kernel says instead.
func readLimits(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "limits.txt"))
	if err != nil {
		t.Fatal(err)
	}
	limits := map[string]string{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, sentence, ok := strings.Cut(line, ": ")
		if !ok {
			t.Fatalf("testdata/limits.txt: %q: a line is \"program: what the kernel says\"", line)
		}
		limits[name] = sentence
	}
	return limits
}

// seed returns the seed of a random test: LECTERN_SEED, or a new one for each day with LECTERN_LONG=1, or else always
// the same: no change is to fail because of the date.
func seed(t *testing.T) uint64 {
	t.Helper()
	s := uint64(20779)
	if long() {
		s = uint64(time.Now().Unix() / 86400)
	}
	if v := os.Getenv("LECTERN_SEED"); v != "" {
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			t.Fatal("LECTERN_SEED: ", err)
		}
		s = n
	}
	t.Logf("seed %d: LECTERN_SEED=%d repeats this run", s, s)
	return s
}

func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// TestDifferential runs programs as cells: some, with LECTERN_LONG=1 all of them. LECTERN_GROUP limits it to programs
// whose names contain a word: those that are made at random have names with "generated" in them.
func TestDifferential(t *testing.T) {
	t.Parallel()
	bin, err := tools()
	need(t, err)
	s := seed(t)
	rng := rand.New(rand.NewPCG(s, 1))
	programs := readPrograms(t)
	word := os.Getenv("LECTERN_GROUP")
	generated, n := 1, 2
	if long() {
		generated, n = 60, len(programs)
	}
	if word == "" {
		rng.Shuffle(len(programs), func(i, j int) { programs[i], programs[j] = programs[j], programs[i] })
		programs = programs[:min(n, len(programs))]
	}
	var made []program
	for i := range generated {
		name := fmt.Sprintf("generated%d_%d", s, i)
		made = append(made, program{name: name, src: generate(rand.New(rand.NewPCG(s, hash(name))))})
	}
	other := func(p program) bool { return !strings.Contains(p.name, word) }
	programs, made = slices.DeleteFunc(programs, other), slices.DeleteFunc(made, other)
	for i, out := range goRun(t, made) {
		made[i].want = out
	}
	programs = append(programs, made...)
	limits := readLimits(t)
	queue := make(chan program)
	go func() {
		for _, p := range programs {
			queue <- p
		}
		close(queue)
	}()
	var mu sync.Mutex
	var failed []string
	good := 0
	t.Run("run", func(t *testing.T) {
		for i := range min(2, len(programs)) {
			t.Run(fmt.Sprint("kernel", i), func(t *testing.T) {
				t.Parallel()
				d := &differential{t: t, bin: bin, seed: s}
				defer d.stop()
				for p := range queue {
					msg := d.run(p, limits[p.name])
					if msg != "" && len(d.before) > 0 { // what the programs before have left behind, or this one's own
						before := d.before
						d.stop()
						if alone := d.run(p, limits[p.name]); alone == "" {
							msg = fmt.Sprintf("%s\n(alone in a fresh kernel it is right; before it ran %s)", msg, strings.Join(before, " "))
						} else {
							msg = alone
						}
					}
					d.before = append(d.before, p.name)
					mu.Lock()
					if msg == "" {
						good++
					} else {
						failed = append(failed, p.name)
						t.Error(msg)
					}
					mu.Unlock()
				}
			})
		}
	})
	slices.Sort(failed)
	t.Logf("%d of %d programs print as cells what they print as a program; not: %s", good, len(programs), strings.Join(failed, " "))
}

// A differential is a kernel that runs programs, reset between them and made again from time to time.
type differential struct {
	t      *testing.T
	bin    string
	seed   uint64
	l      *lab
	before []string // the programs that ran in this kernel
}

func (d *differential) stop() {
	if d.l != nil {
		d.l.k.Shutdown(5 * time.Second)
		d.l, d.before = nil, nil
	}
}

// run runs one program and reports how it differs.
func (d *differential) run(p program, limit string) string {
	if len(d.before) == 20 {
		d.stop()
	}
	if d.l == nil {
		d.l = startLabIn(d.t, d.bin, d.t.TempDir(), []string{"TZ=UTC"})
	} else if _, r, err := d.l.try("%reset", jupyter.ExecuteOptions{Timeout: patience}); err != nil || r.Status != "ok" {
		d.stop()
		return fmt.Sprintf("%%reset before %s: %v %s", p.name, err, r.EValue)
	}
	rng := rand.New(rand.NewPCG(d.seed, hash(p.name)))
	steps := rng.IntN(4) == 0
	cells, err := cellsOf(p.src, rng, steps)
	if err != nil {
		return fmt.Sprintf("%s: %v", p.name, err)
	}
	var printed, everything strings.Builder
	for i, code := range cells {
		outs, r, err := d.l.try(code, jupyter.ExecuteOptions{Timeout: patience})
		for _, o := range outs {
			if o.kind == "stdout" {
				printed.WriteString(o.text)
			}
		}
		everything.WriteString(flat(outs))
		if err != nil || r.Status != "ok" {
			if err != nil {
				fmt.Fprintf(&everything, "[%v]", err)
				d.stop()
			}
			fmt.Fprintf(&everything, "\n(cell %d of %d ends with status %q)", i+1, len(cells), r.Status)
			break
		}
	}
	if limit != "" { // where no cut falls between what needs to stay together, it prints what it should
		if printed.String() == p.want || strings.Contains(everything.String(), limit) {
			return ""
		}
		return fmt.Sprintf("%s is a known limit, but the kernel neither is right nor says %q\n%s\nall outputs:\n%s", p.name, limit, strings.Join(cells, "\n===\n"), everything.String())
	}
	if printed.String() == p.want {
		return ""
	}
	return fmt.Sprintf("%s, LECTERN_SEED=%d:\n%s\nwant\n%s\ngot\n%s\nall outputs:\n%s", p.name, d.seed, strings.Join(cells, "\n===\n"), p.want, printed.String(), everything.String())
}
