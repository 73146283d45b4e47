package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func TestWriteReplacesAndLeavesNothingElse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, s := range []string{"one", "two"} {
		if err := Write(path, text(s)); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := os.ReadFile(path); string(got) != "two" {
		t.Errorf("got %q, want two", got)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("the folder holds %v", entries)
	}
}

func TestFailedWriteKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := Write(path, text("old")); err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	err := Write(path, func(w io.Writer) error { io.WriteString(w, "ne"); return full })
	if !errors.Is(err, full) {
		t.Errorf("got %v, want the error of the writer", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("got %q, want old", got)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("the folder holds %v", entries)
	}
}

func TestCleanRemovesOnlyThePartsOfThatFile(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".f.partial-12", ".g.partial-12", "f"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := Clean(filepath.Join(dir, "f")); err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 2 {
		t.Errorf("left: %v", entries)
	}
	if of, ok := Partial(".g.partial-12"); !ok || of != "g" {
		t.Errorf("Partial: %q %v", of, ok)
	}
	if _, ok := Partial("g"); ok {
		t.Error("an ordinary name was taken for a partial one")
	}
}

// A private file stays private when it is written again, and Replace gives the mode it is told.
func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	path := filepath.Join(t.TempDir(), "a")
	mode := func() os.FileMode {
		s, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return s.Mode().Perm()
	}
	hello := func(w io.Writer) error { _, err := io.WriteString(w, "hello"); return err }
	if err := Write(path, hello); err != nil || mode() != 0o644 {
		t.Errorf("a new file has mode %v (%v)", mode(), err)
	}
	if err := Replace(path, []byte("hi"), 0o600); err != nil || mode() != 0o600 {
		t.Errorf("a replaced file has mode %v (%v)", mode(), err)
	}
	if b, err := os.ReadFile(path); string(b) != "hi" {
		t.Errorf("the file holds %q (%v)", b, err)
	}
	if err := Write(path, hello); err != nil || mode() != 0o600 {
		t.Errorf("written again, it has mode %v (%v)", mode(), err)
	}
}
