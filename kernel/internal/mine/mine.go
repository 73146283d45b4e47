// Package mine writes a student's own package: the functions that lesson.Grade has given all points, each in a file
// with what it needs from the cells, and with a test made from the exercise's cases. It is a module of its own in a
// folder beside the notebooks, so that cells import it as "mine", and the plain go command tests it.
//
// A file that was changed by hand is never written to, and neither is a .bak. When a student grades another version,
// the one before it is kept as .bak. Code that does not compile on its own stays in the notebook. The first line of
// each file has a digest of the rest, by which a change is noticed.
package mine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/internal/atomicfile"
	"github.com/lectern-go/lectern/internal/glob"
)

// Name is that of the package, of its folder and its module.
const Name = "mine"

const about = `// Package mine holds the functions that you have written. When lesson.Grade gives one all its points, it is put here
// with a test made from the exercise's cases, and later lessons import it. You may change every file: what you have
// changed is never overwritten. Try it with
//
//	go test ./mine
package mine
`

// Make begins a student's package in a folder of notebooks. library is the folder of our module, from which the package
// may import. Existing files stay, except for a go.work that is still as Make wrote it: if the library has moved since,
// it is updated.
func Make(folder, library string) error {
	dir := filepath.Join(folder, Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(library, "go.mod"))
	if err != nil {
		return err
	}
	language := goLine.FindString(string(mod))
	module := "module " + Name + "\n\n" + language + "\n"
	work := fmt.Sprintf("// For the go command in this folder.\n\n%s\n\nuse (\n\t./%s\n\t%q\n)\n", language, Name, filepath.ToSlash(library))
	for _, f := range []struct{ path, text string }{
		{filepath.Join(dir, "go.mod"), module},
		{filepath.Join(dir, "doc.go"), about},
		{filepath.Join(folder, "go.work"), work},
	} {
		old, err := os.ReadFile(f.path)
		if err == nil && (string(old) == f.text || !ourWork.Match(old)) {
			continue
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := write(f.path, f.text); err != nil {
			return err
		}
	}
	return nil
}

// Beside returns the folder of the package beside the notebooks in a folder; "" if there is none.
func Beside(folder string) string {
	dir := filepath.Join(folder, Name)
	if mod, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && module.Match(mod) {
		return dir
	}
	return ""
}

var (
	module = regexp.MustCompile(`(?m)^module ` + Name + `\s*$`)
	goLine = regexp.MustCompile(`(?m)^go [\d.]+$`)
	// ourWork is a go.work as Make writes it.
	ourWork = regexp.MustCompile(`^// For the go command in this folder\.\s+go [\d.]+\s+use \(\s+\./` + Name + `\s+"[^"\r\n]*"\s+\)\s+$`)
)

// A Function is one that the package can hold, as lesson.Kept says. Package lesson itself contains the cases of all
// exercises, which pages should not have to load.
type Function struct {
	Key  string // of its exercise
	Func string // its name in the lesson's cells
	Name string // its name in package mine
}

// lesson is the part of the key that names the lesson.
func (k Function) lesson() string {
	number, _, _ := strings.Cut(k.Key, ".")
	return number
}

// A Package is one student's.
type Package struct {
	Functions []Function              // that it can hold
	Test      func(k Function) []byte // what tests one, not formatted yet; nil: there are no tests

	Dir      string // its folder
	Ours     string // the folder with our solutions
	InPage   bool   // the folder is in a page's memory and has all of our solutions, and no student sees it
	Importer types.Importer
}

// Keep puts the function into the package that a cell has given lesson.Grade, and returns what there is to tell about
// it, or "". program is the cell as a program.
func (p *Package) Keep(key, program string) string {
	k, ok := p.kept(key)
	if !ok {
		return ""
	}
	name, file := Name+"."+k.Name, shown(k.Name)
	text, err := p.extract(k, program)
	if err != nil {
		return fmt.Sprintf("It can't become %s: %v.", name, err)
	}
	who := byStudent
	if ours, err := os.ReadFile(filepath.Join(p.Ours, fileOf(k.Name))); err == nil && rest(string(ours)) == "\n"+text {
		if p.has(k) && !p.byUs(k) { // all cells were run, solutions too
			return fmt.Sprintf("%s stays yours: this is our solution.", name)
		}
		who = byUs
	}
	before, was, err := p.put(k, stamp(k, who, text))
	said := ""
	switch {
	case err != nil:
		return fmt.Sprintf("It can't become %s: %v.", name, err)
	case was == same:
		return ""
	case was == changed:
		return fmt.Sprintf("%s was changed by hand, so it stays as it is. To replace it with this version, delete the file and run the cell again.", file)
	case p.InPage && was == another:
		return fmt.Sprintf("%s is this version from now on.", name)
	case p.InPage:
		return fmt.Sprintf("It is %s from now on, in all lessons of this site.", name)
	case was == another:
		said = fmt.Sprintf("%s is this version from now on, in %s; the one before is in %s/%s.", name, file, Name, filepath.Base(before))
	default:
		said = fmt.Sprintf("It is %s from now on, in %s.", name, file)
	}
	if path := foreign(text); path != "" {
		said += fmt.Sprintf(" It imports %s: go test needs that module, too, which \"go get %s\" in the folder %s adds.", path, path, Name)
	}
	return said
}

// foreign is a package that a file imports and that is neither Go's nor ours, or "".
func foreign(text string) string {
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
	if err != nil {
		return "" // the file was written here
	}
	ours, _, _ := strings.Cut(reflect.TypeFor[Package]().PkgPath(), "/kernel/")
	for _, i := range f.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") && !strings.HasPrefix(path, ours+"/") {
			return path
		}
	}
	return ""
}

