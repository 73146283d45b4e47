package persist

import (
	"reflect"
	"strings"
)

// ownTypes adds the names of the cells' own types in a type to set: its parts, what it points to, the types that it is
// an instance of. seen holds the types that have been looked at.
func ownTypes(t reflect.Type, set map[string]bool, seen map[reflect.Type]bool) {
	if t == nil || seen[t] {
		return
	}
	seen[t] = true
	addNames(t, set)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		ownTypes(t.Elem(), set, seen)
	case reflect.Map:
		ownTypes(t.Key(), set, seen)
		ownTypes(t.Elem(), set, seen)
	case reflect.Func:
		for i := range t.NumIn() {
			ownTypes(t.In(i), set, seen)
		}
		for i := range t.NumOut() {
			ownTypes(t.Out(i), set, seen)
		}
	case reflect.Struct:
		if isStandard(t.PkgPath()) && !strings.Contains(t.Name(), "main.") {
			return // its parts are the standard library's
		}
		for i := range t.NumField() {
			ownTypes(t.Field(i).Type, set, seen)
		}
	}
}

// addNames adds the name of a type of package main, and those that it is an instance of: Pair[int,main.T] gives Pair
// and T.
func addNames(t reflect.Type, set map[string]bool) {
	name := t.Name()
	if t.PkgPath() == "main" {
		base, _, _ := strings.Cut(name, "[")
		set[base] = true
	}
	_, args, _ := strings.Cut(name, "[")
	for len(args) > 0 {
		i := strings.Index(args, "main.")
		if i < 0 {
			return
		}
		rest := args[i+len("main."):]
		n := 0
		for n < len(rest) && (wordByte(rest[n]) || rest[n] >= 0x80) {
			n++
		}
		if i == 0 || !wordByte(args[i-1]) && args[i-1] != '/' && args[i-1] != '.' && args[i-1] != '-' && args[i-1] != '~' {
			name, _, _ := strings.Cut(rest[:n], "·") // a type that a function declares for itself has a number
			set[name] = true
		}
		args = rest[n:]
	}
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
