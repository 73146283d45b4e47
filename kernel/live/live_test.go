package live

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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
		if s := string(b); !strings.Contains(s, "wasm") || strings.Contains(s, "s390x.Init") {
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
	p, err := Build(t.Context(), root, dir, "fmt", "github.com/lectern-go/lectern/tensor")
	if err != nil {
		t.Fatal(err)
	}
	cells := []struct {
		code, output string // what it prints
		mistake      string // or what is wrong with it
	}{
		{"x := tensor.Arange(6).View(2, 3)\nn := 41", "", ""},
		{"func double(i int) int { return 2 * i }", "", ""},
		{"n++\nx.Sum()", "tensor(15)\n", ""},
		{"fmt.Println(double(n), x.At(1, 2))", "84 5\n", ""},
		{"y := undefinedName + 1", "", "undefined: undefinedName"},
		{"var xs []int\nfmt.Println(xs[n])", "index out of range [42] with length 0", ""},
		{"n", "42\n", ""},
	}
	var parts struct {
		Machine  string    `json:"machine"`
		Start    string    `json:"start"`
		Compiler string    `json:"compiler"`
		Linker   string    `json:"linker"`
		Rewriter string    `json:"rewriter"`
		Packages []Package `json:"packages"`
		Archives []string  `json:"archives"`
		Cells    []string  `json:"cells"`
	}
	parts.Machine = filepath.Join(root, "kernel", "live", "assets", "machine.js")
	parts.Start, parts.Compiler, parts.Linker, parts.Rewriter, parts.Packages = p.Start, p.Compiler, p.Linker, p.Rewriter, p.Packages
	for _, k := range p.Packages {
		parts.Archives = append(parts.Archives, k.Archive)
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
		Errors []struct{ Text string }
		Output string
		Status int
	}
	if err := json.Unmarshal(out, &got); err != nil || len(got) != len(cells) {
		t.Fatalf("%d answers for %d cells (%v): %s", len(got), len(cells), err, out)
	}
	for i, c := range cells {
		g := got[i]
		switch {
		case c.mistake != "":
			if len(g.Errors) != 1 || !strings.Contains(g.Errors[0].Text, c.mistake) {
				t.Errorf("cell %d: got the errors %v, want %q", i+1, g.Errors, c.mistake)
			}
		case len(g.Errors) > 0:
			t.Errorf("cell %d: %v", i+1, g.Errors)
		case strings.HasPrefix(c.output, "index out"):
			if g.Status != 2 || !strings.Contains(g.Output, c.output) || !strings.Contains(g.Output, "cell[6]:2") {
				t.Errorf("cell %d: got status %d and %q, want a panic at its line 2", i+1, g.Status, g.Output)
			}
		case g.Output != c.output || g.Status != 0:
			t.Errorf("cell %d: got status %d and %q, want %q", i+1, g.Status, g.Output, c.output)
		}
	}
}
