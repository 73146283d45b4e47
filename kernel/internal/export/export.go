// Package export makes one Go program out of the cells of a notebook.
//
// In the program each cell is a function, and main calls them in order; what cells declare, and the variables that they
// define, come before it at the package level. A notebook may give a name a new meaning later, which a package can't:
// then the later one gets a name with a number after it, and so does whatever of the earlier cells mentions the name
// and is used after that.
package export

import (
	"bytes"
	"cmp"
	"fmt"
	"go/format"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/rewrite"
)

// A Cell is one cell of the notebook.
type Cell struct {
	Number  int             // as the notebook counts; 0 for Markdown
	Text    string          // of Markdown, or of what can't be part of the program
	Result  *rewrite.Result // with a program, if it is part of the program; else nil
	MayFail bool            // the program goes on if it panics
	LeftOut string          // why the cell, or some of it, is not part of the program
}

// A unit is a declaration of one or more names, or of a method.
type unit struct {
	*rewrite.Piece
	key   string   // the first name
	text  string   // as the cell has it
	refs  []string // names at the package level that it mentions, its own not among them
	fresh bool     // it is written with this cell
}

// Foreign is a module that does not require this project's module: its programs can't import our packages.
type Foreign struct {
	Library string // the path of our module
	Copies  string // the path under which a program finds copies of our packages that cells import themselves
}

// A Made is a finished program.
type Made struct {
	Main, Tests []byte
	Copied      []string // the folders of our packages that a Foreign has to have copies of
}

// merger is one program on its way.
type merger struct {
	foreign  *Foreign        // nil where our packages can be imported
	copied   map[string]bool // folders of our packages
	echoes   map[string]bool // the functions of echoes that the program calls
	importer types.Importer
	taken    map[string]bool   // identifiers that cells use, or that the program has given
	given    map[string]bool   // those of the second kind
	current  map[string]string // what a name of the cells is called by now
	last     map[string]*unit  // by key
	packages map[string]string // path to the name that the package gives itself
	defined  map[string]bool   // identifiers that mean something other than a package somewhere
	named    map[string]string // what the program imports: name to path
	blank    []string
	attempts bool
	main     output
	tests    output
}

// An output is a file that is being written.
type output struct {
	bytes.Buffer
	uses map[string]bool // names of the imports that it uses
}

// echoes are what programs print the values of last lines with where they can't import package show.
var echoes = map[string]string{
	"echo": `
// echo prints the value of a cell's last line, or its values but an error that is nil.
func echo(values ...any) {
	for i, v := range values {
		switch text, isText := v.(string); {
		case isText:
			%[1]s.Printf("%%q\n", text)
		case v != nil || i == 0 || i < len(values)-1:
			%[1]s.Printf("%%+v\n", v)
		}
	}
}
`,
	"echoErr": `
// echoErr prints an error that a cell's last line has returned.
func echoErr(err error) {
	if err != nil {
		%[1]s.Println(err)
	}
}
`,
}

// Program makes a program of the cells. importer knows the packages that they import. There are no tests if no cell has
// any. foreign is nil where programs can import our packages.
func Program(cells []Cell, importer types.Importer, foreign *Foreign) (made *Made, err error) {
	m := &merger{foreign: foreign, copied: map[string]bool{}, echoes: map[string]bool{}, importer: importer, taken: map[string]bool{}, given: map[string]bool{"main": true, "init": true, "attempt": true}, current: map[string]string{}, last: map[string]*unit{},
		packages: map[string]string{"fmt": "fmt", "os": "os"}, defined: map[string]bool{}, named: map[string]string{}, main: output{uses: map[string]bool{}}, tests: output{uses: map[string]bool{}}}
	if foreign != nil {
		m.given["echo"], m.given["echoErr"] = true, true
	}
	var parsed []*cellProgram
	for i := range cells {
		var p *cellProgram
		if cells[i].Result != nil {
			if p, err = m.parse(cells[i].Result); err != nil {
				return nil, fmt.Errorf("cell [%d]: %w", cells[i].Number, err)
			}
		}
		parsed = append(parsed, p)
	}
	var calls bytes.Buffer
	for i := range cells {
		c, p := &cells[i], parsed[i]
		switch {
		case c.Number == 0:
			mark(&m.main, "// %% [markdown]", c.Text)
		case p == nil:
			mark(&m.main, fmt.Sprintf("// %%%% [%d] is left out: %s", c.Number, c.LeftOut), c.Text)
		default:
			m.add(c, p, &calls)
		}
	}
	if m.attempts {
		fmt.Fprintf(&m.main, `
// attempt calls a cell that may fail, as the notebook does: the program goes on.
func attempt(cell func()) {
	defer func() {
		if failure := recover(); failure != nil {
			%s.Fprintln(%s.Stderr, "panic:", failure)
		}
	}()
	cell()
}
`, m.imported(&m.main, "fmt", "fmt"), m.imported(&m.main, "os", "os"))
	}
	for _, name := range slices.Sorted(maps.Keys(m.echoes)) {
		fmt.Fprintf(&m.main, echoes[name], m.imported(&m.main, "fmt", "fmt"))
	}
	fmt.Fprintf(&m.main, "\nfunc main() {\n%s}\n", calls.String())
	made = &Made{}
	if made.Main, err = m.file(&m.main, m.blank); err == nil && m.tests.Len() > 0 {
		made.Tests, err = m.file(&m.tests, nil)
	}
	made.Copied = slices.Sorted(maps.Keys(m.copied))
	return made, err
}

