//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Cells import from the module of the lessons and, for packages fetched with %get, from a module beside it, which lies in .lectern and
// holds nothing but its requirements.

// getModule is the folder of the module for fetched packages; the environment variable LECTERN_GET names another.
func getModule(c config) string {
	if d := os.Getenv("LECTERN_GET"); d != "" {
		return d
	}
	return filepath.Join(c.root, ".lectern", "get")
}

// workspaceModules are the folders of the modules that cells import from.
func workspaceModules(c config) []string { return []string{c.root, getModule(c)} }

// makeCheckModule creates the module in which cells are type-checked, in a workspace of the same modules as GoNB's.
func makeCheckModule(c config, f *folders) error {
	get := filepath.Join(getModule(c), "go.mod")
	if _, err := os.Stat(get); err != nil {
		if err := os.MkdirAll(filepath.Dir(get), 0o755); err != nil {
			return fmt.Errorf("module for fetched packages: %w", err)
		}
		if err := os.WriteFile(get, []byte("module lectern.local/get\n\ngo 1.26.0\n"), 0o644); err != nil {
			return fmt.Errorf("module for fetched packages: %w", err)
		}
	}
	files := map[string]string{
		"go.mod":  "module lectern.local/cell\n\ngo 1.26.0\n",
		"go.work": "go 1.26.0\n\nuse (\n\t.\n\t" + fmt.Sprintf("%q", c.root) + "\n\t" + fmt.Sprintf("%q", getModule(c)) + "\n)\n",
		"main.go": "package main\n\nfunc main() {}\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(f.check(), name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("module for checking: %w", err)
		}
	}
	return nil
}

// modulePath reads the path of the module in a folder.
func modulePath(dir string) string {
	b, _ := os.ReadFile(filepath.Join(dir, "go.mod"))
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "module" {
			return f[1]
		}
	}
	return "."
}
