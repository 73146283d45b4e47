//go:build unix

package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/internal/cellenv"
	"github.com/lectern-go/lectern/kernel/internal/packages"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/jupyter"
)

// proxy makes a folder that serves modules, path@version to go line, each with a package of one constant.
func proxy(t *testing.T, modules map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for m, goVersion := range modules {
		path, version, _ := strings.Cut(m, "@")
		mod := fmt.Sprintf("module %s\n\ngo %s\n", path, goVersion)
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for name, text := range map[string]string{"go.mod": mod, "a.go": "package " + filepath.Base(path) + "\n\nconst Here = 42\n"} {
			w, err := z.Create(m + "/" + name)
			if err == nil {
				_, err = w.Write([]byte(text))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		writeFiles(t, filepath.Join(dir, path, "@v"), map[string]string{"list": version + "\n", version + ".mod": mod, version + ".zip": b.String(),
			version + ".info": fmt.Sprintf(`{"Version":%q,"Time":"2020-01-01T00:00:00Z"}`, version)})
	}
	return "file://" + filepath.ToSlash(dir)
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// fetching makes a cell of a kernel that can do nothing but fetch, with a module cache of its own.
func fetching(t *testing.T, proxy string) *execution {
	t.Helper()
	cache := t.TempDir()
	t.Cleanup(func() { // the files in there can't be removed otherwise
		cmd := exec.Command("go", "clean", "-modcache")
		cmd.Env = append(os.Environ(), "GOMODCACHE="+cache)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v %s", err, out)
		}
	})
	for k, v := range map[string]string{"GOMODCACHE": cache, "GOPROXY": proxy, "GONOSUMDB": "*", "GOPRIVATE": "", "GONOPROXY": "", "LECTERN_GET": "", offlineVar: ""} {
		t.Setenv(k, v)
	}
	root := t.TempDir()
	writeFiles(t, root, map[string]string{"go.mod": "module example.org/lessons\n\ngo 1.26.0\n", "lib/lib.go": "package lib\n"})
	c, f := config{root: root}, &folders{work: t.TempDir()}
	if err := os.Mkdir(f.check(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := makeCheckModule(c, f); err != nil {
		t.Fatal(err)
	}
	k := &kernel{c: c, f: f}
	k.packages = packages.New(packages.Config{Dir: f.check(), Root: root, Env: cellenv.Offline(os.Environ()), Context: t.Context()})
	t.Cleanup(k.packages.Wait)
	return newExecution(k, &jupyter.Message{}, executeRequest{Silent: true}, 1)
}

func TestAutoget(t *testing.T) {
	e := fetching(t, proxy(t, map[string]string{"example.net/hello@v1.2.0": "1.20", "example.net/newer@v1.0.0": "1.26.1", "example.net/future@v1.0.0": "1.999"}))
	var missing *packages.MissingError
	if _, err := e.k.packages.Import("example.net/hello"); !errors.As(err, &missing) || missing.Path != "example.net/hello" {
		t.Fatalf("before: %v", err)
	}
	before, _ := os.ReadFile(filepath.Join(getModule(e.k.c), "go.mod"))
	fails := func(path, want string) {
		t.Helper()
		_, f := e.autoget(path)
		if f == nil || !strings.Contains(f.Value, want) {
			t.Errorf("%s: %v, want %q", path, f, want)
		}
		if after, _ := os.ReadFile(filepath.Join(getModule(e.k.c), "go.mod")); string(after) != string(before) {
			t.Errorf("%s changed go.mod into\n%s", path, after)
		}
	}
	fails("example.net/nobody", "there is no such package")
	fails("example.net/hello/nosuch", "there is no such package")
	fails("example.net/future", "it needs Go 1.999 or newer")
	refused := func(path, want string) {
		t.Helper()
		if ok, hint := e.k.mayFetch(path); ok || hint != want {
			t.Errorf("%s: may be fetched %v, hint %q, want %q", path, ok, hint, want)
		}
	}
	refused("nosuch/thing", "")
	if hint, f := e.autoget("example.org/lessons/nosuch"); hint != "" || f != nil { // the lessons have no such package, and no other module may
		t.Errorf("a package that the lessons lack: %q, %v", hint, f)
	}
	t.Setenv(offlineVar, "1")
	refused("example.net/hello", "LECTERN_OFFLINE keeps imports from fetching it")
	t.Setenv(offlineVar, "")
	e.k.noAutoget = true
	refused("example.net/hello", "fetch it with %get example.net/hello, or let imports fetch with %autoget")
	e.k.noAutoget = false
	if ok, _ := e.k.mayFetch("example.net/hello"); !ok {
		t.Error("example.net/hello may not be fetched")
	}

	// The second one raises the version of Go that the module for fetched packages asks for, and with it the workspace's.
	for _, path := range []string{"example.net/hello", "example.net/newer"} {
		if _, f := e.autoget(path); f != nil {
			t.Fatalf("%s: %v", path, f.Lines)
		}
		if p, err := e.k.packages.Import(path); err != nil || p.Scope().Lookup("Here") == nil {
			t.Fatalf("%s: %v", path, err)
		}
		if _, err := e.k.packages.Config([]string{path, "fmt", "example.org/lessons/lib"}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if f := (commands{e}).get(rewrite.Command{Name: "%get", Args: []string{"example.net/hello@v1.2.0"}}); f != nil {
		t.Errorf("%%get: %v", f.Lines)
	}
	for arg, want := range map[string]string{"--x": "is not path@version", "example.net/hello@v9.9.9": "there is no such package"} {
		if f := (commands{e}).get(rewrite.Command{Name: "%get", Args: []string{arg}}); f == nil || !strings.Contains(f.Value, want) {
			t.Errorf("%%get %s: %v, want %q", arg, f, want)
		}
	}
}

func TestFetchIsInterrupted(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	asked := make(chan bool, 100)
	go func() { // takes calls and never says a word
		for {
			c, err := silent.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			asked <- true
		}
	}()
	e := fetching(t, "http://"+silent.Addr().String())
	go func() {
		<-asked
		e.stop()
	}()
	if _, f := e.autoget("example.net/hello"); f == nil || f.Name != "interrupted" {
		t.Errorf("%v", f)
	}
	if _, f := e.autoget("example.net/hello"); f == nil || f.Name != "interrupted" { // the interrupt came before the fetch
		t.Errorf("%v", f)
	}
}

func TestReason(t *testing.T) {
	late, cancel := context.WithCancelCause(t.Context())
	cancel(errNotFound)
	for _, c := range []struct {
		ctx        context.Context
		said, want string
	}{
		{t.Context(), "go: module example.org/x: reading https://proxy.golang.org/example.org/x/@v/list: 404 Not Found", "there is no such package"},
		{t.Context(), `go: unrecognized import path "example.org/x": parse https://example.org/x?go-get=1: no go-import meta tags ()`, "there is no such package"},
		{t.Context(), `go: module example.org/x: Get "https://proxy.golang.org/x": dial tcp: lookup proxy.golang.org: no such host`, "can't be reached"},
		{t.Context(), "go: example.org/x@v1.0.0 requires go >= 1.99 (running go 1.26.8; GOTOOLCHAIN=local)", "it needs Go 1.99 or newer, and cells are compiled with 1.26.8"},
		{late, "", "nothing was found within"},
	} {
		if got := reason(c.ctx, []string{c.said}); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.said, got, c.want)
		}
	}
}

// TestGonbui checks that GoNB's packages are there without a network, in the version of our GoNB, and that they
// change no version of what the library uses.
func TestGonbui(t *testing.T) {
	c, f := config{root: repoRoot(t)}, &folders{work: t.TempDir()}
	t.Setenv("LECTERN_GET", t.TempDir())
	if err := os.Mkdir(f.check(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := makeCheckModule(c, f); err != nil {
		t.Fatal(err)
	}
	list := func(dir string, more ...string) string {
		t.Helper()
		cmd := exec.Command("go", append([]string{"list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Version}}{{end}}"}, more...)...)
		cmd.Dir, cmd.Env = dir, cellenv.Offline(os.Environ())
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			need(t, fmt.Errorf("%v\n%s", err, &stderr))
		}
		return string(out)
	}
	library := modulePath(c.root) + "/..."
	if alone, joined := list(c.root, library), list(f.check(), library); alone != joined {
		t.Errorf("the library is built from\n%s\nin the workspace of the cells, and from\n%s\nin its own module", joined, alone)
	}
	slow := slowPackages(c)
	used := list(f.check(), append(slow, warmPackages(c)...)...)
	pinned, err := os.ReadFile(filepath.Join(c.root, "tools", "cells", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(used) {
		if strings.HasPrefix(line, "github.com/janpfeifer/gonb ") && !strings.Contains(string(pinned), strings.TrimSpace(line)) {
			t.Errorf("cells get %s, tools/cells/go.mod has another one", line)
		}
	}
	p := packages.New(packages.Config{Dir: f.check(), Root: c.root, Env: cellenv.Offline(os.Environ()), Context: t.Context(), Warm: []string{gonbPath + "gonbui/dom"}, Known: slow})
	defer p.Wait()
	for name, path := range map[string]string{"gonbui": gonbPath + "gonbui", "dom": gonbPath + "gonbui/dom", "plotly": gonbPath + "gonbui/plotly"} {
		if got := p.ByName(name); got != path {
			t.Errorf("%s is %q, want %s", name, got, path)
		}
	}
	if g, err := p.Import(gonbPath + "gonbui"); err != nil || g.Scope().Lookup("DisplayHTML") == nil {
		t.Errorf("gonbui: %v", err)
	}
	if _, err := p.Config([]string{gonbPath + "gonbui/widgets"}); err != nil {
		t.Error(err)
	}
}

// TestTheUsersShell runs cells from a shell that is set up for something else.
func TestTheUsersShell(t *testing.T) {
	t.Parallel()
	bin, err := tools()
	need(t, err)
	l := startLabIn(t, bin, t.TempDir(), []string{"GOFLAGS=-mod=vendor", "GO111MODULE=off", "GOOS=windows", "GOARCH=arm64", "GOWORK=off", "GOTOOLCHAIN=go1.99.1",
		"GOEXPERIMENT=nosuch", "CGO_ENABLED=2", "GODEBUG=nosuch=1", "GOPROXY=http://127.0.0.1:1", "LECTERN_GET=" + t.TempDir()})
	for code, want := range map[string]string{
		"tensor.Arange(3).Shape()": "[result][]int{3}",
		"import \"" + gonbPath + "gonbui\"\ngonbui.DisplayHTML(\"<b>bold</b>\")": "[display]",
	} {
		if outs, r := l.run(code); r.Status != "ok" || flat(outs) != want {
			t.Errorf("%s: %s %s, want %s", code, r.Status, flat(outs), want)
		}
	}
}
