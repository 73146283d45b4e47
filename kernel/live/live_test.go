package live

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/internal/names"
)

// The tools of the Go in use can be trimmed, and what is left is whole.
func TestOverlay(t *testing.T) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, err := overlay(strings.TrimSpace(string(out)), dir)
	if err != nil {
		t.Fatal(err)
	}
	var o struct{ Replace map[string]string }
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &o)
	}
	if err != nil || len(o.Replace) != len(trims) {
		t.Fatalf("the overlay has %d files, want %d (%v)", len(o.Replace), len(trims), err)
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

func TestOverlayOfAnotherGo(t *testing.T) {
	root := t.TempDir()
	for _, x := range trims {
		path := filepath.Join(root, "src", filepath.FromSlash(x.file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("package main\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := overlay(root, t.TempDir()); err == nil || !strings.Contains(err.Error(), "main.go: it does not look as expected") {
		t.Errorf("got %v, want an error that names the file", err)
	}
}

// Cells run in WebAssembly as in the kernel: the last expression is shown, values live on, mistakes have their place.
func TestCells(t *testing.T) {
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
	p, err := Build(t.Context(), root, dir, "fmt", "strings", "sync", "time", "github.com/lectern-go/lectern/tensor")
	if err != nil {
		t.Fatal(err)
	}
	cells := []struct {
		code string
		want string // in what is drawn below it
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
		{"select {}", "everything waits for something that nobody does", true},
		{"_ = 0\n_ = 1\nselect {}", "everything waits for something that nobody does", true},
		{"lost := n\nch := make(chan int)\nch <- lost", "everything waits for something that nobody does", true},
		{"var wg sync.WaitGroup\nwg.Add(1)\ngo func() { time.Sleep(300 * time.Millisecond); n++; wg.Done() }()\nwg.Wait()", "", false},
		{"n", "43", false},
		{"%env A=1", "is the notebook", true},
		{"fmt.Println(strings.Repeat(\"0123456789\", 30_000))", "shows no more of it", false},
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
	}
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
	var got []struct {
		Failed bool
		HTML   string
	}
	if err := json.Unmarshal(out, &got); err != nil || len(got) != len(cells) {
		t.Fatalf("%d answers for %d cells (%v): %s", len(got), len(cells), err, out)
	}
	for i, c := range cells {
		if g := got[i]; g.Failed != c.fail || !strings.Contains(g.HTML, c.want) || c.want == "" && g.HTML != "" || strings.Contains(g.HTML, "onclick") || strings.Contains(g.HTML, "onload") {
			t.Errorf("cell %d: failed %v, and shows\n%s\nwant %q", i+1, g.Failed, g.HTML, c.want)
		}
	}
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

// What is built for pages has names that say what is in it, and each lesson knows what it loads first.
func TestUsedBy(t *testing.T) {
	list := []Package{
		{Path: "fmt", Name: "fmt", Imports: []string{"io"}}, {Path: "io", Name: "io"}, {Path: "strings", Name: "strings", Imports: []string{"io"}},
		{Path: "math/rand", Name: "rand"}, {Path: "math/rand/v2", Name: "rand"}, {Path: "internal/strings", Name: "strings"}, {Path: "container/ring", Name: "ring"},
	}
	got := usedBy(list, [][]string{{"x := strings.Repeat(s, 3)"}, {"import \"container/ring\"", "rand.IntN(3)"}})
	for path, want := range map[string]string{"fmt": "[0 1]", "io": "[0 1]", "strings": "[0]", "internal/strings": "[]", "container/ring": "[1]", "math/rand": "[1]"} {
		if s := fmt.Sprint(got[path]); s != want {
			t.Errorf("%s is used by %s, want %s", path, s, want)
		}
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
