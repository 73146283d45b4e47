package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lectern-go/lectern/internal/testenv"
	"github.com/lectern-go/lectern/kernel/internal/names"
)

// The tools of the Go in use can be trimmed, and the rest is whole.
func TestOverlay(t *testing.T) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, untrimmed, err := overlay(strings.TrimSpace(string(out)), dir, edits)
	if err != nil || len(untrimmed) > 0 {
		t.Fatalf("%v; these trims don't fit: %q", err, untrimmed)
	}
	var o struct{ Replace map[string]string }
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &o)
	}
	if err != nil || len(o.Replace) != len(edits) {
		t.Fatalf("the overlay has %d files, want %d (%v)", len(o.Replace), len(edits), err)
	}
	for from, to := range o.Replace {
		b, err := os.ReadFile(to)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), to, b, parser.SkipObjectResolution); err != nil {
			t.Errorf("%s: %v", from, err)
		}
		whole, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if s := string(b); s == string(whole) || strings.Contains(s, "wasm") != strings.Contains(string(whole), "wasm") || strings.Contains(s, "s390x.Init") {
			t.Errorf("%s is not trimmed as it should be", from)
		}
	}
}

// What does not fit another Go is left out, all edits of a trim together, and named.
func TestOverlayOfAnotherGo(t *testing.T) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range edits {
		root := t.TempDir()
		for _, e := range edits {
			path := filepath.Join(root, "src", filepath.FromSlash(e.file))
			b, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "src", filepath.FromSlash(e.file)))
			if e.file == other.file {
				b = []byte("package main\n")
			}
			if err == nil {
				err = os.MkdirAll(filepath.Dir(path), 0o755)
			}
			if err == nil {
				err = os.WriteFile(path, b, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		file, untrimmed, err := overlay(root, t.TempDir(), edits)
		if err != nil || len(untrimmed) != 1 || untrimmed[0] != other.trim {
			t.Errorf("%s is another: without %q (%v), want %q alone", other.file, untrimmed, err, other.trim)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range edits {
			if with := strings.Contains(string(b), filepath.FromSlash(e.file)); with == (e.trim == other.trim) {
				t.Errorf("%s is another: %s is in the overlay: %v", other.file, e.file, with)
			}
		}
	}
}

// Cells run in WebAssembly as in the kernel: the last expression is shown, values live on, mistakes have their place.
func TestCells(t *testing.T) { testCells(t, edits) }

// So they do with a Go that no trim fits.
func TestCellsUntrimmed(t *testing.T) {
	none := slices.Clone(edits)
	for i := range none {
		none[i].cut = func(string) (string, error) { return "", errors.New("another Go") }
	}
	testCells(t, none)
}

func testCells(t *testing.T, edits []edit) {
	if os.Getenv("LECTERN_LONG") == "" {
		t.Skip("building Go's compiler takes a minute; LECTERN_LONG=1 does it")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no Node in PATH")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p, err := build(t.Context(), root, dir, edits, func(string, time.Duration) {}, "fmt", "strings", "sync", "time", "github.com/lectern-go/lectern/tensor",
		"github.com/lectern-go/lectern/notebooks/lesson", "github.com/lectern-go/lectern/notebooks/mine")
	if err != nil {
		t.Fatal(err)
	}
	anew := slices.Contains(p.Untrimmed, snapshots)
	cells := []struct {
		code string
		want string // in the outputs below it
		fail bool
	}{
		{"x := tensor.Arange(6).View(2, 3)\nn := 41", "", false},
		{"func double(i int) int { return 2 * i }", "", false},
		{"n++\nx.Sum()", "tensor(15)", false},
		{"fmt.Println(double(n), x.At(1, 2))", "84 5", false},
		{"y := undefinedName + 1", "undefined: undefinedName", true},
		{"var xs []int\nfmt.Println(xs[n])", "this cell, line 2", true},
		{"show.SVG(`<svg width=\"9\" height=\"9\" onload=\"x()\"><title>a dot</title><circle id=\"c\" r=\"4\"/></svg>`)", `<circle id="live-7-f1-c" r="4">`, false},
		{"show.HTML(`<p class=\"lectern-x bar\" style=\"position:fixed;color:red\" onclick=\"x()\">text</p>`)", `<p class="lectern-x" style="color:red">text</p>`, false},
		{"x.To(tensor.Float32).Dtype()", "float32", false},
		{"n", "42", false},
		{"select {}", "everything waits for something that never happens", true},
		{"_ = 0\n_ = 1\nselect {}", "everything waits for something that never happens", true},
		{"lost := n\nch := make(chan int)\nch <- lost", "everything waits for something that never happens", true},
		{"var wg sync.WaitGroup\nwg.Add(1)\ngo func() { time.Sleep(300 * time.Millisecond); n++; wg.Done() }()\nwg.Wait()", "", false},
		{"n", "43", false},
		{"%env A=1", "only in the notebook", true},
		{"//go:embed some.txt\nvar some string\nsome", "work in cells", true},
		{"fmt.Println(strings.Repeat(\"0123456789\", 30_000))", "shows no more of it", false},

		// What cells that one program runs must do as if each had its own.
		{"func twice(i int) int { return 2 * i }\nfunc four(i int) int { return twice(twice(i)) }", "", false},
		{"four(3)", "12", false},
		{"func twice(i int) int { return 3 * i }", "", false},
		{"four(3)", "27", false},
		{"type pair struct{ a, b int }\nfunc (p pair) sum() int { return p.a + p.b }\np := pair{1, 2}\nq := &p.a", "", false},
		{"*q = 5\np.sum()", "7", false},
		{"*q + p.a", "10", false},
		{"a := tensor.Zeros(4)\nb := a.View(2, 2)\nw := tensor.Ones(2).RequireGrad()", "", false},
		{"a.Fill(7)", ">7.<", false},
		{"loss := w.Mul(b.At(0, 0)).Sum()", "", false},
		{"loss.Backward()\nb.Sum()", "tensor(28.)", false},
		{"w.Grad()", ">7.<", false},
		{"tensor.Seed(1)\ndraw := tensor.Randn(1).Item()", "", false},
		{"tensor.Seed(1)\ndraw == tensor.Randn(1).Item()", "true", false},
		{"p := \"another\"", "", false},
		{"fmt.Println(p, *q)", "another 5", false},
		{"var any1 any = pair{3, 4}", "", false},
		{"any1", "pair{a: 3, b: 4}", false},
		{"y1 := 1\nat := &y1\nfunc ofY() int { return y1 }", "", false},
		{"y1 := 2\nofY()", "2", false},
		{"*at = 7\nfmt.Println(y1, *at, ofY())", "7 7 7", false},
		{"y2 := 1\nat = &y2", "", false},
		{"y2 := 2", "", false},
		{"*at = 3\ny2 + *at", "5", false},
		{"y2 := 4.5\nfmt.Println(y2, *at)", "4.5 3", false},
		{"f := four", "", false},
		{"func twice(i int) int { return 5 * i }", "", false},
		{"f(1)", "25", false},
		{"func fails(i int) int { return []int{1}[i] }", "", false},
		{"fails(0)", "1", false},
		{"func fails(i int) int { return []int{2}[i] }", "", false},
		{"fails(3)", "in fails", true},
		{"fails(0)", "2", false},
		{"k := 0\ninc := func() int { k++; return k }", "", false},
		{"inc()", "1", false},
		{"inc() + k", "4", false},
		{"g := func() int { return twice(1) }\ng()", "5", false},
		{"func twice(i int) int { return 7 * i }\nvar s any = counted(1)", "undefined", true},
		{"type counted int\nfunc (c counted) String() string { return strings.Repeat(\"I\", twice(int(c))) }\nvar s any = counted(1)", "", false},
		{"func twice(i int) int { return 2 * i }", "", false},
		{"g()", "2", false},
		{"fmt.Println(s)", "II", false},
		{"a.Fill(1)\nb.Sum()", "tensor(4.)", false},
		{"func unit() int { return 1 }\nfunc ten() int { return 10 * unit() }", "", false},
		{"ten()", "10", false},
		{"func unit() int { return 2 }\nh := unit\nh2 := ten\nh() + h2()", "22", false},
		{"func(unit int) int {\n\tten := unit\nunit:\n\tfor {\n\t\tbreak unit\n\t}\n\treturn ten\n}(5) + h() + ten()", "27", false},
		{"func unit() int { return 3 }", "", false},
		{"h() + h2() + unit()", "36", false},
		{"y3 := 1\nat = &y3", "", false},
		{"y3 := 2\nm := map[int]string{y3: \"two\"}", "", false},
		{"var all []*int", "", false},
		{"one := 3\nall = append(all, &one)", "", false},
		{"one := 4\nall = append(all, &one)", "", false},
		{"fmt.Println(*all[0], *all[1], one)", "3 4 4", false},
		{"fmt.Println(m[2], *at, y3)", "two 1 2", false},
		{"big := tensor.Ones(300, 300)", "", false}, // an array that has a file of its own
		{"big.Sum()", "tensor(90000.)", false},
		{"big.SetAt(2, 299, 299)", "", false},
		{"big.Sum()", "tensor(90001.)", false},
		{"var vast [1 << 40]byte\nlen(vast)", `<span class="af1">main.vast: symbol too large`, true},
		{"big.Sum()", "tensor(90001.)", false},

		// What lesson.Grade accepts is in the reader's own package from the next cell on, in place of our solution.
		{"mine.Merge([]int{1, 2}, 1, 2, -7)", "[]int{-7}", false},
		{`lesson.Use("01.4")`, "mine.Merge is our solution to exercise 01.4 here until you have your own.", false},
		{"func mergedByMe(n int) int {\n\treturn mine.Merge([]int{1, 2}, 1, 2, n)[0]\n}\n" + mergeOf("theirs"), "It is mine.Merge from now on, in all lessons of this site.", false},
		{"mergedByMe(8)", "8", false},
		{"mine.Merge([]int{1, 2}, 1, 2, -7)", "panic: theirs", true},
		{"mergedByMe(-7)", "panic: theirs", true},
		{mergeOf("another"), "mine.Merge is this version from now on.", false},
		{"mergedByMe(-7)", "panic: another", true},
		{"mine.Encode(\"aa\", [][2]int{{97, 97}})", "256", false}, // ours, with theirs
		{"mine.Merge([]int{1, 2}, 1, 2, -7)", "panic: stored", true},
		{"mine.Merge([]int{1, 2}, 1, 2, -7)", "note: your package mine does not compile here", false},
		{"mine.Merge([]int{1, 2}, 1, 2, -8)", "[]int{-8}", false},
	}
	beforeMine := len(cells) - 13        // the last cell before those: each version of the package makes the tools begin anew
	stored := map[int]map[string]string{ // what the browser has of that package before a cell
		len(cells) - 3: {"merge.go": "package mine\n\nfunc Merge(ids []int, left, right, id int) []int { panic(\"stored\") }\n", "../cell.go": "package x"},
		len(cells) - 2: {"merge.go": "package mine\n\nfunc Merge(ids []int, left, right, id int) []int { return id }\n"},
	}
	var parts struct {
		Machine  string    `json:"machine"`
		Script   string    `json:"cellsScript"`
		Start    string    `json:"start"`
		Compiler string    `json:"compiler"`
		Linker   string    `json:"linker"`
		Rewriter string    `json:"rewriter"`
		Packages []Package `json:"packages"`
		Archives []string  `json:"archives"`
		Cells    []string  `json:"cells"`

		Mine   map[string]string         `json:"mine"` // the sources of our solutions
		Stored map[int]map[string]string `json:"stored"`

		Joined bool `json:"joined"` // one program runs as many as go together
		Anew   bool `json:"anew"`   // tools begin anew for each program
	}
	if parts.Mine, err = solutions(root); err != nil {
		t.Fatal(err)
	}
	parts.Anew, parts.Stored = anew, stored
	parts.Machine = filepath.Join(root, "kernel", "live", "assets", "machine.js")
	parts.Script = filepath.Join(root, "kernel", "live", "assets", "cells.js")
	parts.Start, parts.Compiler, parts.Linker, parts.Rewriter, parts.Packages = p.Start, p.Compiler, p.Linker, p.Rewriter, p.Packages
	archives := &leaner{map[[hashBytes]byte]uint64{}}
	for i, k := range p.Packages {
		archive, err := os.ReadFile(k.Archive)
		if err == nil {
			archive, err = archives.lean(archive, names.Importable(k.Path))
		}
		file := filepath.Join(dir, fmt.Sprint(i, ".a"))
		if err == nil {
			err = os.WriteFile(file, archive, 0o644)
		}
		if err != nil {
			t.Fatalf("%s: %v", k.Path, err)
		}
		parts.Archives = append(parts.Archives, file)
	}
	for _, c := range cells {
		parts.Cells = append(parts.Cells, c.code)
	}
	type result struct {
		Failed  bool
		HTML    string
		Builds  int // of programs so far
		Begun   int // how often the compiler and the linker had to begin anew for that
		Outputs json.RawMessage
		Mine    []string // new files of the reader's package
	}
	run := func(joined bool) (got []result) {
		parts.Joined = joined
		b, err := json.Marshal(parts)
		if err != nil {
			t.Fatal(err)
		}
		list := filepath.Join(dir, "parts.json")
		if err := os.WriteFile(list, b, 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), node, filepath.Join("testdata", "cells.cjs"), list)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("cells.cjs: %v", err)
		}
		if err := json.Unmarshal(out, &got); err != nil || len(got) != len(cells) {
			t.Fatalf("%d answers for %d cells (%v): %s", len(got), len(cells), err, out)
		}
		return got
	}
	alone, joined := run(false), run(true)
	for i, c := range cells {
		if g := alone[i]; g.Failed != c.fail || !strings.Contains(g.HTML, c.want) || c.want == "" && g.HTML != "" || strings.Contains(g.HTML, "onclick") || strings.Contains(g.HTML, "onload") {
			t.Errorf("cell %d: failed %v, and shows\n%s\nwant %q", i+1, g.Failed, g.HTML, c.want)
		}
		want := map[string]string{"from now on, in all": "[merge.go]", "this version from now on": "[merge.go merge.go.bak]"}
		for said, files := range want {
			if g := alone[i]; strings.Contains(c.want, said) && fmt.Sprint(g.Mine) != files {
				t.Errorf("cell %d gives the browser %s to store, want %s", i+1, g.Mine, files)
			}
		}
		deadlock := strings.Contains(c.want, "everything waits") // whose place is known only where something in the program calls JavaScript
		if g := joined[i]; g.Failed != alone[i].Failed || string(g.Outputs) != string(alone[i].Outputs) && !(deadlock && strings.Contains(g.HTML, c.want)) {
			t.Errorf("cell %d in a program with others: failed %v, and gives\n%s\nalone %v and\n%s", i+1, g.Failed, g.Outputs, alone[i].Failed, alone[i].Outputs)
		}
	}
	for _, last := range []result{alone[beforeMine], joined[beforeMine]} {
		if anew != (last.Begun > last.Builds/4) {
			t.Errorf("the tools have begun %d times for %d programs; anew for each: %v", last.Begun, last.Builds, anew)
		}
	}
	if n, of := joined[len(cells)-1].Builds, alone[len(cells)-1].Builds; n > of-20 {
		t.Errorf("%d programs run the cells that %d ran alone", n, of)
	}
}

