package render

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/lectern-go/lectern/internal/po"
	"github.com/lectern-go/lectern/kernel/translate"
)

// toy makes a language of the catalogues of Chinese, in which each text stands in brackets: what has none on a page was
// forgotten.
func toy(t *testing.T) *translate.Language {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "xx")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../notebooks/zh/*.po")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := po.Parse(path, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range f.Messages {
			switch {
			case m.ID == "":
				m.Str = "Language: xx\nX-Language-Name: ⟦Toy⟧\n"
			case slices.Contains(m.Kinds, "row of a table"):
				cells := strings.Split(strings.Trim(m.ID, "|"), "|")
				for i, c := range cells {
					cells[i] = " ⟦" + strings.TrimSpace(c) + "⟧ "
				}
				m.Str = "|" + strings.Join(cells, "|") + "|"
			case slices.Contains(m.Kinds, "formula"):
				m.Str = m.ID
			default:
				m.Str = "⟦" + m.ID + "⟧"
			}
			m.Flags = nil
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), f.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	l, err := translate.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// notSaid are elements whose text is code, a formula, or what a program has printed; or says itself that it is English.
func notSaid(n *html.Node) bool {
	switch n.Data {
	case "td": // what a model has written
		return n.FirstChild != nil && n.FirstChild.Type == html.TextNode && len(n.FirstChild.Data) > 40
	case "code", "pre", "script", "style", "math", "kbd", "var":
		return true
	}
	for _, a := range n.Attr {
		if a.Key == "class" && strings.HasPrefix(a.Val, "map ") { // titles in lines, which stand in the list above as well
			return true
		}
		if a.Key == "lang" && a.Val == "en" && n.Data != "html" {
			return true
		}
	}
	return false
}

var phrasing = set("a abbr b br cite em i img input label mark q s small span strong sub sup u tspan")

// said are the texts of a page, a block each, with the attributes that are read out.
func said(n *html.Node) (list []string) {
	var text strings.Builder
	end := func() {
		if s := strings.TrimSpace(text.String()); s != "" {
			list = append(list, s)
		}
		text.Reset()
	}
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		switch n.Type {
		case html.TextNode:
			text.WriteString(n.Data)
			return
		case html.ElementNode:
			if notSaid(n) {
				return
			}
			for _, a := range n.Attr {
				if slices.Contains([]string{"aria-label", "title", "alt", "placeholder", "aria-valuetext"}, a.Key) {
					list = append(list, a.Val)
				}
			}
		}
		block := n.Type == html.ElementNode && !phrasing[n.Data]
		if block {
			end()
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
		if block {
			end()
		}
	}
	walk(n)
	end()
	return list
}

var (
	bracketed = regexp.MustCompile(`⟦[^⟦⟧]*⟧`)
	// untranslated is text that is the same in every language.
	untranslated = regexp.MustCompile(`\b(?:Lectern|English|einsum|training: \d.*)`) // the last is what a program prints while it runs
)

// TestToyLanguage: every text on a page of the course comes out of a catalogue: a toy language, with all of them in
// brackets, leaves nothing of English but code, names and what programs print.
func TestToyLanguage(t *testing.T) {
	out := t.TempDir()
	lessons := []string{"../../notebooks/0-go.ipynb", "../../notebooks/02-tensors.ipynb", "../../notebooks/05-storage-strides-views.ipynb"}
	if os.Getenv("LECTERN_LONG") != "" {
		var err error
		if lessons, err = filepath.Glob("../../notebooks/*.ipynb"); err != nil {
			t.Fatal(err)
		}
	}
	l := toy(t)
	_, err := Site(Options{Notebooks: lessons, Out: out, Languages: []*translate.Language{l}, Parts: []Part{{Title: "Warming up, and tokenization", First: "0"}}, After: "## Where to go from here"})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(out, "xx", "*.html"))
	if err != nil || len(pages) != len(lessons)+2 {
		t.Fatalf("pages %v, %v", pages, err)
	}
	for _, path := range pages {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		root, err := html.Parse(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range said(root) {
			rest := s
			for bracketed.MatchString(rest) {
				rest = bracketed.ReplaceAllString(rest, " ")
			}
			rest = untranslated.ReplaceAllString(rest, " ")
			if translate.HasProse(rest) {
				t.Errorf("%s: %q has %q", filepath.Base(path), s, strings.TrimSpace(rest))
			}
		}
		if !bytes.Contains(text, []byte(`<html lang="xx">`)) {
			t.Errorf("%s says that it is English", path)
		}
	}
}

// TestLanguagesShareAddresses: whatever the address of a place is in English, it is the same in another language, but
// for the folder. A link to the other language is on each page.
func TestLanguagesShareAddresses(t *testing.T) {
	out := t.TempDir()
	_, err := Site(Options{Notebooks: []string{"../../notebooks/05-storage-strides-views.ipynb", "../../notebooks/07-matmul.ipynb"}, Out: out, URL: "https://example.org/", Languages: []*translate.Language{toy(t)}})
	if err != nil {
		t.Fatal(err)
	}
	ids := regexp.MustCompile(`<(?:h\d|div|figure)[^>]* id="[^"]*"`)
	id := regexp.MustCompile(` id="[^"]*"`)
	var all [2]string
	for i, folder := range []string{"", "xx"} {
		text, err := os.ReadFile(filepath.Join(out, folder, "05-storage-strides-views.html"))
		if err != nil {
			t.Fatal(err)
		}
		for _, tag := range ids.FindAllString(string(text), -1) {
			all[i] += id.FindString(tag) + "\n"
		}
		other := fmt.Sprintf(`href="%s05-storage-strides-views.html"`, []string{"xx/", "../"}[i])
		if !strings.Contains(string(text), other) {
			t.Errorf("the page in %q has no link %s", folder, other)
		}
	}
	if all[0] != all[1] || strings.Count(all[0], "\n") < 50 {
		t.Errorf("the ids differ:\n%s\nand\n%s", all[0], all[1])
	}
	sitemap, err := os.ReadFile(filepath.Join(out, "sitemap.xml"))
	if err != nil || !strings.Contains(string(sitemap), "https://example.org/xx/07-matmul.html") {
		t.Errorf("the site map: %v\n%s", err, sitemap)
	}
	// A second time the folder is known as ours; without the language its pages go.
	if _, err := Site(Options{Notebooks: []string{"../../notebooks/07-matmul.ipynb"}, Out: out}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(out, "xx")); !os.IsNotExist(err) {
		t.Errorf("the folder of a language that is gone: %v", err)
	}
}

var bareText = regexp.MustCompile(`(?:textContent|placeholder|title|label|"aria-label"|"aria-valuetext")\s*[:=,]\s*(?:"|` + "`" + `)[A-Z][a-z]+`)

// TestScriptsSayAll: what scripts write on a page goes through say.
func TestScriptsSayAll(t *testing.T) {
	for name, text := range map[string]string{"page": pageScript, "guess": guessScript, "talk": talkScript, "steps": stepsScript, "stepper": stepper} {
		for n, line := range strings.Split(text, "\n") {
			if m := bareText.FindString(line); m != "" {
				t.Errorf("%s, line %d: %s", name, n+1, m)
			}
		}
	}
}

func TestWrapChinese(t *testing.T) {
	for text, want := range map[string][]string{
		"Storage, strides, views": {"Storage, strides,", "views"},
		"矩阵乘法与分块：更快的循环":           {"矩阵乘法与分块：", "更快的循环"},
		"用 einsum 命名维度":           {"用einsum命名维度"},
	} {
		if got := wrap(text, 17); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
