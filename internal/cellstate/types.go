package cellstate

import (
	"reflect"
	"sync"
)

// A TypeState says how values of a type are kept whose fields would say nothing or too much. Keep takes a pointer to
// the value and returns one to a plain struct with the state to keep. Restore takes a pointer to a zero value, and that
// struct.
type TypeState struct {
	Keep    func(p any) any
	Restore func(p, state any)
}

var types sync.Map // of TypeState, by reflect.Type

// RegisterType says how values of type T are kept, for types that should not have methods for it; see
// [TypeState]. keep must work on the zero value, too.
func RegisterType[T any](keep func(*T) any, restore func(p *T, state any)) {
	types.Store(reflect.TypeFor[T](), TypeState{
		Keep:    func(p any) any { return keep(p.(*T)) },
		Restore: func(p, state any) { restore(p.(*T), state) },
	})
}

// StateOfType returns how values of a type are kept, if it was registered.
func StateOfType(t reflect.Type) (s TypeState, ok bool) {
	v, ok := types.Load(t)
	if ok {
		s = v.(TypeState)
	}
	return s, ok
}
