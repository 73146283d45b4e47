package persist

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"unsafe"

	"github.com/lectern-go/lectern/internal/cellstate"
)

// A compiled function value is a pointer to a code pointer, followed by what the function captures. The kernel writes
// the function literals of cells so that they capture a single pointer, to a struct of pointers to their variables:
//
//	//go:noinline
//	func maker(c *struct{ n *int }) func() int { return func() int { *c.n++; return *c.n } }
//
// So such a value is its maker and the struct, which is kept like any other memory, and calling the maker makes it
// again. It is recognized by its code pointer, which is the same for all that one maker made. A maker must not be
// inlined: a copy of the literal in its caller would have another code pointer.

// A literal in a generic function has a generic maker. All instances whose type arguments look alike in memory share
// one code pointer, so what such a literal captures begins with a Maker, which says which instance it is:
//
//	func maker[T any](c *struct{ m persist.Maker; x *T }) func() T { return func() T { return *c.x } }
//
// The compiler lets it capture a dictionary of its types, too, after c; calling the instance of the maker brings that
// along.

// LiteralName begins the names of the functions that make literals; the id of a literal follows.
const LiteralName = "lecternLit_"

// A Maker says which instance of a generic function has made a literal.
type Maker struct {
	Func  any // the instance
	Types any // a nil function whose parameters have its type arguments
}

// A function is one that Lit, LitOf, Fn or its name has made known.
type function struct {
	id       string
	maker    any            // of a literal
	types    any            // of a literal of a generic function: see Maker
	value    unsafe.Pointer // what a variable of a function type holds; nil for a literal that captures variables
	captured reflect.Type   // the struct of a literal that captures variables, or nil
	broken   bool           // not laid out as expected
}

var (
	functions = map[string]*function{}   // by id
	unlooked  []*function                // those whose code pointer was not needed yet
	byCode    = map[uintptr]*function{}  // by code pointer; those of generic functions share theirs
	instances = map[instance]*function{} // of generic functions, as far as values of theirs have been seen
	stubs     = map[unsafe.Pointer]*function{}
)

// An instance is what tells literals of generic functions apart.
type instance struct {
	code  uintptr
	types reflect.Type
}

// Lit makes a function literal of the cells known under an id that no other literal has. maker returns it: a function
// without parameters, or with one, a pointer to a struct that the literal captures and nothing else. A maker must not
// be inlined. Lit must be called before Begin.
func Lit(id string, maker any) {
	mu.Lock()
	defer mu.Unlock()
	f := &function{id: id, maker: maker}
	if t := reflect.TypeOf(maker); t.NumIn() == 1 {
		f.captured = t.In(0).Elem()
	}
	functions[id] = f
	unlooked = append(unlooked, f)
}

// LitOf makes an instance of a literal in a generic function known, by the Maker that such a literal captures. It must
// be called before Begin.
func LitOf(id string, m Maker) {
	mu.Lock()
	defer mu.Unlock()
	f := newInstance(id, m)
	functions[f.id] = f
	unlooked = append(unlooked, f)
}

// newInstance returns an instance of the literal id.
func newInstance(id string, m Maker) *function {
	args := reflect.TypeOf(m.Types)
	list := make([]string, args.NumIn())
	for i := range list {
		list[i] = source(args.In(i))
	}
	return &function{id: id + "[" + strings.Join(list, ",") + "]", maker: m.Func, types: m.Types, captured: reflect.TypeOf(m.Func).In(0).Elem()}
}

// Fn makes a declared function known under its name with the full path of its package, such as main.hello or
// math/rand.Intn. It must be called before Begin. f must not be an instance of a generic function or a method value:
// those are literals.
func Fn(id string, f any) {
	mu.Lock()
	defer mu.Unlock()
	x := &function{id: id, value: funcWord(f)}
	functions[id] = x
	unlooked = append(unlooked, x)
}

