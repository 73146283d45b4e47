package render

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/lectern-go/lectern/kernel/internal/report"
)

// Cells that can be gone through step by step have links to the source of what they call, and the source comes along.
func TestSource(t *testing.T) {
	dir := t.TempDir()
	file := write(t, dir, "01-test.ipynb", md("a", "# T"),
		code("b", "x := tensor.Of(1., 2).Matmul(w)\nnn.NewLinear(3, 4)\nopt.Step()\ntensor.Nothing()\nmodel.Nowhere()"))
	record := &report.Record{Steps: []report.Step{{Line: 1, Ops: []string{"matmul\t[2] [2]\t[]\t4\t20\t\t5", "index select · gradient of gather for input 1\t[2]\t[]\t4\t20\t\t5"}}}}
	o := Options{Notebooks: []string{file}, Out: filepath.Join(dir, "site"), Source: filepath.Join("..", ".."), Steps: map[string]Steps{file: {"b": {Record: record}}}}
	if _, err := Site(o); err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`id="lectern-source">(.*)</script>`).FindStringSubmatch(read(t, o.Out, "01-test.html"))
	if m == nil {
		t.Fatal("the page has no links to the source")
	}
	var links map[string]string
	if err := json.Unmarshal([]byte(m[1]), &links); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"tensor.Of": "source-tensor.html#Of", ".Matmul": "source-tensor.html#Tensor.Matmul", "nn.NewLinear": "source-nn.html#NewLinear",
		"op matmul": "source-tensor.html#op.matmul", "op index select": "source-tensor.html#op.index-select", "tensor.Nothing": "", ".Nowhere": "", ".Step": "",
	} {
		if links[key] != want {
			t.Errorf("%s leads to %q, want %q", key, links[key], want)
		}
	}
	// What a browser reads of the page is the file, and each link has its place.
	page := read(t, o.Out, "source-tensor.html")
	if len(page) > PageLimit {
		t.Errorf("the page has %d bytes", len(page))
	}
	for _, link := range links {
		if file, id, _ := strings.Cut(link, "#"); file == "source-tensor.html" && strings.Count(page, `id="`+id+`"`) != 1 {
			t.Errorf("%s has %d places", link, strings.Count(page, `id="`+id+`"`))
		}
	}
	shown := codeBelow(t, page, "matmul.go")
	text, err := os.ReadFile(filepath.Join(o.Source, "tensor", "matmul.go"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimRight(string(text), "\n") != shown {
		t.Error("the page shows another text than the file has")
	}
	if strings.Contains(page, "_test.go") {
		t.Error("the page has tests")
	}

	o.Steps = nil
	if _, err := Site(o); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(o.Out, "source-tensor.html")); err == nil {
		t.Error("pages without steps have the source along, too")
	}
	o.Steps, o.Source = map[string]Steps{file: {"b": {Record: record}}}, dir
	if _, err := Site(o); err != nil {
		t.Errorf("where there is no library, pages do without links: %v", err)
	}
}

// codeBelow is the code below the heading with an id, as a browser reads it.
func codeBelow(t *testing.T, page, id string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	found, inside := false, false
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for _, a := range n.Attr {
			if a.Key == "id" && n.Data == "h2" {
				found = a.Val == id
			}
		}
		if n.Type == html.TextNode && found && inside {
			b.WriteString(n.Data)
		}
		if n.Data == "code" && n.Type == html.ElementNode {
			inside = true
			defer func() { inside = false }()
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(root)
	return b.String()
}
