package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// JupyterLab reads from package.json which file to load.
func TestLabExtension(t *testing.T) {
	w := &workspace{root: t.TempDir()}
	if err := w.labExtension(); err != nil {
		t.Fatal(err)
	}
	dir := w.state("share", "jupyter", "labextensions", "lectern-cells")
	b, err := os.ReadFile(filepath.Join(dir, "package.json"))
	var about struct {
		Name       string
		JupyterLab struct {
			Extension bool
			Build     struct{ Load string } `json:"_build"`
		}
	}
	if err == nil {
		err = json.Unmarshal(b, &about)
	}
	if err != nil || about.Name != filepath.Base(dir) || !about.JupyterLab.Extension {
		t.Fatalf("%v: %+v", err, about)
	}
	if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(about.JupyterLab.Build.Load))); err != nil {
		t.Error(err)
	}
}