// mark begins the part of a cell.
func mark(b *output, line, text string) {
	fmt.Fprintf(b, "\n%s\n", line)
	for l := range strings.Lines(strings.TrimRight(text, "\n")) {
		fmt.Fprintln(b, strings.TrimRight("// "+strings.TrimRight(l, "\n"), " "))
	}
	b.WriteByte('\n')
}

// cellProgram is the program of a cell, taken apart.
type cellProgram struct {
	units []*unit
	body  *rewrite.Piece // of main
}

// parse takes a program apart and notes the names in it.
func (m *merger) parse(r *rewrite.Result) (*cellProgram, error) {
	pieces, main, err := r.Pieces()
	if err != nil {
		return nil, err
	}
	p := &cellProgram{body: main}
	for _, d := range pieces {
		u := &unit{Piece: d, key: d.Names[0], text: d.String()}
		for _, use := range d.Uses {
			if use.Path == "" && !slices.Contains(d.Names, use.Name) && !slices.Contains(u.refs, use.Name) {
				u.refs = append(u.refs, use.Name)
			}
		}
		p.units = append(p.units, u)
	}
	named := map[string]bool{} // paths
	for _, d := range append(pieces, main) {
		for name := range d.Own {
			m.taken[name], m.defined[name] = true, true
		}
		for _, use := range d.Uses {
			m.taken[use.Name] = true
			if named[use.Path] = true; use.Path == "" || m.packages[use.Path] != "" {
				continue
			}
			pkg, err := m.importer.Import(use.Path)
			if err != nil {
				return nil, err
			}
			m.packages[use.Path] = pkg.Name()
		}
	}
	for _, path := range r.Imports {
		if !named[path] && !slices.Contains(m.blank, path) {
			m.blank = append(m.blank, path)
		}
	}
	return p, nil
}

// add writes a cell.
func (m *merger) add(c *Cell, p *cellProgram, calls *bytes.Buffer) {
	earlier := map[string]string{} // what the names of variables as they were are called
	for name, was := range c.Result.Earlier {
		earlier[was] = m.current[name]
	}
	p.units = slices.DeleteFunc(p.units, func(u *unit) bool { return u.Kind == token.VAR && earlier[u.key] != "" })
	// New declarations, changed ones, and those that mention a changed one.
	again := map[string]bool{} // names that get another meaning
	for more := true; more; {
		more = false
		for _, u := range p.units {
			old := m.last[u.key]
			anew := old != nil && (old.text != u.text || !slices.Equal(old.Names, u.Names)) || slices.ContainsFunc(u.refs, func(r string) bool { return again[r] && m.last[r] != nil })
			if old == nil && slices.ContainsFunc(u.Names, func(n string) bool { return m.current[n] != "" }) {
				anew = true // it was declared together with others, or as something else
			}
			names := u.Names
			if u.Owner != "" {
				names = []string{u.Owner}
				anew = anew && old != nil
			}
			for _, n := range names {
				if anew && !again[n] {
					again[n], more = true, true
				}
			}
		}
	}
	for _, u := range p.units {
		u.fresh = m.last[u.key] == nil || slices.ContainsFunc(u.Names, func(n string) bool { return again[n] }) || again[u.Owner]
	}
	for _, u := range p.units {
		for _, n := range u.Names {
			if !u.fresh || u.Owner != "" {
				continue
			}
			name, hides := strings.CutPrefix(n, rewrite.HiddenPrefix)
			if hides { // one of Go's own names, which functions go on seeing: the variable gets another
				m.given[name] = true
			}
			m.current[n] = m.fresh(name)
		}
	}
	b := &m.main
	text := ""
	if c.LeftOut != "" {
		text = c.LeftOut
	}
	if c.Result.Tests {
		b = &m.tests
		mark(&m.main, fmt.Sprintf("// %%%% [%d] is for go test", c.Number), text)
	}
	mark(b, fmt.Sprintf("// %%%% [%d]", c.Number), text)
	for _, u := range p.units {
		if !u.fresh {
			continue
		}
		out := b
		if c.Result.Tests && !isTest(u.key) { // other cells may use it
			out = &m.main
		}
		fmt.Fprintf(out, "%s\n\n", m.write(out, u.Piece, earlier))
		m.last[u.key] = u
	}
	if strings.TrimSpace(p.body.String()) == "" {
		return
	}
	body := m.write(b, p.body, earlier)
	if c.Result.Tests {
		fmt.Fprintf(b, "func init() {%s}\n", body)
		return
	}
	name := m.fresh(fmt.Sprintf("cell%d", c.Number))
	fmt.Fprintf(b, "func %s() {%s}\n", name, body)
	if c.MayFail {
		m.attempts = true
		fmt.Fprintf(calls, "attempt(%s)\n", name)
	} else {
		fmt.Fprintf(calls, "%s()\n", name)
	}
}

