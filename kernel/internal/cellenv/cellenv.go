// Package cellenv says how the go command is set up for cells: setup, the
// kernelspec and the kernel must agree, or the build cache that setup fills
// does not serve the first cell.
package cellenv

import "runtime"

// Flags is the GOFLAGS that cells are built with. Linking is most of the time
// that a cell takes: no symbol table, no debugging data and, where cgo is used,
// Go's own linker instead of the system's, save most of it. gonum/plot comes
// without its writers of file formats: the front imports those into cells that
// may write a file. Package keep sees what of Go's own state tells waiting from a
// deadlock, which the linker must let it.
func Flags() string {
	ld := "-s -w -checklinkname=0"
	if runtime.GOOS == "linux" {
		ld += " -linkmode=internal"
	}
	return "-buildvcs=false -tags=minimal,lectern_cell '-ldflags=" + ld + "'"
}

// Env is the part of the environment that decides how cells are built.
func Env() map[string]string {
	return map[string]string{
		"GOFLAGS": Flags(),
		"GOPROXY": "off", // else each cell asks the network about its modules
		"GOSUMDB": "off",
		"GOWORK":  "", // the cell's own go.work, not one that the user has named
	}
}
