package persist

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/lectern-go/lectern/internal/cellstate"
	"github.com/lectern-go/lectern/kernel/internal/inband"
)

// variable is one that the cell has restored or defined.
type variable struct {
	name string
	p    reflect.Value // pointer to it

	company bool // of another variable: the cell itself does not use it
	lost    bool // not restored
}

// mapping is memory that is a file.
type mapping struct {
	name string // of the file, as in Group.Arrays
	mem  []byte
}

var (
	mu       sync.Mutex // guards everything below
	dirs     []string
	limit    = int64(1) << 62
	manifest = newManifest()
	vars     []*variable
	later    []func() // add what Defs has named and the cell has defined
	mappings []mapping
	loaded   = map[int][]byte{} // files of the groups that this cell restored, or saved
	stored   files
	written  bool // the last Save has written the manifest as it is here

	// Of a program that runs several cells one after another:
	turns int                          // that have ended
	alive = map[string]reflect.Value{} // pointers to the variables that they have kept
)

func init() {
	dirs = filepath.SplitList(os.Getenv(DirVar))
	if n, err := strconv.ParseInt(os.Getenv(LimitVar), 10, 64); err == nil && n > 0 {
		limit = n
	}
	os.Unsetenv(DirVar)
	cellstate.SetKeep(func(name string, p any) { Def(name, p) })
}

// Begin restores variables, given as pairs of name and pointer, and returns the function that saves them and those
// that Def names later; a cell defers it. cell is the number of the cell. A value that can't be restored ends the cell
// with an error, unless ~ comes before its name: then the variable is there only because it shares memory with another,
// and is forgotten with a note. After [Turn], variables that the program has already stay as they are.
func Begin(cell int, namesAndPointers ...any) func() {
	cellstate.SetCell(cell)
	if len(dirs) == 0 {
		return func() {}
	}
	mu.Lock()
	defer mu.Unlock()
	vars, later = nil, nil
	if turns == 0 || !written {
		m, err := ReadManifest(dirs[0])
		if err != nil {
			fail("the kept values can't be read: %v", err)
		}
		manifest, stored = m, listFiles(dirs)
	}
	if turns == 0 {
		beginning = settings()
	}
	for _, e := range cellstate.Entries() {
		if b, ok := manifest.States[e.Name]; ok && turns == 0 {
			if err := e.Load(b); err != nil {
				fail("the state of %s can't be restored: %v", e.Name, err)
			}
		}
	}
	learnRegistered()
	groups := map[int][]*variable{}
	for i := 0; i+1 < len(namesAndPointers); i += 2 {
		name, company := strings.CutPrefix(namesAndPointers[i].(string), "~")
		v := &variable{name: name, p: reflect.ValueOf(namesAndPointers[i+1]), company: company}
		k, ok := manifest.Vars[name]
		switch {
		case ok && isAlive(v):
			vars = append(vars, v)
		case ok:
			groups[k.Group] = append(groups[k.Group], v)
			vars = append(vars, v)
		case !company:
			fail("%s has no value: the cell that defines it did not get that far", name)
		}
	}
	for _, v := range slices.Clone(vars) {
		if t := v.p.Type().Elem(); manifest.Vars[v.name].Sig != signature(t) {
			v.lose(&changedError{t, true})
		}
	}
	besideLog(func() { // which a variable may hold as it was in an earlier cell
		for _, id := range slices.Sorted(maps.Keys(groups)) { // the latest last: two may hold the same variable of a library
			restoreGroup(id, groups[id])
		}
	})
	addCompany()
	if turns == 0 {
		watchInterrupt()
	}
	left := Goroutines()
	return func() { save(left() == 0 && !panicking()) }
}

// Goroutines returns a function that says which goroutines end with the cell, and how many they are: those of the
// cells that have begun since. A cell that keeps nothing defers it without Begin.
func Goroutines() func() int {
	ours := runtime.NumGoroutine()
	return func() int {
		if runtime.NumGoroutine() <= ours {
			return 0
		}
		return noteGoroutines()
	}
}

