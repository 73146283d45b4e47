package lesson

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/po"
	"github.com/lectern-go/lectern/internal/wording"
	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/kernel/translate"
)

// A catalogue is what there is to translate for one file of a language.
type catalogue struct {
	name     string
	messages []*po.Message
	byID     map[string]*po.Message
}

func (c *catalogue) add(reference, kind, text string) {
	m := c.byID[text]
	if m == nil {
		m = &po.Message{ID: text}
		c.byID[text] = m
		c.messages = append(c.messages, m)
	}
	if !slices.Contains(m.Kinds, kind) {
		m.Kinds = append(m.Kinds, kind)
	}
	if !slices.Contains(m.References, reference) {
		m.References = append(m.References, reference)
	}
}

// wanted collects all that there is to translate: the lessons, what this package says about them, and the texts of the
// site. What stands in several notebooks is a message of shared.po.
func wanted(t *testing.T) []*catalogue {
	t.Helper()
	var list []*catalogue
	open := func(name string) *catalogue {
		c := &catalogue{name: name, byID: map[string]*po.Message{}}
		list = append(list, c)
		return c
	}
	files, err := filepath.Glob("../*.ipynb")
	if err != nil || len(files) == 0 {
		t.Fatalf("no lessons: %v", err)
	}
	for _, path := range files {
		base := strings.TrimSuffix(filepath.Base(path), ".ipynb")
		n, err := notebook.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		c := open(base)
		for _, u := range translate.Units(n) {
			c.add(base+"#"+u.Cell, u.Kind, u.Text)
		}
		number, _, _ := strings.Cut(base, "-")
		said := func(key, kind, text string) {
			if lesson, _, _ := strings.Cut(key, "."); lesson == number && text != "" {
				c.add("exercise#"+key, kind, text)
			}
		}
		for _, e := range exercises {
			said(e.key, "hint", e.hint)
			said(e.key, "praise", e.praise)
			for _, s := range e.rubric {
				said(e.key, "what a good answer says", s)
			}
		}
		for _, task := range tasks {
			for _, c := range task.cases {
				said(task.key, "name of a case", c.category)
			}
			said(task.key, "hint", task.hints[0])
			said(task.key, "hint", task.hints[1])
			said(task.key, "praise", task.praise)
		}
	}
	notebooks := list
	shared := open("shared")
	count := map[string]int{}
	for _, c := range notebooks {
		for _, m := range c.messages {
			count[m.ID]++
		}
	}
	for _, c := range notebooks {
		c.messages = slices.DeleteFunc(c.messages, func(m *po.Message) bool {
			if count[m.ID] == 1 {
				return false
			}
			for _, kind := range m.Kinds {
				for _, reference := range m.References {
					shared.add(reference, kind, m.ID)
				}
			}
			return true
		})
	}
	lesson := open("lesson")
	addSaid(t, lesson, ".")
	mistakes := open("errors")
	for _, form := range translate.ErrorForms {
		mistakes.add("errors.go", "message of an error", form)
	}
	site := open("site")
	addSaid(t, site, "../../kernel/render", "../../kernel/site", "../../kernel/live/assets", "../../kernel/internal/report", "../../kernel/internal/ask", "../../kernel/internal/command", "../course", "../../kernel/internal/command/labextension/static")
	addSaid(t, open("explore"), "../explore")
	return list
}

// siteTexts are the constants that stand on pages, as cells of this type: those of kernel/site, and of home.ipynb.
var siteTexts = map[string]string{"description": "markdown", "intro": "markdown", "stepped": "markdown", "recorded": "markdown", "runsHere": "markdown", "after": "markdown",
	"footer": "markdown", "previewAlt": "markdown", "homeText": "markdown", "homeCell": "code", "homeHelp": "markdown"}

// addSaid adds the texts that the programs in folders say: the first argument of each call to a function say or phrase.
func addSaid(t *testing.T, c *catalogue, folders ...string) {
	t.Helper()
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if spec, ok := n.(*ast.ValueSpec); ok && (file.Name.Name == "main" || file.Name.Name == "command") {
					for i, name := range spec.Names {
						if i >= len(spec.Values) || siteTexts[name.Name] == "" {
							continue
						}
						if text, ok := literalText(spec.Values[i]); ok {
							for _, u := range translate.Units(&notebook.Notebook{Cells: []*notebook.Cell{{Type: siteTexts[name.Name], Source: text}}}) {
								c.add(filepath.Base(path), u.Kind, u.Text)
							}
						}
					}
				}
				if pair, ok := n.(*ast.KeyValueExpr); ok && file.Name.Name == "main" {
					if key, ok := pair.Key.(*ast.Ident); ok && key.Name == "Title" {
						if text, ok := literalText(pair.Value); ok {
							c.add(filepath.Base(path), "title of a part", text)
						}
					}
				}
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) == 0 {
					return true
				}
				name := ""
				switch f := call.Fun.(type) {
				case *ast.Ident:
					name = f.Name
				case *ast.SelectorExpr:
					name = f.Sel.Name
				}
				text, ok := literalText(call.Args[0])
				switch {
				case !ok:
				case file.Name.Name == "main" && (name == "add" || name == "says"): // an explorer's format of HTML
					wording.Replace(text, func(text string) string {
						c.add(filepath.Base(path), "HTML, %s are values", text)
						return text
					})
				case file.Name.Name == "main" && (name == "field" || name == "slider" || name == "choice" || name == "button"):
					c.add(filepath.Base(path), "text", text)
				case name == "say", name == "phrase", name == "Say":
					c.add(filepath.Base(path), "text", text)
				}
				return true
			})
		}
		scripts, err := filepath.Glob(filepath.Join(folder, "*.js"))
		if err != nil {
			t.Fatal(err)
		}
		more, err := filepath.Glob(filepath.Join(folder, "assets", "*.js"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range append(scripts, more...) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range translate.SaidInScript(string(text)) {
				c.add(filepath.Base(path), "text", s)
			}
		}
	}
}

