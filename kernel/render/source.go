package render

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lectern-go/lectern/internal/glob"
	"github.com/lectern-go/lectern/kernel/internal/names"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// A reader who steps through a cell can look up what a function of the library does: each package that cells call is a
// page of the site, its files one after the other, with a place for each function and each operation.

// A sourcePackage is a package whose source pages show.
type sourcePackage struct {
	folder, name string
	files        []sourceFile
	methods      map[string][]string // the places of methods by their name
}

type sourceFile struct {
	name, text string
	places     []sourcePlace // in order, none inside another
}

// A sourcePlace is what a link can lead to.
type sourcePlace struct {
	id         string
	start, end int
}

// page is the name of the package's page.
func (k *sourcePackage) page() string {
	return "source-" + strings.ReplaceAll(k.folder, "/", "-") + ".html"
}

func (k *sourcePackage) link(id string) string { return k.page() + "#" + url.PathEscape(id) }

var opRecordName = regexp.MustCompile(`\bname:\s+"([a-z0-9 ]+)",`)

// readSource reads a package. Generated files are left out.
func readSource(root, folder string) (*sourcePackage, error) {
	dir := filepath.Join(root, filepath.FromSlash(folder))
	names, err := glob.In(dir, "*.go")
	if err != nil {
		return nil, err
	}
	k := &sourcePackage{folder: folder, methods: map[string][]string{}}
	slices.SortFunc(names, func(a, b string) int { // the package's comment comes first
		return strings.Compare(strings.Replace(a, "doc.go", "", 1), strings.Replace(b, "doc.go", "", 1))
	})
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if ast.IsGenerated(f) {
			continue
		}
		k.name = f.Name.Name
		file := sourceFile{name: filepath.Base(name), text: string(text)}
		at := func(p token.Pos) int { return files.Position(p).Offset }
		for _, d := range f.Decls {
			start := at(d.Pos())
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Doc != nil {
					start = at(d.Doc.Pos())
				}
				if id := k.funcPlace(d); id != "" {
					file.places = append(file.places, sourcePlace{id, start, at(d.End())})
				}
				if d.Name.Name == "init" { // the records of operations
					for _, m := range opRecordName.FindAllStringSubmatchIndex(file.text[at(d.Pos()):at(d.End())], -1) {
						file.places = append(file.places, sourcePlace{"op." + strings.ReplaceAll(file.text[at(d.Pos())+m[2]:at(d.Pos())+m[3]], " ", "-"), at(d.Pos()) + m[0], at(d.Pos()) + m[1]})
					}
				}
			case *ast.GenDecl:
				if d.Tok == token.TYPE && len(d.Specs) == 1 {
					if d.Doc != nil {
						start = at(d.Doc.Pos())
					}
					if name := d.Specs[0].(*ast.TypeSpec).Name; name.IsExported() {
						file.places = append(file.places, sourcePlace{name.Name, start, at(d.End())})
					}
				}
			}
		}
		k.files = append(k.files, file)
	}
	return k, nil
}

// funcPlace is the place of an exported function or method.
func (k *sourcePackage) funcPlace(d *ast.FuncDecl) string {
	if !d.Name.IsExported() {
		return ""
	}
	if d.Recv == nil {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			id := x.Name + "." + d.Name.Name
			k.methods[d.Name.Name] = append(k.methods[d.Name.Name], id)
			return id
		default:
			return ""
		}
	}
}

// has reports whether there is such a place.
func (k *sourcePackage) has(id string) bool {
	return slices.ContainsFunc(k.files, func(f sourceFile) bool {
		return slices.ContainsFunc(f.places, func(p sourcePlace) bool { return p.id == id })
	})
}

// readSources reads the packages that pages may link to.
func (s *site) readSources() error {
	if s.options.Source == "" {
		return nil
	}
	for _, folder := range names.Library {
		k, err := readSource(s.options.Source, folder)
		if err != nil {
			return fmt.Errorf("render: the library's source: %w", err)
		}
		if len(k.files) > 0 {
			s.sources = append(s.sources, k)
		}
	}
	return nil
}

