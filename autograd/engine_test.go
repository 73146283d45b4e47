package autograd

import (
	"errors"
	"reflect"
	"runtime"
	"testing"
)

// scale multiplies by a factor that it saves until it is released.
type scale struct {
	factor *float64
	calls  *[]string
	name   string
}

func (s *scale) Name() string { return s.name }

func (s *scale) Ready() error {
	if s.factor == nil {
		return &FreedError{Op: s.name}
	}
	return nil
}

func (s *scale) Gradient(i int, g float64) float64 {
	if s.calls != nil {
		*s.calls = append(*s.calls, s.name)
	}
	return g * *s.factor
}

func (s *scale) Release() { s.factor = nil }

func times(factor float64, in *Node[float64]) *Node[float64] {
	return Record[float64](&scale{factor: &factor, name: "scale"}, in)
}

var sum = Rules[float64]{Add: func(a, b float64) float64 { return a + b }}

func mustBackward(t *testing.T, root *Node[float64], seed float64, rules Rules[float64]) {
	t.Helper()
	if err := Backward(root, seed, rules); err != nil {
		t.Fatal(err)
	}
}

func wantGrad(t *testing.T, name string, n *Node[float64], want float64) {
	t.Helper()
	if got, ok := n.Grad(); !ok || got != want {
		t.Errorf("gradient of %s: got %v (present: %v), want %v", name, got, ok, want)
	}
}

func TestChainOfHundredThousandOps(t *testing.T) {
	x := Leaf[float64]()
	n := x
	for range 100_000 {
		n = times(1, n)
	}
	mustBackward(t, n, 3, sum)
	wantGrad(t, "x", x, 3)
}

func TestGradientsOfSharedValueAreAdded(t *testing.T) {
	x := Leaf[float64]()
	h := times(2, x)
	factor := 1.
	root := Record[float64](&scale{factor: &factor, name: "add"}, h, h, x)
	mustBackward(t, root, 1, sum)
	wantGrad(t, "x", x, 5) // 2 + 2 + 1
}

func TestOrderPutsEveryNodeBeforeItsInputs(t *testing.T) {
	x := Leaf[float64]()
	a := times(2, x)
	b := times(3, a)
	factor := 1.
	c := Record[float64](&scale{factor: &factor, name: "add"}, a, b)
	want := []*Node[float64]{c, b, a, x}
	if got := Order(c); !reflect.DeepEqual(got, want) {
		t.Errorf("order %p, want %p", got, want)
	}
}

func TestLeafAccumulatesOverCalls(t *testing.T) {
	x := Leaf[float64]()
	mustBackward(t, times(2, x), 1, sum)
	mustBackward(t, times(5, x), 1, sum)
	wantGrad(t, "x", x, 7)
	x.ClearGrad()
	if _, ok := x.Grad(); ok {
		t.Error("ClearGrad left a gradient")
	}
}

func TestSecondBackwardIsAnErrorAndChangesNothing(t *testing.T) {
	x := Leaf[float64]()
	fresh := times(2, x)
	y := times(3, fresh)
	mustBackward(t, y, 1, sum)
	err := Backward(y, 1, sum)
	var freed *FreedError
	if !errors.As(err, &freed) || freed.Op != "scale" {
		t.Fatalf("second backward: got %v, want a FreedError of scale", err)
	}
	wantGrad(t, "x", x, 6)
}

func TestRetainAllowsASecondBackward(t *testing.T) {
	x := Leaf[float64]()
	y := times(3, x)
	retain := sum
	retain.Retain = true
	mustBackward(t, y, 1, retain)
	mustBackward(t, y, 1, sum)
	wantGrad(t, "x", x, 6)
}

func TestOnlyRetainedInnerNodesKeepTheirGradient(t *testing.T) {
	x := Leaf[float64]()
	a := times(2, x)
	b := times(3, a)
	b.RetainGrad()
	mustBackward(t, times(5, b), 1, sum)
	wantGrad(t, "b", b, 5)
	if _, ok := a.Grad(); ok {
		t.Error("a kept a gradient that nobody asked for")
	}
}

func TestInputsWithoutGradientAreNotComputed(t *testing.T) {
	var calls []string
	factor := 2.
	x := Leaf[float64]()
	y := Record[float64](&scale{factor: &factor, name: "mul", calls: &calls}, nil, x)
	mustBackward(t, y, 1, sum)
	if len(calls) != 1 {
		t.Errorf("Gradient was called %d times, want once: only x needs it", len(calls))
	}
}

