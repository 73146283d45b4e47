package command

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/ask"
	"github.com/lectern-go/lectern/kernel/internal/report"
	"github.com/lectern-go/lectern/kernel/internal/sitejob"
	"github.com/lectern-go/lectern/kernel/translate"
)

// The extension of our JupyterLab marks lines that one steps through, asks the questions of lessons, and shows their
// explorers. Browsers load it as it is, after the script that it asks with.
//
//go:embed labextension
var labExtension embed.FS

// exploreFolder is where the extension finds what the explorers of lessons need.
func (w *workspace) exploreFolder() string {
	return w.state("share", "jupyter", "labextensions", "lectern-cells", "static", "explore")
}

// explorersStep builds the explorers of lessons, which JupyterLab shows as soon as they are there.
func (w *workspace) explorersStep(ctx context.Context, site step) step {
	return step{"explorers", "explorers built", site.inputs, []string{filepath.Join(w.exploreFolder(), "explore.js")}, func() error {
		job := sitejob.Job{Root: w.root, Cache: w.state("live"), Explorers: w.exploreFolder()}
		cmd, err := job.Command(ctx, w.tool("lectern-site"))
		if err != nil {
			return err
		}
		if w.gently {
			cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
		}
		said := &stages{w: w}
		cmd.Stderr = said
		err = cmd.Run()
		said.end()
		if err != nil {
			return fmt.Errorf("build the explorers of lessons; cells run already: %w\n%s", err, said.rest.Bytes())
		}
		return nil
	}}
}

// labExtension puts the extension where our JupyterLab looks for extensions.
func (w *workspace) labExtension() error {
	all, err := translate.Languages(filepath.Join(w.root, "notebooks"))
	if err != nil {
		return err
	}
	l, err := translate.Named(all, w.lang)
	if err != nil {
		return err
	}
	// The explorers' words are part of the extension, too. Without a checkout there are no explorers.
	explore, err := os.ReadFile(filepath.Join(w.root, "kernel", "live", "assets", "explore.js"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	explorers, err := json.Marshal(l.Explorers())
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
			words, err := json.Marshal(l.Words(string(b), ask.Script, report.StepperScript(), string(explore)))
			if err != nil {
				return err
			}
			b = slices.Concat([]byte("globalThis.lecternWords = "), words, []byte(";\nglobalThis.lecternExplorerWords = "), explorers, []byte(";\n"), []byte(ask.Say), []byte(ask.Script), b)
		}
		within := strings.TrimPrefix(name, "labextension/")
		return writeFile(w.state("share", "jupyter", "labextensions", "lectern-cells", filepath.FromSlash(within)), b, 0o644)
	})
}