var (
	qualified  = regexp.MustCompile(`\b([a-z][a-z0-9]*)\.([A-Z][A-Za-z0-9]*)`)
	methodName = regexp.MustCompile(`\.([A-Z][A-Za-z0-9]*)\(`)
)

// sourceLinks says where the functions are that a notebook's code and recorded operations name, as JSON that may be put
// into a page: by "tensor.Of", ".Matmul" and "op matmul".
func (s *site) sourceLinks(nb *notebook.Notebook, steps Steps) string {
	links := map[string]string{}
	add := func(key string, k *sourcePackage, id string) {
		if links[key] == "" && id != "" && k.has(id) {
			links[key] = s.up() + k.link(id)
			s.linked[k] = true
		}
	}
	for _, c := range nb.Cells {
		if c.Type != "code" {
			continue
		}
		for _, m := range qualified.FindAllStringSubmatch(c.Source, -1) {
			for _, k := range s.sources {
				if k.name == m[1] {
					add(m[1]+"."+m[2], k, m[2])
				}
			}
		}
		for _, m := range methodName.FindAllStringSubmatch(c.Source, -1) {
			if k, id := s.method(m[1]); k != nil {
				add("."+m[1], k, id)
			}
		}
	}
	for _, cell := range steps {
		if cell.Record == nil {
			continue
		}
		for _, step := range cell.Record.Steps {
			for _, op := range step.Ops {
				name, _, _ := strings.Cut(op, "\t")
				name, _, _ = strings.Cut(name, " · ")
				for _, k := range s.sources {
					add("op "+name, k, "op."+strings.ReplaceAll(name, " ", "-"))
				}
			}
		}
	}
	text, err := json.Marshal(links)
	if err != nil {
		panic(err) // strings alone
	}
	return string(text)
}

// method finds the method of a name: a tensor's, or the only one there is. The types of the cell were not checked.
func (s *site) method(name string) (k *sourcePackage, id string) {
	places := 0
	for _, in := range s.sources {
		if own := "Tensor." + name; in.name == "tensor" && slices.Contains(in.methods[name], own) {
			return in, own
		}
		if list := in.methods[name]; len(list) > 0 {
			k, id, places = in, list[0], places+len(list)
		}
	}
	if places != 1 {
		return nil, ""
	}
	return k, id
}

// sourcePage is the page of a package.
func (s *site) sourcePage(k *sourcePackage) string {
	var b strings.Builder
	b.WriteString("<div class=\"columns one\">\n<main id=\"main\" tabindex=\"-1\">\n")
	fmt.Fprintf(&b, "<h1>Package %s</h1>\n<p>The source of <code>%s</code>, as it was when these pages were made, without tests.</p>\n<ul class=\"files\">\n", html.EscapeString(k.name), html.EscapeString(k.folder))
	for _, f := range k.files {
		fmt.Fprintf(&b, "<li><a href=\"#%s\">%s</a></li>\n", url.PathEscape(f.name), html.EscapeString(f.name))
	}
	b.WriteString("</ul>\n")
	for _, f := range k.files {
		fmt.Fprintf(&b, "<h2 id=\"%s\">%[1]s</h2>\n<div class=\"code source\"><pre tabindex=\"0\" aria-label=\"%[1]s\"><code data-lang=\"go\">", html.EscapeString(f.name))
		done := 0
		for _, p := range f.places {
			// Nothing that a highlighter looks at crosses these places.
			fmt.Fprintf(&b, "%s<span class=\"place\" id=\"%s\">%s</span>", highlight("go", f.text[done:p.start]), html.EscapeString(p.id), highlight("go", f.text[p.start:p.end]))
			done = p.end
		}
		b.WriteString(highlight("go", strings.TrimRight(f.text[done:], "\n")) + "</code></pre></div>\n")
	}
	b.WriteString("</main>\n</div>\n")
	return s.frame(sheet{file: k.page(), title: "Package " + k.name + " · " + s.options.Title, head: "<meta name=\"robots\" content=\"noindex\">\n", columns: b.String()})
}
