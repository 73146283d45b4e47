package mine

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/lectern-go/lectern/kernel/internal/packages"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/kernel/persist"
	"github.com/lectern-go/lectern/notebooks/lesson"
)

var update = flag.Bool("update", false, "write the lessons' solutions to notebooks/mine")

const ours = "../../../notebooks/mine"

var pkgs = sync.OnceValue(func() *packages.Packages {
	return packages.New(packages.Config{Dir: "../../..", Env: os.Environ(), Warm: []string{"std"}, Name: []string{"github.com/lectern-go/lectern/..."},
		State: "github.com/lectern-go/lectern/internal/cellstate"})
})

// cells makes programs of cells, as if each had run and kept what it defines.
type cells struct {
	session  *rewrite.Session
	manifest *persist.Manifest
	n        int
}

func newCells() *cells {
	c := &cells{manifest: &persist.Manifest{Vars: map[string]persist.Var{}, Groups: map[int]persist.Group{}, Notes: map[string]string{}}}
	c.session = rewrite.NewSession(pkgs(), func() *persist.Manifest { return c.manifest })
	return c
}

func (c *cells) program(source string) (string, error) {
	c.n++
	r := c.session.Rewrite(c.n, source)
	if len(r.Errors) > 0 {
		return "", fmt.Errorf("%s: %s", r.Errors[0].Msg, source)
	}
	c.session = r.Next
	for _, name := range r.Defines {
		c.manifest.Vars[name] = persist.Var{Group: c.n}
		g := c.manifest.Groups[c.n]
		g.Vars = append(g.Vars, name)
		c.manifest.Groups[c.n] = g
	}
	return r.Plain, nil
}

// TestOurs: notebooks/mine has the lessons' solutions as they come out of the cells.
func TestOurs(t *testing.T) {
	lessons, err := filepath.Glob("../../../notebooks/*.ipynb")
	if err != nil || len(lessons) == 0 {
		t.Fatal("there are no lessons", err)
	}
	p := &Package{Dir: t.TempDir(), Importer: pkgs()}
	solved := map[string]bool{}
	for _, path := range lessons {
		n, err := notebook.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		c := newCells()
		for _, cell := range n.Cells {
			if cell.Type != "code" || strings.TrimSpace(cell.Source) == "" {
				continue
			}
			program, err := c.program(cell.Source)
			if err != nil {
				if !cell.HasTag("raises-exception") {
					t.Errorf("%s: %v", filepath.Base(path), err)
				}
				continue
			}
			for _, k := range lesson.KeptFunctions() {
				if !cell.HasTag("solution") || !strings.Contains(cell.Source, fmt.Sprintf("lesson.Grade(%q,", k.Key)) {
					continue
				}
				text, err := p.extract(k, program)
				if err != nil {
					t.Errorf("%s: exercise %s: %v", filepath.Base(path), k.Key, err)
					continue
				}
				if _, err := p.put(k, stamp(k, byUs, text), testOf(k)); err != nil {
					t.Fatal(err)
				}
				solved[k.Key] = true
			}
		}
	}
	for _, k := range lesson.KeptFunctions() {
		if !solved[k.Key] {
			t.Errorf("no lesson has a solution of exercise %s", k.Key)
		}
	}
	want := texts(t, p.Dir)
	if *update {
		for name := range texts(t, ours) {
			if want[name] == "" && name != "doc.go" {
				os.Remove(filepath.Join(ours, name))
			}
		}
		for name, text := range want {
			if err := write(filepath.Join(ours, name), text); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := texts(t, ours)
	delete(got, "doc.go")
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("notebooks/mine/%s is not the lesson's solution: go test ./kernel/internal/mine -run TestOurs -update writes it", name)
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("notebooks/mine/%s belongs to no lesson", name)
	}
}

func texts(t *testing.T, dir string) map[string]string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, path := range list {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(path)] = string(b)
	}
	return texts
}