func TestHooksSeeTheWholeGradientAndMayChangeIt(t *testing.T) {
	x := Leaf[float64]()
	h := times(2, x)
	var seen float64
	h.OnGrad(func(g float64) float64 { seen = g; return g * 10 })
	factor := 1.
	mustBackward(t, Record[float64](&scale{factor: &factor, name: "add"}, h, h), 1, sum)
	if seen != 2 {
		t.Errorf("hook saw %v, want 2", seen)
	}
	wantGrad(t, "x", x, 40)
}

func TestOwnIsAppliedToWhatIsKept(t *testing.T) {
	owned := 0
	rules := sum
	rules.Own = func(g float64) float64 { owned++; return g }
	x := Leaf[float64]()
	mustBackward(t, times(2, times(2, x)), 1, rules)
	if owned != 1 {
		t.Errorf("Own was applied %d times, want once, to the leaf's gradient", owned)
	}
}

// big saves a large value, to show when it is dropped.
type big struct {
	saved   *[1 << 20]byte
	dropped *int
}

func (b *big) Name() string { return "big" }
func (b *big) Ready() error { return nil }
func (b *big) Gradient(i int, g float64) float64 {
	return g
}
func (b *big) Release() { b.saved = nil; *b.dropped++ }

func TestSavedValuesAreReleasedAsBackwardProceeds(t *testing.T) {
	dropped := 0
	x := Leaf[float64]()
	var atFirstHook int
	x2 := Record[float64](&big{new([1 << 20]byte), &dropped}, x)
	x2.OnGrad(func(g float64) float64 { atFirstHook = dropped; return g })
	n := x2
	for range 50 {
		n = Record[float64](&big{new([1 << 20]byte), &dropped}, n)
	}
	mustBackward(t, n, 1, sum)
	if atFirstHook != 50 || dropped != 51 {
		t.Errorf("released %d before the last function and %d in all, want 50 and 51", atFirstHook, dropped)
	}
	runtime.KeepAlive(n)
}

// recycler is a Recycler of functions.
type recycler[T any] struct {
	hold, drop func(T)
	addTo      func(kept, g T) bool
}

func (r recycler[T]) Hold(g T)             { r.hold(g) }
func (r recycler[T]) Drop(g T)             { r.drop(g) }
func (r recycler[T]) AddTo(kept, g T) bool { return r.addTo(kept, g) }

// TestKeptGradientsMayBeAddedTo: AddTo comes first, and Add where it declines.
func TestKeptGradientsMayBeAddedTo(t *testing.T) {
	for _, may := range []bool{true, false} {
		x, calls := Leaf[*float64](), 0
		rules := Rules[*float64]{
			Add: func(a, b *float64) *float64 { sum := *a + *b; return &sum },
			Reuse: recycler[*float64]{func(*float64) {}, func(*float64) {}, func(kept, g *float64) bool {
				calls++
				*kept += *g * map[bool]float64{true: 1}[may]
				return may
			}},
		}
		for _, g := range []float64{1, 10, 100} {
			if err := Backward(x, &g, rules); err != nil {
				t.Fatal(err)
			}
		}
		if g, ok := x.Grad(); !ok || *g != 111 || calls != 2 {
			t.Errorf("allowed %v: %v after %d calls, want 111 after 2", may, *g, calls)
		}
	}
}

// TestValuesAreDroppedAsOftenAsHeld: at the end none is on its way, and none is
// dropped before its last use.
func TestValuesAreDroppedAsOftenAsHeld(t *testing.T) {
	held, most := map[float64]int{}, 0
	total := func() (n int) {
		for _, count := range held {
			n += count
		}
		return n
	}
	rules := Rules[float64]{
		Add: func(a, b float64) float64 {
			if held[a] == 0 || held[b] == 0 {
				t.Errorf("%v and %v are added, of which these are held: %v", a, b, held)
			}
			return a + b
		},
		Reuse: recycler[float64]{
			func(g float64) { held[g]++; most = max(most, total()) },
			func(g float64) {
				if held[g]--; held[g] < 0 {
					t.Errorf("%v was not held", g)
				}
			},
			func(float64, float64) bool { return false },
		},
	}
	x := Leaf[float64]()
	n := x
	for i := range 10 { // each value is used twice
		a := times(float64(i+2), n)
		a.OnGrad(func(g float64) float64 { return -g })
		n = Record[float64](&scale{factor: new(float64), name: "both"}, a, times(3, n), nil)
		*n.fn.(*scale).factor = 1.5
	}
	mustBackward(t, n, 1, rules)
	if n := total(); n != 0 {
		t.Errorf("%d values are still held: %v", n, held)
	}
	if most > 5 {
		t.Errorf("%d values were held at once", most)
	}
}

func BenchmarkBackward(b *testing.B) {
	for b.Loop() {
		n := Leaf[float64]()
		for range 1000 {
			n = times(1, n)
		}
		if err := Backward(n, 1, sum); err != nil {
			b.Fatal(err)
		}
	}
}
