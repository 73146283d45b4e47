//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/lectern-go/lectern/kernel/internal/private"
	"github.com/lectern-go/lectern/kernel/jupyter"
)

// What cells print goes through GoNB's iopub, so the link to it is no more open to others than the one to Jupyter.
func TestInnerLinkIsPrivate(t *testing.T) {
	t.Parallel()
	bin, err := tools()
	need(t, err)
	tmp := t.TempDir()
	l := startLabIn(t, bin, t.TempDir(), []string{"TMPDIR=" + tmp})
	l.run("%version") // a command that GoNB answers
	files, _ := filepath.Glob(filepath.Join(tmp, folderPrefix+"*", "gonb-*", "kernel-*.json"))
	if len(files) != 1 {
		t.Fatalf("GoNB's connection files: %q", files)
	}
	if err := private.Check(filepath.Dir(files[0])); err != nil {
		t.Error(err)
	}
	info, err := jupyter.ReadConnectionFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if info.Transport != "ipc" {
		t.Fatalf("transport %q of %s: every user of the machine can read ports", info.Transport, info.IP)
	}
	if err := private.Check(filepath.Dir(info.IP)); err != nil {
		t.Error(err)
	}
	if sockets, _ := filepath.Glob(info.IP + "-*"); len(sockets) != 5 {
		t.Errorf("sockets: %q", sockets)
	}
}

// What a kernel keeps is for its user's eyes: values of cells, what they print, what they are asked.
func TestFoldersArePrivate(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	f, err := newFolders()
	if err != nil {
		t.Fatal(err)
	}
	defer f.remove()
	for _, dir := range append(f.all(), f.keep()...) {
		if err := private.Check(dir); err != nil {
			t.Error(err)
		}
	}
}

// Anybody may put a folder of a kernel's name into the temporary folder. A named pipe in it must not keep a kernel from
// starting, and what it says must not be followed.
func TestSweepBelievesNobodyElse(t *testing.T) {
	tmp := t.TempDir()
	open := filepath.Join(tmp, folderPrefix+"open")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(open, "lock"), 0o644); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(t.TempDir(), "target")
	if err := os.Mkdir(target, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(tmp, folderPrefix+"link")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(target, old, old); err != nil {
		t.Fatal(err)
	}
	sweepFolders(tmp) // if it waits for a writer, it does so until the tests are out of time
	for _, p := range []string{open, link, target} {
		if _, err := os.Lstat(p); err != nil {
			t.Errorf("%s was removed", p)
		}
	}
}

// A go build that outlives its kernel makes the kernel's folder again, for all to see and empty. It does not stay.
func TestSweepTakesWhatIsEmpty(t *testing.T) {
	tmp := t.TempDir()
	empty, full := filepath.Join(tmp, folderPrefix+"empty"), filepath.Join(tmp, folderPrefix+"full")
	for _, dir := range []string{empty, full} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(full, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	sweepFolders(tmp)
	if _, err := os.Lstat(empty); err == nil {
		t.Error("the empty folder is still there")
	}
	if _, err := os.Lstat(full); err != nil {
		t.Error("a folder with a file in it was removed")
	}
}