// Use puts our solution of an exercise into the package, with those of ours that it needs, and returns what there is to
// tell about it.
func (p *Package) Use(key string) string {
	k, ok := p.kept(key)
	if !ok {
		return ""
	}
	if p.InPage && p.byUs(k) {
		return fmt.Sprintf("%s.%s is our solution to exercise %s here until you have your own.", Name, k.Name, key)
	}
	if p.has(k) {
		return fmt.Sprintf("%s.%s is there already: %s stays as it is.", Name, k.Name, shown(k.Name))
	}
	var names []string
	for todo := []Function{k}; len(todo) > 0; todo = todo[1:] {
		k := todo[0]
		text, err := os.ReadFile(filepath.Join(p.Ours, fileOf(k.Name)))
		if err == nil {
			_, _, err = p.put(k, string(text))
		}
		if err != nil {
			return fmt.Sprintf("Our solution can't become %s.%s: %v.", Name, k.Name, err)
		}
		names = append(names, Name+"."+k.Name)
		for _, other := range p.Functions {
			if mentions(text, other.Name) && !p.has(other) && !slices.Contains(todo, other) {
				todo = append(todo, other)
			}
		}
	}
	said := names[0] + " is our solution to exercise " + key + " until you have your own"
	if len(names) > 1 {
		said += ", and so is what it needs: " + strings.Join(names[1:], ", ")
	}
	return said + "."
}

// What was there when a function was put into the package.
type had int

const (
	nothing had = iota // or a solution of ours
	same
	another // which is kept as .bak
	changed // by hand, so that it stays
)

// put writes a function and its test, and returns the file in which the version before it is kept, if there was one.
func (p *Package) put(k Function, text string) (before string, was had, err error) {
	path := filepath.Join(p.Dir, fileOf(k.Name))
	old, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", nothing, err
	case rest(string(old)) == rest(text):
		was = same
	case !pristine(string(old)):
		return "", changed, nil
	case !p.byUs(k):
		was, before = another, backup(path)
		if err := write(before, string(old)); err != nil {
			return "", was, err
		}
	}
	if was != same {
		if err := write(path, text); err != nil {
			return before, was, err
		}
	}
	if p.Test == nil {
		return before, was, nil
	}
	path = strings.TrimSuffix(path, ".go") + "_test.go"
	test, err := p.testOf(k)
	if err != nil {
		return before, was, err
	}
	if old, err := os.ReadFile(path); err == nil && (string(old) == test || !pristine(string(old))) {
		return before, was, nil // the student has more cases
	}
	return before, was, write(path, test)
}

