package render

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/testenv"
	"github.com/lectern-go/lectern/kernel/notebook"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

func md(id, source string, tags ...string) *notebook.Cell {
	return &notebook.Cell{ID: id, Type: "markdown", Source: source, Metadata: tagged(tags)}
}

func code(id, source string, outputs ...*notebook.Output) *notebook.Cell {
	return &notebook.Cell{ID: id, Type: "code", Source: source, Count: 1, Outputs: outputs}
}

func tagged(tags []string) notebook.Object {
	if len(tags) == 0 {
		return nil
	}
	return notebook.Object{"tags": tags}
}

func display(mime, data string) *notebook.Output {
	return &notebook.Output{Type: "display_data", Data: notebook.Object{mime: data}}
}

// write puts a notebook into a folder and returns its path.
func write(t testing.TB, dir, name string, cells ...*notebook.Cell) string {
	t.Helper()
	path := filepath.Join(dir, name)
	nb := &notebook.Notebook{Cells: cells}
	if err := nb.Write(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// lesson renders one notebook and returns its page and the warnings.
func lesson(t testing.TB, cells ...*notebook.Cell) (string, []*Problem) {
	t.Helper()
	dir := t.TempDir()
	r, err := Site(Options{Notebooks: []string{write(t, dir, "01-test.ipynb", cells...)}, Out: filepath.Join(dir, "site")})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(r.Pages[0].File)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), r.Warnings
}

// article is the part of a page that the notebook fills.
func article(t testing.TB, cells ...*notebook.Cell) string {
	t.Helper()
	page, _ := lesson(t, cells...)
	_, page, _ = strings.Cut(page, "<article>")
	page, _, _ = strings.Cut(page, "</article>")
	return page
}

// failing renders one notebook that must not render, and returns its problems.
func failing(t *testing.T, cells ...*notebook.Cell) Problems {
	t.Helper()
	dir := t.TempDir()
	out := filepath.Join(dir, "site")
	_, err := Site(Options{Notebooks: []string{write(t, dir, "01-test.ipynb", cells...)}, Out: out})
	var p Problems
	if !errors.As(err, &p) {
		t.Fatalf("got error %v, want Problems", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("the folder was made although the notebook has problems")
	}
	return p
}

func want(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("missing %q in\n%.20000s", p, text)
		}
	}
}

func wantNot(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			at := strings.Index(text, p)
			t.Errorf("found %q in …%s…", p, text[max(0, at-200):min(len(text), at+200)])
		}
	}
}

// elements are those of a page, or of a piece of one, as a browser would find them, in their order.
func elements(t *testing.T, src string) []*html.Node {
	t.Helper()
	var parsed []*html.Node
	var err error
	if strings.HasPrefix(src, "<!DOCTYPE") || strings.HasPrefix(src, "<!doctype") {
		var page *html.Node
		page, err = html.Parse(strings.NewReader(src))
		parsed = []*html.Node{page}
	} else {
		parsed, err = html.ParseFragment(strings.NewReader(src), &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
	}
	if err != nil {
		t.Fatal(err)
	}
	var found []*html.Node
	for _, top := range parsed {
		if top.Type == html.ElementNode {
			found = append(found, top)
		}
		for n := range top.Descendants() {
			if n.Type == html.ElementNode {
				found = append(found, n)
			}
		}
	}
	return found
}

// attribute returns the value of an element's attribute and whether it is there.
func attribute(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "../..") }
