package persist

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"strings"
	"sync"
)

// signatureLimit is the length from which a signature is written as a hash.
const signatureLimit = 120

var signatures sync.Map // of reflect.Type

// signature describes the structure of a type, so that a value of an earlier version of the type is noticed. Types with
// the same signature have the same layout in memory, and mean the same as far as names can tell. Tags and the methods
// of interfaces do not matter.
func signature(t reflect.Type) string {
	if s, ok := signatures.Load(t); ok {
		return s.(string)
	}
	var b strings.Builder
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	list := func(n int, at func(int) reflect.Type) {
		b.WriteByte('(')
		for i := range n {
			walk(at(i))
			b.WriteByte(',')
		}
		b.WriteByte(')')
	}
	walk = func(t reflect.Type) {
		if t.Name() != "" {
			if t.PkgPath() != "" {
				b.WriteString(t.PkgPath() + ".")
			}
			b.WriteString(t.Name())
			if t.PkgPath() == "" && t.Kind() != reflect.Interface || seen[t] {
				return
			}
			seen[t] = true
			b.WriteByte('=')
			if t.PkgPath() != "main" && kindOf(t) == asState {
				return // its own methods know their versions
			}
		}
		switch k := t.Kind(); k {
		case reflect.Pointer:
			b.WriteByte('*')
			walk(t.Elem())
		case reflect.Slice:
			b.WriteString("[]")
			walk(t.Elem())
		case reflect.Array:
			fmt.Fprintf(&b, "[%d]", t.Len())
			walk(t.Elem())
		case reflect.Map:
			b.WriteString("map[")
			walk(t.Key())
			b.WriteByte(']')
			walk(t.Elem())
		case reflect.Chan:
			fmt.Fprintf(&b, "%s ", t.ChanDir())
			walk(t.Elem())
		case reflect.Func:
			b.WriteString("func")
			if t.IsVariadic() {
				b.WriteString("...")
			}
			list(t.NumIn(), t.In)
			list(t.NumOut(), t.Out)
		case reflect.Struct:
			b.WriteByte('{')
			for i := range t.NumField() {
				f := t.Field(i)
				if f.Anonymous {
					b.WriteByte('!')
				}
				b.WriteString(f.Name + " ")
				walk(f.Type)
				b.WriteByte(';')
			}
			b.WriteByte('}')
		default:
			b.WriteString(k.String())
		}
	}
	walk(t)
	s := b.String()
	if len(s) > signatureLimit {
		h := fnv.New128a()
		h.Write([]byte(s))
		s = fmt.Sprintf("#%x", h.Sum(nil))
	}
	signatures.Store(t, s)
	return s
}
