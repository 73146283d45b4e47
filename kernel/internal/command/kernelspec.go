package command

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/lectern-go/lectern/kernel/jupyter"
)

// What the kernel is called in notebooks and in Jupyter's menus.
const (
	kernelName     = "lectern"
	kernelDisplay  = "Go (Lectern)"
	kernelLanguage = "go"
)

//go:embed logo.svg
var logo []byte

// spec is the kernelspec of this source.
func (w *workspace) spec() *jupyter.Spec {
	return &jupyter.Spec{
		Argv:          []string{w.tool("lectern-kernel"), "{connection_file}"},
		DisplayName:   kernelDisplay,
		Language:      kernelLanguage,
		InterruptMode: "message",
		Env:           w.kernelEnv(),
		Dir:           w.specDir(),
	}
}

// kernelEnv is the environment that the kernel starts with, over that of Jupyter.
func (w *workspace) kernelEnv() map[string]string {
	// The pinned tools come first; Go itself comes last, for a Jupyter that was started from a desktop without the
	// shell's PATH.
	list := string(os.PathListSeparator)
	env := map[string]string{
		"PATH":            w.state("bin") + list + "${PATH}" + list + goDir(),
		"LECTERN_ROOT":    w.root,
		"LECTERN_COMMAND": self,
	}
	if w.lean() {
		env["LECTERN_LEAN"] = "1"
	}
	return env
}

// goDir is the folder of the go command that is in use.
func goDir() string {
	if p, err := exec.LookPath("go"); err == nil {
		if abs, err := filepath.Abs(p); err == nil {
			return filepath.Dir(abs)
		}
	}
	return filepath.Join(build.Default.GOROOT, "bin")
}

// writeSpec writes kernel.json and the logo into dir.
func writeSpec(dir string, s *jupyter.Spec) error {
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, "kernel.json"), append(b, '\n'), 0o644); err != nil {
		return fmt.Errorf("kernelspec: %w", err)
	}
	if err := writeFile(filepath.Join(dir, "logo-svg.svg"), logo, 0o644); err != nil {
		return fmt.Errorf("kernelspec: %w", err)
	}
	return nil
}

// userSpecDir is where Jupyter looks for kernels that the user has installed.
func userSpecDir() (string, error) {
	data := os.Getenv("JUPYTER_DATA_DIR")
	if data == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("the user's Jupyter folder is unknown: %w; set JUPYTER_DATA_DIR", err)
		}
		switch runtime.GOOS {
		case "darwin":
			data = filepath.Join(home, "Library", "Jupyter")
		case "windows":
			data = filepath.Join(home, "AppData", "Roaming", "jupyter")
			if a := os.Getenv("APPDATA"); a != "" {
				data = filepath.Join(a, "jupyter")
			}
		default:
			data = filepath.Join(home, ".local", "share", "jupyter")
			if x := os.Getenv("XDG_DATA_HOME"); x != "" {
				data = filepath.Join(x, "jupyter")
			}
		}
	}
	return filepath.Join(data, "kernels", kernelName), nil
}
