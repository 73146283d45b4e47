package command

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// From a checkout that is closed to them, people can make pages elsewhere; else they are told what to do.
func TestRenderFromAClosedCheckout(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the renderer")
	}
	real, err := findWorkspace(t.Context(), io.Discard, io.Discard, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOFLAGS", "-trimpath") // what has been built from another such folder is found again
	w := &workspace{root: t.TempDir(), stdout: io.Discard, stderr: io.Discard}
	entries, err := os.ReadDir(real.root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			if err := os.Symlink(filepath.Join(real.root, e.Name()), filepath.Join(w.root, e.Name())); err != nil {
				t.Skip(err)
			}
		}
	}
	// Nothing can be made below a file, not even by the superuser, whom no mode keeps out.
	if err := os.WriteFile(filepath.Join(w.root, ".lectern"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	lesson := filepath.Join(w.root, "notebooks", "02-tensors.ipynb")
	render := func(args ...string) error {
		flags, o := flag.NewFlagSet("render", flag.ContinueOnError), renderOptions{}
		o.flags(flags)
		if err := flags.Parse(append(args, lesson)); err != nil {
			t.Fatal(err)
		}
		return w.render(t.Context(), flags.Args(), o)
	}
	var closed *notWritable
	if err := render(); !errors.As(err, &closed) || !strings.Contains(err.Error(), "clone it into a folder that you can write to") {
		t.Errorf("without -o: %v", err)
	}
	out := filepath.Join(t.TempDir(), "pages")
	if err := render("-o", out); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(out, "02-tensors.html")); err != nil {
		t.Error(err)
	}
}
