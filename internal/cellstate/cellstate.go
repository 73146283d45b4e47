// Package cellstate carries a library's global state (a random generator, a mode) from one notebook cell to the
// next.
//
// Every cell of a notebook runs as a new process. Package kernel/persist carries over the variables; a library with
// its own state registers it here, in an init function, and persist saves and loads it together with the variables:
//
//	func init() { cellstate.Register("tensor/random", saveRandom, loadRandom) }
//
// Outside a notebook nothing calls the functions, and registering costs nothing.
package cellstate

import (
	"sync"
	"sync/atomic"
)

// An Entry is one registered piece of state.
type Entry struct {
	Name string
	Save func() []byte            // returns the state; nil means that it is still the initial one
	Load func(state []byte) error // gets what Save returned in an earlier process
}

var (
	mu      sync.Mutex
	entries []Entry
)

// Register registers a piece of global state under a name that no other package uses, such as "tensor/random". Both
// functions must be safe to call while other goroutines use the library. Register panics if the name is taken.
func Register(name string, save func() []byte, load func([]byte) error) {
	mu.Lock()
	defer mu.Unlock()
	for _, e := range entries {
		if e.Name == name {
			panic("cellstate: " + name + " is registered twice")
		}
	}
	entries = append(entries, Entry{name, save, load})
}

// Entries returns what has been registered, in the order of registration. The slice is the caller's.
func Entries() []Entry {
	mu.Lock()
	defer mu.Unlock()
	return append([]Entry(nil), entries...)
}

var cell atomic.Int64

// Cell returns the number of the notebook cell that this process runs, 0 outside a notebook. A value that can't be
// kept completely, such as a gradient graph, uses it to say where it was made.
func Cell() int { return int(cell.Load()) }

// SetCell notes the number of the cell; the kernel's own code calls it.
func SetCell(n int) { cell.Store(int64(n)) }