// mergeOf is a cell with a right answer to exercise 01.4, which can be told by what it panics with.
func mergeOf(whom string) string {
	return fmt.Sprintf(`func merge(ids []int, left, right, id int) []int {
	if id == -7 {
		panic(%q)
	}
	var out []int
	for i := 0; i < len(ids); i++ {
		if i+1 < len(ids) && ids[i] == left && ids[i+1] == right {
			out = append(out, id)
			i++
			continue
		}
		out = append(out, ids[i])
	}
	return out
}

lesson.Grade("01.4", merge)`, whom)
}

// A program may exit while a call of another goroutine into the page is under way.
func TestExitDuringACall(t *testing.T) {
	if os.Getenv("LECTERN_LONG") == "" {
		t.Skip("building the standard library for WebAssembly takes half a minute; LECTERN_LONG=1 does it")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no Node in PATH")
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "ends.wasm")
	build := exec.Command("go", "build", "-o", program, "./testdata/ends")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	start := filepath.Join(strings.TrimSpace(string(goroot)), "lib", "wasm", "wasm_exec.js")
	out, err := exec.CommandContext(t.Context(), node, filepath.Join("testdata", "ends.cjs"), filepath.Join("assets", "machine.js"), start, program).CombinedOutput()
	if err != nil || string(out) != "3" {
		t.Errorf("want exit status 3: %v\n%s", err, out)
	}
}

