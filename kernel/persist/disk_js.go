package persist

import (
	"errors"
	"os"
	"syscall/js"
	"unsafe"
)

// A page copies its files straight to and from a program's memory. Go's own way of reading and writing files
// copies them twice more, and calls JavaScript a dozen times for each. These functions are in
// kernel/live/assets/machine.js.
var page = js.Global().Get("lecternFiles")

// call asks the page to do something with a file and memory, and reports whether it did; ok is false if there is no
// page.
func call(what, path string, b []byte) (did, ok bool) {
	if page.IsUndefined() {
		return false, false
	}
	return page.Call(what, path, uintptr(unsafe.Pointer(unsafe.SliceData(b))), len(b)).Bool(), true
}

// mapFile reads a whole file.
func mapFile(path string, size int) ([]byte, error) {
	b := make([]byte, size)
	if read, ok := call("read", path, b); !ok {
		return os.ReadFile(path)
	} else if !read {
		return nil, errors.New("file " + path + " is not there, or of another size")
	}
	return b, nil
}

// readFile reads a whole file.
func readFile(path string) ([]byte, error) {
	if page.IsUndefined() {
		return os.ReadFile(path)
	}
	file := page.Call("bytes", path)
	if file.IsUndefined() {
		return nil, &os.PathError{Op: "open", Path: path, Err: os.ErrNotExist}
	}
	b := make([]byte, file.Length())
	js.CopyBytesToGo(b, file)
	return b, nil
}

// writeArray writes a new file.
func writeArray(path string, b []byte) error {
	if _, ok := call("write", path, b); ok {
		return nil
	}
	return os.WriteFile(path, b, 0o600)
}

// writeFile replaces a file in one step.
func writeFile(path string, b []byte) error {
	if page.IsUndefined() {
		return os.WriteFile(path, b, 0o600)
	}
	file := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(file, b)
	page.Call("put", path, file)
	return nil
}

// sameFile reports whether a file, which is as long as b, has these bytes.
func sameFile(path string, b []byte) bool {
	same, ok := call("same", path, b)
	return ok && same
}

const shared = false

func free(dir string) int64 { return 1 << 62 }