// funcWord returns the pointer that is a function value.
func funcWord(f any) unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(&f))[1] }

// make calls the maker of a literal.
func (f *function) make(captured unsafe.Pointer) unsafe.Pointer {
	// All pointers are passed the same way, and a function value is one.
	w := funcWord(f.maker)
	if f.captured == nil {
		return (*(*func() unsafe.Pointer)(unsafe.Pointer(&w)))()
	}
	if f.types != nil {
		*(*Maker)(captured) = Maker{f.maker, f.types}
	}
	return (*(*func(unsafe.Pointer) unsafe.Pointer)(unsafe.Pointer(&w)))(captured)
}

// look finds the code pointer of a literal, and checks that what it makes is laid out as we assume.
func (f *function) look() {
	defer func() {
		if recover() != nil { // a maker that does more than to make
			f.broken = true
		}
	}()
	if f.maker != nil {
		if f.captured == nil {
			f.value = f.make(nil)
		} else {
			a, b := reflect.New(f.captured).UnsafePointer(), reflect.New(f.captured).UnsafePointer()
			x, y := f.make(a), f.make(b)
			switch {
			case x == y: // it captures nothing after all
				f.captured, f.value, f.maker = nil, x, nil
			case captured(x) != a || captured(y) != b || code(x) != code(y):
				f.broken = true
				return
			case f.types != nil:
				instances[instance{code(x), reflect.TypeOf(f.types)}] = f
				return
			}
			byCode[code(x)] = f
			return
		}
	}
	byCode[code(f.value)] = f
}

func code(f unsafe.Pointer) uintptr            { return *(*uintptr)(f) }
func captured(f unsafe.Pointer) unsafe.Pointer { return (*[2]unsafe.Pointer)(f)[1] }

// signature describes what a literal captures.
func (f *function) signature() string {
	if f.captured == nil {
		return ""
	}
	return signature(f.captured)
}

// Libraries ask whether a function can be kept before they make it part of their state. They ask while Save holds the
// lock.
func init() {
	cellstate.SetFunctions(func(f any) bool {
		_, _, err := functionOf(addressable(reflect.ValueOf(f)))
		return err == nil
	})
}

// functionOf finds the description of a function value, which is not nil, or returns an error that says why it can't be
// kept.
func functionOf(v reflect.Value) (*function, unsafe.Pointer, error) {
	for _, f := range unlooked {
		f.look()
	}
	unlooked = nil
	p := *(*unsafe.Pointer)(v.Addr().UnsafePointer())
	if f := stubs[p]; f != nil {
		return f, p, nil
	}
	c := code(p)
	if f := byCode[c]; f != nil {
		return f, p, nil
	}
	if name := libraryName(c); name != "" {
		f := &function{id: name, value: p}
		byCode[c] = f
		return f, p, nil
	}
	if id := genericLiteral(c); id != "" {
		f, err := instanceOf(id, p)
		return f, p, err
	}
	return nil, nil, fmt.Errorf("a function value can't be kept")
}

// genericLiteral returns the id of the literal in a generic function whose code begins at pc, or "".
func genericLiteral(pc uintptr) string {
	name := codeName(pc)
	_, fn, _ := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ".")
	id, lit := strings.CutPrefix(fn, LiteralName)
	if id, lit2 := strings.CutSuffix(id, "[...].func1"); lit && lit2 {
		return id
	}
	return ""
}

// instanceOf finds which instance of the literal id of a generic function p is.
func instanceOf(id string, p unsafe.Pointer) (*function, error) {
	m := (*Maker)(captured(p))
	key := instance{code(p), reflect.TypeOf(m.Types)}
	f := instances[key]
	if f == nil {
		for i := range key.types.NumIn() {
			if t := key.types.In(i); localType(t) != nil || source(t) == "" {
				return nil, fmt.Errorf("a function made for %s can't be kept: declare the type outside the function", article(typeText(t)))
			}
		}
		f = newInstance(id, *m)
		f.look()
		instances[key], functions[f.id] = f, f
	}
	if f.broken {
		return nil, fmt.Errorf("a function value can't be kept")
	}
	return f, nil
}

