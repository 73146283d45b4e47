package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const (
	modulePath  = "github.com/lectern-go/lectern"
	testVersion = "v0.0.1-test"
)

// proxy makes a module proxy of files that serves the last commit, and what this machine's module cache holds.
func proxy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	versions := filepath.Join(dir, filepath.FromSlash(modulePath), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		t.Fatal(err)
	}
	packed, err := exec.Command("git", "-C", root(t), "archive", "HEAD").Output()
	if err != nil {
		absent(t, "the last commit can't be had: "+err.Error())
	}
	if _, err := exec.LookPath("tar"); err != nil {
		absent(t, err.Error())
	}
	tree := t.TempDir()
	unpack := exec.Command("tar", "x", "-C", tree)
	unpack.Stdin = bytes.NewReader(packed)
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	var archive bytes.Buffer
	if err := zip.CreateFromDir(&archive, module.Version{Path: modulePath, Version: testVersion}, tree); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(tree, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"list": testVersion + "\n", testVersion + ".info": fmt.Sprintf(`{"Version": %q, "Time": "2026-01-01T00:00:00Z"}`, testVersion), testVersion + ".mod": string(mod), testVersion + ".zip": archive.String(),
	} {
		if err := os.WriteFile(filepath.Join(versions, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return "file://" + filepath.ToSlash(dir) + ",file://" + filepath.ToSlash(filepath.Join(goEnv(t, "GOMODCACHE"), "cache", "download"))
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// A stranger is a user who has Go, and nothing else: an empty home, and no checkout.
type stranger struct {
	t         *testing.T
	home, dir string
	env       []string
}

func newStranger(t *testing.T) *stranger {
	t.Helper()
	s := &stranger{t: t, home: t.TempDir(), dir: t.TempDir()}
	s.env = []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "GOPROXY=" + proxy(t), "GONOSUMDB=*", "GOFLAGS=-modcacherw", "GOTOOLCHAIN=local", "TMPDIR=" + os.TempDir()}
	if os.Getenv("LECTERN_LONG") == "" { // what Go's own library takes to compile is known
		s.env = append(s.env, "GOCACHE="+goEnv(t, "GOCACHE"))
	}
	return s
}

// do runs a command in the stranger's folder and returns what it prints.
func (s *stranger) do(name string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// write puts a notebook with cells of code into the stranger's folder.
func (s *stranger) write(name string, cells ...string) {
	s.t.Helper()
	var list []string
	for i, c := range cells {
		list = append(list, fmt.Sprintf(`{"cell_type": "code", "id": "c%d", "metadata": {}, "outputs": [], "execution_count": null, "source": %q}`, i, c))
	}
	text := `{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [` + strings.Join(list, ", ") + "]}\n"
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stranger) read(elem ...string) string {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{s.dir}, elem...)...))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// TestInstalledCommand is a stranger's first hour: go install, and notebooks in a folder of their own.
func TestInstalledCommand(t *testing.T) {
	t.Parallel()
	s := newStranger(t)
	bin := filepath.Join(s.home, "go", "bin")
	s.do("go", "install", modulePath+"/kernel/cmd/lectern@"+testVersion)
	lectern := filepath.Join(bin, "lectern")
	s.write("mine.ipynb", "x := []int{1, 2, 3}", "len(x)")

	said := s.do(lectern, "run")
	if !strings.Contains(said, "first time") || !strings.Contains(said, "lectern uninstall") || !strings.Contains(said, "mine.ipynb: 2 cells") {
		t.Errorf("the first run says\n%s", said)
	}
	if nb := s.read("mine.ipynb"); !strings.Contains(nb, `"3"`) || !strings.Contains(nb, `"name": "lectern"`) {
		t.Errorf("the notebook is\n%s", nb)
	}
	if said := s.do(lectern, "check"); strings.Contains(said, "first time") || !strings.Contains(said, "mine.ipynb: as stored") {
		t.Errorf("check says\n%s", said)
	}
	s.do(lectern, "render", "mine.ipynb")
	if page := s.read("site", "mine.html"); !strings.Contains(page, "len") {
		t.Errorf("the page is\n%s", page)
	}

	// What a notebook fetches, it records, so that it can be had again.
	s.write("fetches.ipynb", "%get github.com/x448/float16@v0.8.4", "import \"github.com/x448/float16\"\nfloat16.Fromfloat32(1.5).String()")
	s.do(lectern, "run", "fetches.ipynb")
	if nb := s.read("fetches.ipynb"); !strings.Contains(nb, `"github.com/x448/float16 v0.8.4`) || !strings.Contains(nb, "1.5") || strings.Contains(nb, "downloading") {
		t.Errorf("the notebook that fetches is\n%s", nb)
	}
	if err := os.RemoveAll(filepath.Join(s.home, ".cache", "lectern", "kernel", testVersion, ".lectern", "modules")); err != nil { // as on another machine
		t.Fatal(err)
	}
	if said := s.do(lectern, "check", "fetches.ipynb"); !strings.Contains(said, "as stored") {
		t.Errorf("check says\n%s", said)
	}

	// The small program that builds the command in a checkout can't do that here, and says what to install.
	s.do("go", "install", modulePath+"/kernel@"+testVersion)
	small := exec.Command(filepath.Join(bin, "kernel"), "check", "mine.ipynb")
	small.Dir, small.Env = s.dir, s.env
	if out, err := small.CombinedOutput(); err == nil || !strings.Contains(string(out), "go install "+modulePath+"/kernel/cmd/lectern@latest") {
		t.Errorf("kernel check: %v\n%s", err, out)
	}

	if os.Getenv("LECTERN_LONG") != "" {
		s.write("tensors.ipynb", "import \""+modulePath+"/tensor\"\ntensor.Arange(3).Shape()")
		s.do(lectern, "run", "tensors.ipynb")
		if nb := s.read("tensors.ipynb"); !strings.Contains(nb, "[]int{3}") {
			t.Errorf("the notebook with the library is\n%s", nb)
		}
		s.do(lectern, "setup", "-user")
		if _, err := os.Stat(filepath.Join(s.home, ".local", "share", "jupyter", "kernels", "lectern", "kernel.json")); err != nil {
			t.Error(err)
		}
	}

	s.do(lectern, "uninstall")
	left, err := filepath.Glob(filepath.Join(s.home, ".cache", "lectern*"))
	if err != nil || len(left) > 0 {
		t.Errorf("uninstall leaves %q, %v", left, err)
	}
	if specs, _ := filepath.Glob(filepath.Join(s.home, ".local", "share", "jupyter", "kernels", "*")); len(specs) > 0 {
		t.Errorf("uninstall leaves %q", specs)
	}
	if left, _ := os.ReadDir(s.dir); len(left) != 3 && os.Getenv("LECTERN_LONG") == "" { // the notebooks and the site
		t.Errorf("the folder holds %v", left)
	}
}
