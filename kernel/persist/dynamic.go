package persist

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unsafe"
)

// What an interface holds is written with the name of its type, and restored when the new process knows a type of this
// name and the same structure. Types become known in three ways: Reg names them, Link shows a value (for types that
// can't be named outside their package), or they are among the few that every cell has.

var known = map[string]reflect.Type{} // by typeName

// Reg makes a concrete type known, so that it can be restored inside an interface. A program must do so for every type
// that its cells declare, too: two types of the same name, one of them declared in a function, are told apart by it.
func Reg[T any]() { register((*T)(nil)) }

// register is Reg for what it gets a pointer to. It is separate from Reg, since each program compiles Reg anew for each
// type.
func register(pointer any) {
	t := reflect.TypeOf(pointer).Elem()
	mu.Lock()
	defer mu.Unlock()
	known[typeName(t)] = t
	clear(dynamics)
}

// Link registers the types of values, and of all that they hold: types that can't be named outside their packages.
func Link(values ...any) {
	mu.Lock()
	defer mu.Unlock()
	for _, v := range values {
		if r, ok := v.(interface{ Replace(string) string }); ok {
			r.Replace("") // a strings.Replacer chooses how to go about it when it is first used
		}
		registerValue(reflect.ValueOf(v), 0)
	}
	clear(dynamics)
}

// registerValue registers the type of a value and the types of the values that it leads to.
func registerValue(v reflect.Value, depth int) {
	if !v.IsValid() || depth > 10 {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			registerType(v.Elem().Type())
			registerValue(v.Elem(), depth+1)
		}
	case reflect.Pointer:
		registerType(v.Type())
		if !v.IsNil() {
			registerValue(v.Elem(), depth+1)
		}
	case reflect.Struct:
		registerType(v.Type())
		for i := range v.NumField() {
			registerValue(v.Field(i), depth+1)
		}
	}
}

func registerType(t reflect.Type) {
	if kindOf(t) != never && t.PkgPath() != "main" {
		known[typeName(t)] = t
	}
}

var basicTypes = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int16](),
	reflect.TypeFor[int32](), reflect.TypeFor[int64](), reflect.TypeFor[uint](), reflect.TypeFor[uint8](), reflect.TypeFor[uint16](),
	reflect.TypeFor[uint32](), reflect.TypeFor[uint64](), reflect.TypeFor[float32](), reflect.TypeFor[float64](),
	reflect.TypeFor[complex64](), reflect.TypeFor[complex128](), reflect.TypeFor[[]any](), reflect.TypeFor[map[string]any](),
	reflect.TypeFor[[]int](), reflect.TypeFor[[]float64](), reflect.TypeFor[[]string](), reflect.TypeFor[[]byte](),
	// The types of errors that the standard library makes.
	reflect.TypeOf(errors.New("")), reflect.TypeOf(errors.Join(errors.New(""))), reflect.TypeOf(fmt.Errorf("%w", errors.New(""))),
	reflect.TypeOf(fmt.Errorf("%w%w", errors.New(""), errors.New(""))),
}

var basicNames = sync.OnceValue(func() map[string]reflect.Type {
	m := map[string]reflect.Type{}
	for _, t := range basicTypes {
		m[typeName(t)] = t
	}
	return m
})

func registered(name string) (reflect.Type, bool) {
	if t, ok := known[name]; ok {
		return t, true
	}
	t, ok := basicNames()[name]
	return t, ok
}

// A dynamic says how a type that an interface holds is made known to the cell that restores it.
type dynamic struct {
	name string // typeName
	reg  string // for Reg, or ""
	link string // an expression for Link, or ""
	err  error  // why that is not possible

	direct  bool // an interface holds the value itself, which is a pointer, and not its address
	isError bool

	encoder *encoder // that gave it its number
	number  int
}

var dynamics = map[reflect.Type]*dynamic{}

