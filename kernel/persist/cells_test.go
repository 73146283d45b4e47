package persist

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/testenv"
)

// Programs that are built and run one after the other, as the cells of a notebook are: types and code have other
// addresses in each.

// program builds the program of some files of testdata/cells and what a cell must say to restore the variables of a
// manifest.
func program(t *testing.T, m *Manifest, files ...string) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command to build cells with")
	}
	d := t.TempDir()
	args := []string{"build", "-ldflags=-s -w", "-o", filepath.Join(d, "cell.exe")}
	for _, f := range files {
		args = append(args, filepath.Join("testdata", "cells", f))
	}
	if m != nil {
		file := filepath.Join(d, "restoring.go")
		if err := os.WriteFile(file, []byte(restoring(m)), 0o600); err != nil {
			t.Fatal(err)
		}
		// The files of a package must lie in one folder.
		for i, a := range args[4:] {
			b, err := os.ReadFile(a)
			if err != nil {
				t.Fatal(err)
			}
			args[4+i] = filepath.Join(d, filepath.Base(a))
			if err := os.WriteFile(args[4+i], b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		args = append(args, file)
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(d, "cell.exe")
}

var pathAndName = regexp.MustCompile(`[\w./-]+\.\w+`)

// restoring is the source of the calls that the kernel writes into a cell that restores all groups of a manifest.
func restoring(m *Manifest) string {
	imports := map[string]string{"github.com/lectern-go/lectern/kernel/persist": "persist"}
	local := func(s string) string {
		return pathAndName.ReplaceAllStringFunc(s, func(s string) string {
			path, name, _ := cutName(s)
			if path == "main" {
				return name
			}
			if imports[path] == "" {
				imports[path] = fmt.Sprintf("p%d", len(imports))
			}
			return imports[path] + "." + name
		})
	}
	var calls []string
	for _, g := range m.Groups {
		for _, r := range g.Regs {
			calls = append(calls, "persist.Reg["+local(r)+"]()")
		}
		for _, l := range g.Links {
			calls = append(calls, "persist.Link("+local(l)+")")
		}
		for _, s := range g.Shared {
			calls = append(calls, fmt.Sprintf("persist.Same(%q, %s)", s, local(s)))
		}
		for _, f := range g.Funcs {
			if pkg, name, ok := cutName(f); ok && pkg != "main" && isExported(name) {
				calls = append(calls, fmt.Sprintf("persist.Fn(%q, %s)", f, local(f)))
			}
		}
	}
	slices.Sort(calls)
	var b strings.Builder
	b.WriteString("package main\n")
	for _, path := range sorted(imports) {
		fmt.Fprintf(&b, "import %s %q\n", imports[path], path)
	}
	fmt.Fprintf(&b, "func restoring() {\n%s\n}\n", strings.Join(slices.Compact(calls), "\n"))
	return b.String()
}

// runCell runs a program as a cell whose values lie in a folder, and returns what it wrote.
func runCell(t *testing.T, exe, folder string, args ...string) string {
	t.Helper()
	c := testenv.Command(exe, args...)
	c.Env = append(os.Environ(), DirVar+"="+folder)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("the cell ended with %v", err)
	}
	return string(out)
}

func TestValuesCrossProcesses(t *testing.T) {
	d := t.TempDir()
	if out := runCell(t, program(t, nil, "vars.go", "define.go"), d); out != "note: hidden (any) is not remembered by later cells: it holds a Hidden, a type declared inside a function: declare the type outside the function\n" {
		t.Errorf("the cell that defines the values says\n%s", out)
	}
	m, err := ReadManifest(d)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{"net": {"Box", "Layer", "Lin", "Pair"}, "tree": {"Node"}, "typed": {"MyError"}, "oneBox": {"Box"}, "n": nil,
		"fib": nil, "method": {"Lin"}, "wrapped": nil} {
		got := m.Vars[name].Types
		if name == "net" { // it shares memory with boxes, but has types of its own
			want = []string{"Layer", "Lin"}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s holds the own types %q, want %q", name, got, want)
		}
	}
	use := program(t, m, "vars.go", "use.go")
	runCell(t, use, d, "touch") // what was restored is kept again
	if out, want := runCell(t, use, d), "buffered by an earlier cell\nlogged by an earlier cell\n"; out != want {
		t.Errorf("the cell that uses the values says\n%s\nwant\n%s", out, want)
	}
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "../..") }