// libraryName returns the name of the declared function of a library that begins at pc, or "" if it is of the cells, a
// literal or generic.
func libraryName(pc uintptr) string {
	name := codeName(pc)
	slash := strings.LastIndexByte(name, '/') + 1
	pkg, fn, ok := strings.Cut(name[slash:], ".")
	if !ok || name[:slash]+pkg == "main" || strings.ContainsAny(fn, "[]-·") {
		return ""
	}
	if _, method, ok := strings.Cut(fn, ")."); strings.Contains(fn, ".") && (!ok || fn[0] != '(' || strings.Contains(method, ".")) {
		return "" // a literal in a function, but no method such as (*Reader).next
	}
	return name[:slash] + strings.ReplaceAll(pkg, "%2e", ".") + "." + fn
}

// codeName returns the name of the function that begins at pc. FuncForPC would name a function that was inlined at its
// beginning.
func codeName(pc uintptr) string {
	f := runtime.FuncForPC(pc)
	if f == nil || f.Entry() != pc {
		return ""
	}
	frames := runtime.CallersFrames([]uintptr{pc + 1})
	name := ""
	for {
		fr, more := frames.Next()
		name = fr.Function
		if !more {
			return name
		}
	}
}

// restored returns the function with an id, and the word that a variable of type t holds for it; a literal that
// captures variables gets its word when they are known. A function of a library that this program does not contain
// becomes a stand-in that panics when it is called.
func restored(id, sig string, t reflect.Type) (*function, unsafe.Pointer, error) {
	if f := functions[id]; f != nil {
		for _, f := range unlooked {
			f.look()
		}
		unlooked = nil
		if f.broken || f.signature() != sig {
			return nil, nil, fmt.Errorf("it holds a function of an earlier version of its cell: run the cell that defines it again")
		}
		return f, f.value, nil
	}
	if pkg, _, ok := cutName(id); !ok || pkg == "main" || strings.Contains(id, "[") {
		return nil, nil, fmt.Errorf("it holds a function (%s) that is not part of this cell's program", strings.TrimPrefix(id, "main."))
	}
	f := &function{id: id}
	functions[id] = f
	if pc := findCode(id); pc != 0 {
		word := &pc
		f.value = unsafe.Pointer(word)
		byCode[pc] = f
		return f, f.value, nil
	}
	absent := reflect.MakeFunc(t, func([]reflect.Value) []reflect.Value {
		panic(id + " is not part of this cell's program")
	})
	f.value = *(*unsafe.Pointer)(addressable(absent).Addr().UnsafePointer())
	stubs[f.value] = f
	return f, f.value, nil
}

// cutName separates the name of a declared function from the path of its package.
func cutName(id string) (pkg, name string, ok bool) {
	slash := strings.LastIndexByte(id, '/') + 1
	dot := strings.LastIndexByte(id[slash:], '.')
	if dot < 0 {
		return "", "", false
	}
	return id[:slash+dot], id[slash+dot+1:], true
}

// findCode returns where the function with a name begins, or 0 if the program does not contain it. It walks through
// the whole code, from its end to its beginning.
func findCode(id string) uintptr {
	lo := reflect.ValueOf(findCode).Pointer()
	step := uintptr(1)
	for runtime.FuncForPC(lo+step) != nil {
		step *= 2
	}
	for step > 1 { // the last place that belongs to a function lies in lo … lo+step-1
		step /= 2
		if runtime.FuncForPC(lo+step) != nil {
			lo += step
		}
	}
	for f := runtime.FuncForPC(lo); f != nil; f = runtime.FuncForPC(f.Entry() - 1) {
		if libraryName(f.Entry()) == id {
			return f.Entry()
		}
	}
	return 0
}
