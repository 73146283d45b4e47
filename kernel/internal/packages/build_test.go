package packages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/internal/cellenv"
)

// cells makes the module of the cells in a workspace with a module that they import from, as the kernel does.
func cells(t testing.TB, root string) Config {
	t.Helper()
	dir := write(t, map[string]string{
		"go.mod":  "module lectern.local/cell\n\ngo 1.26.0\n",
		"go.work": fmt.Sprintf("go 1.26.0\n\nuse (\n\t.\n\t%q\n)\n", root),
		"main.go": "package main\n\nfunc main() {}\n",
	})
	env := cellenv.Offline(os.Environ())
	return Config{Dir: dir, Root: root, Env: env, Cache: filepath.Join(t.TempDir(), "packages.json"), Context: t.Context()}
}

// need downloads what packages import, as setup does before cells, which never use the network, are compiled. It skips
// a test that can't have it, and fails that where everything must be present.
func need(t testing.TB, c Config, paths ...string) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-deps", "--"}, paths...)...)
	cmd.Dir, cmd.Env = c.Dir, cellenv.Online(os.Environ())
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err == nil {
		return
	}
	why := "modules are not in the cache and can't be downloaded: " + strings.TrimSpace(said.String())
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// repository is the root of this module.
func repository(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// execute builds a program with the compiler and the linker alone, and returns what it prints.
func execute(t *testing.T, p *Packages, source string, paths ...string) string {
	t.Helper()
	files, err := p.Config(paths)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := p.Toolchain()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var config strings.Builder
	for path, file := range files {
		fmt.Fprintf(&config, "packagefile %s=%s\n", path, file)
	}
	main := filepath.Join(dir, "main.go")
	for name, text := range map[string]string{main: source, filepath.Join(dir, "importcfg"): config.String()} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(env []string, exe string, args ...string) string {
		cmd := exec.Command(exe, args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", filepath.Base(exe), err, out)
		}
		return string(out)
	}
	run(tools.Env, tools.Compile, "-p", "main", "-complete", "-pack", "-lang", tools.Lang, "-importcfg", "importcfg", "-o", "main.a", main)
	link := slices.Concat([]string{"-importcfg", "importcfg", "-o", "main.exe"}, cellenv.LinkFlags(), []string{"main.a"})
	if tools.GODEBUG != "" {
		link = append([]string{"-X=runtime.godebugDefault=" + tools.GODEBUG}, link...)
	}
	run(tools.Env, tools.Link, link...)
	return run(os.Environ(), filepath.Join(dir, "main.exe"))
}

func TestConfigLinks(t *testing.T) {
	config := cells(t, repository(t))
	p := New(config)
	defer p.Wait()
	const library = "github.com/lectern-go/lectern/"
	for _, c := range []struct {
		name, source string
		paths        []string
		want         string
	}{
		{"nothing", "package main\nfunc main() { println() }", nil, "\n"},
		{"standard library", "package main\nimport \"fmt\"\nimport \"net/http\"\nfunc main() { fmt.Println(http.StatusText(404)) }", []string{"fmt", "net/http"}, "Not Found\n"},
		{"library", "package main\nimport \"fmt\"\nimport \"" + library + "tensor\"\nfunc main() { fmt.Println(tensor.Arange(3).Shape()) }", []string{"fmt", library + "tensor"}, "[3]\n"},
		{"cgo", "package main\nimport \"fmt\"\nimport \"" + library + "gpu\"\nfunc main() { fmt.Println(gpu.DeviceCount() >= 0) }", []string{"fmt", library + "gpu"}, "true\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			need(t, config, c.paths...)
			if got := execute(t, p, c.source, c.paths...); got != c.want {
				t.Errorf("it prints %q, want %q", got, c.want)
			}
		})
	}
}

// BenchmarkConfig does what each cell needs: it takes 0.3 ms, and so does Refresh.
func BenchmarkConfig(b *testing.B) {
	c := cells(b, repository(b))
	p := New(c)
	defer p.Wait()
	paths := []string{"fmt", "github.com/lectern-go/lectern/tensor", "gonum.org/v1/plot", "gonum.org/v1/plot/plotter"}
	need(b, c, paths...)
	files, err := p.Config(paths)
	if err != nil || len(files) < 100 {
		b.Fatalf("%d packages, %v", len(files), err)
	}
	p.Wait()
	b.Run("Config", func(b *testing.B) {
		for b.Loop() {
			if _, err := p.Config(paths); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Refresh", func(b *testing.B) {
		for b.Loop() {
			p.Refresh()
		}
	})
}
