package rewrite

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lectern-go/lectern/kernel/internal/packages"
	"github.com/lectern-go/lectern/kernel/persist"
)

var pkgs = sync.OnceValue(func() *packages.Packages {
	return packages.New(packages.Config{Dir: ".", Env: os.Environ(), State: "github.com/lectern-go/lectern/internal/cellstate"})
})

// notebook runs cells through Rewrite, as if each had run and kept what it defines.
type notebook struct {
	t        *testing.T
	s        *Session
	manifest *persist.Manifest
	n        int
}

func newNotebook(t *testing.T) *notebook {
	nb := &notebook{t: t, manifest: &persist.Manifest{Vars: map[string]persist.Var{}, Groups: map[int]persist.Group{}, Notes: map[string]string{}}}
	nb.s = NewSession(pkgs(), func() *persist.Manifest { return nb.manifest })
	return nb
}

func (nb *notebook) run(code string) *Result {
	nb.n++
	r := nb.s.Rewrite(nb.n, code)
	if len(r.Errors) > 0 {
		return r
	}
	nb.s = r.Next
	for _, name := range r.Defines {
		nb.manifest.Vars[name] = persist.Var{Group: nb.n}
		g := nb.manifest.Groups[nb.n]
		g.Vars = append(g.Vars, name)
		for key, d := range nb.s.decls { // as if one of them held the cell's function literals
			if id, ok := strings.CutPrefix(key, literalName); ok && d.src.Cell == nb.n && !slices.Contains(g.Funcs, id) {
				g.Funcs = append(g.Funcs, id)
			}
		}
		nb.manifest.Groups[nb.n] = g
	}
	return r
}

// code is the program that a cell becomes, or "".
func (r *Result) code() string {
	if r.Program == nil {
		return ""
	}
	return strings.TrimSuffix(r.Program.String(), "\n")
}
