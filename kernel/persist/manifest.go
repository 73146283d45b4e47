package persist

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
)

// DirVar is the environment variable that names the folders for kept values: the first for everything, a second, on a
// larger disk, for arrays that do not fit into it. They are separated as in PATH.
const DirVar = "LECTERN_KEEP_DIR"

// LimitVar is the environment variable that limits the bytes kept by one kernel.
const LimitVar = "LECTERN_KEEP_LIMIT"

// A Manifest says which variables are kept in a folder.
type Manifest struct {
	Saves  int               // how often values have been saved
	Next   int               // numbers groups and arrays
	Vars   map[string]Var    // by name
	Groups map[int]Group     // by number; the file is g followed by it
	Notes  map[string]string // by variable: why it is not remembered
	States map[string][]byte // global state of libraries, by the name it is registered under
}

// A Var describes a kept variable.
type Var struct {
	Group int
	Type  string   // as Go source, with full package paths
	Sig   string   // the structure of the type, by which a changed type is noticed
	Bytes int64    // how much memory its value takes, what it shares included
	Data  int64    // how much of that its elements take; the rest is what they are kept in. 0 if it has none
	Shape string   // "3 × 4" of a tensor, the length of a slice or map, else empty
	Types []string // the cells' own types that its value holds, statically or in interfaces, without "main."
}

// A Group is a set of variables that share memory or are alone.
type Group struct {
	Vars   []string
	Arrays []string // files of large arrays
	Regs   []string // concrete types held in interfaces, for which a cell must call Reg to restore the group
	Links  []string // expressions whose values hold types that can't be named; a cell must pass them to Link to restore the group
	Funcs  []string // ids of functions and literals, for which a cell must call Fn or Lit to restore the group
	Shared []string // names of variables of libraries, such as database/sql.ErrNoRows, which a cell must pass to Same to restore the group
}

const manifestName = "vars"

// format is the version of the form in which values are written; a new form takes the next lower number. It is
// negative, since manifests that have none yet begin with a count.
const format = -3

// A FormatError reports values that another version of Lectern has written, in another form.
type FormatError struct{ Dir string }

func (e *FormatError) Error() string {
	return fmt.Sprintf("the values in %s were saved by another version of Lectern, in a form that this one can't read: run the cells and save their values again", e.Dir)
}

func newManifest() *Manifest {
	return &Manifest{Vars: map[string]Var{}, Groups: map[int]Group{}, Notes: map[string]string{}, States: map[string][]byte{}}
}

