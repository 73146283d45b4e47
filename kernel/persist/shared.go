package persist

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"time"
	"unsafe"

	"github.com/lectern-go/lectern/internal/cellstate"
)

// Some values are what they are by identity: programs compare errors with io.EOF, and time.Local is not a copy of it.
// They are variables of libraries, so they are written by name, and a later process has them itself. So it is with
// pointers and slices into the memory of such a variable: they are kept as its name and an offset, and what the
// variable holds, if that can be kept, is put there.

var (
	same     = map[string]reflect.Value{} // by name: what the variable holds, not an interface
	samePtrs = map[place]string{}         // by address and type, for pointers
	sameVals = map[any]string{}           // for other values that can be compared
	lowSame  = ^uintptr(0)                // the addresses lie in lowSame … highSame
	highSame uintptr

	libraryVars      []*libraryVar // by address
	lowVars, endVars = ^uintptr(0), uintptr(0)
)

// A libraryVar is a variable of another package in which pointers may end.
type libraryVar struct {
	name string // after the &
	p    reflect.Value
	bare bool // what it holds can't be kept: this save has seen so
}

func (l *libraryVar) start() uintptr { return l.p.Pointer() }
func (l *libraryVar) end() uintptr   { return l.p.Pointer() + l.p.Type().Elem().Size() }

// libraryAt returns the variable in whose memory an address lies, or nil.
func libraryAt(p uintptr) *libraryVar {
	if p < lowVars || p >= endVars {
		return nil
	}
	i := sort.Search(len(libraryVars), func(i int) bool { return libraryVars[i].end() > p })
	if i < len(libraryVars) && libraryVars[i].start() <= p {
		return libraryVars[i]
	}
	return nil
}

// libraryNamed returns a variable by its name, or nil.
func libraryNamed(name string) *libraryVar {
	for _, l := range libraryVars {
		if l.name == name {
			return l
		}
	}
	return nil
}

// learnVar makes a variable of a library known, to which p points.
func learnVar(name string, p reflect.Value) {
	if p.Type().Elem().Size() == 0 || libraryAt(p.Pointer()) != nil {
		return
	}
	l := &libraryVar{name: name, p: p}
	i := sort.Search(len(libraryVars), func(i int) bool { return libraryVars[i].start() > l.start() })
	libraryVars = slices.Insert(libraryVars, i, l)
	lowVars, endVars = min(lowVars, l.start()), max(endVars, l.end())
}

// Same makes values of libraries known by name, given as pairs of name and value: exported variables that hold errors
// or pointers, such as "database/sql.ErrNoRows", sql.ErrNoRows. They come back as themselves, not as copies. A name
// that begins with & is that of a variable, such as "&os.Args", &os.Args, or of one that a function returns a pointer
// to, such as "&log.Default()", log.Default(): pointers into its memory come back as such.
func Same(namesAndValues ...any) {
	mu.Lock()
	defer mu.Unlock()
	learnSame(namesAndValues...)
}

func learnSame(pairs ...any) {
	for i := 0; i+1 < len(pairs); i += 2 {
		name, v := pairs[i].(string), reflect.ValueOf(pairs[i+1])
		switch {
		case name[0] == '&':
			if !v.IsNil() {
				learnVar(name, v)
			}
			continue
		case !v.IsValid() || !v.Comparable():
			continue
		case v.Kind() == reflect.Pointer:
			if v.IsNil() {
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

// learnRegistered makes known what libraries have registered.
func learnRegistered() {
	pairs := cellstate.SamePointers()
	learnSame(pairs...)
	for i := 0; i < len(pairs); i += 2 {
		inherent[pairs[i].(string)] = true
	}
}

// inherent reports whether a name is known without being registered by the program.
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