// literalText is a text that stands in the code, in one piece or several.
func literalText(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		x, ok := literalText(e.X)
		y, also := literalText(e.Y)
		return x + y, ok && also && e.Op == token.ADD
	}
	return "", false
}

// alike is how many of the words of two texts are the same, from 0 to 1.
func alike(a, b string) float64 {
	x, y := strings.Fields(a), strings.Fields(b)
	rest := slices.Clone(y)
	same := 0
	for _, w := range x {
		if i := slices.Index(rest, w); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
			same++
		}
	}
	return 2 * float64(same) / float64(max(1, len(x)+len(y)))
}

// merged brings translations into a catalogue: those of the same English, and marked as fuzzy, those of an English text
// of the same place that is gone and was much like it.
func merged(c *catalogue, old map[string]*po.Message, known map[string]bool) []*po.Message {
	var list []*po.Message
	for _, m := range c.messages {
		now := *m
		if was := old[m.ID]; was != nil {
			now.Notes, now.Flags, now.Previous, now.Str = was.Notes, was.Flags, was.Previous, was.Str
		} else {
			best, nearest := 0.5, (*po.Message)(nil)
			for id, was := range old {
				near := was.Str != "" && !known[id] && slices.ContainsFunc(m.References, func(r string) bool { return slices.Contains(was.References, r) })
				if likeness := alike(id, m.ID); near && (likeness > best || likeness == best && nearest != nil && id < nearest.ID) {
					best, nearest = likeness, was
				}
			}
			if nearest != nil {
				now.Notes, now.Str, now.Flags, now.Previous = nearest.Notes, nearest.Str, []string{"fuzzy"}, nearest.ID
				if nearest.Fuzzy() {
					now.Previous = nearest.Previous
				}
			}
		}
		list = append(list, &now)
	}
	return list
}

// TestCatalogues: the catalogues of each language have the texts of today, each once. With -update they are brought up
// to date: what is new is added, what is gone is dropped, and what has changed a little is marked as fuzzy.
func TestCatalogues(t *testing.T) {
	update := flag.Lookup("update").Value.String() == "true"
	all := wanted(t)
	known := map[string]bool{}
	for _, c := range all {
		for _, m := range c.messages {
			known[m.ID] = true
		}
	}
	headers, err := filepath.Glob("../*/" + translate.SiteFile)
	if err != nil || len(headers) == 0 {
		t.Fatalf("no languages: %v", err)
	}
	for _, header := range headers {
		dir := filepath.Dir(header)
		files, err := filepath.Glob(filepath.Join(dir, "*.po"))
		if err != nil {
			t.Fatal(err)
		}
		old := map[string]*po.Message{}
		texts := map[string][]byte{}
		headers := map[string]*po.Message{}
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[path] = text
			f, err := po.Parse(path, text)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range f.Messages {
				if m.ID == "" {
					headers[path] = m
				} else if was := old[m.ID]; was == nil || was.Str == "" {
					old[m.ID] = m
				}
			}
		}
		for _, c := range all {
			path := filepath.Join(dir, c.name+".po")
			f := &po.File{}
			switch {
			case headers[path] != nil:
				f.Messages = append(f.Messages, headers[path])
			default: // as gettext has it in each file
				f.Messages = append(f.Messages, &po.Message{Str: "Language: " + languageOf(headers, dir) + "\nMIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n"})
			}
			f.Messages = append(f.Messages, merged(c, old, known)...)
			text := f.Bytes()
			switch {
			case bytes.Equal(text, texts[path]):
			case update:
				if err := os.WriteFile(path, text, 0o644); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("%s is not up to date: go test ./notebooks/lesson -run TestCatalogues -update", path)
			}
			delete(texts, path)
		}
		for path := range texts {
			if !update {
				t.Errorf("%s is a catalogue of nothing", path)
			} else if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func languageOf(headers map[string]*po.Message, dir string) string {
	site := headers[filepath.Join(dir, translate.SiteFile)]
	if site == nil {
		return filepath.Base(dir)
	}
	return (&po.File{Messages: []*po.Message{site}}).Header("Language")
}
