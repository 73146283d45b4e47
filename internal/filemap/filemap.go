// Package filemap maps files into memory, so that their pages are read when
// they are first touched and can be dropped again by the system.
package filemap

import (
	"fmt"
	"os"
	"runtime/debug"
)

// Mode says what may be done with a mapping.
type Mode int

const (
	// ReadOnly memory must not be written to; a write ends the process.
	ReadOnly Mode = iota
	// Private memory may be written to. Pages are copied before they are written, and
	// never reach the file.
	Private
	// Shared memory is the file: writes to it go to the file.
	Shared
)

// A Map is the content of a file as memory. If the system has no mappings, it is a
// copy, whatever the mode.
type Map struct {
	Data []byte
	free func() error
}

// Open maps the whole file as it is now.
func Open(path string, mode Mode) (*Map, error) {
	flag := os.O_RDONLY
	if mode == Shared {
		flag = os.O_RDWR
	}
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() // a mapping outlives the descriptor
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	if info.Size() == 0 {
		return &Map{}, nil
	}
	if int64(int(info.Size())) != info.Size() {
		return nil, fmt.Errorf("%s has %d bytes, more than this machine can address", path, info.Size())
	}
	m, err := open(f, int(info.Size()), mode)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	return m, nil
}

// Close gives back the memory; using Data, or a tensor over it, then ends the process.
// A second Close does nothing.
func (m *Map) Close() error {
	free := m.free
	m.Data, m.free = nil, nil
	if free == nil {
		return nil
	}
	return free()
}

// Guard runs f, which reads mapped memory, and returns an error if the memory is gone
// because the file was shortened meanwhile, or because its disk failed.
func Guard(f func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if fault, ok := r.(interface{ Addr() uintptr }); ok {
			err = fmt.Errorf("the file was shortened while it was read, or its disk failed (fault at %#x)", fault.Addr())
		} else if r != nil {
			panic(r)
		}
	}()
	f()
	return nil
}
