package show

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lectern-go/lectern/internal/testenv"
)

type (
	summedLeaf struct {
		Name  string
		N     []float64
		M     map[string]int
		after time.Duration
	}
	summedTree struct {
		C           [2]bool
		More        any
		B           []byte
		Leaves      []summedLeaf
		Left, Right *summedTree
	}
)

// grownTree is a tree of random values.
func grownTree(r *rand.Rand, depth int) *summedTree {
	if depth == 0 || r.IntN(4) == 0 {
		return nil
	}
	x := &summedTree{C: [2]bool{r.IntN(2) == 0, true}, Left: grownTree(r, depth-1), Right: grownTree(r, depth-1), B: []byte(strings.Repeat("b", r.IntN(5)))}
	x.More = []any{nil, r.IntN(3), "a\tb", time.Duration(r.IntN(3)), []any{r.IntN(3)}, errors.New("wrong"), big.NewInt(r.Int64N(3))}[r.IntN(7)]
	for range r.IntN(3) {
		leaf := summedLeaf{Name: strings.Repeat("ü ", r.IntN(3)), N: make([]float64, r.IntN(130)), M: map[string]int{}}
		for i := range leaf.N {
			leaf.N[i] = float64(r.IntN(2))
		}
		for _, key := range []string{"a", "b", "c"}[:r.IntN(4)] {
			leaf.M[key] = r.IntN(3)
		}
		x.Leaves = append(x.Leaves, leaf)
	}
	return x
}

// change changes one thing in a tree, which may be shown or not.
func (x *summedTree) change(r *rand.Rand) {
	if x == nil {
		return
	}
	switch r.IntN(7) {
	case 0:
		x.Left.change(r)
	case 1:
		x.Right.change(r)
	case 2:
		x.More = r.IntN(3)
	case 3:
		x.C[r.IntN(2)] = r.IntN(2) == 0
	case 4:
		if len(x.B) > 0 {
			x.B[r.IntN(len(x.B))] = byte(r.IntN(200))
		}
	default:
		if len(x.Leaves) == 0 {
			return
		}
		l := &x.Leaves[r.IntN(len(x.Leaves))]
		switch r.IntN(4) {
		case 0:
			l.Name += "x"
		case 1:
			l.after++
		case 2:
			l.M["b"]++
		case 3:
			if len(l.N) > 0 {
				l.N[r.IntN(len(l.N))]++
			}
		}
	}
}

// As long as the sum of a value stays what it was, so does the text that a step shows.
func TestShownSum(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	same, other := 0, 0
	trees := testenv.Cases(3000)
	for range trees {
		tree := grownTree(r, 4)
		for _, v := range []any{tree, []*summedTree{tree, tree}, map[string]*summedTree{"x": tree}} {
			value := reflect.ValueOf(v)
			sum, ok := shownSum(value)
			text := stepText(value)
			if again, _ := shownSum(value); again != sum || !ok {
				t.Fatalf("%s: sums %d and %d, %v", text, sum, again, ok)
			}
			tree.change(r)
			now, _ := shownSum(value)
			switch {
			case stepText(value) == text:
				same++
			case now == sum:
				t.Fatalf("another text, the same sum: %s\n%s", text, stepText(value))
			default:
				other++
			}
		}
	}
	if same < trees/3 || other < trees/3 {
		t.Errorf("%d texts are the same after a change, %d others", same, other)
	}
}

type (
	spoken int
	inner  struct{ s spoken }
)

func (spoken) String() string { return "what the cell says" }

// Values that differ have different sums, and those whose text the cell writes have none.
func TestShownSumTellsApart(t *testing.T) {
	one, two := 1, 2
	long := make([]byte, 2*longBytes)
	changed := slices.Clone(long)
	changed[len(changed)-1] = 1
	var deep, deeper any = 1, 2
	for range 12 {
		deep, deeper = []any{deep}, []any{deeper}
	}
	values := []any{0, 1, uint8(1), 1.0, float32(1), math.Copysign(0, -1), true, false, "", "a", "b", complex(1, 2), complex(2, 1), []int(nil), []int{}, []int{0}, []int{0, 0}, [2]int{0, 1},
		[2]int{1, 0}, map[int]int(nil), map[int]int{}, map[int]int{1: 2}, map[int]int{2: 1}, map[int]int{1: 2, 2: 1}, &one, &two, (*int)(nil), []any{1}, []any{"1"}, []any{nil}, struct{}{},
		struct{ A, B int }{1, 2}, struct{ A, C int }{1, 2}, struct{ A, B int }{2, 1}, make(chan int), make(chan int, 1), func() {}, (func())(nil), time.Second, time.Minute, long, changed,
		[]string{"ab", "c"}, []string{"a", "bc"}, [][]int{{1}, {2}}, [][]int{{1, 2}, {}}, [][]int{{}, {1, 2}}, big.NewInt(1), big.NewInt(2), reflect.Int, reflect.Bool}
	sums := map[uint64]any{}
	for _, v := range values {
		sum, ok := shownSum(reflect.ValueOf(v))
		if other, before := sums[sum]; before && ok {
			t.Errorf("%#v and %#v have the same sum", other, v)
		} else if sums[sum] = v; !ok {
			t.Errorf("%T has no sum", v)
		}
	}
	defer func(was string) { cellPackage = was; clear(typeTexts) }(cellPackage)
	cellPackage = reflect.TypeFor[spoken]().PkgPath()
	clear(typeTexts)
	x, _ := shownSum(reflect.ValueOf(deep))
	if y, _ := shownSum(reflect.ValueOf(deeper)); x != y {
		t.Errorf("what lies deeper than is shown is in the sum")
	}
	var loop any = &deep
	deep = loop
	for _, v := range []any{spoken(1), inner{1}, []inner{{1}}, map[spoken]int{1: 1}, &inner{}, errors.Join(spokenError{}), reflect.TypeFor[int](), make([]map[int][]int, 0), loop} {
		_, ok := shownSum(reflect.ValueOf(v))
		if _, list := v.([]map[int][]int); ok != (list || v == loop) {
			t.Errorf("%T has a sum: %v", v, ok)
		}
	}
}

type spokenError struct{ spoken }

func (spokenError) Error() string { return "what the cell says" }

// BenchmarkStepValues looks at what has not changed, as at every step that may have changed anything.
func BenchmarkStepValues(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	words := map[int]string{}
	for i := range 260 {
		words[i] = strings.Repeat("w", 1+r.IntN(8))
	}
	numbers, tree := make([]float64, 100), grownTree(r, 5)
	for name, v := range map[string]any{"numbers": &numbers, "map of 260": &words, "tree": &tree} {
		b.Run(name, func(b *testing.B) {
			s, st := recording()
			s.values(st, 0, []any{"gv", v}, false)
			b.ReportAllocs()
			for b.Loop() {
				if s.values(st, 0, nil, true) != nil {
					b.Fatal("nothing has changed")
				}
			}
		})
	}
}