// panicking reports whether its caller runs because of a panic.
func panicking() bool {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for {
		fr, more := frames.Next()
		if fr.Function == "runtime.gopanic" || !more {
			return fr.Function == "runtime.gopanic"
		}
	}
}

// isAlive reports whether an earlier cell of this program has left a variable.
func isAlive(v *variable) bool {
	p, ok := alive[v.name]
	return ok && p.Pointer() == v.p.Pointer()
}

// addCompany adds the variables of this program that by now share memory with those in vars: nobody knew that when the
// cell was rewritten.
func addCompany() {
	groups, there := map[int]bool{}, map[string]bool{}
	for _, v := range vars {
		groups[manifest.Vars[v.name].Group], there[v.name] = true, true
	}
	for _, name := range sorted(alive) {
		if k, ok := manifest.Vars[name]; ok && groups[k.Group] && !there[name] {
			vars = append(vars, &variable{name: name, p: alive[name], company: true})
		}
	}
}

// Turn stands between the cells of a program that runs several: one has ended, and the next begins.
func Turn() {
	mu.Lock()
	turns++
	for _, v := range vars {
		if _, ok := manifest.Vars[v.name]; ok {
			alive[v.name] = v.p
		} else {
			delete(alive, v.name)
		}
	}
	mu.Unlock()
	if inband.On() {
		inband.Send("turn")
	}
}

// lastTurn is how long a goroutine that works when the cell ends may go on before it counts as left over: the last
// thing that it does is often to tell the cell that it is done, and on a busy machine its own end comes later.
const lastTurn = 250 * time.Millisecond

// noteGoroutines says that the cell's goroutines end with its process, and returns how many they are. Those of
// libraries, which wait for work, are not counted.
func noteGoroutines() int {
	n, working := goroutinesLeft()
	for pause := time.Millisecond; working && pause < lastTurn; pause *= 2 {
		time.Sleep(pause)
		n, working = goroutinesLeft()
	}
	switch {
	case n == 1:
		note("", "a goroutine was still running when the cell ended, and ended with it: wait for it in the same cell")
	case n > 1:
		note("", fmt.Sprintf("%d goroutines were still running when the cell ended, and ended with it: wait for them in the same cell", n))
	}
	return n
}

// goroutinesLeft counts the cell's goroutines, and reports whether one of them works, or could, so that it may end by
// itself.
func goroutinesLeft() (n int, working bool) {
	buf := make([]byte, 256<<10)
	for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")[1:] { // the first is this one
		if strings.HasPrefix(g, "goroutine 1 ") { // main itself, in whose place another one saves
			continue
		}
		head, calls, _ := strings.Cut(g, "\n")
		waits := strings.HasPrefix(calls, "sync.(*WaitGroup).Go.") // for its first turn: the function that it will call is not to be seen yet
		if waits || strings.Contains(g, "\nmain.") || strings.Contains(g, "\ncreated by main.") {
			n++
			working = working || strings.Contains(head, "[running") || strings.Contains(head, "[runnable")
		}
	}
	return n, working
}

// restoreGroup restores those members of a group that are not lost.
func restoreGroup(id int, members []*variable) {
	b, err := readFile(filepath.Join(dirs[0], groupName(id)))
	if err == nil {
		err = restoreVars(b, members)
	}
	if err != nil { // try each by itself
		for _, v := range members {
			alone := &variable{name: v.name, p: reflect.New(v.p.Type().Elem())}
			if e := restoreVars(b, []*variable{alone}); e != nil && !v.lost {
				v.lose(e)
			}
			v.p.Elem().SetZero()
		}
		err = restoreVars(b, members)
	}
	if err != nil {
		fail("%s can't be restored: %v", members[0].name, err)
	}
	loaded[id] = b
}

func restoreVars(b []byte, members []*variable) error {
	want := map[string]reflect.Value{}
	for _, v := range members {
		if !v.lost {
			want[v.name] = v.p
		}
	}
	return (&decoder{open: openArray}).restore(b, want)
}

