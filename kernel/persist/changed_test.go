package persist

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
)

// refused runs a cell that can't restore its variables, and returns what it says.
func refused(t *testing.T, pairs ...any) string {
	t.Helper()
	exit = func(int) { panic("the cell ended") }
	defer func() { exit = os.Exit }()
	ended := false
	out := captureStderr(t, func() {
		defer func() { ended = recover() != nil }()
		Begin(2, pairs...)
	})
	if !ended {
		t.Errorf("the cell goes on; it says %q", out)
	}
	return strings.TrimSpace(out)
}

// Types that functions declare have the same names here, as a cell's type has after it was redefined.

func firstLin() any {
	type Lin struct{ W, B float64 }
	return Lin{1, 2}
}

func firstLinPointer() any {
	type Lin struct{ W, B float64 }
	return &Lin{1, 2}
}

func regChangedLin() {
	type Lin struct{ B, W float64 }
	Reg[Lin]()
	Reg[*Lin]()
}

// Field holds anything.
type Field struct{ x any }

func TestChangedDynamicTypes(t *testing.T) {
	for _, c := range []struct {
		name string
		v    any
	}{
		{"interface", firstLin()},
		{"pointer in an interface", firstLinPointer()},
		{"slice", []any{0, firstLinPointer()}},
		{"map", map[any]any{"a": firstLin()}},
		{"key", map[any]any{firstLin(): 1}},
		{"field", &Field{firstLin()}},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder(t)
			other := 5
			if out := define(t, "net", &c.v, "other", &other); out != "" {
				t.Fatalf("notes: %s", out)
			}
			before, _ := os.ReadFile(dirs[0] + "/" + manifestName)
			newCell(t)
			regChangedLin()
			Reg[*Field]()
			Reg[map[any]any]()
			var net any
			if out, want := refused(t, "net", &net), "net was made when the type Lin that it holds was different: run the cell that defines it again"; out != strings.ReplaceAll(want, "Lin", "persist.Lin") {
				t.Errorf("the cell says %q, want %q", out, want)
			}
			if after, _ := os.ReadFile(dirs[0] + "/" + manifestName); string(after) != string(before) {
				t.Error("a cell that could not begin changed what is kept")
			}
			newCell(t)
			var o int
			if restore(t, nil, "other", &o); o != 5 {
				t.Errorf("other is %d", o)
			}
		})
	}
}

func TestChangedStaticType(t *testing.T) {
	folder(t)
	type Old struct{ a, b float64 }
	x, p := Old{1, 2}, &Old{1, 2}
	define(t, "x", &x, "p", &p)
	newCell(t)
	func() {
		//lint:ignore U1000 the fields are swapped, not read
		type Old struct{ b, a float64 }
		var X Old
		var P *Old
		for name, v := range map[string]any{"x": &X, "p": &P} {
			newCell(t)
			if out := refused(t, name, v); !strings.HasPrefix(out, name+" was made when its type ") {
				t.Errorf("the cell says %q", out)
			}
		}
	}()
}

func TestLocalType(t *testing.T) {
	folder(t)
	var local any = func() any {
		type List struct{ v int }
		return List{1}
	}()
	var inSlice any = func() any {
		type List struct{ v int }
		return []List{{1}}
	}()
	global := any(List{v: 2})
	newCell(t)
	Reg[List]()
	out := captureStderr(t, func() {
		done := Begin(1)
		Def("local", &local, "inSlice", &inSlice, "global", &global)
		done()
	})
	for _, name := range []string{"local", "inSlice"} {
		if want := name + " (any) is not remembered by later cells: it holds a persist.List, a type declared inside a function"; !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	newCell(t)
	Reg[List]()
	var g any
	if restore(t, nil, "global", &g); g != any(List{v: 2}) {
		t.Errorf("global is %v", g)
	}
}

type (
	number float64
	//lint:ignore U1000 a field whose type counts
	named struct{ x number }
)

func TestSignature(t *testing.T) {
	distinct := []reflect.Type{
		reflect.TypeFor[int](), reflect.TypeFor[int64](), reflect.TypeFor[number](), reflect.TypeFor[float64](), reflect.TypeFor[[2]int](), reflect.TypeFor[[3]int](),
		reflect.TypeFor[[]int](), reflect.TypeFor[*int](), reflect.TypeFor[chan int](), reflect.TypeFor[<-chan int](), reflect.TypeFor[chan<- int](),
		reflect.TypeFor[func(int)](), reflect.TypeFor[func() int](), reflect.TypeFor[func(...int)](), reflect.TypeFor[func([]int)](), reflect.TypeFor[func(int, int)](),
		reflect.TypeFor[map[int]string](), reflect.TypeFor[map[string]int](), reflect.TypeFor[struct{ a, b int }](), reflect.TypeFor[struct{ b, a int }](),
		reflect.TypeFor[struct{ named }](), reflect.TypeFor[struct{ named named }](), reflect.TypeFor[struct{ x named }](), reflect.TypeFor[any](), reflect.TypeFor[io.Reader](),
		reflect.TypeFor[error](), reflect.TypeFor[struct{ r *struct{ a int8 } }](), reflect.TypeFor[struct{ r *struct{ a uint8 } }](), reflect.TypeFor[List](),
		reflect.TypeOf(firstLin()), reflect.TypeOf(struct{ x any }{}), reflect.TypeFor[struct{ x []any }](),
	}
	seen := map[string]reflect.Type{}
	for _, x := range distinct {
		s := signature(x)
		if other := seen[s]; other != nil {
			t.Errorf("%v and %v have the same signature %q", other, x, s)
		}
		seen[s] = x
	}
	type tagged struct {
		A int `json:"a"`
	}
	first := signature(reflect.TypeFor[tagged]())
	second := func() string {
		type tagged struct{ A int }
		return signature(reflect.TypeFor[tagged]())
	}()
	if first != second {
		t.Errorf("tags matter: %q and %q", first, second)
	}
	var wide strings.Builder
	for _, n := range []int{1, 2} {
		fields := make([]reflect.StructField, 40)
		for i := range fields {
			fields[i] = reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: reflect.ArrayOf(n, reflect.TypeFor[int]())}
		}
		s := signature(reflect.StructOf(fields))
		if len(s) > signatureLimit {
			t.Errorf("a signature has %d bytes", len(s))
		}
		wide.WriteString(s + "\n")
	}
	if a, b, _ := strings.Cut(strings.TrimSpace(wide.String()), "\n"); a == b {
		t.Error("long signatures are the same")
	}
}

