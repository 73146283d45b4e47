package render

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

var update = flag.Bool("update", false, "write the outlines in testdata again")

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func samples(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.ipynb")
	if err != nil || len(files) < 2 {
		t.Fatalf("samples: %v, %v", files, err)
	}
	return files
}

// TestSamples compares the structure of pages with testdata/*.outline, and asks
// of every page what a reader without a mouse or a network needs.
func TestSamples(t *testing.T) {
	out := filepath.Join(t.TempDir(), "site")
	r, err := Site(Options{Notebooks: samples(t), Out: out, Intro: []string{"## About\n\nHello."}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) > 0 {
		t.Errorf("warnings: %v", r.Warnings)
	}
	files := []string{r.Index}
	for _, p := range r.Pages {
		files = append(files, p.File)
	}
	files = append(files, filepath.Join(out, "404.html"))
	for _, file := range files {
		page := readFile(t, file)
		name := strings.TrimSuffix(filepath.Base(file), ".html")
		got := outline(t, page)
		golden := filepath.Join("testdata", name+".outline")
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if wanted := readFile(t, golden); got != wanted {
			t.Errorf("%s has another structure than %s; if that is meant, run go test -update\n%s", file, golden, got)
		}
		selfContained(t, name, page)
		accessible(t, name, page)
		if balance(page) != page {
			t.Errorf("%s: tags are not balanced", name)
		}
	}
}

// outline lists the elements of a page that have an id or a class, and headings.
func outline(t *testing.T, page string) string {
	t.Helper()
	var b strings.Builder
	for _, e := range elements(t, page) {
		depth, hidden := 0, false
		for n := range e.Ancestors() {
			if n.Type == html.ElementNode {
				depth++
				hidden = hidden || n.Data == "svg" || n.Data == "math" || n.Data == "pre"
			}
		}
		if hidden {
			continue
		}
		id, hasID := attribute(e, "id")
		class, hasClass := attribute(e, "class")
		if hasID || hasClass || strings.HasPrefix(e.Data, "h") && len(e.Data) == 2 || e.Data == "main" || e.Data == "math" || e.Data == "svg" || e.Data == "table" {
			b.WriteString(strings.Repeat("  ", depth) + e.Data)
			if hasID {
				b.WriteString("#" + id)
			}
			if hasClass {
				b.WriteString("." + strings.ReplaceAll(class, " ", "."))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// selfContained fails if opening a page would make a browser ask for anything.
func selfContained(t *testing.T, name, page string) {
	t.Helper()
	want(t, page, `http-equiv="Content-Security-Policy" content="default-src 'none';`)
	for _, e := range elements(t, page) {
		for _, a := range e.Attr {
			loads := a.Key == "src" || a.Key == "srcset" || a.Key == "poster" || e.Data == "object" && a.Key == "data"
			if rel, _ := attribute(e, "rel"); e.Data == "link" && rel == "icon" || e.Data == "image" {
				loads = loads || a.Key == "href"
			}
			if loads && !strings.HasPrefix(a.Val, "data:") {
				t.Errorf("%s: <%s %s=%q> loads something", name, e.Data, a.Key, a.Val)
			}
		}
		if rel, _ := attribute(e, "rel"); e.Data == "link" && !slices.Contains([]string{"icon", "prev", "next"}, rel) {
			t.Errorf("%s: <link rel=%q>", name, rel)
		}
	}
}

// accessible checks what can be checked without a browser: unique ids, targets
// that exist, one first heading, no level skipped, names of pictures.
func accessible(t *testing.T, name, page string) {
	t.Helper()
	ids := map[string]bool{}
	var targets []string
	level, firsts, mains := 0, 0, 0
	for _, e := range elements(t, page) {
		if id, ok := attribute(e, "id"); ok {
			if ids[id] {
				t.Errorf("%s: two elements have the id %q", name, id)
			}
			ids[id] = true
		}
		if href, _ := attribute(e, "href"); e.Data == "a" && strings.HasPrefix(href, "#") {
			targets = append(targets, href[1:])
		}
		if len(e.Data) == 2 && e.Data[0] == 'h' && e.Data[1] >= '1' && e.Data[1] <= '6' {
			l := int(e.Data[1] - '0')
			if l > level+1 {
				t.Errorf("%s: a heading of level %d follows one of level %d", name, l, level)
			}
			level = l
			if l == 1 {
				firsts++
			}
		}
		switch e.Data {
		case "main":
			mains++
		case "html":
			if lang, _ := attribute(e, "lang"); lang != "en" {
				t.Errorf("%s: language %q", name, lang)
			}
		case "img":
			if _, ok := attribute(e, "alt"); !ok {
				t.Errorf("%s: a picture without alt", name)
			}
		case "input":
			if _, ok := attribute(e, "aria-label"); !ok {
				t.Errorf("%s: an input without a label", name)
			}
		}
	}
	if firsts != 1 || mains != 1 {
		t.Errorf("%s: %d first-level headings and %d main parts, want one of each", name, firsts, mains)
	}
	for _, id := range targets {
		if !ids[id] {
			t.Errorf("%s: a link leads to #%s, which is not there", name, id)
		}
	}
	want(t, page, `<a class="skip" href="#main">`)
}

func TestSameBytes(t *testing.T) {
	dir := t.TempDir()
	o := Options{Notebooks: samples(t), Out: filepath.Join(dir, "a")}
	if _, err := Site(o); err != nil {
		t.Fatal(err)
	}
	o.Out = filepath.Join(dir, "b")
	if _, err := Site(o); err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(o.Out)
	for _, e := range entries {
		if readFile(t, filepath.Join(dir, "a", e.Name())) != readFile(t, filepath.Join(dir, "b", e.Name())) {
			t.Errorf("%s differs between two runs", e.Name())
		}
	}
	r, err := Site(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Pages {
		if p.Changed {
			t.Errorf("%s was written again though nothing changed", p.File)
		}
	}
}

func TestOutputFolder(t *testing.T) {
	dir := t.TempDir()
	a, b := write(t, dir, "a.ipynb", md("x", "# A")), write(t, dir, "b.ipynb", md("x", "# B"))
	out := filepath.Join(dir, "deep", "site")
	render := func(notebooks ...string) error {
		_, err := Site(Options{Notebooks: notebooks, Out: out})
		return err
	}
	if err := render(a, b); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(out, "notes.txt")
	if err := os.WriteFile(mine, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := render(a); err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(out)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != ".lectern-site 404.html a.html index.html notes.txt" {
		t.Errorf("the folder holds %s", got)
	}

	if err := os.WriteFile(filepath.Join(out, "b.html"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := render(a, b); err == nil || !strings.Contains(err.Error(), "b.html is in the way") {
		t.Errorf("overwriting a file of another's: %v", err)
	}
	if readFile(t, filepath.Join(out, "b.html")) != "mine" {
		t.Error("a file that render did not make was overwritten")
	}
	if err := errors.Join(os.Mkdir(filepath.Join(out, "zh"), 0o755), os.WriteFile(filepath.Join(out, "zh", "index.html"), []byte("mine"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if _, err := claim(out, map[string][]byte{"zh/index.html": nil}); err == nil || !strings.Contains(err.Error(), "index.html is in the way") {
		t.Errorf("overwriting a translated page of another's: %v", err)
	}

	out = filepath.Join(dir, "other")
	os.MkdirAll(out, 0o755)
	os.WriteFile(filepath.Join(out, "thesis.tex"), nil, 0o644)
	if err := render(a); err == nil || !strings.Contains(err.Error(), "did not make") {
		t.Errorf("a folder of another's: %v", err)
	}
	for _, bad := range []string{"something else\n", markerHead + "\n../../etc.html\n", markerHead + "\nthesis.tex\n"} {
		os.WriteFile(filepath.Join(out, marker), []byte(bad), 0o644)
		if err := render(a); err == nil {
			t.Errorf("a marker of %q was trusted", bad)
		}
	}
}

func TestBadCalls(t *testing.T) {
	dir := t.TempDir()
	a := write(t, dir, "a.ipynb", md("x", "# A"))
	os.Mkdir(filepath.Join(dir, "sub"), 0o755)
	again := write(t, filepath.Join(dir, "sub"), "A.ipynb", md("x", "# A"))
	index := write(t, dir, "index.ipynb", md("x", "# A"))
	broken := filepath.Join(dir, "broken.ipynb")
	os.WriteFile(broken, []byte("{"), 0o644)
	file := filepath.Join(dir, "file")
	os.WriteFile(file, nil, 0o644)
	tests := []struct {
		name string
		o    Options
		want string
	}{
		{"no notebooks", Options{Out: dir + "/s"}, "no notebooks"},
		{"no folder", Options{Notebooks: []string{a}}, "no output folder"},
		{"missing file", Options{Notebooks: []string{dir + "/no.ipynb"}, Out: dir + "/s"}, "no.ipynb"},
		{"broken file", Options{Notebooks: []string{broken}, Out: dir + "/s"}, "broken.ipynb"},
		{"two of a name", Options{Notebooks: []string{a, again}, Out: dir + "/s"}, "would both become"},
		{"named index", Options{Notebooks: []string{index}, Out: dir + "/s"}, "would both become"},
		{"a file for a folder", Options{Notebooks: []string{a}, Out: file}, "file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Site(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	big := display("text/plain", strings.Repeat("0123456789abcdef", 100_000))
	unrun := code("u", "x := 1")
	unrun.Count = 0
	_, warnings := lesson(t, unrun, code("big", "x", big))
	text := ""
	for _, w := range warnings {
		text += w.Error() + "\n"
	}
	want(t, text, "1 of its code cells never ran", "the largest part is cell 2 (id big)")
}

func TestSearchIndex(t *testing.T) {
	page, _ := lesson(t, md("a", "# Tensors\n\nIntroduction to `Rearrange`."), md("b", "## Strided views & more\n\nA contiguous copy. 你好\n\nWith `1e-8`, and **bo**ld letters, $x^2$ or $\\frac{1}{2}$.\n\n$$\\alpha$$"), code("c", "x.Transpose(0, 1)", display("text/plain", "outputword")))
	_, data, _ := strings.Cut(page, `id="lectern-index">`)
	data, _, _ = strings.Cut(data, "</script>")
	packed, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		t.Fatal(err)
	}
	var x index
	if err := json.NewDecoder(flate.NewReader(bytes.NewReader(packed))).Decode(&x); err != nil {
		t.Fatal(err)
	}
	want := []indexSection{
		{0, "", "Tensors", "Introduction to Rearrange."},
		{0, "strided-views-more", "Strided views & more", "A contiguous copy. 你好 With 1e-8, and bold letters, x^2 or …. … x.Transpose(0, 1)"},
	}
	if !slices.Equal(x.Sections, want) {
		t.Errorf("the sections are\n%+v, want\n%+v", x.Sections, want)
	}
	if len(x.Pages) != 1 || x.Pages[0][1] != "Tensors" {
		t.Errorf("the lessons are %q", x.Pages)
	}
	for _, group := range x.Synonyms {
		for _, w := range group {
			if w != strings.ToLower(w) || len(group) < 2 {
				t.Errorf("synonyms %q", group)
			}
		}
	}
}