// lose says that a variable can't be restored, and ends the cell if it needs the variable.
func (v *variable) lose(err error) {
	name := cmp.Or(settingNames[v.name], v.name)
	text := fmt.Sprintf("%s can't be restored: %v", name, err)
	if changed := (*changedError)(nil); errors.As(err, &changed) {
		text = fmt.Sprintf("%s was made when %v: run the cell that defines it again", name, changed)
	}
	if !v.company {
		fail("%s", text)
	}
	v.lost = true
	vars = slices.DeleteFunc(vars, func(x *variable) bool { return x == v })
	delete(manifest.Vars, v.name)
	note(name, text)
}

var exit = os.Exit // tests replace it

// fail ends the cell before its first statement.
func fail(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if inband.On() {
		inband.Send("error", "restore", text)
	} else {
		fmt.Fprintln(os.Stderr, text)
	}
	exit(1)
}

// openArray maps the file of an array.
func openArray(name string, size int) (unsafe.Pointer, error) {
	for _, m := range mappings {
		if m.name == name {
			return unsafe.Pointer(unsafe.SliceData(m.mem)), nil
		}
	}
	path, err := arrayPath(name)
	if err != nil {
		return nil, err
	}
	b, err := mapFile(path, size)
	if err != nil {
		return nil, err
	}
	if len(b) != size {
		return nil, fmt.Errorf("file %s has %d bytes, not %d", name, len(b), size)
	}
	mappings = append(mappings, mapping{name, b})
	stored.place(name, uintptr(unsafe.Pointer(unsafe.SliceData(b))))
	return unsafe.Pointer(unsafe.SliceData(b)), nil
}

// arrayPath turns a name such as 1/a12, file a12 of the second folder, into a path.
func arrayPath(name string) (string, error) {
	for i, d := range dirs {
		if prefix := strconv.Itoa(i) + "/"; len(name) > len(prefix) && name[:len(prefix)] == prefix {
			return filepath.Join(d, name[len(prefix):]), nil
		}
	}
	return "", fmt.Errorf("no folder for %q", name)
}

// Def says that variables, given as pairs of name and pointer, have just been defined by this cell.
func Def(namesAndPointers ...any) {
	mu.Lock()
	defer mu.Unlock()
	done := make([]bool, len(namesAndPointers)/2)
	for i := range done {
		done[i] = true
	}
	addDefined(done, namesAndPointers)
}

// Defs names variables that the cell will define, as Def does; by setting done[i] it says that it has defined the i-th.
func Defs(done []bool, namesAndPointers ...any) {
	mu.Lock()
	defer mu.Unlock()
	later = append(later, func() { addDefined(done, namesAndPointers) })
}

func addDefined(done []bool, namesAndPointers []any) {
	at := map[string]int{}
	for i, v := range vars {
		at[v.name] = i
	}
	for i, done := range done {
		if !done {
			continue
		}
		d := &variable{name: namesAndPointers[2*i].(string), p: reflect.ValueOf(namesAndPointers[2*i+1])}
		if old, ok := at[d.name]; ok {
			vars[old] = d
		} else {
			at[d.name] = len(vars)
			vars = append(vars, d)
		}
	}
}

var interrupted atomic.Bool

// Poll lets an interrupted loop end with its values kept. The kernel writes it into the loops of a cell.
func Poll() {
	if interrupted.Load() {
		halt()
	}
}

// halt ends an interrupted cell. All goroutines but the first to come here wait for the end.
func halt() {
	halting.Lock()
	Save()
	os.Exit(130)
}

var halting sync.Mutex

// watchInterrupt turns the first interrupt into an orderly end: at the next Poll, or after a second wherever the cell
// is.
func watchInterrupt() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	if runtime.GOOS != "js" { // a page sees by itself that nothing is to come
		go watchDeadlock()
	}
	go func() {
		<-c
		interrupted.Store(true)
		time.Sleep(time.Second)
		halt()
	}()
}
