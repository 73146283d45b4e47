package persist

import (
	"bufio"
	"math"
	"reflect"
	"strings"
	"testing"
	"unsafe"
)

// What the kernel makes of function literals: makers, which get what the literal captures in one struct.

type countCaptured = struct{ n *int }

//go:noinline
func litCount(c *countCaptured) func() int { return func() int { *c.n++; return *c.n } }

//go:noinline
func litReset(c *countCaptured) func() { return func() { *c.n = 0 } }

//go:noinline
func litDouble() func(float64) float64 { return func(x float64) float64 { return 2 * x } }

//go:noinline
func litFact(c *struct{ self *func(int) int }) func(int) int {
	return func(n int) int {
		if n == 0 {
			return 1
		}
		return n * (*c.self)(n-1)
	}
}

type Transform func(string) string

//go:noinline
func litChain(c *struct {
	next *Transform
	tag  *string
}) Transform {
	return func(s string) string { return *c.tag + "(" + (*c.next)(s) + ")" }
}

//go:noinline
func litUnused(c *countCaptured) func() int { return func() int { return 7 } }

// litCopy does not capture its parameter as the only word.
//
//go:noinline
func litCopy(c *countCaptured) func() int {
	n := *c.n
	return func() int { return n }
}

type tally struct{ n int }

func (t *tally) Add(k int) { t.n += k }

//go:noinline
func litMethod(c *struct{ t **tally }) func(int) { return func(k int) { (*c.t).Add(k) } }

type Celsius float64

type zeroCaptured = struct{ m Maker }

//go:noinline
func lecternLit_zero[T any](c *zeroCaptured) func() any {
	return func() any { _ = c; var z T; return z }
}

func zeroOf[T any]() func() any {
	return lecternLit_zero[T](&zeroCaptured{Maker{lecternLit_zero[T], (func(T))(nil)}})
}

type pushCaptured[T any] struct {
	m  Maker
	to *[]T
}

//go:noinline
func lecternLit_push[T any](c *pushCaptured[T]) func(T) {
	return func(x T) { *c.to = append(*c.to, x) }
}

func pushTo[T any](to *[]T) func(T) {
	return lecternLit_push[T](&pushCaptured[T]{Maker{lecternLit_push[T], (func(T))(nil)}, to})
}

func hello() string { return "hello" }

func knowFunctions() {
	Lit("count", litCount)
	Lit("reset", litReset)
	Lit("double", litDouble)
	Lit("fact", litFact)
	Lit("chain", litChain)
	Lit("unused", litUnused)
	Lit("method", litMethod)
	Fn("main.hello", hello)
}

// defineFunctions is define for a program with functions.
func defineFunctions(t *testing.T, pairs ...any) string {
	t.Helper()
	newCell(t)
	knowFunctions()
	return captureStderr(t, func() {
		done := Begin(1)
		Def(pairs...)
		done()
	})
}

func TestFunctions(t *testing.T) {
	folder(t)
	n := 3
	count, reset := litCount(&countCaptured{&n}), litReset(&countCaptured{&n})
	count2 := litCount(&countCaptured{new(int)})
	var fact func(int) int
	fact = litFact(&struct{ self *func(int) int }{&fact})
	upper, tag := Transform(strings.ToUpper), "x"
	chain := litChain(&struct {
		next *Transform
		tag  *string
	}{&upper, &tag})
	table := map[string]func(float64) float64{"double": litDouble(), "sqrt": math.Sqrt}
	holder := struct {
		name string
		f    func() string
		nilF func()
	}{"h", hello, nil}
	var boxed any = chain
	tl := &tally{}
	add := litMethod(&struct{ t **tally }{&tl})
	unused := litUnused(&countCaptured{&n})
	split := bufio.ScanWords
	if out := defineFunctions(t, "n", &n, "count", &count, "reset", &reset, "count2", &count2, "fact", &fact, "upper", &upper, "chain", &chain,
		"table", &table, "holder", &holder, "boxed", &boxed, "tl", &tl, "add", &add, "unused", &unused, "split", &split); out != "" {
		t.Fatalf("notes: %s", out)
	}
	m, _ := ReadManifest(dirs[0])
	var ids []string
	for _, v := range []string{"count", "holder", "table", "split"} {
		ids = append(ids, m.Groups[m.Vars[v].Group].Funcs...)
	}
	if want := []string{"count", "reset", "main.hello", "double", "math.Sqrt", "bufio.ScanWords"}; !reflect.DeepEqual(ids, want) {
		t.Errorf("functions to make known are %q, want %q", ids, want)
	}

	newCell(t)
	knowFunctions()
	Reg[Transform]()
	var (
		N             int
		Count, Count2 func() int
		Reset         func()
		Fact          func(int) int
		Upper, Chain  Transform
		Table         map[string]func(float64) float64
		Holder        = holder
		Boxed         any
		Tl            *tally
		Add           func(int)
		Unused        func() int
		Split         bufio.SplitFunc
		Split2        func([]byte, bool) (int, []byte, error)
		again         = []any{"n", &N, "count", &Count, "reset", &Reset, "count2", &Count2, "fact", &Fact, "upper", &Upper, "chain", &Chain,
			"table", &Table, "holder", &Holder, "boxed", &Boxed, "tl", &Tl, "add", &Add, "unused", &Unused, "split", &Split2}
	)
	Holder.f = nil
	for range 2 { // what was restored is kept again
		restore(t, nil, again...)
		newCell(t)
		knowFunctions()
		Reg[Transform]()
	}
	before := N
	Count()
	if Count() != before+2 || N != before+2 {
		t.Errorf("count counts to %d in a variable that is %d", before+2, N)
	}
	if Reset(); N != 0 || Count() != 1 {
		t.Error("reset and count share no variable")
	}
	if Count2(); Count2() != 2 || N != 1 {
		t.Error("count2 does not count for itself")
	}
	if Fact(5) != 120 {
		t.Errorf("fact(5) = %d", Fact(5))
	}
	Upper = strings.ToLower
	if s := Chain("aB"); s != "x(ab)" {
		t.Errorf("chain gives %q", s)
	}
	if s := Boxed.(Transform)("aB"); s != "x(ab)" {
		t.Errorf("the function in an interface gives %q", s)
	}
	if Table["double"](4) != 8 || Table["sqrt"](4) != 2 || Holder.f() != "hello" || Holder.nilF != nil || Unused() != 7 {
		t.Error("functions in maps or structs are wrong")
	}
	if Add(5); Tl.n != 5 {
		t.Errorf("the method value added to another: %d", Tl.n)
	}
	Split = Split2
	if sc := bufio.NewScanner(strings.NewReader("a b")); true {
		sc.Split(Split)
		if !sc.Scan() || sc.Text() != "a" {
			t.Errorf("split gives %q", sc.Text())
		}
	}
}

