// Package caller finds the line of the user's program that called into the
// library, so that an error can point at it.
package caller

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// modulePath is the import path of the library, the part of a function's name
// that tells its code from the user's.
const modulePath = "github.com/lectern-go/lectern/"

// Position returns file:line of the first frame outside the library, or "" if
// there is none. Tests of the library count as outside.
func Position() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
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
