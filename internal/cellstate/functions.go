package cellstate

import (
	"reflect"
	"sync/atomic"
)

// knows is what SetFunctions was given.
var knows atomic.Pointer[func(f any) bool]

// SetFunctions says which functions can be kept: known is called with a function that is not nil. Until
// SetFunctions is called, none can be kept. Package kernel/persist calls it.
func SetFunctions(known func(f any) bool) { knows.Store(&known) }

// Keeps reports whether a value that decides how a computation continues can be kept: a function, if package
// kernel/persist knows it; a struct or a pointer to one, if persist knows the functions in its fields.
// Functions further away are not looked at, and may still keep a variable from being remembered.
func Keeps(v any) bool { return keeps(reflect.ValueOf(v), true) }

func keeps(v reflect.Value, deeper bool) bool {
	switch v.Kind() {
	case reflect.Func:
		known := knows.Load()
		return v.IsNil() || known != nil && (*known)(v.Interface())
	case reflect.Chan, reflect.UnsafePointer:
		return v.IsNil()
	case reflect.Interface:
		return v.IsNil() || keeps(v.Elem(), deeper)
	case reflect.Pointer:
		return v.IsNil() || !deeper || keeps(v.Elem(), false)
	case reflect.Struct:
		if !v.CanAddr() {
			c := reflect.New(v.Type()).Elem()
			c.Set(v)
			v = c
		}
		for i := range v.NumField() {
			f := v.Field(i)
			if !keeps(reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem(), false) { // exported or not
				return false
			}
		}
	}
	return true
}

var overLimit atomic.Bool

// OverLimit reports whether the values in all would exceed the limit on what is kept. Dispensable state, such as a
// gradient graph, is then left out, and a Note says so.
func OverLimit() bool { return overLimit.Load() }

// SetOverLimit sets what OverLimit reports. Package kernel/persist sets it when the values that it is about to write
// exceed its limit, and then asks all values for their state once more.
func SetOverLimit(over bool) { overLimit.Store(over) }
