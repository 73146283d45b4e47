package packages

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lectern-go/lectern/internal/testenv"
)

// write creates a module with a package state, a package lib that imports it, and a program.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPackages(t *testing.T) {
	dir := write(t, map[string]string{
		"go.mod":         "module example.org/m\n\ngo 1.26.0\n",
		"state/state.go": "package state\n\nvar X int\n",
		"lib/lib.go":     "package lib\n\nimport _ \"example.org/m/state\"\n\nfunc Old() {}\n",
		"bad/bad.go":     "package bad\n\nfunc f() { nope }\n",
	})
	cache := filepath.Join(dir, "cache.json")
	c := Config{Dir: dir, Env: append(os.Environ(), "GOPROXY=off", "GOFLAGS=-buildvcs=false"), Cache: cache, Warm: []string{"example.org/m/lib"}, State: "example.org/m/state"}
	p := New(c)
	defer p.Wait()
	fmtPkg, err := p.Import("fmt")
	if err != nil || fmtPkg.Scope().Lookup("Println") == nil {
		t.Fatalf("fmt: %v", err)
	}
	lib, err := p.Import("example.org/m/lib")
	if err != nil || lib.Scope().Lookup("Old") == nil {
		t.Fatalf("lib: %v", err)
	}
	if !p.Stateful("example.org/m/lib") || p.Stateful("fmt") {
		t.Error("only lib imports the package with state")
	}
	var missing *MissingError
	if _, err := p.Import("example.org/none"); !errors.As(err, &missing) || missing.Path != "example.org/none" {
		t.Errorf("a package that is not there: %v", err)
	}
	var broken *BuildError
	if _, err := p.Import("example.org/m/bad"); !errors.As(err, &broken) || strings.Join(broken.Lines, "|") != "bad/bad.go:3:12: undefined: nope" {
		t.Errorf("a package that does not compile: %v", err)
	}
	p.Wait() // the search may still be on
	for name, want := range map[string]string{"rand": "math/rand/v2", "strings": "strings", "lib": "example.org/m/lib", "nothingofthename": ""} {
		if got := p.ByName(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}

	// The source changes, when no search is on that has seen the old one.
	p.Wait()
	if err := os.WriteFile(filepath.Join(dir, "lib", "lib.go"), []byte("package lib\n\nimport _ \"example.org/m/state\"\n\nfunc New() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.Refresh()
	if lib, err = p.Import("example.org/m/lib"); err != nil || lib.Scope().Lookup("New") == nil {
		t.Errorf("the changed package: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bad", "bad.go"), []byte("package bad\n\nfunc F() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.Refresh()
	if bad, err := p.Import("example.org/m/bad"); err != nil || bad.Scope().Lookup("F") == nil {
		t.Errorf("the repaired package: %v", err)
	}

	age(t, dir) // a quite new file is not remembered: it may have changed while it was compiled
	p.Refresh()
	if _, err = p.Import("example.org/m/lib"); err != nil {
		t.Fatal(err)
	}
	p.Wait()
	ended, end := context.WithCancel(t.Context())
	end()
	c.Context = ended // no command runs: what q knows it has from the file
	q := New(c)
	defer q.Wait()
	if q.ByName("strings") != "strings" {
		t.Error("the names are not remembered")
	}
	if lib, err := q.Import("example.org/m/lib"); err != nil || lib.Scope().Lookup("New") == nil {
		t.Errorf("lib is not remembered: %v", err)
	}
}

// age makes all files of a module an hour old.
func age(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err == nil {
			old := time.Now().Add(-time.Hour)
			err = os.Chtimes(path, old, old)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Go finds its caches by HOME, unless it is told where they are.
func TestNoHome(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "GOPATH", "USERPROFILE", "LocalAppData", "home"} {
		t.Setenv(name, "")
	}
	for _, c := range []struct {
		env  []string
		fine bool
	}{
		{nil, false},
		{[]string{"GOCACHE=/a"}, false},
		{[]string{"GOMODCACHE=/b"}, false},
		{[]string{"GOCACHE=/a", "GOMODCACHE=/b"}, true},
		{[]string{"GOCACHE=/a", "GOPATH=/c"}, true},
	} {
		if err := NoHome(c.env); (err == nil) != c.fine {
			t.Errorf("%q: %v", c.env, err)
		}
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("USERPROFILE", t.TempDir())
	t.Setenv("LocalAppData", t.TempDir())
	if err := NoHome(nil); err != nil {
		t.Error(err)
	}
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "../../..") }
