package notebook

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lectern-go/lectern/internal/linediff"
)

// testdata/jupyter.ipynb was written by Python's nbformat 5 (testdata/make.py) and holds every kind of cell, output
// and odd character.
func TestBytesAreThoseOfJupyter(t *testing.T) {
	path := filepath.Join("testdata", "jupyter.ipynb")
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := n.Bytes(); !bytes.Equal(got, want) {
		t.Errorf("read and written again it differs from what Jupyter wrote:\n%s", difference(got, want))
	}
	if c := n.Cells[1]; !c.HasTag("measured") || c.HasTag("other") || c.Extra["future"] != "kept" {
		t.Errorf("cell 2: tags %v, extra %v", c.Tags(), c.Extra)
	}
}

func difference(got, want []byte) string {
	return linediff.Of(strings.Split(string(want), "\n"), strings.Split(string(got), "\n"))
}

func TestMissingIDsAreStable(t *testing.T) {
	const text = `{"nbformat":4,"nbformat_minor":4,"metadata":{},"cells":[
		{"cell_type":"code","source":"a","metadata":{},"outputs":[],"execution_count":null},
		{"cell_type":"code","source":["a"],"metadata":{},"outputs":[],"execution_count":null},
		{"cell_type":"markdown","source":"a","metadata":{}}]}`
	parse := func(b []byte) *Notebook {
		n, err := Parse("x.ipynb", b)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	n := parse([]byte(text))
	ids := map[string]bool{}
	for i, c := range n.Cells {
		if !validID.MatchString(c.ID) || ids[c.ID] {
			t.Errorf("cell %d: id %q must be valid and not used before", i+1, c.ID)
		}
		ids[c.ID] = true
	}
	if n.Minor != 5 {
		t.Errorf("nbformat_minor is %d: cells with IDs need 5", n.Minor)
	}
	if !bytes.Equal(parse([]byte(text)).Bytes(), n.Bytes()) {
		t.Error("parsing the same text twice gives different IDs")
	}
	if !bytes.Equal(parse(n.Bytes()).Bytes(), n.Bytes()) {
		t.Error("IDs change when the notebook is read again")
	}
}

func TestParseRefuses(t *testing.T) {
	cell := func(s string) string { return `{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[` + s + `]}` }
	md := `{"cell_type":"markdown","id":"a","source":"","metadata":{}}`
	for _, c := range []struct{ name, text, want string }{
		{"empty file", "", "empty or cut off"},
		{"cut off", "{\n \"cells\": [\n", "empty or cut off"},
		{"no JSON", "{\n\n x}", "line 3 is not JSON"},
		{"two documents", cell("") + "{}", "more text"},
		{"another JSON file", `{"a":1}`, "not a notebook"},
		{"old format", `{"nbformat":3,"worksheets":[]}`, "nbformat 3"},
		{"a list", `[]`, "not JSON"},
		{"cell type", cell(`{"cell_type":"heading","source":""}`), "cell 1: cell_type"},
		{"second cell", cell(md + `,{"cell_type":"code","id":"b","source":7}`), "cell 2: source is a number"},
		{"same id", cell(md + "," + md), `cell 2: id "a" is also that of cell 1`},
		{"bad id", cell(`{"cell_type":"raw","id":"a b","source":""}`), `id "a b"`},
		{"output type", cell(`{"cell_type":"code","id":"a","source":"","outputs":[{"output_type":"pyout"}]}`), `output 1: output_type "pyout"`},
		{"picture of numbers", cell(`{"cell_type":"code","id":"a","source":"","outputs":[{"output_type":"display_data","data":{"image/png":3}}]}`), "output 1: image/png is a number"},
		{"outputs of text", cell(`{"cell_type":"markdown","id":"a","source":"","outputs":[{}]}`), "cannot have outputs"},
		{"metadata", cell(`{"cell_type":"code","id":"a","source":"","metadata":[]}`), "metadata is a list, want an object"},
	} {
		_, err := Parse("lesson.ipynb", []byte(c.text))
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "lesson.ipynb") {
			t.Errorf("%s: got %v, want an *Error with %q and the file", c.name, err, c.want)
		}
	}
}

func TestWriteKeepsTheOldFileWhenItFails(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		// root may write everywhere: make the rename fail instead, see below
		dir := t.TempDir()
		path := filepath.Join(dir, "n.ipynb")
		if err := os.MkdirAll(filepath.Join(path, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := (&Notebook{}).Write(path); err == nil {
			t.Fatal("writing over a folder succeeded")
		}
		if l, _ := os.ReadDir(dir); len(l) != 1 {
			t.Errorf("files left: %v", l)
		}
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "n.ipynb")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	if err := (&Notebook{}).Write(path); err == nil {
		t.Fatal("writing into a folder without permission succeeded")
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "old" {
		t.Errorf("the old file is now %q, %v", b, err)
	}
}

func TestWriteKeepsModeAndTouchesOnlyWhatChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.ipynb")
	n := &Notebook{Cells: []*Cell{{ID: "a", Type: "code", Source: "1"}}}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := n.Write(path); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && before.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want that of the file before, 0600", before.Mode())
	}
	if err := n.Write(path); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) {
		t.Error("the same content was written again")
	}
}

func TestLines(t *testing.T) {
	for s, want := range map[string][]any{
		"":                      {},
		"a":                     {"a"},
		"a\n":                   {"a\n"},
		"a\nb":                  {"a\n", "b"},
		"\n\n":                  {"\n", "\n"},
		"a\r\nb\rc":             {"a\r\n", "b\r", "c"},
		"a\u2028b\u0085c\vd\fe": {"a\u2028", "b\u0085", "c\v", "d\f", "e"},
	} {
		if got := lines(s); !reflect.DeepEqual(got, want) {
			t.Errorf("lines(%q): got %q, want %q", s, got, want)
		}
	}
}

func TestLinesJoinAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.RuneFrom([]rune("ab\n\r\v\f\u0085\u2028世\x1c"))).Draw(t, "s")
		if got, ok := joined(lines(s)); !ok || got != s {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

func FuzzParse(f *testing.F) {
	b, err := os.ReadFile(filepath.Join("testdata", "jupyter.ipynb"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"nbformat":4,"cells":[{"cell_type":"code","source":null,"outputs":[{"output_type":"error","traceback":[null]}]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := Parse("f", b)
		if err != nil {
			return
		}
		once := n.Bytes()
		again, err := Parse("f", once)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, once)
		}
		if !bytes.Equal(again.Bytes(), once) {
			t.Fatalf("written twice, it differs:\n%s", difference(again.Bytes(), once))
		}
	})
}