func dynamicOf(t reflect.Type) *dynamic {
	d := dynamics[t]
	if d == nil {
		zero := reflect.Zero(t).Interface()
		d = &dynamic{name: typeName(t), direct: (*[2]unsafe.Pointer)(unsafe.Pointer(&zero))[1] == nil, isError: t.Implements(errorType)}
		if basicNames()[d.name] != t {
			d.find(t)
		}
		dynamics[t] = d
	}
	return d
}

// boxed returns the value that the interface v holds, in its place, and the facts about its type.
func boxed(v reflect.Value) (reflect.Value, *dynamic) {
	t := v.Elem().Type()
	d := dynamicOf(t)
	word := &(*[2]unsafe.Pointer)(v.Addr().UnsafePointer())[1]
	if d.direct {
		return reflect.NewAt(t, unsafe.Pointer(word)).Elem(), d
	}
	return reflect.NewAt(t, *word).Elem(), d
}

func (d *dynamic) find(t reflect.Type) {
	if local := localType(t); local != nil {
		d.err = fmt.Errorf("it holds %s, a type declared inside a function: declare the type outside the function", article(typeText(local)))
		return
	}
	if d.link = links[d.name]; d.link == "" {
		if d.reg = source(t); d.reg == "" {
			d.err = fmt.Errorf("it holds %s, a type without a name outside its package", article(typeText(t)))
		}
	}
}

// localType returns a part of t that some function declares for itself, or nil. reflect gives such a type the name of
// its package's own.
func localType(t reflect.Type) reflect.Type {
	if t.Name() != "" {
		k := known[typeName(t)]
		if k != nil && k != t || k == nil && t.PkgPath() == "main" && !strings.Contains(t.Name(), "[") {
			return t
		}
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		return localType(t.Elem())
	case reflect.Map:
		if l := localType(t.Key()); l != nil {
			return l
		}
		return localType(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if l := localType(t.Field(i).Type); l != nil {
				return l
			}
		}
	}
	return nil
}

// typeName is a name that all types have, with full package paths. Only types that functions declare for themselves
// share theirs.
func typeName(t reflect.Type) string {
	if t.Name() != "" {
		if t.PkgPath() == "" {
			return t.Name()
		}
		return t.PkgPath() + "." + t.Name()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + typeName(t.Elem())
	case reflect.Slice:
		return "[]" + typeName(t.Elem())
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), typeName(t.Elem()))
	case reflect.Map:
		return "map[" + typeName(t.Key()) + "]" + typeName(t.Elem())
	case reflect.Chan:
		return t.ChanDir().String() + " " + typeName(t.Elem())
	case reflect.Func:
		return "func" + typeNames(t, typeName)
	case reflect.Struct:
		var b strings.Builder
		b.WriteString("struct {")
		for i := range t.NumField() {
			f := t.Field(i)
			if i > 0 {
				b.WriteByte(';')
			}
			if f.Anonymous {
				b.WriteString(" !")
			}
			fmt.Fprintf(&b, " %s %s", f.Name, typeName(f.Type))
			if f.Tag != "" {
				fmt.Fprintf(&b, " %q", f.Tag)
			}
		}
		b.WriteString(" }")
		return b.String()
	}
	return t.String()
}

// typeNames writes the parameters and results of a function type. It returns "" if name does for one of them.
func typeNames(t reflect.Type, name func(reflect.Type) string) string {
	var in, out []string
	for i := range t.NumIn() {
		p, dots := t.In(i), ""
		if t.IsVariadic() && i == t.NumIn()-1 {
			p, dots = p.Elem(), "..."
		}
		s := name(p)
		if s == "" {
			return ""
		}
		in = append(in, dots+s)
	}
	for i := range t.NumOut() {
		s := name(t.Out(i))
		if s == "" {
			return ""
		}
		out = append(out, s)
	}
	s := "(" + strings.Join(in, ", ") + ")"
	switch len(out) {
	case 0:
		return s
	case 1:
		return s + " " + out[0]
	}
	return s + " (" + strings.Join(out, ", ") + ")"
}