// Instances of one literal whose types look alike share their code, and are told apart all the same.
func TestFunctionsOfGenericFunctions(t *testing.T) {
	folder(t)
	know := func() {
		Reg[Celsius]()
		for _, m := range []Maker{{lecternLit_zero[int], (func(int))(nil)}, {lecternLit_zero[Celsius], (func(Celsius))(nil)}} {
			LitOf("zero", m)
		}
		LitOf("push", Maker{lecternLit_push[Celsius], (func(Celsius))(nil)})
	}
	newCell(t)
	know()
	i, c, f := zeroOf[int](), zeroOf[Celsius](), zeroOf[float64]()
	temps := []Celsius{1}
	push := pushTo(&temps)
	type secret int
	hidden := zeroOf[secret]()
	out := captureStderr(t, func() {
		done := Begin(1)
		Def("i", &i, "c", &c, "f", &f, "temps", &temps, "push", &push, "hidden", &hidden)
		done()
	})
	const note = "note: hidden (func() any) is not remembered by later cells: a function made for a persist.secret can't be kept: " +
		"declare the type outside the function\n"
	if out != note {
		t.Errorf("it says %q, want %q", out, note)
	}
	m, _ := ReadManifest(dirs[0])
	const path = "github.com/lectern-go/lectern/kernel/persist"
	for name, want := range map[string]string{"i": "zero[int]", "c": "zero[" + path + ".Celsius]", "f": "zero[float64]", "push": "push[" + path + ".Celsius]"} {
		if got := m.Groups[m.Vars[name].Group].Funcs; len(got) != 1 || got[0] != want {
			t.Errorf("%s needs %q, want %q", name, got, want)
		}
	}
	var (
		I, C  func() any
		Temps []Celsius
		Push  func(Celsius)
	)
	for range 2 { // what was restored is kept again
		newCell(t)
		know()
		restore(t, nil, "i", &I, "c", &C, "temps", &Temps, "push", &Push)
	}
	if I() != 0 || C() != Celsius(0) {
		t.Errorf("zeros are %T and %T", I(), C())
	}
	if Push(2); len(Temps) != 2 || Temps[1] != 2 {
		t.Errorf("push leaves %v", Temps)
	}
	if _, _, err := restored("zero[float64]", "", reflect.TypeFor[func() any]()); err == nil || !strings.Contains(err.Error(), "zero[float64]") {
		t.Errorf("an instance that the program lacks gives %v", err)
	}
}

func TestFunctionsThatAreNotKept(t *testing.T) {
	folder(t)
	x := 1
	stranger := func() int { x++; return x }
	copied := litCopy(&countCaptured{&x})
	method := (&tally{}).Add
	newCell(t)
	Lit("copy", litCopy)
	out := captureStderr(t, func() {
		done := Begin(1)
		Def("stranger", &stranger, "copied", &copied, "method", &method, "x", &x)
		done()
	})
	for _, name := range []string{"stranger (func() int)", "copied (func() int)", "method (func(int))"} {
		if want := "note: " + name + " is not remembered by later cells: a function value can't be kept\n"; !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	newCell(t)
	var X int
	if restore(t, nil, "x", &X); X != 1 {
		t.Errorf("x is %d", X)
	}
}

// A function of a library may not be linked into a later program. The variable comes back all the same, and says so
// when it is called.
func TestAbsentFunction(t *testing.T) {
	newCell(t)
	var f func(int) int
	v := reflect.ValueOf(&f).Elem()
	_, word, err := restored("example.com/lib.gone", "", v.Type())
	if err != nil {
		t.Fatal(err)
	}
	*(*unsafe.Pointer)(v.Addr().UnsafePointer()) = word
	if known, _, err := functionOf(v); err != nil || known.id != "example.com/lib.gone" {
		t.Errorf("it is not recognized: %v", err)
	}
	defer func() {
		if r := recover(); r != "example.com/lib.gone is not part of this cell's program" {
			t.Errorf("calling it panics with %v", r)
		}
	}()
	f(1)
}

func TestFunctionsAreFoundByName(t *testing.T) {
	for _, name := range []string{"strings.ToUpper", "bufio.ScanLines", "os.(*File).Close"} {
		pc := findCode(name)
		if pc == 0 || libraryName(pc) != name {
			t.Errorf("%s is found as %q", name, libraryName(pc))
		}
	}
	if findCode("strings.noSuchFunction") != 0 {
		t.Error("a function that does not exist was found")
	}
}