// backup names a file for the version before: one that holds nothing which was changed by hand.
func backup(path string) string {
	name := path + ".bak"
	for i := 2; ; i++ {
		if old, err := os.ReadFile(name); err != nil || pristine(string(old)) {
			return name
		}
		name = fmt.Sprint(path, ".bak", i)
	}
}

// byUs reports whether a function that the package has is our solution, as it was written.
func (p *Package) byUs(k Function) bool {
	b, _ := os.ReadFile(filepath.Join(p.Dir, fileOf(k.Name)))
	first, _, _ := strings.Cut(string(b), "\n")
	return strings.Contains(first, byUs) && pristine(string(b))
}

// has reports whether the package has a function.
func (p *Package) has(k Function) bool {
	_, err := os.Stat(filepath.Join(p.Dir, fileOf(k.Name)))
	return err == nil
}

// Missing says what to do about a name that cells expect in package mine and that is not there; "" for any other name.
func (p *Package) Missing(name string) string {
	for _, k := range p.Functions {
		if k.Name == name {
			return fmt.Sprintf("it is your function %s of exercise %s: write it there and run lesson.Grade, or run lesson.Use(%q) in a cell of its own to go on with ours", k.Func, k.Key, k.Key)
		}
	}
	return ""
}

// kept finds the function of an exercise.
func (p *Package) kept(key string) (Function, bool) {
	if i := slices.IndexFunc(p.Functions, func(k Function) bool { return k.Key == key }); i >= 0 {
		return p.Functions[i], true
	}
	return Function{}, false
}

// fileOf names the file of a function, and shown as students see it.
func fileOf(name string) string { return strings.ToLower(name) + ".go" }
func shown(name string) string  { return Name + "/" + fileOf(name) }

// others reads the files of the package except that of a function, and its tests.
func (p *Package) others(k Function) (map[string]string, error) {
	files := map[string]string{}
	list, err := glob.In(p.Dir, "*.go")
	if err != nil {
		return nil, err
	}
	for _, path := range list {
		name := filepath.Base(path)
		if strings.HasSuffix(name, "_test.go") || name == fileOf(k.Name) {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files[name] = string(b)
	}
	return files, nil
}

// Who wrote a function, as the first line of its file says.
const (
	byStudent = "by you"
	byUs      = "by Lectern"
)

// stamp puts a line in front of a function that says what it is, with a digest of what follows.
func stamp(k Function, who, text string) string {
	return fmt.Sprintf("// Exercise %s, %s. (%s)\n\n%s", k.Key, who, digest("\n"+text), text)
}

func (p *Package) testOf(k Function) (string, error) {
	file, err := format.Source(p.Test(k))
	if err != nil {
		return "", fmt.Errorf("the test of exercise %s: %w", k.Key, err)
	}
	text := "\n" + string(file)
	return fmt.Sprintf("// The cases of exercise %s. (%s)\n%s", k.Key, digest(text), text), nil
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

var stamped = regexp.MustCompile(`^// .* \(([0-9a-f]{12})\)\r?\n`)

// rest is what follows the first line of a file.
func rest(file string) string {
	_, rest, _ := strings.Cut(strings.ReplaceAll(file, "\r\n", "\n"), "\n")
	return rest
}

// pristine reports whether a file is as it was written here.
func pristine(file string) bool {
	m := stamped.FindStringSubmatch(file)
	return m != nil && m[1] == digest(rest(file))
}

// write replaces a file as a whole, or not at all.
func write(path, text string) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// mentions reports whether a file names something.
func mentions(file []byte, name string) bool {
	f, err := parser.ParseFile(token.NewFileSet(), "", file, parser.SkipObjectResolution)
	found := false
	if err == nil {
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			found = found || ok && id.Name == name
			return !found
		})
	}
	return found
}
