package command

import (
	"embed"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/ask"
)

// The extension of our JupyterLab marks cells that are out of date, and asks the questions of lessons. Browsers load it
// as it is, behind the script that it asks with.
//
//go:embed labextension
var labExtension embed.FS

// labExtension puts the extension where our JupyterLab looks for such.
func (w *workspace) labExtension() error {
	return fs.WalkDir(labExtension, "labextension", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := labExtension.ReadFile(name)
		if err != nil {
			return err
		}
		if path.Ext(name) == ".js" {
			b = slices.Concat([]byte(ask.Script), b)
		}
		within := strings.TrimPrefix(name, "labextension/")
		return writeFile(w.state("share", "jupyter", "labextensions", "lectern-cells", filepath.FromSlash(within)), b, 0o644)
	})
}
