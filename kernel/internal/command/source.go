package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/cellenv"
	"github.com/lectern-go/lectern/kernel/internal/install"
)

// An installed command has no checkout: it makes itself a copy of the source of its own version, in the user's cache
// folder, where all that it builds lies, too. There the copy is as good as a checkout, and stays when somebody cleans
// Go's module cache.

// cacheDir is where installed commands keep their copies, a folder for each version.
func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("there is no cache folder to build the kernel in: %w", err)
	}
	return filepath.Join(dir, "lectern", "kernel"), nil
}

// lean reports whether the user may want only the kernel: then the library is compiled when a cell imports
// it, and GoNB built when a cell needs it.
func (w *workspace) lean() bool {
	dir, err := cacheDir()
	return err == nil && strings.HasPrefix(w.root, dir+string(filepath.Separator))
}

// place is where setup has put things, for messages.
func (w *workspace) place() string {
	if w.outside == "" {
		return ".lectern/"
	}
	return w.state()
}

// installedSource finds the source that the command was built from: the checkout, if it was built in one that is still
// there, else a copy of the installed version. With look, it makes no copy.
func installedSource(ctx context.Context, w *workspace, look bool) (string, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", errors.New("this program does not know what it was built from; build it with Go's modules")
	}
	_, file, _, _ := runtime.Caller(0)
	if dir := filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(file)))); info.Main.Sum == "" && filepath.IsAbs(file) && isCheckout(dir) {
		return dir, nil
	}
	version := info.Main.Version
	if !strings.HasPrefix(version, "v") || strings.HasSuffix(version, "+dirty") {
		return "", fmt.Errorf("%s is not inside the Lectern repository, and this command was built from a checkout that is gone; change into a checkout, or install a version: go install %s/kernel/cmd/lectern@latest",
			w.outside, modulePath)
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, version)
	if look || isCheckout(dir) {
		return dir, nil
	}
	fmt.Fprintf(w.stdout, `This is the first time that Lectern %s is used here. It copies its source into
%s
and builds the kernel there, with your Go; that takes a minute or two. Cells import what your go.mod requires, or what they
%%get. To have the kernel in your own Jupyter and VS Code: %s setup -user. To remove everything: %s uninstall.
`, version, dir, self, self)
	if err := copySource(ctx, w, version, info.Main.Sum, dir); err != nil {
		return "", fmt.Errorf("the source of Lectern %s: %w", version, err)
	}
	return dir, nil
}

// copySource copies a version of this module, which Go downloads if it is not in its cache, into a folder.
func copySource(ctx context.Context, w *workspace, version, sum, dir string) error {
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(parent, ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	p := w.step("Copy the source")
	defer p.end()
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", modulePath+"@"+version)
	cmd.Dir, cmd.Env = temp, append(cellenv.Online(os.Environ()), "GOWORK=off")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	var got struct{ Dir, Sum, Error string }
	if jsonErr := json.Unmarshal(out, &got); jsonErr == nil && got.Error != "" {
		return errors.New(got.Error)
	}
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return errors.New("the go command is not in PATH; install Go from go.dev")
	case err != nil:
		return fmt.Errorf("%w\n%s", err, bytes.TrimSpace(said.Bytes()))
	case sum != "" && got.Sum != sum:
		return fmt.Errorf("what Go has downloaded is %s, and this program was built from %s", got.Sum, sum)
	}
	src := filepath.Join(temp, "source")
	if err := copyTree(src, got.Dir); err != nil {
		return err
	}
	for name, text := range install.Modules() { // modules of their own, which Go leaves out of this one
		if err := writeFile(filepath.Join(src, "tools", filepath.FromSlash(name)), text, 0o644); err != nil {
			return err
		}
	}
	if err := os.Rename(src, dir); err != nil && !isCheckout(dir) { // another command may have been quicker
		return err
	}
	return nil
}

// copyTree copies files and folders, which the copy's owner may change: in the module cache they are read-only.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o644)
	})
}
