package persist

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"reflect"
	"strconv"
	"time"
	"unsafe"
)

// Some values are what they are by identity: programs compare errors with io.EOF, and time.Local is not a copy of it.
// They are variables of libraries, so they are written by name, and a later process has them itself.

var (
	same     = map[string]reflect.Value{} // by name: what the variable holds, not an interface
	samePtrs = map[place]string{}         // by address and type, for pointers
	sameVals = map[any]string{}           // for other values that can be compared
	lowSame  = ^uintptr(0)                // the addresses lie in lowSame … highSame
	highSame uintptr
)

// Same makes values of libraries known by name, given as pairs of name and value: exported variables that hold errors
// or pointers, such as "database/sql.ErrNoRows", sql.ErrNoRows. They come back as themselves, and not as copies.
func Same(namesAndValues ...any) {
	mu.Lock()
	defer mu.Unlock()
	learnSame(namesAndValues...)
}

func learnSame(pairs ...any) {
	for i := 0; i+1 < len(pairs); i += 2 {
		name, v := pairs[i].(string), reflect.ValueOf(pairs[i+1])
		switch {
		case !v.IsValid() || !v.Comparable():
			continue
		case v.Kind() == reflect.Pointer:
			if v.IsNil() || v.Type().Elem().Size() == 0 {
				continue
			}
			k := place{v.Pointer(), v.Type().Elem(), 0}
			if _, ok := samePtrs[k]; !ok {
				samePtrs[k] = name
			}
			lowSame, highSame = min(lowSame, k.p), max(highSame, k.p)
		case !v.Type().Implements(errorType):
			continue
		default:
			if _, ok := sameVals[v.Interface()]; !ok {
				sameVals[v.Interface()] = name
			}
		}
		same[name] = v
	}
}

func init() {
	learnSame(
		"io.EOF", io.EOF, "io.ErrUnexpectedEOF", io.ErrUnexpectedEOF, "io.ErrShortWrite", io.ErrShortWrite, "io.ErrShortBuffer", io.ErrShortBuffer,
		"io.ErrNoProgress", io.ErrNoProgress, "io.ErrClosedPipe", io.ErrClosedPipe,
		"io/fs.ErrNotExist", fs.ErrNotExist, "io/fs.ErrExist", fs.ErrExist, "io/fs.ErrPermission", fs.ErrPermission, "io/fs.ErrClosed", fs.ErrClosed,
		"io/fs.ErrInvalid", fs.ErrInvalid, "io/fs.SkipDir", fs.SkipDir, "io/fs.SkipAll", fs.SkipAll,
		"os.ErrProcessDone", os.ErrProcessDone, "os.ErrNoDeadline", os.ErrNoDeadline, "os.ErrDeadlineExceeded", os.ErrDeadlineExceeded,
		"os.Stdin", os.Stdin, "os.Stdout", os.Stdout, "os.Stderr", os.Stderr,
		"errors.ErrUnsupported", errors.ErrUnsupported, "strconv.ErrRange", strconv.ErrRange, "strconv.ErrSyntax", strconv.ErrSyntax,
		"context.Canceled", context.Canceled, "context.DeadlineExceeded", context.DeadlineExceeded, "bytes.ErrTooLarge", bytes.ErrTooLarge,
		"time.UTC", time.UTC, "time.Local", time.Local,
	)
}

// inherent reports whether this package makes a name known itself.
var inherent = map[string]bool{}

func init() {
	for name := range same {
		inherent[name] = true
	}
}

// samePointer returns the name of the variable that holds a pointer to t, or "".
func samePointer(p unsafe.Pointer, t reflect.Type) string {
	if a := uintptr(p); a < lowSame || a > highSame {
		return ""
	}
	return samePtrs[place{uintptr(p), t, 0}]
}

// sameValue returns the name of the variable that holds a value of d's type, or "".
func (d *dynamic) sameValue(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		return samePointer(v.UnsafePointer(), v.Type().Elem())
	}
	if !d.isError || !v.Comparable() {
		return ""
	}
	return sameVals[v.Interface()]
}
