package export

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/kernel/notebook"
)

// Changes finds what a program that was exported from a notebook, and perhaps changed since, makes of the notebook's
// cells: their new texts by the cells' IDs. plain is what the notebook itself exports to, so that a cell that says
// the same in both keeps its text. strange counts cells that the notebook does not have. byName is the path that a cell
// need not import, since its name says enough.
func Changes(n *notebook.Notebook, name string, plain, program []byte, byName func(name string) string) (texts map[string]string, strange int, err error) {
	if rest, ok := strings.CutPrefix(string(program), Begin); ok {
		if of, _, ok := strings.Cut(rest, " as a program."); ok && of != name {
			return nil, 0, fmt.Errorf("it is a program of another notebook, %s", of)
		}
	}
	before, err := Parts(plain)
	if err != nil {
		return nil, 0, err
	}
	after, err := Parts(program)
	if err != nil {
		return nil, 0, err
	}
	given := map[int]Part{}
	for _, p := range after {
		if p.Number > 0 {
			given[p.Number] = p
		}
	}
	if len(given) == 0 {
		return nil, 0, errors.New("it has no numbered cells, such as // %% [3], and nothing else says what belongs where")
	}
	if slices.ContainsFunc(after, func(p Part) bool {
		return p.Number > 0 && strings.Contains("\n"+p.Text, "\nfunc cell"+strconv.Itoa(p.Number)+"() {")
	}) {
		return nil, 0, errors.New("its func main does more than call the cells; what it does belongs into a cell")
	}
	was := map[int]Part{}
	for _, p := range before {
		if p.Number > 0 {
			was[p.Number] = p
		}
	}
	texts = map[string]string{}
	number, order := 0, []string(nil)
	for _, c := range n.Cells {
		if c.Type != "code" || strings.TrimSpace(c.Source) == "" {
			continue
		}
		number++
		p, ok := given[number]
		delete(given, number)
		old, known := was[number]
		if p.LeftOut || old.LeftOut || !ok && !known || ok && known && p.Text == old.Text {
			continue
		}
		texts[c.ID] = p.Text // nothing, if the program lacks the cell
		order = append(order, c.ID)
	}
	for _, s := range imports(program) {
		if slices.Contains(imports(plain), s) || s.name == "" && byName(path.Base(s.path)) == s.path {
			continue
		}
		called := s.name
		if called == "" {
			called = path.Base(s.path)
		}
		uses := regexp.MustCompile(`\b` + regexp.QuoteMeta(called) + `\.`)
		if i := slices.IndexFunc(order, func(id string) bool { return uses.MatchString(texts[id]) }); i >= 0 {
			texts[order[i]] = strings.TrimSpace("import "+s.name) + " " + strconv.Quote(s.path) + "\n" + texts[order[i]]
		}
	}
	return texts, len(given), nil
}

// A spec is an import. name is empty unless the import gives one.
type spec struct{ name, path string }

// imports lists what a file imports, which Parts has parsed before.
func imports(file []byte) (list []spec) {
	f, err := parser.ParseFile(token.NewFileSet(), "", file, parser.ImportsOnly)
	if err != nil {
		return nil
	}
	for _, i := range f.Imports {
		s := spec{}
		if i.Name != nil {
			s.name = i.Name.Name
		}
		s.path, _ = strconv.Unquote(i.Path.Value)
		list = append(list, s)
	}
	return list
}
