package mine

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lectern-go/lectern/internal/testenv"
	"github.com/lectern-go/lectern/kernel/internal/packages"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/kernel/persist"
	"github.com/lectern-go/lectern/notebooks/lesson"
)

var update = flag.Bool("update", false, "write the lessons' solutions to notebooks/mine")

const ours = "../../../notebooks/mine"

var pkgs = sync.OnceValue(func() *packages.Packages {
	return packages.New(packages.Config{Dir: "../../..", Env: os.Environ(), Warm: []string{"std"}, Name: []string{"github.com/lectern-go/lectern/..."},
		State: "github.com/lectern-go/lectern/internal/cellstate"})
})

// functions and test are what the kernel has of package lesson.
func functions() (list []Function) {
	for _, k := range lesson.KeptFunctions() {
		list = append(list, Function(k))
	}
	return list
}

func test(k Function) []byte { return lesson.Kept(k).Test() }

// cells makes programs of cells, as if each had run and kept what it defines.
type cells struct {
	session  *rewrite.Session
	manifest *persist.Manifest
	n        int
}

func newCells() *cells {
	c := &cells{manifest: &persist.Manifest{Vars: map[string]persist.Var{}, Groups: map[int]persist.Group{}, Notes: map[string]string{}}}
	c.session = rewrite.NewSession(pkgs(), func() *persist.Manifest { return c.manifest })
	return c
}

func (c *cells) program(source string) (string, error) {
	c.n++
	r := c.session.Rewrite(c.n, source)
	if len(r.Errors) > 0 {
		return "", fmt.Errorf("%s: %s", r.Errors[0].Msg, source)
	}
	c.session = r.Next
	for _, name := range r.Defines {
		c.manifest.Vars[name] = persist.Var{Group: c.n}
		g := c.manifest.Groups[c.n]
		g.Vars = append(g.Vars, name)
		c.manifest.Groups[c.n] = g
	}
	return r.Plain, nil
}

// TestOurs: notebooks/mine has the lessons' solutions as they come out of the cells.
func TestOurs(t *testing.T) {
	lessons, err := filepath.Glob("../../../notebooks/*.ipynb")
	if err != nil || len(lessons) == 0 {
		t.Fatal("there are no lessons", err)
	}
	p := &Package{Functions: functions(), Test: test, Dir: t.TempDir(), Importer: pkgs()}
	solved := map[string]bool{}
	programs := map[Function]string{}
	for _, path := range lessons {
		n, err := notebook.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		c := newCells()
		for _, cell := range n.Cells {
			k := solvedBy(cell)
			if cell.Type != "code" || cell.HasTag("exercise") || k == nil && !declares(cell) {
				continue
			}
			program, err := c.program(cell.Source)
			if k == nil { // a solution may need it; if it needs a variable it fails here, and no solution needs it
				continue
			}
			var text string
			if err == nil {
				text, err = p.extract(*k, program)
			}
			if err == nil {
				_, _, err = p.put(*k, stamp(*k, byUs, text))
			}
			if err != nil {
				t.Errorf("%s: exercise %s: %v", filepath.Base(path), k.Key, err)
			}
			solved[k.Key] = err == nil
			programs[*k] = program
		}
	}
	for _, k := range functions() {
		if !solved[k.Key] {
			t.Errorf("no lesson has a solution of exercise %s", k.Key)
		}
	}
	want := texts(t, p.Dir)
	// Beside all others, as on a page, each comes out as it is here: so it is known as ours.
	for k, program := range programs {
		if text, err := p.extract(k, program); err != nil || rest(want[fileOf(k.Name)]) != "\n"+text {
			t.Errorf("beside all others, the solution of exercise %s is another (%v):\n%s", k.Key, err, text)
		}
	}
	if *update {
		for name := range texts(t, ours) {
			if want[name] == "" && name != "doc.go" {
				os.Remove(filepath.Join(ours, name))
			}
		}
		for name, text := range want {
			if err := write(filepath.Join(ours, name), text); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := texts(t, ours)
	delete(got, "doc.go")
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("notebooks/mine/%s is not the lesson's solution: go test ./kernel/internal/mine -run TestOurs -update writes it", name)
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("notebooks/mine/%s belongs to no lesson", name)
	}
}

// solvedBy says which function the solution in a cell gives lesson.Grade, or nil.
func solvedBy(cell *notebook.Cell) *Function {
	for _, k := range functions() {
		if cell.HasTag("solution") && strings.Contains(cell.Source, fmt.Sprintf("lesson.Grade(%q,", k.Key)) {
			return &k
		}
	}
	return nil
}

// declares reports whether a cell begins with a function.
func declares(cell *notebook.Cell) bool {
	for line := range strings.Lines(cell.Source) {
		if !strings.HasPrefix(line, "//") {
			return strings.HasPrefix(line, "func ")
		}
	}
	return false
}

func texts(t *testing.T, dir string) map[string]string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, path := range list {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(path)] = string(b)
	}
	return texts
}