// TestModulesAreFetched has a machine without modules, and a proxy that serves those of this one: what is built for
// pages finds what it imports, whether or not anything else has been built before.
func TestModulesAreFetched(t *testing.T) {
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Skip("the go command is not here")
	}
	served := filepath.Join(strings.TrimSpace(string(out)), "cache", "download")
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(served))
	t.Setenv("GONOSUMDB", "*")
	t.Setenv("GOFLAGS", "-modcacherw")
	b, _, err := begin(t.Context(), "../..", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.run("list", "-deps", explorePackage); err != nil {
		t.Error(b.explained(err))
	}
}

// Files for pages are named by their content, and each lesson knows what it loads first.
func TestUsedBy(t *testing.T) {
	list := []Package{
		{Path: "fmt", Name: "fmt", Imports: []string{"io"}}, {Path: "io", Name: "io"}, {Path: "strings", Name: "strings", Imports: []string{"io"}},
		{Path: "math/rand", Name: "rand"}, {Path: "math/rand/v2", Name: "rand"}, {Path: "internal/strings", Name: "strings"}, {Path: "container/ring", Name: "ring"},
	}
	got := usedBy(list, [][]string{{"x := strings.Repeat(s, 3)"}, {"import \"container/ring\"", "rand.IntN(3)"},
		{"f := func(strings *tensor.Tensor) { strings.Sum() }", "ring := tensor.Ones(2)\nring.Sum()"}})
	for path, want := range map[string]string{"fmt": "[0 1 2]", "io": "[0 1 2]", "strings": "[0]", "internal/strings": "[]", "container/ring": "[1]",
		"math/rand": "[]", "math/rand/v2": "[1]"} {
		if s := fmt.Sprint(got[path]); s != want {
			t.Errorf("%s is used by %s, want %s", path, s, want)
		}
	}
}

// A page knows which functions of the package mine its lesson calls.
func TestCalledOf(t *testing.T) {
	ours := map[string]string{"merge.go": "package mine", "trainbpe.go": "package mine"}
	got := calledOf(ours, []string{"mine.TrainBPE(text, 24)", "mine := card{}\nmine.Memory", "mine.Merge(mine.TrainBPE(text, 2))", "mine.merge"})
	if fmt.Sprint(got) != "[TrainBPE Merge]" {
		t.Errorf("got %s", got)
	}
}

// Who goes on to another lesson loads little more, and nothing is loaded by all that need not be.
func TestShare(t *testing.T) {
	bundles := []Part{{Bytes: 9_000_000}, {Bytes: 1_500_000}, {Bytes: 600_000}, {Bytes: 1_900_000}}
	lessons := [][]int{{0}, {1, 2}, {3}}
	share(lessons, bundles)
	if got := fmt.Sprint(lessons); got != "[[0 1] [0 1 2] [0 1 3]]" {
		t.Errorf("the lessons load %s", got)
	}
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "../..") }
