package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// liteLab puts what a JupyterLab without a server is made of into a new folder, as package live wants it.
func (w *workspace) liteLab(ctx context.Context, notebooks []string) (dir string, err error) {
	app, err := w.findLite(ctx)
	var none *noPython
	if errors.As(err, &none) {
		return "", fmt.Errorf("render: JupyterLite comes as a package of Python, and %w; -live does without", none)
	}
	if err != nil {
		return "", fmt.Errorf("render: %w", err)
	}
	if dir, err = os.MkdirTemp("", "lectern-lite-"); err != nil {
		return "", fmt.Errorf("render: %w", err)
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
			err = fmt.Errorf("render: JupyterLite: %w", err)
		}
	}()
	err = copyFile(filepath.Join(dir, "app.tgz"), app)
	if err == nil {
		err = os.CopyFS(filepath.Join(dir, "labextensions"), os.DirFS(w.state("jupyter", liteVenv.name, "share", "jupyter", "labextensions")))
	}
	for _, name := range []string{"jupyterlite_core", "jupyterlab_widgets"} {
		licence, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(app)), name+"-*.dist-info", "licenses", "LICENSE"))
		if err == nil && len(licence) != 1 {
			err = fmt.Errorf("the package %s has no licence", name)
		}
		if err == nil {
			err = copyFile(filepath.Join(dir, "LICENSE-"+name+".txt"), licence[0])
		}
	}
	if err == nil {
		err = writeLabExtension(filepath.Join(dir, "labextensions"), nil)
	}
	if err == nil {
		err = writeSpec(filepath.Join(dir, "kernels", kernelName), &jupyter.Spec{DisplayName: kernelDisplay, Language: kernelLanguage})
	}
	if err == nil {
		err = w.liteCopies(filepath.Join(dir, "notebooks"), notebooks)
	}
	return dir, err
}

func copyFile(to, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o600)
}

// liteCopies copies notebooks into a folder, lessons as students get them.
func (w *workspace) liteCopies(dir string, notebooks []string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	lessons := filepath.Join(w.root, "notebooks")
	for _, path := range notebooks {
		n, err := notebook.Read(path)
		if err != nil {
			return err
		}
		if w.outside == "" && filepath.Dir(path) == lessons {
			n = workingCopy(n, nil)
		}
		to := filepath.Join(dir, filepath.Base(path))
		info, err := os.Stat(path)
		if err = cmp.Or(err, n.Write(to)); err != nil {
			return err
		}
		if err := os.Chtimes(to, info.ModTime(), info.ModTime()); err != nil { // which the file browser shows
			return err
		}
	}
	return nil
}

// findLite finds or installs the Python packages of which render takes something, and returns the archive of
// JupyterLite's app.
func (w *workspace) findLite(ctx context.Context) (app string, err error) {
	dir := w.state("jupyter", liteVenv.name)
	if !w.hasVenv(liteVenv) {
		if err := w.makeVenv(ctx, liteVenv); err != nil {
			return "", err
		}
	}
	for _, packages := range []string{"lib/python*/site-packages", "Lib/site-packages"} { // the latter on Windows
		found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(packages), "jupyterlite_core", "jupyterlite-app-*.tgz"))
		if err == nil && len(found) == 1 {
			return found[0], nil
		}
	}
	return "", fmt.Errorf("there is no JupyterLite in %s; remove that folder and %s", w.rel(dir), w.rel(w.state("stamps", liteVenv.name)))
}
