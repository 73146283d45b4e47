//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// TestRuntime builds the module of what cells are linked with, alone and without a network.
func TestRuntime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := makeRuntime(repoRoot(t), dir); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "./...")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOPROXY=off", "GOFLAGS=-mod=readonly")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("it needs more than itself: %v\n%s", err, out)
	}
}

// homeLab starts a kernel in a folder that holds files, for its notebook a.ipynb, with a module cache of its own for
// what proxy serves, and this machine's modules beside it.
func homeLab(t *testing.T, dir, cache, proxy string, env ...string) *lab {
	t.Helper()
	bin, err := tools()
	need(t, err)
	env = append([]string{"GOMODCACHE=" + cache, "GOPROXY=" + proxy + ",file://" + machineModules(t), "GONOSUMDB=*", "GOFLAGS=-modcacherw", "LECTERN_LEAN=1", "JPY_SESSION_NAME=" + filepath.Join(dir, "a.ipynb")}, env...)
	return startLabIn(t, bin, dir, env)
}

// machineModules is the part of this machine's module cache that a proxy could serve.
func machineModules(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "cache", "download")
}

// moduleCache is a cache that the test's end can remove.
func moduleCache(t *testing.T) string {
	t.Helper()
	cache := t.TempDir()
	t.Cleanup(func() {
		cmd := exec.Command("go", "clean", "-modcache")
		cmd.Env = append(os.Environ(), "GOMODCACHE="+cache)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v %s", err, out)
		}
	})
	return cache
}

func (l *lab) want(code, want string) {
	l.t.Helper()
	outs, r := l.run(code)
	if got := flat(outs); (r.Status == "ok") == strings.HasPrefix(got, "[error]") || !strings.Contains(got, want) {
		l.t.Errorf("%s\ngives %s %s\nwant %s", code, r.Status, got, want)
	}
}

// TestNotebookInAModule runs cells beside a module's own code.
func TestNotebookInAModule(t *testing.T) {
	t.Parallel()
	needLong(t)
	served := proxy(t, map[string]string{"example.net/dep@v1.0.0": "1.20", "example.net/dep@v1.5.0": "1.20", "example.net/other@v1.0.0": "1.20"})
	dir, cache := t.TempDir(), moduleCache(t)
	writeFiles(t, dir, map[string]string{
		"m/go.mod":                "module example.org/m\n\ngo 1.22\n\nrequire example.net/dep v1.0.0\n",
		"m/m.go":                  "package m\n\nfunc Name() string { return \"m\" }\n",
		"m/internal/secret/s.go":  "package secret\n\nconst Word = \"open\"\n",
		"m/notes/a.ipynb":         "{}",
		"near/go.mod":             "module example.org/near\n\ngo 1.22\n",
		"near/near.go":            "package near\n\nconst Here = true\n",
		"m/go.work":               "go 1.22\n\nuse (\n\t.\n\t../near\n)\n",
		"m/vendor/modules.txt":    "",
		"m/cmd/tool/main.go":      "package main\n\nfunc main() {}\n",
		"m/broken/broken_test.go": "package broken\n",
	})
	tidy := exec.Command("go", "mod", "download")
	tidy.Dir, tidy.Env = filepath.Join(dir, "m"), append(os.Environ(), "GOMODCACHE="+cache, "GOPROXY="+served, "GONOSUMDB=*", "GOWORK=off", "GOFLAGS=-mod=mod")
	if out, err := tidy.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	l := homeLab(t, filepath.Join(dir, "m", "notes"), cache, served)
	l.want("import \"example.org/m\"\nm.Name()", `"m"`)
	l.want("m.Name() + \"!\"", `"m!"`)
	writeFiles(t, dir, map[string]string{"m/m.go": "package m\n\nfunc Name() string { return \"changed\" }\n"})
	l.want("m.Name()", `"changed"`)
	l.want("import \"example.org/m/internal/secret\"\nsecret.Word", `"open"`)
	l.want("import \"example.org/near\"\nnear.Here", "true")
	l.want("import \"example.net/dep\"\ndep.Here", "42")
	l.want("!go list -m -f {{.Version}} example.net/dep", "v1.0.0") // and no other
	l.want("import \"example.net/other\"", "[error]")
	l.want("import \"example.net/other\"", "example.org/m does not require its module: %get example.net/other adds it to")
	l.want("import \"example.org/m/nosuch\"", "[error]")
	l.want("%get example.net/other@v1.0.0", "ready: import")
	l.want("import \"example.net/other\"\nother.Here + 1", "43")
	if mod, _ := os.ReadFile(filepath.Join(dir, "m", "go.mod")); !bytes.Contains(mod, []byte("example.net/other v1.0.0")) || !bytes.Contains(mod, []byte("example.net/dep v1.0.0")) {
		t.Errorf("its go.mod is now\n%s", mod)
	}
	l.want("type T struct{ A int }\nx := []T{{1}}\nx[0].A", "1") // values live on as ever
	l.want("x[0].A + len(x)", "2")
}

