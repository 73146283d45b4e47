package cellstate

import "sync"

var (
	sameMu sync.Mutex
	same   []any
)

// Same says that a pointer to something of a library's own, which the library registers as its state, is the same in
// every process: variables that hold it come back with the pointer that the later process has. name is that of the
// function or variable by which others get it, with the path of its package.
func Same(name string, pointer any) {
	sameMu.Lock()
	defer sameMu.Unlock()
	same = append(same, name, pointer)
}

// SamePointers returns what Same was given: pairs of name and pointer.
func SamePointers() []any {
	sameMu.Lock()
	defer sameMu.Unlock()
	return append([]any(nil), same...)
}
