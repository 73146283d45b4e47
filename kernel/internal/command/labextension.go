package command

import (
	"embed"
	"encoding/json"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/ask"
	"github.com/lectern-go/lectern/kernel/internal/report"
	"github.com/lectern-go/lectern/kernel/translate"
)

// The extension of our JupyterLab marks cells that are out of date, and asks the questions of lessons. Browsers load it
// as it is, behind the script that it asks with.
//
//go:embed labextension
var labExtension embed.FS

// labExtension puts the extension where our JupyterLab looks for such.
func (w *workspace) labExtension() error {
	all, err := translate.Languages(filepath.Join(w.root, "notebooks"))
	if err != nil {
		return err
	}
	l, err := translate.Named(all, w.lang)
	if err != nil {
		return err
	}
	return fs.WalkDir(labExtension, "labextension", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := labExtension.ReadFile(name)
		if err != nil {
			return err
		}
		if path.Ext(name) == ".js" {
			words, err := json.Marshal(l.Words(string(b), ask.Script, report.StepperScript()))
			if err != nil {
				return err
			}
			b = slices.Concat([]byte("globalThis.lecternWords = "), words, []byte(";\n"), []byte(ask.Say), []byte(ask.Script), b)
		}
		within := strings.TrimPrefix(name, "labextension/")
		return writeFile(w.state("share", "jupyter", "labextensions", "lectern-cells", filepath.FromSlash(within)), b, 0o644)
	})
}
