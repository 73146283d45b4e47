//go:build unix

package main

import (
	"fmt"
	"go/version"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/mine"
)

// Cells import from the module of the lessons, from GoNB's packages for displays and widgets, and, for packages
// fetched with %get or by an import, from a module beside the lessons', which lies in .lectern and holds nothing but
// its requirements. In another module they import from that instead; home.go says which is when.

// getModule is the folder of the module for fetched packages; the environment variable LECTERN_GET names another.
func getModule(c config) string {
	if d := os.Getenv("LECTERN_GET"); d != "" {
		return d
	}
	if c.get != "" {
		return c.get
	}
	return filepath.Join(c.root, ".lectern", "get")
}

// modules lists the folders of the modules that cells import from.
func modules(c config) []string {
	if h := c.home; h != nil {
		list := append([]string{h.dir}, h.others...)
		switch {
		case !h.library:
			list = append(list, c.runtime())
		case !slices.Contains(list, c.root):
			list = append(list, c.root)
		}
		return list
	}
	list := []string{c.root, getModule(c)}
	if d := gonbui(c); d != "" { // a module of its own: the lessons' go.mod stays as it is
		list = append(list, d)
	}
	if c.mine != "" {
		list = append(list, c.mine)
	}
	return list
}

// gonbui is the folder of the module that requires GoNB's packages for cells, in the version of our GoNB; "" if the
// lessons have none.
func gonbui(c config) string {
	d := filepath.Join(c.root, "tools", "gonbui")
	if goLine(d) == "" {
		return ""
	}
	return d
}

// namedPackages are known by name, so that cells need not import them; they are compiled when a cell uses them.
func namedPackages(c config) []string {
	if h := c.home; h != nil {
		return []string{h.path + "/..."}
	}
	if os.Getenv("LECTERN_LEAN") != "" {
		return []string{modulePath(c.root) + "/..."}
	}
	return nil
}

// warmPackages are looked up when a kernel starts, if they have changed: what cells may import without a wait.
func warmPackages(c config) []string {
	library := modulePath(c.root)
	if c.home != nil || os.Getenv("LECTERN_LEAN") != "" {
		return append([]string{library + "/kernel/persist", library + "/kernel/show", library + "/kernel/show/widget"}, commonPackages...)
	}
	list := append([]string{library + "/..."}, commonPackages...)
	if gonbui(c) != "" {
		for _, p := range []string{"gonbui", "gonbui/comms", "gonbui/dom", "gonbui/protocol", "gonbui/widgets", "cache"} {
			list = append(list, gonbPath+p)
		}
	}
	return list
}

// knownPackages can be imported by name before anybody has looked for them.
func knownPackages(c config) []string {
	if c.mine != "" {
		return append(slowPackages(c), mine.Name)
	}
	return slowPackages(c)
}

// slowPackages are GoNB's packages that take a minute to compile: they are compiled when a cell imports them, if setup
// has not got around to it.
func slowPackages(c config) []string {
	if gonbui(c) == "" || c.home != nil || os.Getenv("LECTERN_LEAN") != "" {
		return nil
	}
	return []string{gonbPath + "gonbui/plotly", gonbPath + "gonbui/wasm"}
}

const gonbPath = "github.com/janpfeifer/gonb/"

// makeCheckModule creates the module in which cells are type-checked and compiled, in a workspace of the modules that
// they import from.
func makeCheckModule(c config, f *folders) error {
	if err := makeGetModule(c); err != nil {
		return fmt.Errorf("module for fetched packages: %w", err)
	}
	files := map[string]string{"go.mod": cellModule(c), "main.go": "package main\n\nfunc main() {}\n"}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(f.check(), name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("module for checking: %w", err)
		}
	}
	if err := makeUserModule(c, f); err != nil {
		return fmt.Errorf("module for shell lines: %w", err)
	}
	return joinModules(c, f.check())
}

// cellModule is the go.mod of the cells' module.
// Below the path of the notebook's module, cells may import its internal packages.
func cellModule(c config) string {
	path := "lectern.local/cell"
	if c.home != nil {
		path = c.home.path + "/lectern.cell"
	}
	return "module " + path + "\n\ngo " + cellGo(c) + "\n"
}

// cellGo is the cells' language: that of the lessons.
func cellGo(c config) string {
	if v := goLine(c.root); v != "" {
		return v
	}
	return "1.26.0"
}

// joinModules writes the go.work file of the cells' module. It is written again when a fetched module may have changed
// what it must say.
func joinModules(c config, dir string) error {
	need := goLine(dir) // a workspace must be for the newest Go that any of its modules wants
	var b strings.Builder
	b.WriteString("use (\n\t.\n")
	for _, m := range modules(c) {
		if v := goLine(m); version.Compare("go"+v, "go"+need) > 0 {
			need = v
		}
		if rel, err := filepath.Rel(dir, m); err == nil && !strings.HasPrefix(rel, "..") {
			m = "./" + filepath.ToSlash(rel) // the same for every kernel
		}
		fmt.Fprintf(&b, "\t%q\n", m)
	}
	b.WriteString(")\n")
	if c.home != nil {
		b.WriteString("\n" + strings.Join(c.home.replace, ""))
	}
	if err := os.WriteFile(filepath.Join(dir, "go.work"), []byte("go "+need+"\n\n"+b.String()), 0o644); err != nil {
		return fmt.Errorf("module for checking: %w", err)
	}
	return nil
}

// makeGetModule creates the module for fetched packages if there is none.
func makeGetModule(c config) error {
	mod := filepath.Join(getModule(c), "go.mod")
	if _, err := os.Stat(mod); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(mod), 0o755); err != nil {
		return err
	}
	return os.WriteFile(mod, []byte("module lectern.local/get\n\ngo 1.26.0\n"), 0o644)
}

// modulePath reads the path of the module in a folder.
func modulePath(dir string) string {
	if path := modLine(dir, "module"); path != "" {
		return path
	}
	return "."
}

// goLine reads which Go the module in a folder wants; "" if there is no module.
func goLine(dir string) string { return modLine(dir, "go") }

func modLine(dir, key string) string {
	b, _ := os.ReadFile(filepath.Join(dir, "go.mod"))
	for line := range strings.Lines(string(b)) {
		line, _, _ = strings.Cut(line, "//")
		if f := strings.Fields(line); len(f) == 2 && f[0] == key {
			return strings.Trim(f[1], `"`)
		}
	}
	return ""
}