// TestNotebookOutsideModules fetches in one notebook, and takes what it records to another machine.
func TestNotebookOutsideModules(t *testing.T) {
	t.Parallel()
	served := proxy(t, map[string]string{"example.net/dep@v1.0.0": "1.20", "example.net/more@v1.1.0": "1.20"})
	dir, cache := t.TempDir(), moduleCache(t)
	writeFiles(t, dir, map[string]string{"a.ipynb": `{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}`})
	l := homeLab(t, dir, cache, served)
	l.want("1 + 1", "2")
	var saved map[string]any
	l.want("%get example.net/dep@v1.0.0", "ready: import \"example.net/dep\"")
	l.want("import \"example.net/dep\"\ndep.Here", "42")
	outs, r := l.run("import \"example.net/more\"\nmore.Here")
	if r.Status != "ok" || !strings.Contains(flat(outs), "fetched example.net/more") {
		t.Errorf("an import that fetches: %s %s", r.Status, flat(outs))
	}
	for _, name := range []string{"go.mod", "go.work", "go.sum"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("there is a %s beside the notebook", name)
		}
	}

	// What the kernel says goes into the notebook, and with it to another machine, whose only module proxy is this one.
	_, r = l.run("%get example.net/dep@v1.0.0")
	if r.Status != "ok" {
		t.Fatal(r)
	}
	saved = l.metadata(t, "%get example.net/dep@v1.0.0")
	n := &notebook.Notebook{Cells: []*notebook.Cell{{ID: "a", Type: "code", Count: 1, Outputs: []*notebook.Output{{Type: "display_data", Data: notebook.Object{"text/plain": "ready"}, Metadata: saved}}}}}
	n.KeepModule()
	if len(n.Cells[0].Outputs) != 0 {
		t.Errorf("the output stays: %v", n.Cells[0].Outputs)
	}
	there := t.TempDir()
	if err := n.Write(filepath.Join(there, "a.ipynb")); err != nil {
		t.Fatal(err)
	}
	far := homeLab(t, there, moduleCache(t), served)
	far.want("import \"example.net/more\"\nmore.Here", "42")
	outs, r = far.run("import \"example.net/dep\"\ndep.Here")
	if r.Status != "ok" || strings.Contains(flat(outs), "fetch") {
		t.Errorf("there: %s %s", r.Status, flat(outs))
	}

	// Without a network, and with the modules in the cache.
	offline := t.TempDir()
	if err := n.Write(filepath.Join(offline, "a.ipynb")); err != nil {
		t.Fatal(err)
	}
	homeLab(t, offline, cache, "off", "LECTERN_OFFLINE=1", "GOPROXY=off").want("import \"example.net/more\"\nmore.Here", "42")

	// And where it can't be had, other cells run.
	nowhere := t.TempDir()
	if err := n.Write(filepath.Join(nowhere, "a.ipynb")); err != nil {
		t.Fatal(err)
	}
	homeLab(t, nowhere, moduleCache(t), "off", "LECTERN_OFFLINE=1").want("1 + 1", "2")
}

// metadata runs a cell and returns the metadata of its display.
func (l *lab) metadata(t *testing.T, code string) (found map[string]any) {
	t.Helper()
	m, err := l.displayMetadata(code)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(m, &found); err != nil {
		t.Fatal(err)
	}
	return found
}

func (l *lab) displayMetadata(code string) (metadata []byte, err error) {
	_, _, err = l.try(code, jupyter.ExecuteOptions{Timeout: patience, Output: func(m *jupyter.Message) {
		var c struct{ Metadata json.RawMessage }
		if m.Header.Type == "display_data" && json.Unmarshal(m.Content, &c) == nil {
			metadata = c.Metadata
		}
	}})
	return metadata, err
}