// A package that is begun once more finds the library where it is now, and leaves all that the student has written.
func TestMakeAgain(t *testing.T) {
	dir, library, moved := t.TempDir(), t.TempDir(), t.TempDir()
	for _, root := range []string{library, moved} {
		if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module x\n\ngo 1.26.0\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	work := filepath.Join(dir, "go.work")
	makes := func(root string) string {
		t.Helper()
		if err := Make(dir, root); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(work)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	makes(library)
	text := makes(moved)
	if !strings.Contains(text, filepath.ToSlash(moved)) {
		t.Errorf("the library is at %s now, and go.work has\n%s", moved, text)
	}
	for _, theirs := range []string{strings.Replace(text, "\t./mine\n", "\t./mine\n\t./project\n", 1), text + "\nreplace x => ./x\n", "go 1.26\n\nuse ./project\n"} {
		if err := os.WriteFile(work, []byte(theirs), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := makes(library); got != theirs {
			t.Errorf("a go.work of the student,\n%s\nis now\n%s", theirs, got)
		}
	}
}

// Nothing that a student has changed by hand is lost, and a test that is gone comes back with the next grade.
func TestPutKeeps(t *testing.T) {
	p := &Package{Functions: functions(), Test: test, Dir: t.TempDir()}
	k, _ := p.kept("01.4")
	path := func(name string) string { return filepath.Join(p.Dir, name) }
	put := func(text, before string) {
		t.Helper()
		got, _, err := p.put(k, stamp(k, byStudent, text))
		if err != nil {
			t.Fatal(err)
		}
		if got != "" {
			got = filepath.Base(got)
		}
		if got != before {
			t.Errorf("the version before is in %q, want %q", got, before)
		}
		if _, err := os.Stat(path("merge_test.go")); err != nil {
			t.Error(err)
		}
	}
	edit := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(path(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("one", "")
	put("two", "merge.go.bak")
	edit("merge.go.bak", "notes on the first")
	put("three", "merge.go.bak2")
	if err := os.Remove(path("merge_test.go")); err != nil {
		t.Fatal(err)
	}
	put("three", "")
	edit("merge_test.go", "cases of my own")
	put("four", "merge.go.bak2") // which holds two, as it was graded
	edit("merge.go", "by hand")
	put("five", "")
	for name, want := range map[string]string{"merge.go": "by hand", "merge.go.bak": "notes on the first", "merge_test.go": "cases of my own"} {
		if b, err := os.ReadFile(path(name)); err != nil || string(b) != want {
			t.Errorf("%s has %q (%v), want %q", name, b, err, want)
		}
	}
}

// A student who runs all cells of a lesson, and so our solution after their own, keeps their own.
func TestOurSolutionIsNotTheirs(t *testing.T) {
	const theirs = "func merge(ids []int, left, right, id int) []int { return ids }\nlesson.Grade(\"01.4\", merge)"
	n, err := notebook.Read("../../../notebooks/01-tokenization.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(n.Cells, func(c *notebook.Cell) bool { k := solvedBy(c); return k != nil && k.Key == "01.4" })
	p := &Package{Functions: functions(), Test: test, Dir: t.TempDir(), Ours: ours, Importer: pkgs()}
	for _, step := range []struct{ cell, says, first string }{
		{n.Cells[i].Source, "It is mine.Merge from now on", byUs},
		{theirs, "It is mine.Merge from now on", byStudent},
		{n.Cells[i].Source, "mine.Merge stays yours", byStudent},
	} {
		program, err := newCells().program(step.cell)
		if err != nil {
			t.Fatal(err)
		}
		if said := p.Keep("01.4", program); !strings.Contains(said, step.says) {
			t.Errorf("it says %q, want %q", said, step.says)
		}
		if first, _, _ := strings.Cut(texts(t, p.Dir)["merge.go"], "\n"); !strings.Contains(first, step.first) {
			t.Errorf("the file begins with %q, want that it is %s", first, step.first)
		}
	}
}

// The go command is told of modules that only the cells have.
func TestForeign(t *testing.T) {
	for path, foreignIs := range map[string]bool{"slices": false, "math/rand/v2": false, "github.com/lectern-go/lectern/tensor": false, "golang.org/x/exp/maps": true, "github.com/lectern-go/lectern2/x": true} {
		if got := foreign(fmt.Sprintf("package mine\n\nimport %q\n", path)); (got == path) != foreignIs {
			t.Errorf("of %s it says %q", path, got)
		}
	}
}

// What a function needs of the cells goes along, under names that the package does not have yet.
func TestExtract(t *testing.T) {
	const merge = "func merge(ids []int, left, right, id int) []int { return ids[:add(left, 0)] }\n"
	for _, c := range []struct {
		name  string
		cells []string
		key   string
		there map[string]string // files of the package
		want  []string
		not   []string
		err   string
	}{
		{name: "a helper", cells: []string{"func add(a, b int) int { return a + b }", merge + `lesson.Grade("01.4", merge)`},
			want: []string{"func add(a, b int) int", "// Merge is the function merge of exercise 01.4.\nfunc Merge("}},
		{name: "a helper whose name another file has", cells: []string{"// add adds.\nfunc add(a, b int) int { return a + b }", merge + `lesson.Grade("01.4", merge)`},
			there: map[string]string{"a.go": "package mine\n\nfunc add() {}\n"}, want: []string{"// mergeAdd adds.\nfunc mergeAdd(", "ids[:mergeAdd(left, 0)]"}},
		{name: "what nothing needs", cells: []string{"func other() {}", "func add(a, b int) int { return a + b }", merge + `lesson.Grade("01.4", merge)`}, not: []string{"other"}},
		{name: "types with methods, and constants", cells: []string{"type pair struct{ a, b int }", "const first = 1", "func (p pair) sum() int { return p.a + first }",
			"func merge(ids []int, left, right, id int) []int { return ids[:pair{left, right}.sum()] }\n" + `lesson.Grade("01.4", merge)`},
			want: []string{"type pair struct", "const first = 1", "func (p pair) sum() int"}},
		{name: "recursion, and the comment of the cell", cells: []string{
			"// merge is mine.\nfunc merge(ids []int, left, right, id int) []int { return merge(ids, left, right, id) }\n" + `lesson.Grade("01.4", merge)`},
			want: []string{"// Merge is mine.\nfunc Merge(", "return Merge(ids"}},
		{name: "an import under another name", cells: []string{"import list \"slices\"\n" + `
func merge(ids []int, left, right, id int) []int { return list.Clone(ids) }
lesson.Grade("01.4", merge)`}, want: []string{`import list "slices"`}},
		{name: "functions of other lessons", cells: []string{"func encode(text string, merges [][2]int) []int { return mine.Strides(mine.Merge(nil, 1, 2, 3)) }\n" + `lesson.Grade("01.6", encode)`}, key: "01.6",
			there: map[string]string{"a.go": "package mine\n\nfunc Strides(s []int) []int { return s }\nfunc Merge(ids []int, left, right, id int) []int { return ids }\n"},
			want:  []string{"return Strides(Merge(nil"}, not: []string{"import"}},
		{name: "functions of other lessons that are not there", cells: []string{"func encode(text string, merges [][2]int) []int { return mine.Strides(nil) }\n" + `lesson.Grade("01.6", encode)`}, key: "01.6",
			err: "undefined: Strides"},
		{name: "a function of the lesson that is there", key: "01.6", there: map[string]string{"merge.go": "package mine\n\nfunc Merge(ids []int, left, right, id int) []int { return ids }\n"},
			cells: []string{"func merge(ids []int, left, right, id int) []int { return ids }", "func encode(text string, merges [][2]int) []int { return merge(nil, 1, 2, 3) }\n" + `lesson.Grade("01.6", encode)`},
			want:  []string{"return Merge(nil"}, not: []string{"func merge"}},
		{name: "one that is not there", key: "01.6",
			cells: []string{"func merge(ids []int, left, right, id int) []int { return ids }", "func encode(text string, merges [][2]int) []int { return merge(nil, 1, 2, 3) }\n" + `lesson.Grade("01.6", encode)`},
			want:  []string{"return merge(nil", "func merge("}},
		{name: "a variable", cells: []string{"n := 2", "func merge(ids []int, left, right, id int) []int { return ids[:n] }\n" + `lesson.Grade("01.4", merge)`}, err: "the variable n"},
		{name: "a name for the exercise", cells: []string{"const which = \"01.4\"", "func merge(ids []int, left, right, id int) []int { return ids }\nlesson.Grade(which, merge)"}, want: []string{"func Merge("}},
		{name: "two functions, one of which may be wrong", cells: []string{"func wrong(ids []int, left, right, id int) []int { return nil }",
			"func merge(ids []int, left, right, id int) []int { return ids }\n" + `lesson.Grade("01.4", merge)` + "\n" + `lesson.Grade("01.4", wrong)`}, err: "several functions for exercise 01.4"},
		{name: "a function and a literal", cells: []string{"func merge(ids []int, left, right, id int) []int { return ids }\n" + `lesson.Grade("01.4", merge)` + "\n" +
			"lesson.Grade(`01.4`, func(ids []int, left, right, id int) []int { return nil })"}, err: "several functions"},
		{name: "a function literal", cells: []string{"merge := func(ids []int, left, right, id int) []int { return ids }\n" + `lesson.Grade("01.4", merge)`}, err: "func merge("},
		{name: "a name that a file by hand has", cells: []string{"func add(a, b int) int { return a + b }", merge + `lesson.Grade("01.4", merge)`},
			there: map[string]string{"a.go": "package mine\n\nfunc Merge() {}\n"}, err: "Merge redeclared"},
		{name: "a helper with the name of what another file imports", cells: []string{"func slices(a, b int) int { return a + b }", "func merge(ids []int, left, right, id int) []int { return ids[:slices(left, 0)] }\n" + `lesson.Grade("01.4", merge)`},
			there: map[string]string{"a.go": "package mine\n\nimport \"slices\"\n\nvar clip = slices.Clip[[]int]\n"}, want: []string{"func mergeSlices(", "ids[:mergeSlices("}},
		{name: "an import with the name of another file's helper", cells: []string{"func merge(ids []int, left, right, id int) []int { return slices.Clone(ids) }\n" + `lesson.Grade("01.4", merge)`},
			there: map[string]string{"a.go": "package mine\n\nfunc slices() {}\n"}, err: "slices already declared through import of package slices (\"slices\") (mine/a.go:3)"},
		{name: "beside a mistake of another file", cells: []string{"func merge(ids []int, left, right, id int) []int { return ids }\n" + `lesson.Grade("01.4", merge)`},
			there: map[string]string{"a.go": "package mine\n\nvar n int = missing\n"}, want: []string{"func Merge("}},
		{name: "beside a file that does not compile", cells: []string{"func add(a, b int) int { return a + b }", merge + `lesson.Grade("01.4", merge)`},
			there: map[string]string{"a.go": "package mine\n\nfunc ("}, want: []string{"func Merge("}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &Package{Functions: functions(), Test: test, Dir: t.TempDir(), Importer: pkgs()}
			for name, text := range c.there {
				if err := os.WriteFile(filepath.Join(p.Dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			cells := newCells()
			var program string
			for _, source := range c.cells {
				var err error
				if program, err = cells.program(source); err != nil {
					t.Fatal(err)
				}
			}
			key := c.key
			if key == "" {
				key = "01.4"
			}
			k, _ := p.kept(key)
			text, err := p.extract(k, program)
			if err != nil && c.err == "" || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Fatalf("the error is %v, want %q\n%s", err, c.err, text)
			}
			for _, w := range c.want {
				if !strings.Contains(text, w) {
					t.Errorf("there is no %q in\n%s", w, text)
				}
			}
			for _, n := range c.not {
				if strings.Contains(text, n) {
					t.Errorf("there is %q in\n%s", n, text)
				}
			}
		})
	}
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "../../..") }
