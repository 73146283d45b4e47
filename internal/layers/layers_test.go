// Package layers holds which part of the project may know which: imports go down, never up.
package layers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/testenv"
)

const module = "github.com/lectern-go/lectern/"

// floors are the folders from the ground up. A package may import what lies on a lower floor, and what lies in its own
// folder; folders beside each other know nothing of each other. The longest name counts: kernel/server is not kernel.
var floors = [][]string{
	{"internal"},
	{"autograd", "tokenizer", "kernel/internal", "kernel/notebook"},
	{"tensor", "kernel/jupyter", "kernel/persist", "kernel/show", "kernel/translate", "kernel/internal/display"},
	{"kernel/internal/rewrite"},
	{"einops", "optim", "data", "checkpoint", "accounting", "gpu", "notebooks", "kernel/internal/report", "kernel/internal/export", "kernel/internal/quick"},
	{"plots/diagram", "nn", "kernel/render", "kernel/grading", "kernel/internal/mine", "kernel/internal/runner"},
	{"plots", "nn/transformer", "nn/train", "notebooks/explore", "kernel/live", "kernel/server"},
	{"kernel/internal/command"},
	{"kernel", "nn/train/tinylm", "tools"}, // commands
	{"internal/bench"},                     // a command's name: what it runs is in tools
}

// never are pairs that the floors would allow, and what would come of them.
var never = []struct{ who, whom, why string }{
	{"tensor", "kernel", "the library would need a notebook"},
	{"autograd", "internal", "the engine needs the standard library alone"},
	{"einops", "kernel", "the library would need a notebook"},
	{"optim", "kernel", "the library would need a notebook"},
	{"data", "kernel", "the library would need a notebook"},
	{"checkpoint", "kernel", "the library would need a notebook"},
	{"accounting", "kernel", "the library would need a notebook"},
	{"gpu", "kernel", "the library would need a notebook"},
	{"plots", "kernel", "a figure would need a notebook"},
	{"plots", "tokenizer", "a figure takes what it draws as numbers and texts"},
	{"plots/diagram", "tokenizer", "a figure takes what it draws as numbers and texts"},
	{"nn", "kernel", "the library would need a notebook"},
	{"nn/transformer", "kernel", "the library would need a notebook"},
	{"nn/train", "kernel", "a training tells internal/progress how far it is, which a notebook draws"},
	{"kernel", "tensor", "the kernel runs any Go code, and would have to be built with all of the library"},
	{"kernel/server", "tensor", "the kernel runs any Go code, and would have to be built with all of the library"},
	{"kernel/show", "tensor", "every cell would link the library"},
	{"kernel/persist", "tensor", "every cell would link the library"},
	{"notebooks", "tensor", "a cell that asks a question would link the library"},
}

// place finds the folder of floors to which a package belongs, and its floor.
func place(pkg string) (folder string, floor int) {
	floor = -1
	for i, f := range floors {
		for _, name := range f {
			if (pkg == name || strings.HasPrefix(pkg, name+"/")) && len(name) > len(folder) {
				folder, floor = name, i
			}
		}
	}
	return folder, floor
}

func TestImportsGoDown(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not here")
	}
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "./...")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=1") // what exists does not depend on who looks
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		pkg := strings.TrimPrefix(words[0], module)
		folder, floor := place(pkg)
		if floor < 0 {
			t.Errorf("%s is on no floor", pkg)
			continue
		}
		seen[folder] = true
		for _, imported := range words[1:] {
			imported, ours := strings.CutPrefix(imported, module)
			if !ours {
				continue
			}
			target, below := place(imported)
			if target != folder && below >= floor {
				t.Errorf("%s imports %s, which does not lie below it", pkg, imported)
			}
			for _, n := range never {
				if folder == n.who && (imported == n.whom || strings.HasPrefix(imported, n.whom+"/")) {
					t.Errorf("%s imports %s: %s", pkg, imported, n.why)
				}
			}
		}
	}
	for _, f := range floors {
		for _, name := range f {
			if !seen[name] {
				t.Errorf("there is no package in %s any more", name)
			}
		}
	}
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "../..") }
