package cellstate

import "sync"

var (
	sameMu sync.Mutex
	same   []any
)

// Same says that a pointer to one of a library's own values, which the library registers as its state, is the same
// in every process: variables that hold it come back with the pointer of the later process. name is the function or
// variable from which others get it, with the path of its package.
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
