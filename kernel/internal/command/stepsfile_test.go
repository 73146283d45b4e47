package command

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// smallCheckout makes a small checkout of files, and returns a workspace in it.
func smallCheckout(t *testing.T, files map[string]string) *workspace {
	t.Helper()
	w := &workspace{root: t.TempDir(), stdout: io.Discard, stderr: io.Discard}
	for name, text := range files {
		put(t, filepath.Join(w.root, filepath.FromSlash(name)), text)
	}
	return w
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func notebookOf(source string) string {
	return fmt.Sprintf(`{"cells": [{"cell_type": "code", "id": "a", "metadata": {}, "execution_count": null, "outputs": [], "source": %q}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}`, source)
}

// A record is of use for a text and the code that it can reach, and for no other.
func TestStepsKeys(t *testing.T) {
	files := map[string]string{
		"tensor/t.go":        "package tensor\n\nimport _ \"" + modulePath + "/internal/deep\"\n\nfunc Of() int { return 1 }\n",
		"internal/deep/d.go": "package deep\n\nvar X = 1\n",
		"tensor/t_test.go":   "package tensor\n",
		"optim/o.go":         "package optim\n\nvar Y = 1\n",
		"kernel/k.go":        "package kernel\n",
	}
	w := smallCheckout(t, files)
	text := notebookOf("if true {\n\ttensor.Of()\n}")
	key := func(text string) string {
		t.Helper()
		k, err := w.stepsKeys()
		if err != nil {
			t.Fatal(err)
		}
		s, err := k.key("a.ipynb", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := key(text)
	for _, tt := range []struct {
		name, file, text string
		same             bool
	}{
		{"a comment", "tensor/t.go", "// Package tensor.\n" + files["tensor/t.go"] + "// one\n", true},
		{"a test", "tensor/t_test.go", "package tensor\n\nvar X int\n", true},
		{"a package that is not reached", "optim/o.go", "package optim\n\nvar Y = 2\n", true},
		{"a file that somebody is writing", "own/o.go", "", true},
		{"the package", "tensor/t.go", strings.Replace(files["tensor/t.go"], "return 1", "return 2", 1), false},
		{"what it imports", "internal/deep/d.go", "package deep\n\nvar X = 2\n", false},
		{"assembly beside it", "tensor/t.s", "RET\n", false},
	} {
		put(t, filepath.Join(w.root, filepath.FromSlash(tt.file)), tt.text)
		if got := key(text); (got == first) != tt.same {
			t.Errorf("%s was changed: the key is %s, and was %s", tt.name, got, first)
		}
		os.Remove(filepath.Join(w.root, filepath.FromSlash(tt.file)))
		if old, ok := files[tt.file]; ok {
			put(t, filepath.Join(w.root, filepath.FromSlash(tt.file)), old)
		}
	}
	if key(text) != first || key(notebookOf("tensor.Of()")) == first {
		t.Error("the key does not follow the text")
	}
	k, err := w.stepsKeys()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.key("a.ipynb", []byte("{")); err == nil || !strings.Contains(err.Error(), "a.ipynb") {
		t.Errorf("a notebook that can't be read: %v", err)
	}
}

const someRecord = `{"a":{"record":{"steps":[{"l":1,"c":[2,12,8,5],"p":["add\t[1] [1]\t[1]\t1\t12\t5"],"v":[{"n":"x","t":"1"}]}]}},"b":{"why":"It measures."}}`

// What one checkout has recorded, another takes from a file, where text and code are the same.
func TestStepsFromFile(t *testing.T) {
	names := []string{"a.ipynb", "b.ipynb"}
	texts := map[string]string{"go.mod": "module x\n", names[0]: notebookOf("1"), names[1]: notebookOf("2")}
	paths := func(w *workspace) []string {
		return []string{filepath.Join(w.root, names[0]), filepath.Join(w.root, names[1])}
	}
	from := smallCheckout(t, texts)
	r, err := from.recorded(paths(from), from.state("steps"), "")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.queue) != 2 {
		t.Fatalf("to be recorded: %q", r.queue)
	}
	for _, path := range r.queue {
		put(t, r.want[path], someRecord)
	}
	file := filepath.Join(t.TempDir(), stepsZip)
	if err := r.save(file); err != nil {
		t.Fatal(err)
	}
	one, _ := os.ReadFile(file)
	if err := r.save(file); err != nil {
		t.Fatal(err)
	}
	if two, _ := os.ReadFile(file); !bytes.Equal(one, two) || len(one) == 0 {
		t.Error("the same records make another file")
	}

	to := smallCheckout(t, texts)
	put(t, paths(to)[1], notebookOf("3"))
	r, err = to.recorded(paths(to), to.state("steps"), file)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.queue, paths(to)[1:]) || r.given != 1 {
		t.Errorf("%d came from the file; to be recorded %q", r.given, r.queue)
	}
	if said := r.came("steps.zip", true); said != "Of 2 notebooks, the steps of 1 came from steps.zip; the file has none for 1 notebook in the present version: recording them now." {
		t.Errorf("it says %q", said)
	}
	if b, err := os.ReadFile(r.want[paths(to)[0]]); err != nil || string(b) != someRecord {
		t.Errorf("the record is %s, %v", b, err)
	}
	if r, err = to.recorded(paths(to), to.state("steps"), file); err != nil || r.given != 0 || len(r.queue) != 1 {
		t.Errorf("the second time: %v, %+v", err, r)
	}
}

// A damaged file that nobody named stops no pages: it is as if it were not there, and a sentence says so.
func TestDamagedStepsBeside(t *testing.T) {
	texts := map[string]string{"go.mod": "module x\n", "a.ipynb": notebookOf("1")}
	for name, file := range map[string][]byte{"no archive": []byte("PK, half of it"), "no record": zipped(t, "readme.txt", "hello")} {
		w := smallCheckout(t, texts)
		var said bytes.Buffer
		w.stderr = &said
		path := filepath.Join(w.root, stepsZip)
		put(t, path, string(file))
		notebooks := []string{filepath.Join(w.root, "a.ipynb")}
		if r, err := w.recordedOrNot(notebooks, w.state("steps"), path, true); err != nil || r.from != "" || len(r.queue) != 1 {
			t.Errorf("%s: %v; %+v", name, err, r)
		}
		if _, err := w.recordedOrNot(notebooks, w.state("steps"), path, false); err == nil {
			t.Errorf("%s: somebody named it, and it is left out", name)
		}
		if text := said.String(); !strings.HasPrefix(text, "warning: recorded steps: "+path) || !strings.HasSuffix(text, "without it: then render records the steps itself\n") {
			t.Errorf("%s: it says %q", name, text)
		}
	}
}

// zipped is a zip archive of names and texts, one after the other.
func zipped(t testing.TB, list ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(list); i += 2 {
		h := &zip.FileHeader{Name: list[i], Method: zip.Deflate}
		if len(list[i+1]) > 1<<20 {
			h.Method = zip.Store // packing takes seconds under the race detector
		}
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, list[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const recordFile = "a-0123456789abcdef.json"

// A bad file is refused with its mistake, and leaves the folder as it was.
func TestBadStepsFile(t *testing.T) {
	good := zipped(t, recordFile, someRecord)
	flipped := bytes.Clone(good)
	flipped[bytes.Index(flipped, []byte(recordFile))+len(recordFile)+8] ^= 0x55
	many := make([]string, 0, 2*mostRecords+2)
	for i := range mostRecords + 1 {
		many = append(many, fmt.Sprintf("n-%016x.json", i), "{}")
	}
	record := func(text string) []byte { return zipped(t, recordFile, `{"a":{"record":`+text+`}}`) }
	for _, tt := range []struct {
		name string
		file []byte
		want string
	}{
		{"nothing", nil, "zip"},
		{"no archive", []byte("PK\x03\x04 and nothing more"), "zip"},
		{"cut off", good[:len(good)-30], "zip"},
		{"a byte is another", flipped, recordFile},
		{"too many", zipped(t, many...), "1000 files"},
		{"another name", zipped(t, "../../"+recordFile, someRecord), "not the name of a record"},
		{"too large", zipped(t, recordFile, strings.Repeat(" ", mostRecord+1)), "more than 64 MiB"},
		{"no JSON", zipped(t, recordFile, "<html>"), "invalid character"},
		{"more than JSON", zipped(t, recordFile, someRecord+"}"), "more text"},
		{"another type", record(`{"steps":[{"l":"one"}]}`), "cannot unmarshal"},
		{"an unknown field", record(`{"run":"this"}`), "unknown field"},
		{"loops in a circle", record(`{"steps":[],"loops":[{"Line":1,"Parent":1}]}`), "loop 1 stands in loop 1"},
		{"a loop that is not there", record(`{"steps":[{"l":1,"i":7}]}`), "loop 7 of 0"},
		{"a turn of no loop", record(`{"steps":[{"l":1,"h":true}]}`), "loop 0 of 0"},
		{"blocks in a circle", record(`{"steps":[],"scopes":[2,1]}`), "block 1 stands in block 2"},
		{"a block that is not there", record(`{"steps":[{"l":1,"v":[{"n":"x","c":3,"t":""}]}]}`), "block that is not there"},
		{"a call that is not there", record(`{"steps":[{"l":1,"d":-1}]}`), "place that is not there"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file, folder := filepath.Join(t.TempDir(), "steps.zip"), t.TempDir()
			put(t, file, string(tt.file))
			_, err := stepsFromFile(file, folder, []string{recordFile})
			var wrong *StepsFileError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "steps.zip") {
				t.Errorf("got %v, want a StepsFileError with %q", err, tt.want)
			}
			if left, _ := os.ReadDir(folder); len(left) > 0 {
				t.Errorf("the folder has %v", left)
			}
		})
	}
	if _, err := stepsFromFile(filepath.Join(t.TempDir(), "gone.zip"), t.TempDir(), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func FuzzStepsFile(f *testing.F) {
	f.Add(zipped(f, recordFile, someRecord))
	f.Add([]byte("PK"))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, folder := filepath.Join(t.TempDir(), "steps.zip"), t.TempDir()
		put(t, file, string(b))
		copied, err := stepsFromFile(file, folder, []string{recordFile})
		if left, _ := os.ReadDir(folder); len(left) != len(copied) || err != nil && len(left) > 0 {
			t.Errorf("copied %q, %v; the folder has %v", copied, err, left)
		}
	})
}