// ReadManifest reads the manifest of a folder; one that has none yet gives an empty manifest, and another version's a
// [FormatError].
func ReadManifest(dir string) (*Manifest, error) {
	m := newManifest()
	b, err := readFile(filepath.Join(dir, manifestName))
	if errors.Is(err, os.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	r := reader{b: b}
	if r.int() != format && r.err == nil {
		return m, &FormatError{dir}
	}
	m.Saves, m.Next = r.int(), r.int()
	for n := r.int(); n > 0 && r.err == nil; n-- {
		name := r.string()
		m.Vars[name] = Var{Group: r.int(), Type: r.string(), Sig: r.string(), Bytes: int64(r.int()), Data: int64(r.int()), Shape: r.string(), Types: r.strings()}
	}
	for n := r.int(); n > 0 && r.err == nil; n-- {
		id := r.int()
		m.Groups[id] = Group{Vars: r.strings(), Arrays: r.strings(), Regs: r.strings(),
			Links: r.strings(), Funcs: r.strings(), Shared: r.strings()}
	}
	for n := r.int(); n > 0 && r.err == nil; n-- {
		k := r.string()
		m.Notes[k] = r.string()
	}
	for n := r.int(); n > 0 && r.err == nil; n-- {
		k := r.string()
		m.States[k] = []byte(r.string())
	}
	if r.err != nil {
		return newManifest(), fmt.Errorf("keep: %s: %w", filepath.Join(dir, manifestName), r.err)
	}
	return m, nil
}

// write replaces the manifest in dir in one step.
func (m *Manifest) write(dir string) error {
	var w writer
	w.int(format)
	w.int(m.Saves)
	w.int(m.Next)
	w.int(len(m.Vars))
	for _, k := range sorted(m.Vars) {
		v := m.Vars[k]
		w.string(k)
		w.int(v.Group)
		w.string(v.Type)
		w.string(v.Sig)
		w.int(int(v.Bytes))
		w.int(int(v.Data))
		w.string(v.Shape)
		w.strings(v.Types)
	}
	w.int(len(m.Groups))
	for id, g := range m.Groups {
		w.int(id)
		w.strings(g.Vars)
		w.strings(g.Arrays)
		w.strings(g.Regs)
		w.strings(g.Links)
		w.strings(g.Funcs)
		w.strings(g.Shared)
	}
	w.int(len(m.Notes))
	for _, k := range sorted(m.Notes) {
		w.string(k)
		w.string(m.Notes[k])
	}
	w.int(len(m.States))
	for _, k := range sorted(m.States) {
		w.string(k)
		w.string(string(m.States[k]))
	}
	return writeFile(filepath.Join(dir, manifestName), w.b)
}

// Process reports whether what a process has besides its variables differs from what it began with.
func (m *Manifest) Process() bool { return m.States[processName] != nil }

// Forget removes variables from the folder's manifest. It must not be called while a cell runs.
func Forget(dir string, names ...string) error {
	m, err := ReadManifest(dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		delete(m.Vars, n)
		delete(m.Notes, n)
	}
	return m.write(dir)
}

// Reset makes the folder's manifest forget what the user has been told, and what a cell has set for its process. It
// must not be called while a cell runs.
func Reset(dir string) error {
	m, err := ReadManifest(dir)
	if err != nil {
		return err
	}
	clear(m.Notes)
	delete(m.States, processName)
	return m.write(dir)
}

// Undo makes m the folder's manifest again: of what [Forget] and [Reset] have done since m was read, nothing is left.
// If a program has saved since then, it does nothing. It must not be called while a cell runs.
func (m *Manifest) Undo(dir string) error {
	now, err := ReadManifest(dir)
	if err != nil || now.Saves != m.Saves {
		return err
	}
	return m.write(dir)
}

// live drops groups that no variable belongs to, and returns the files that are still needed.
func (m *Manifest) live() map[string]bool {
	used := map[int]bool{}
	for _, v := range m.Vars {
		used[v.Group] = true
	}
	files := map[string]bool{manifestName: true}
	for id, g := range m.Groups {
		if !used[id] {
			delete(m.Groups, id)
			continue
		}
		files[groupName(id)] = true
		for _, a := range g.Arrays {
			files[a] = true
		}
	}
	return files
}

func groupName(id int) string { return "g" + strconv.Itoa(id) }

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// writer and reader are the format of our files: signed varints, and strings after their length.
type writer struct{ b []byte }

func (w *writer) int(n int)       { w.b = binary.AppendVarint(w.b, int64(n)) }
func (w *writer) string(s string) { w.int(len(s)); w.b = append(w.b, s...) }
func (w *writer) strings(l []string) {
	w.int(len(l))
	for _, s := range l {
		w.string(s)
	}
}

var errShort = errors.New("file cut short")

type reader struct {
	b   []byte
	err error
}

func (r *reader) int() int {
	n, k := binary.Varint(r.b)
	if k <= 0 {
		r.err, r.b = errShort, nil
		return 0
	}
	r.b = r.b[k:]
	return int(n)
}

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.err, r.b = errShort, nil
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) string() string { return string(r.bytes(r.int())) }

func (r *reader) strings() []string {
	var l []string
	for n := r.int(); n > 0 && r.err == nil; n-- {
		l = append(l, r.string())
	}
	return l
}