// fresh is a name that nothing else has: name itself if it is free, or name with a number appended.
func (m *merger) fresh(name string) string {
	if name == "_" {
		return name
	}
	free := name
	for i := 2; m.given[free] || free != name && m.taken[free]; i++ {
		free = name + strconv.Itoa(i)
	}
	m.given[free], m.taken[free] = true, true
	return free
}

// write is a piece's text with the names that the program has for what it mentions.
func (m *merger) write(out *output, p *rewrite.Piece, earlier map[string]string) *rewrite.Text {
	return p.Renamed(func(u rewrite.Use) string {
		if u.Path == "" {
			return cmp.Or(earlier[u.Name], m.current[u.Name])
		}
		if echo := strings.ToLower(u.Member[:1]) + u.Member[1:]; m.foreign != nil && u.Path == m.foreign.Library+"/kernel/show" && echoes[echo] != "" {
			m.echoes[echo] = true
			return echo
		}
		name := m.imported(out, u.Name, u.Path)
		if name == u.Name {
			return "" // with the line break that may follow the dot
		}
		return name + "." + u.Member
	})
}

// imported is the name by which the program imports a package: one for all cells, and the package's own, unless
// somewhere that means something else.
func (m *merger) imported(out *output, name, path string) string {
	if own := m.packages[path]; own != "" && !m.defined[own] && (m.named[own] == "" || m.named[own] == path) {
		name = own
	}
	for i, base := 2, name; m.named[name] != "" && m.named[name] != path; i++ {
		name = base + strconv.Itoa(i)
	}
	m.named[name], out.uses[name] = path, true
	return name
}

// found is the path by which the program imports a package: that of its own copy if it is ours.
func (m *merger) found(p string) string {
	if m.foreign == nil {
		return p
	}
	folder, ours := strings.CutPrefix(p, m.foreign.Library+"/")
	if !ours {
		return p
	}
	m.copied[folder] = true
	return m.foreign.Copies + "/" + folder
}

// isTest reports whether go test calls a function of the name.
func isTest(name string) bool {
	return slices.ContainsFunc([]string{"Test", "Benchmark", "Fuzz", "Example"}, func(kind string) bool { return strings.HasPrefix(name, kind) })
}

// file puts the package clause and the imports in front, and formats the file.
func (m *merger) file(body *output, blank []string) ([]byte, error) {
	var std, others []string
	imported := map[string]bool{}
	for name, p := range m.named {
		if !body.uses[name] {
			continue
		}
		imported[p] = true
		line := strconv.Quote(m.found(p))
		if name != path.Base(p) || name != m.packages[p] {
			line = name + " " + line
		}
		if strings.Contains(strings.SplitN(p, "/", 2)[0], ".") {
			others = append(others, line)
		} else {
			std = append(std, line)
		}
	}
	for _, p := range blank {
		if m.foreign != nil && strings.HasPrefix(p, m.foreign.Library+"/") { // they draw, and the program prints
			continue
		}
		if !imported[p] {
			others = append(others, "_ "+strconv.Quote(p))
		}
	}
	byPath := func(a, b string) int {
		return strings.Compare(a[strings.IndexByte(a, '"'):], b[strings.IndexByte(b, '"'):])
	}
	slices.SortFunc(std, byPath)
	slices.SortFunc(others, byPath)
	text := "package main\n\n"
	if len(std)+len(others) > 0 {
		text += "import (\n" + strings.Join(std, "\n") + "\n\n" + strings.Join(others, "\n") + "\n)\n"
	}
	out, err := format.Source([]byte(text + body.String()))
	if err != nil {
		return nil, fmt.Errorf("the program can't be formatted: %w", err)
	}
	return out, nil
}
