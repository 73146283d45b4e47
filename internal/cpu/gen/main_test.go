package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFilesAreCurrent asserts that go generate would change nothing.
func TestFilesAreCurrent(t *testing.T) {
	written := files()
	for name, want := range written {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s differs from what the generator writes: run go generate in internal/cpu", name)
		}
	}
	there, err := filepath.Glob("../z_*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range there {
		if _, ok := written[filepath.Base(path)]; !ok {
			t.Errorf("%s is written by no generator", path)
		}
	}
}
