package persist

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/lectern-go/lectern/internal/cellstate"
)

// A kind says how values of a type are kept.
type kind int

const (
	asParts    kind = iota // field by field, element by element
	asBytes                // the type holds no pointers: its memory is its value
	asState                // through KeepState and RestoreState
	asMarshals             // through MarshalBinary and UnmarshalBinary: types whose memory means nothing elsewhere, such as netip.Addr
	asTime                 // a time.Time: without its reading of the process's own clock
	asAtomic               // an atomic.Pointer: as the pointer
	asLock                 // a sync.Mutex or sync.RWMutex: by who holds it; see lockState
	asZero                 // comes back as its zero value
	never                  // can't be kept
)

var (
	keeperType      = reflect.TypeFor[Keeper]()
	marshalerType   = reflect.TypeFor[encoding.BinaryMarshaler]()
	unmarshalerType = reflect.TypeFor[encoding.BinaryUnmarshaler]()
	errorType       = reflect.TypeFor[error]()
	timeType        = reflect.TypeFor[time.Time]()
	syncMapType     = reflect.TypeFor[sync.Map]()
)

var kinds sync.Map // of reflect.Type

func kindOf(t reflect.Type) kind {
	if k, ok := kinds.Load(t); ok {
		return k.(kind)
	}
	k := classify(t)
	kinds.Store(t, k)
	return k
}

var (
	waitGroupType = reflect.TypeFor[sync.WaitGroup]()
	poolType      = reflect.TypeFor[sync.Pool]()
	condType      = reflect.TypeFor[sync.Cond]()
	makerType     = reflect.TypeFor[Maker]()
)

// keptField reports whether a field of a struct is kept: of a sync.Pool only how it makes values is, of a sync.Cond
// its lock.
func keptField(t reflect.Type, i int) bool {
	switch t {
	case poolType:
		return t.Field(i).Name == "New"
	case condType:
		return t.Field(i).Name == "L"
	}
	return true
}

// hasState reports whether the type's package says how it is kept, and not a method.
func hasState(t reflect.Type) bool {
	_, ok := cellstate.StateOfType(t)
	return ok
}

func classify(t reflect.Type) kind {
	p := reflect.PointerTo(t)
	switch {
	case t.Kind() != reflect.Interface && t.Kind() != reflect.Pointer && (p.Implements(keeperType) || hasState(t)):
		return asState
	case t == makerType: // the maker itself sets it
		return asZero
	case t.Kind() == reflect.Struct && t.PkgPath() == "sync" && (t.Name() == "Mutex" || t.Name() == "RWMutex"):
		return asLock
	case t == waitGroupType: // what it still waits for: forgetting that would mean going on too soon
		return asBytes
	case t == poolType || t == condType:
		return asParts
	case t.Kind() == reflect.Struct && t != syncMapType && isSystem(t):
		return never
	case t == syncMapType:
		return asState
	case t.Kind() == reflect.Struct && t.PkgPath() == "sync/atomic" && strings.HasPrefix(t.Name(), "Pointer[") && t.NumField() == 3:
		return asAtomic
	case t == timeType:
		return asTime
	case t.Kind() == reflect.Struct && t.PkgPath() == "net/netip" && p.Implements(marshalerType) && p.Implements(unmarshalerType):
		return asMarshals
	}
	switch k := t.Kind(); {
	case k >= reflect.Bool && k <= reflect.Complex128:
		return asBytes
	case k == reflect.Array:
		if e := kindOf(t.Elem()); e == asBytes {
			return asBytes
		}
	case k == reflect.Struct && t.NumField() > 0:
		first := kindOf(t.Field(0).Type)
		for i := range t.NumField() {
			if kindOf(t.Field(i).Type) != first {
				return asParts
			}
		}
		if first == asBytes || first == asZero {
			return first
		}
	case k == reflect.Struct:
		return asBytes
	}
	return asParts
}

// isSystem names structs that stand for something outside the process's memory, or inside the runtime.
func isSystem(t reflect.Type) bool {
	switch t.PkgPath() {
	case "os", "net", "net/http", "os/exec", "context", "database/sql", "plugin", "os/signal", "sync", "reflect", "internal/abi", "runtime",
		"internal/poll", "testing", "hash/maphash":
		name, _, _ := strings.Cut(t.Name(), "[")
		return t.NumField() > 0 && !plain[t.PkgPath()+"."+name] && !strings.HasPrefix(t.Name(), "Null")
	case "time":
		return t.Name() == "Timer" || t.Name() == "Ticker"
	case "unique", "weak":
		return true // the runtime keeps track of what they point to
	}
	return false
}

// plain are the structs of such packages that are nothing but their memory.
var plain = map[string]bool{
	"os.SyscallError": true, "os.LinkError": true, "os.fileStat": true, "os.unixDirent": true, "sync.Once": true,
	"net.OpError": true, "net.AddrError": true, "net.ParseError": true, "net.DNSError": true, "net.DNSConfigError": true,
	"net.IPNet": true, "net.IPAddr": true, "net.TCPAddr": true, "net.UDPAddr": true, "net.UnixAddr": true, "net.MX": true, "net.NS": true, "net.SRV": true,
	"net/http.Cookie": true, "net/http.Request": true, "net/http.ServeMux": true, "net/http.routingNode": true, "net/http.routingIndex": true, "net/http.routingIndexKey": true,
	"net/http.mapping": true, "net/http.pattern": true, "net/http.segment": true, "net/http.serveMux121": true, "net/http.muxEntry": true, "net/http.entry": true,
	"net/http.redirectHandler": true, "net/http.timeoutHandler": true, "net/http.fileHandler": true, "net/http.ProtocolError": true, "net/http.MaxBytesError": true,
	"context.backgroundCtx": true, "context.todoCtx": true, "context.emptyCtx": true, "context.valueCtx": true, "context.withoutCancelCtx": true,
	"reflect.SliceHeader": true, "reflect.StringHeader": true, "reflect.ValueError": true,
}