func TestCompanyIsLostAlone(t *testing.T) {
	folder(t)
	p := &List{v: 1}
	q := []any{p, firstLin()}
	s := 7
	r := []any{p, &s}
	if out := define(t, "p", &p, "q", &q, "r", &r, "s", &s); out != "" {
		t.Fatalf("notes: %s", out)
	}
	newCell(t)
	Reg[*List]()
	regChangedLin()
	var P *List
	var Q, R []any
	var S string // of another type now
	out := restore(t, nil, "p", &P, "~q", &Q, "~r", &R, "~s", &S, "~gone", new(int))
	if P == nil || P.v != 1 || Q != nil || S != "" {
		t.Errorf("p %v, q %v, s %q", P, Q, S)
	}
	for _, want := range []string{"note: q was made when the type persist.Lin that it holds was different", "note: s was made when its type string was different"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	m, _ := ReadManifest(dirs[0])
	if _, ok := m.Vars["q"]; ok {
		t.Error("q is still there")
	}
	newCell(t)
	Reg[*List]()
	Reg[*int]()
	var P2 *List
	restore(t, nil, "p", &P2)
	if P2.v != 1 {
		t.Error("p was lost with the others")
	}
}

// Whole is something to point into.
type Whole struct {
	name string
	n    int
	next *Whole
}

func TestMemoryOfForgottenVariables(t *testing.T) {
	d := folder(t)
	whole := Whole{name: "w", n: 3}
	whole.next = &whole
	name, n := &whole.name, &whole.n
	nodes := []List{{v: 1}, {v: 2}}
	inner := &nodes[1].v
	define(t, "whole", &whole, "name", &name, "n", &n, "nodes", &nodes, "inner", &inner)
	Forget(d, "whole", "nodes")
	for range 2 {
		newCell(t)
		Reg[List]()
		Reg[Whole]()
		var Name *string
		var N, Inner *int
		if out := restore(t, nil, "name", &Name, "n", &N, "inner", &Inner); out != "" {
			t.Errorf("said %q", out)
		}
		if *Inner != 2 || *Name != "w" || *N != 3 {
			t.Errorf("they lead to %q, %d and %d", *Name, *N, *Inner)
		}
	}
}

func TestNaNKeys(t *testing.T) {
	folder(t)
	nan := math.NaN()
	m := map[float64]string{nan: "a", 1: "b", math.Inf(1): "c"}
	m[nan] = "d"
	anyKeys := map[any]int{nan: 1, "x": 2, 3: 4, [2]float64{nan, 1}: 5}
	if out := define(t, "m", &m, "anyKeys", &anyKeys); out != "" {
		t.Fatalf("notes: %s", out)
	}
	newCell(t)
	Reg[[2]float64]()
	var M map[float64]string
	var A map[any]int
	restore(t, nil, "m", &M, "anyKeys", &A)
	got := map[string]bool{}
	for k, v := range M {
		got[fmt.Sprint(k, v)] = true
	}
	if len(M) != 4 || !got["NaNa"] && !got["NaN a"] || len(A) != 4 || A["x"] != 2 || A[3] != 4 {
		t.Errorf("restored %v and %v", M, A)
	}
}

func TestOneBadValueCostsNoOther(t *testing.T) {
	folder(t)
	good, ch, bad := []int{1}, make(chan int), &panics{}
	var holder any = map[string]any{"good": good, "ch": ch}
	out := define(t, "ch", &ch, "holder", &holder, "bad", &bad, "good", &good)
	if strings.Count(out, "note: ") != 3 || !strings.Contains(out, "bad (*persist.panics) is not remembered by later cells: its KeepState panicked: no") {
		t.Errorf("said\n%s", out)
	}
	newCell(t)
	var g []int
	if restore(t, nil, "good", &g); len(g) != 1 {
		t.Errorf("good is %v", g)
	}
}

type panics struct{ _ int }

func (*panics) KeepState() any   { panic("no") }
func (*panics) RestoreState(any) {}

// odd is an error that can't be kept whole.
type odd struct {
	ch    chan int
	cause error
}

func (o odd) Error() string { return "odd" }
func (o odd) Unwrap() error { return o.cause }

func TestErrorsThatBecomeText(t *testing.T) {
	folder(t)
	mine := errors.New("mine")
	err := fmt.Errorf("a: %w", odd{make(chan int), fmt.Errorf("b: %w", mine)})
	if out := define(t, "mine", &mine, "err", &err); out != "" {
		t.Fatalf("notes: %s", out)
	}
	var Mine, Err error
	for range 2 {
		newCell(t)
		Mine, Err = nil, nil
		restore(t, nil, "mine", &Mine, "err", &Err)
	}
	if Err.Error() != "a: odd" || !errors.Is(Err, Mine) || Mine.Error() != "mine" {
		t.Errorf("restored %v, which wraps mine: %v", Err, errors.Is(Err, Mine))
	}
}
