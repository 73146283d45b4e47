// Package callsite finds the line of the user's program that called into the library,
// so that an error can point to it.
package callsite

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/lectern-go/lectern/internal/cellstate"
)

// modulePath is the import path of the library, the part of a function's name
// that tells its code from the user's.
const modulePath = "github.com/lectern-go/lectern/"

// Place is a point in the running program. It is cheap to take: its line is only
// worked out on request.
type Place struct {
	pcs [24]uintptr
	n   int
}

// Here returns the current place.
func Here() (p Place) {
	p.n = runtime.Callers(2, p.pcs[:])
	return p
}

// Position returns file:line of the innermost frame outside the library, or "" if there is none or the program is a
// notebook's cell. Tests of the library count as outside.
func (p *Place) Position() string {
	// A copy, so that the place itself may stay on the stack.
	return position(append([]uintptr(nil), p.pcs[:p.n]...))
}

// Position returns the position of the current place.
func Position() string {
	var pcs [64]uintptr
	return position(pcs[:runtime.Callers(2, pcs[:])])
}

func position(pcs []uintptr) string {
	// In a notebook, the kernel generates the file, and the reader has never seen its
	// lines; the kernel names the cell's own line beside the error.
	if len(pcs) == 0 || cellstate.Cell() > 0 {
		return ""
	}
	frames := runtime.CallersFrames(pcs)
	for {
		frame, more := frames.Next()
		if frame.Function == "" || !isLibrary(frame) {
			if frame.File == "" {
				return ""
			}
			return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
		}
		if !more {
			return ""
		}
	}
}

func isLibrary(f runtime.Frame) bool {
	if strings.HasSuffix(f.File, "_test.go") {
		return false
	}
	return strings.HasPrefix(f.Function, modulePath) || strings.HasPrefix(f.Function, "runtime.")
}