// isStandard reports whether a package path belongs to the standard library.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return path != "" && path != "main" && !strings.Contains(first, ".")
}

// source writes a type as Go source with full package paths, or "" if it can't be named outside its package.
func source(t reflect.Type) string {
	if t.Name() != "" {
		if t.PkgPath() == "" {
			return t.Name()
		}
		if t.PkgPath() != "main" && (!isExported(t.Name()) || internal(t.PkgPath())) || strings.Contains(t.Name(), "·") {
			return ""
		}
		return t.PkgPath() + "." + t.Name()
	}
	of := func(before string) string {
		if s := source(t.Elem()); s != "" {
			return before + s
		}
		return ""
	}
	switch t.Kind() {
	case reflect.Pointer:
		return of("*")
	case reflect.Slice:
		return of("[]")
	case reflect.Array:
		return of(fmt.Sprintf("[%d]", t.Len()))
	case reflect.Map:
		if k := source(t.Key()); k != "" {
			return of("map[" + k + "]")
		}
		return ""
	case reflect.Func:
		if s := typeNames(t, source); s != "" {
			return "func" + s
		}
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return "any"
		}
	case reflect.Struct:
		if t.NumField() == 0 {
			return "struct{}"
		}
		var b strings.Builder
		b.WriteString("struct{")
		for i := range t.NumField() {
			f := t.Field(i)
			s := source(f.Type)
			if s == "" || f.PkgPath != "" && f.PkgPath != "main" {
				return ""
			}
			if i > 0 {
				b.WriteString("; ")
			}
			if !f.Anonymous {
				b.WriteString(f.Name + " ")
			} else if name, _, _ := strings.Cut(s, "["); name[strings.LastIndexAny(name, "*./")+1:] != f.Name {
				return "" // embedded under the name of an alias
			}
			b.WriteString(s)
			if f.Tag != "" {
				fmt.Fprintf(&b, " %q", f.Tag)
			}
		}
		b.WriteString("}")
		return b.String()
	}
	return ""
}

// internal reports whether the cells can't import a package of the standard library. A path of the workspace's own
// module may have such a part.
func internal(path string) bool {
	return isStandard(path) && strings.Contains("/"+path+"/", "/internal/")
}

func isExported(name string) bool { return name[0] >= 'A' && name[0] <= 'Z' }

// typeText is a type for a reader.
func typeText(t reflect.Type) string {
	s := t.String()
	if !strings.Contains(s, "/") {
		s = strings.ReplaceAll(s, "main.", "")
	}
	return strings.ReplaceAll(s, "interface {}", "any")
}

// field gives a writable view of a struct's field, exported or not.
func field(v reflect.Value, i int) reflect.Value {
	f := v.Field(i)
	return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
}

// atomicPointer gives a view of an atomic.Pointer[T] as a *T.
func atomicPointer(v reflect.Value) reflect.Value {
	t := v.Type()
	p := t.Field(0).Type.Elem() // of the field _ [0]*T, which is there to keep pointers of different types apart
	return reflect.NewAt(p, unsafe.Add(v.Addr().UnsafePointer(), t.Field(2).Offset)).Elem()
}

// addressable returns a copy of v that has an address.
func addressable(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	return c
}

// shapeOf describes the size of a value for a list of variables.
func shapeOf(v reflect.Value) (s string) {
	defer func() {
		if recover() != nil {
			s = ""
		}
	}()
	for _, x := range []reflect.Value{v, v.Addr()} {
		if x.Kind() == reflect.Pointer && x.IsNil() || x.Kind() == reflect.Interface && x.IsNil() {
			return ""
		}
		if sh, ok := x.Interface().(interface{ Shape() []int }); ok {
			dims := sh.Shape()
			if len(dims) == 0 {
				return "scalar"
			}
			return strings.ReplaceAll(strings.Trim(fmt.Sprint(dims), "[]"), " ", " × ")
		}
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String:
		return fmt.Sprint(v.Len())
	case reflect.Array:
		return fmt.Sprint(v.Len())
	}
	return ""
}

// dataOf is how much memory the elements of a value take, if it has elements: a tensor, which says so itself, or a
// slice or an array without pointers, or a string.
func dataOf(v reflect.Value) (bytes int64) {
	defer func() {
		if recover() != nil { // by a tensor that was freed
			bytes = 0
		}
	}()
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		if t, ok := v.Interface().(interface {
			Shape() []int
			Bytes() int
		}); ok {
			return int64(t.Bytes())
		}
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		if kindOf(v.Type().Elem()) == asBytes {
			return int64(v.Len()) * int64(v.Type().Elem().Size())
		}
	case reflect.String:
		return int64(v.Len())
	}
	return 0
}
