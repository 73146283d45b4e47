package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What was recorded of a notebook is used again while the notebook is as it was; one that is missing is told about.
func TestUnchangedNotebooksAreNotRecordedAgain(t *testing.T) {
	w := &workspace{root: t.TempDir()}
	path := filepath.Join(w.root, "a.ipynb")
	text := `{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	keys, err := w.stepsKeys()
	if err != nil {
		t.Fatal(err)
	}
	key, err := keys.key(path, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	dir := w.state("steps")
	record := filepath.Join(dir, "a-"+key+".json")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(record, []byte(`{}`), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := w.recorded([]string{path}, dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.record(t.Context(), nil); err != nil { // without a kernel, which is not there
		t.Fatal(err)
	}
	if files := r.recorded(); len(files) != 1 || files[fromHere(path)] != record {
		t.Errorf("recorded are %q", files)
	}
	if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r, err := w.recorded([]string{path}, dir, ""); err != nil || len(r.queue) != 1 || len(r.files) != 0 {
		t.Errorf("a notebook that has changed: %v, to be recorded %q", err, r.queue)
	}
	if _, err := w.recorded([]string{filepath.Join(w.root, "gone.ipynb")}, dir, ""); err == nil || !strings.Contains(err.Error(), "gone.ipynb") {
		t.Errorf("a notebook that is not there: %v", err)
	}
}

// A new record replaces those of the same notebook, and none of a notebook whose name begins with its name.
func TestOldRecordsGo(t *testing.T) {
	r := &recording{dir: t.TempDir()}
	const key = "0123456789abcdef"
	for name, gone := range map[string]bool{"a-" + key + ".json": true, "a-unfinished.json": true, "a-2-" + key + ".json": false, "a-2-unfinished.json": false, "b-" + key + ".json": false, "list-1": false} {
		put(t, filepath.Join(r.dir, name), "{}")
		r.removeOld("a")
		if fileExists(filepath.Join(r.dir, name)) == gone {
			t.Errorf("%s: gone %v, want %v", name, !gone, gone)
		}
	}
}
