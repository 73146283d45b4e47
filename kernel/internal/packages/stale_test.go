package packages

import (
	"context"
	"errors"
	"fmt"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// lessons is a module with a package lib that imports base, and others beside them.
func lessons(t *testing.T) string {
	t.Helper()
	dir := write(t, map[string]string{
		"go.mod":          "module example.org/m\n\ngo 1.26.0\n",
		"base/base.go":    "package base\n\nimport _ \"embed\"\n\n//go:embed data/x.txt\nvar X string\n\nfunc One() int { return 1 }\n",
		"base/data/x.txt": "embedded",
		"lib/lib.go":      "package lib\n\nimport \"example.org/m/base\"\n\nfunc Say() { println(base.One(), base.X) }\n",
		"other/other.go":  "package other\n\nfunc Say() { println(\"other\") }\n",
	})
	age(t, dir)
	return dir
}

const saysLib = "package main\n\nimport \"example.org/m/lib\"\n\nfunc main() { lib.Say() }\n"

// says builds and runs a program that calls lib.Say.
func says(t *testing.T, p *Packages, want string) {
	t.Helper()
	if _, err := p.Import("example.org/m/lib"); err != nil {
		t.Errorf("lib: %v", err)
		return
	}
	if got := strings.TrimSpace(execute(t, p, saysLib, "example.org/m/lib")); got != want {
		t.Errorf("lib says %q, want %q", got, want)
	}
}

// put writes a file of a given age.
func put(t *testing.T, old time.Duration, file, text string) {
	t.Helper()
	then := time.Now().Add(-old)
	err := os.WriteFile(file, []byte(text), 0o644)
	if err == nil {
		err = os.Chtimes(file, then, then)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestEditsAreSeen(t *testing.T) {
	t.Parallel()
	root := lessons(t)
	c := cells(t, root)
	p := New(c)
	defer p.Wait()
	says(t, p, "1 embedded")
	base := filepath.Join(root, "base", "base.go")
	text, err := os.ReadFile(base)
	if err != nil {
		t.Fatal(err)
	}
	next := func(want string) {
		t.Helper()
		p.Refresh()
		says(t, p, want)
	}
	put(t, 0, base, strings.Replace(string(text), "return 1", "return 2", 1))
	next("2 embedded")
	put(t, 2*time.Hour, base, strings.Replace(string(text), "return 1", "return 3", 1)) // older than before, as a copy that keeps the time
	next("3 embedded")
	put(t, 0, filepath.Join(root, "base", "data", "x.txt"), "changed")
	next("3 changed")
	put(t, 0, filepath.Join(root, "base", "more.go"), "package base\n\nfunc init() { X = \"more\" }\n")
	next("3 more")
	if err := os.Remove(filepath.Join(root, "base", "more.go")); err != nil {
		t.Fatal(err)
	}
	next("3 changed")
	put(t, 0, filepath.Join(root, "lib", "lib.go"), "package lib\n\nimport \"example.org/m/fresh\"\n\nfunc Say() { fresh.Say() }\n")
	fresh := filepath.Join(root, "fresh")
	if err := os.Mkdir(fresh, 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, 0, filepath.Join(fresh, "fresh.go"), "package fresh\n\nfunc Say() { println(\"fresh\") }\n")
	next("fresh")

	// A package that does not compile stops only those that import it.
	put(t, 0, filepath.Join(fresh, "fresh.go"), "package fresh\n\nfunc Say() {\n\tprintln(nope)\n}\n")
	p.Refresh()
	var broken *BuildError
	for _, path := range []string{"example.org/m/lib", "example.org/m/fresh"} {
		if _, err := p.Import(path); !errors.As(err, &broken) || broken.Path != path || broken.Broken != "example.org/m/fresh" ||
			strings.Join(broken.Lines, "|") != "fresh/fresh.go:4:10: undefined: nope" {
			t.Errorf("import of %s: %v", path, err)
		}
		if _, err := p.Config([]string{"fmt", path}); !errors.As(err, &broken) {
			t.Errorf("configuration of %s: %v", path, err)
		}
	}
	if _, err := p.Config([]string{"example.org/m/other"}); err != nil {
		t.Error(err)
	}
	put(t, 0, filepath.Join(fresh, "fresh.go"), "package fresh\n\nfunc Say() { println(\"mended\") }\n")
	next("mended")

	// The next kernel sees what changed between the two.
	p.Wait()
	put(t, 0, filepath.Join(fresh, "fresh.go"), "package fresh\n\nfunc Say() { println(\"between\") }\n")
	q := New(c)
	defer q.Wait()
	says(t, q, "between")
}

// TestPackagesComeAndGo: an index that an earlier version of the library has left must not stand in the way of a later
// one, whose packages have other names.
func TestPackagesComeAndGo(t *testing.T) {
	t.Parallel()
	root := lessons(t)
	c := cells(t, root)
	c.Cache, c.Warm = filepath.Join(t.TempDir(), "index"), []string{"example.org/m/..."}
	p := New(c)
	if err := p.Prepare(); err != nil || p.ByName("other") == "" {
		t.Fatalf("other is %q: %v", p.ByName("other"), err)
	}
	if err := os.Rename(filepath.Join(root, "other"), filepath.Join(root, "another")); err != nil {
		t.Fatal(err)
	}
	put(t, 0, filepath.Join(root, "another", "other.go"), "package another\n\nfunc Say() { println(\"another\") }\n")
	c.Rename = true
	p = New(c)
	if err := p.Prepare(); err != nil {
		t.Errorf("the second version: %v", err)
	}
	c.Rename = false
	p = New(c)
	defer p.Wait()
	if p.ByName("another") != "example.org/m/another" || p.ByName("other") != "" {
		t.Errorf("another is %q, other is %q", p.ByName("another"), p.ByName("other"))
	}
	says(t, p, "1 embedded")
}

func TestModulesAreSeen(t *testing.T) {
	t.Parallel()
	root, elsewhere := lessons(t), lessons(t)
	dep := write(t, map[string]string{"go.mod": "module example.net/dep\n\ngo 1.26.0\n", "dep.go": "package dep\n\nconst Here = \"first\"\n"})
	second := write(t, map[string]string{"go.mod": "module example.net/dep\n\ngo 1.26.0\n", "dep.go": "package dep\n\nconst Here = \"second\"\n"})
	c := cells(t, root)
	p := New(c)
	defer p.Wait()
	says(t, p, "1 embedded")
	var missing *MissingError
	if _, err := p.Import("example.net/dep"); !errors.As(err, &missing) || missing.Path != "example.net/dep" || missing.Reason != "" {
		t.Errorf("a module that nobody requires: %v", err)
	}
	here := func(want string) {
		t.Helper()
		p.Refresh()
		d, err := p.Import("example.net/dep")
		if err != nil {
			t.Error(err)
			return
		}
		if got := d.Scope().Lookup("Here").(*types.Const).Val().ExactString(); got != strconv.Quote(want) {
			t.Errorf("Here is %s, want %q", got, want)
		}
		if got := execute(t, p, "package main\nimport \"example.net/dep\"\nfunc main() { println(dep.Here) }", "example.net/dep"); got != want+"\n" {
			t.Errorf("it prints %q, want %q", got, want)
		}
	}
	mod := "module example.org/m\n\ngo 1.26.0\n\nrequire example.net/dep v0.0.0\n\nreplace example.net/dep => "
	put(t, 0, filepath.Join(root, "go.mod"), mod+dep+"\n")
	here("first")
	put(t, time.Hour, filepath.Join(root, "go.mod"), mod+second+"\n")
	here("second")
	put(t, 0, filepath.Join(second, "dep.go"), "package dep\n\nconst Here = \"edited\"\n") // local, too
	here("edited")
	put(t, 0, filepath.Join(elsewhere, "base", "base.go"), "package base\n\nvar X = \"elsewhere\"\n\nfunc One() int { return 1 }\n")
	put(t, 0, filepath.Join(c.Dir, "go.work"), fmt.Sprintf("go 1.26.0\n\nuse .\nuse %s\n", elsewhere))
	p.Refresh()
	says(t, p, "1 elsewhere")

	var tool *ToolError
	put(t, 0, filepath.Join(elsewhere, "go.mod"), "module example.org/m\n\nnonsense\n")
	p.Refresh()
	if _, err := p.Import("example.org/m/lib"); !errors.As(err, &tool) || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("a go.mod that can't be read: %v", err)
	}
	put(t, 0, filepath.Join(elsewhere, "go.mod"), "module example.org/m\n\ngo 1.26.0\n")
	p.Refresh()
	says(t, p, "1 elsewhere")
	if got := p.ByName("lib"); got != "example.org/m/lib" {
		t.Errorf("lib is %q", got)
	}
}

// TestTrimmedArchives removes archives from the build cache, as Go does with those that have not been used for five
// days.
func TestTrimmedArchives(t *testing.T) {
	t.Parallel()
	root := lessons(t)
	// No other archive has this text.
	put(t, time.Hour, filepath.Join(root, "base", "data", "x.txt"), root)
	put(t, time.Hour, filepath.Join(root, "lib", "lib.go"), "package lib\n\nimport \"example.org/m/base\"\n\nfunc Say() { println(base.One(), base.X); _ = \""+filepath.Base(filepath.Dir(root))+"\" }\n")
	c := cells(t, root)
	p := New(c)
	defer p.Wait()
	says(t, p, "1 "+root)
	for _, path := range []string{"example.org/m/lib", "example.org/m/base"} {
		files, err := p.Config([]string{"example.org/m/lib"})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(files[path]); err != nil {
			t.Fatal(err)
		}
		p.Refresh()
		says(t, p, "1 "+root)
	}
	p.Wait()
	files, err := p.Config([]string{"example.org/m/lib"})
	if err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-4 * 24 * time.Hour)
	if err := os.Chtimes(files["example.org/m/base"], long, long); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Config([]string{"example.org/m/lib"}); err != nil {
		t.Fatal(err)
	}
	if i, err := os.Stat(files["example.org/m/base"]); err != nil || time.Since(i.ModTime()) > time.Hour {
		t.Errorf("Go will trim an archive that is in use: %v", err)
	}
	os.Remove(files["example.org/m/base"])
	q := New(c) // a new kernel, whose index names the archive
	defer q.Wait()
	says(t, q, "1 "+root)
}

// TestCleanCache runs go clean -cache between two cells.
func TestCleanCache(t *testing.T) {
	if os.Getenv("LECTERN_LONG") == "" {
		t.Skip("builds the runtime twice: set LECTERN_LONG=1 to run it")
	}
	c := cells(t, lessons(t))
	c.Env = append(c.Env, "GOCACHE="+t.TempDir())
	p := New(c)
	defer p.Wait()
	says(t, p, "1 embedded")
	cmd := exec.Command("go", "clean", "-cache")
	cmd.Dir, cmd.Env = c.Dir, c.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	p.Refresh()
	says(t, p, "1 embedded")
}

// fakeGo puts a go command that is a script in front of the real one.
func fakeGo(t *testing.T, c *Config, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for another Go is a shell script")
	}
	real, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte("#!/bin/sh\nreal='"+real+"'\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	c.Env = append(c.Env, "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestAnotherGoIsSeen(t *testing.T) {
	t.Parallel()
	c := cells(t, lessons(t))
	log := filepath.Join(t.TempDir(), "log")
	fakeGo(t, &c, "echo \"$1\" >> '"+log+"'\nexec \"$real\" \"$@\"\n")
	dir, _, _ := strings.Cut(strings.TrimPrefix(c.Env[len(c.Env)-1], "PATH="), string(os.PathListSeparator))
	hidden := filepath.Join(dir, "hidden")
	if err := os.Rename(filepath.Join(dir, "go"), hidden); err != nil {
		t.Fatal(err)
	}
	p := New(c)
	defer p.Wait()
	says(t, p, "1 embedded")
	p.Wait()
	p.Refresh()
	asked := func() string { b, _ := os.ReadFile(log); return string(b) }
	if asked() != "" {
		t.Fatal("the other Go was asked before it was there")
	}
	if err := os.Rename(hidden, filepath.Join(dir, "go")); err != nil {
		t.Fatal(err)
	}
	p.Refresh()
	says(t, p, "1 embedded")
	if a := asked(); !strings.Contains(a, "list") || !strings.Contains(a, "env") {
		t.Errorf("the other Go was asked for %q", a)
	}
	p.Wait()
	before := asked()
	p.Refresh()
	says(t, p, "1 embedded")
	if asked() != before {
		t.Errorf("Go was asked again, though nothing has changed: %s", asked()[len(before):])
	}

	c.Env = append(c.Env, "PATH="+t.TempDir())
	var tool *ToolError
	none := New(c)
	defer none.Wait()
	if _, err := none.Import("fmt"); !errors.As(err, &tool) || !strings.Contains(err.Error(), "not on PATH") {
		t.Errorf("without Go: %v", err)
	}
	if got := none.ByName("fmt"); got != "" {
		t.Errorf("without Go fmt is %q", got)
	}
}

// TestNoPartialIndex runs a go command that fails half-way, and ends a kernel while it looks packages up.
func TestNoPartialIndex(t *testing.T) {
	t.Parallel()
	c := cells(t, lessons(t))
	c.Warm = []string{"example.org/m/...", "fmt"}
	good := c
	fakeGo(t, &c, "\"$real\" \"$@\" | head -c 5000\nexit 1\n")
	p := New(c)
	p.Import("fmt")
	p.Wait()
	if _, err := os.Stat(c.Cache); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a go command that fails half-way leaves an index: %v", err)
	}
	c = good
	fakeGo(t, &c, "\"$real\" \"$@\" | head -c 5000\nkill -9 $$\n")
	p = New(c)
	p.Wait()
	if _, err := os.Stat(c.Cache); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a go command that is killed leaves an index: %v", err)
	}
	for _, after := range []time.Duration{0, 30 * time.Millisecond, 150 * time.Millisecond, 400 * time.Millisecond} {
		ctx, end := context.WithTimeout(t.Context(), after)
		c = good
		c.Context = ctx
		New(c).Wait()
		end()
		q := New(good)
		if got := q.ByName("lib"); got != "example.org/m/lib" {
			t.Errorf("after a kernel that ended within %v lib is %q", after, got)
		}
		if got := q.ByName("strings"); got != "strings" {
			t.Errorf("after a kernel that ended within %v strings is %q", after, got)
		}
		q.Wait()
		os.Remove(good.Cache)
	}
}
