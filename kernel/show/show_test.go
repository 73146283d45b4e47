package show

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/internal/inspect"
)

type point struct {
	X, Y int
	name string
}
type celsius float64
type node struct {
	next *node
	v    int
}
type pair[A any, B any] struct {
	First  A
	Second B
}
type level int

func (l level) String() string { return [...]string{"low", "high"}[l] }

type figure struct{ svg string }

func (f figure) SVG() string { return f.svg }

type page struct{ html string }

func (p *page) HTML() string   { return p.html }
func (p *page) String() string { return "page of " + p.html }

type chart struct{ page }

func (c *chart) Narrow() string { return "narrow " + c.html }

func TestNarrow(t *testing.T) {
	if got := formats(&chart{page{"plot"}}); !slices.Equal(got, []string{"text/html", "plot", narrowType, "narrow plot", "text/plain", "page of plot"}) {
		t.Errorf("a figure that is drawn for phones, too, is shown as %q", got)
	}
	if got := formats(&chart{}); !slices.Equal(got, []string{"text/plain", "page of "}) {
		t.Errorf("an empty one is shown as %q", got)
	}
}

type broken struct{}

func (broken) HTML() string   { panic("no ink") }
func (broken) String() string { panic("no words") }

func TestFormat(t *testing.T) {
	cycle := &node{v: 1}
	cycle.next = &node{cycle, 2}
	loop := []any{1, nil}
	loop[1] = loop
	var nilNode *node
	long := make([]float64, 1000)
	for i := range long {
		long[i] = float64(i) / 2
	}
	for _, c := range []struct {
		name string
		v    any
		want string
	}{
		{"nil", nil, "nil"},
		{"int", 3, "3"},
		{"float", 0.1, "0.1"},
		{"float32", float32(0.1), "0.1"},
		{"bool", true, "true"},
		{"complex", 1 + 2i, "(1+2i)"},
		{"string", "a\"b\n", `"a\"b\n"`},
		{"string of lines", "a\nb\nc\n", "`a\nb\nc\n`"},
		{"unicode", "é日本😀", `"é日本😀"`},
		{"named number", celsius(3.5), "celsius(3.5)"},
		{"stringer", level(1), "high"},
		{"stringer that panics", level(7), "level(7)"},
		{"duration", 1500 * time.Millisecond, "1.5s"},
		{"error", errors.New("no such file"), "no such file"},
		{"slice", []int{0, 1, 4}, "[]int{0, 1, 4}"},
		{"nil slice", []int(nil), "[]int(nil)"},
		{"empty slice", []int{}, "[]int{}"},
		{"bytes of text", []byte("hi"), `[]byte("hi")`},
		{"bytes", []byte{1, 2}, "[]byte{1, 2}"},
		{"array", [2]bool{true, false}, "[2]bool{true, false}"},
		{"nested", [][]int{{1}, {2, 3}}, "[][]int{{1}, {2, 3}}"},
		{"map", map[string]int{"b": 2, "a": 1}, `map[string]int{"a": 1, "b": 2}`},
		{"map with keys that are not themselves", map[float64]int{math.NaN(): 1, 2: 3, math.Float64frombits(0x7ff8000000000002): 1}, `map[float64]int{NaN: 1, NaN: 1, 2: 3}`},
		{"map of ints", map[int]bool{10: true, 9: false}, "map[int]bool{9: false, 10: true}"},
		{"struct", point{1, 2, "p"}, `show.point{X: 1, Y: 2, name: "p"}`},
		{"pointer", &point{1, 2, ""}, `&show.point{X: 1, Y: 2, name: ""}`},
		{"slice of pointers", []*point{{1, 2, ""}, nil}, `[]*show.point{&{X: 1, Y: 2, name: ""}, nil}`},
		{"typed nil", nilNode, "nil"},
		{"any", []any{1, "a", nil, []int{2}}, `[]any{1, "a", nil, []int{2}}`},
		{"stringers inside", []level{0, 1}, "[]show.level{low, high}"},
		{"time inside", struct{ t time.Time }{time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)}, "struct { t time.Time }{t: 2024-01-02 03:04:05 +0000 UTC}"},
		{"cycle", cycle, "&show.node{next: &show.node{next: &show.node{…}, v: 2}, v: 1}"},
		{"slice in itself", loop, "[]any{1, []any{1, []any{…}}}"},
		{"generic", pair[int, string]{1, "k"}, `show.pair[int,string]{First: 1, Second: "k"}`},
		{"func", strings.ToUpper, "func(string) string"},
		{"long", long, "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Format(c.v)
			want := strings.ReplaceAll(c.want, "celsius(", "show.celsius(")
			want = strings.ReplaceAll(want, "level(7)", "show.level(7)")
			if c.name == "long" {
				if !strings.HasPrefix(got, "[]float64{ // 1000 elements\n    0, 0.5, 1,") && !strings.HasPrefix(got, "[]float64{0, 0.5, 1,") ||
					!strings.Contains(got, "499.5") || len(got) > 300 {
					t.Errorf("got %s", got)
				}
				return
			}
			if c.name == "cycle" || c.name == "slice in itself" {
				if !strings.Contains(got, "…") || len(got) > 400 {
					t.Errorf("got %s, want an ellipsis for the value inside itself", got)
				}
				return
			}
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestFormatLines(t *testing.T) {
	rows := []point{{1, 2, strings.Repeat("a", 30)}, {3, 4, strings.Repeat("b", 30)}}
	want := "[]show.point{\n    {X: 1, Y: 2, name: \"" + rows[0].name + "\"},\n    {X: 3, Y: 4, name: \"" + rows[1].name + "\"},\n}"
	if got := Format(rows); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTypeName(t *testing.T) {
	for in, want := range map[string]string{
		"main.Point": "Point", "[]main.Point": "[]Point", "map[string]*main.T": "map[string]*T", "domain.Name": "domain.Name",
		"main.Pair[int,main.T]": "Pair[int,T]",
	} {
		if got := stripMain(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestFormats(t *testing.T) {
	svg := "<svg><title>loss &amp; steps</title><path/></svg>"
	var none *page
	for _, c := range []struct {
		name string
		v    any
		want []string
	}{
		{"plain", 3, []string{"text/plain", "3"}},
		{"svg", figure{svg}, []string{"image/svg+xml", svg, "text/plain", "figure: loss & steps"}},
		{"html with text", &page{"<b>x</b>"}, []string{"text/html", "<b>x</b>", "text/plain", "page of <b>x</b>"}},
		{"nil pointer", none, []string{"text/plain", "nil"}},
		{"method that panics", broken{}, []string{"text/html", "<pre>this value's own display panicked: no ink</pre>", "text/plain", "show.broken{}"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := formats(c.v)
			if strings.Join(got, "|") != strings.Join(c.want, "|") {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestTable(t *testing.T) {
	tb := table{[]string{"name", "n"}, [][]any{{"a<b", 1}, {"c", 1000}}}
	want := "name     n\n----------\na<b      1\nc     1000\n"
	if got := tb.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	html := tb.HTML()
	for _, w := range []string{`<th scope="col" style="text-align:left">name</th>`, `text-align:right">n</th>`, "a&lt;b", `text-align:right">1000<`} {
		if !strings.Contains(html, w) {
			t.Errorf("no %q in %s", w, html)
		}
	}
}

func TestHTMLText(t *testing.T) {
	for in, want := range map[string]string{
		"<p>Hello <b>big</b> world</p><p>two</p>": "Hello big world\ntwo",
		"<style>b{}</style><b>x</b>":              "x",
		"a &lt; b":                                "a < b",
		"<img src=x>":                             "HTML",
		"<tr><td>1</td><td>2</td></tr>":           "1 2",
		"unfinished <b":                           "unfinished",
	} {
		if got := htmlText(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestStepText(t *testing.T) {
	text := func(v any) string { return stepText(reflect.ValueOf(v)) }
	if got := text(make([]int, 100)); len(got) > maxStepValue+3 || !strings.Contains(got, "100 elements") {
		t.Errorf("got %q", got)
	}
	if got := text(strings.Repeat("日", 200)); !strings.HasSuffix(got, "…") {
		t.Errorf("got %q", got)
	}
	if got := text(func() {}); got != "func()" {
		t.Errorf("got %q", got)
	}
}

// What a step shows of a value is the beginning of its text.
func TestStepTextIsTheBeginning(t *testing.T) {
	type leaf struct {
		Name string
		N    []float64
		M    map[string]int
	}
	type tree struct {
		Left, Right *tree
		Leaves      []leaf
		More        any
	}
	r := rand.New(rand.NewPCG(1, 2))
	var grow func(depth int) *tree
	grow = func(depth int) *tree {
		if depth == 0 || r.IntN(4) == 0 {
			return nil
		}
		x := &tree{Left: grow(depth - 1), Right: grow(depth - 1), More: []any{nil, 1, "déjà vu\n\tvu", time.Duration(r.IntN(1e6)), [2]bool{}}[r.IntN(5)]}
		for range r.IntN(4) {
			x.Leaves = append(x.Leaves, leaf{strings.Repeat("ü ", r.IntN(20)), make([]float64, r.IntN(30)), map[string]int{"a": r.IntN(1000)}})
		}
		return x
	}
	cut := 0
	for range 500 {
		v := []any{grow(5), tree{Right: grow(3)}, []*tree{grow(2), grow(2)}}
		for _, v := range v {
			want := humanize.Shorten(oneLine(Format(v)), maxStepValue)
			if got := stepText(reflect.ValueOf(v)); got != want {
				t.Fatalf("got  %q\nwant %q", got, want)
			} else if strings.HasSuffix(got, "…") {
				cut++
			}
		}
	}
	if cut < 300 || cut > 1400 {
		t.Errorf("%d of 1500 texts are cut", cut)
	}
	leaves := make([]leaf, 90)
	if n := testing.AllocsPerRun(1, func() { stepText(reflect.ValueOf(map[string]any{"leaves": leaves})) }); n > 300 {
		t.Errorf("%v allocations, to write what is not shown", n)
	}
}

// recording is a stepper that records this goroutine.
func recording() (*stepper, *stepStack) {
	s := newStepper()
	return s, s.main
}

// recordedVars are the names, frames and texts of the variables that a step records.
func recordedVars(fields []string) (list []string) {
	for ; len(fields) > 0; fields = fields[varFields:] {
		list = append(list, fields[0]+"@"+fields[1]+"="+fields[2])
	}
	return list
}

// What changes in place is shown at the step that changed it, wherever its name is.
func TestStepValuesChangedInPlace(t *testing.T) {
	s, st := recording()
	check := func(what string, all bool, set []any, want ...string) {
		t.Helper()
		if got := recordedVars(s.values(st, len(st.frames)-1, set, all)); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	weight, n, deep := []int{1, 2}, 3, map[string]*int{}
	check("set", false, []any{"gweight", &weight, "vn", n, "gdeep", &deep}, "weight@0=[]int{1, 2}", "n@0=3", "deep@0=map[string]*int{}")
	check("nothing changed", true, []any{"vloss", 5}, "loss@0=5")
	weight[0] = 7
	check("nobody looks", false, nil)
	check("changed in place", true, nil, "weight@0=[]int{7, 2}")
	check("it was shown already", true, nil)
	deep["n"] = &n
	check("a map", true, nil, `deep@0=map[string]*int{"n": &3}`)
	n = 4
	check("a pointer in a map", true, nil, `deep@0=map[string]*int{"n": &4}`)
	st.frames = append(st.frames, &stepFrame{vars: map[string]*stepVar{}})
	weight[1] = 8
	local := 1
	check("changed by a call", true, []any{"alocal", &local}, "local@1=1", "weight@0=[]int{7, 8}")
	st.frames = append(st.frames, &stepFrame{vars: map[string]*stepVar{}})
	local = 2
	check("a variable of the caller", true, []any{"plocal", &local}, "local@2=2", "local@1=2")
	check("a variable of a function that has returned", true, []any{"pgone", &local}, "gone@2=2")
	weight = nil
	check("set by a closure", true, nil, "weight@0=[]int(nil)")
	s.concurrent = true
	local = 3
	check("others may be writing", true, nil)
}

// askedError has steps itself.
type askedError struct {
	s  *stepper
	st *stepStack
}

func (e *askedError) Error() string {
	if e.s.lock(e.st) {
		e.s.unlock()
		return "a step of its own"
	}
	return "end"
}

// To write a value for a step may call a method of the cell that has steps itself.
func TestStepsWhileAValueIsWritten(t *testing.T) {
	s, st := recording()
	e := &askedError{s, st}
	if !s.lock(st) {
		t.Fatal("it is nobody's turn")
	}
	st.busy = true
	if got := stepText(reflect.ValueOf(fmt.Errorf("read: %w", e))); !strings.Contains(got, "end") {
		t.Errorf("got %q", got)
	}
	st.busy = false
	s.unlock()
	if e.Error() == "end" {
		t.Error("a call by the cell counts as one by its steps")
	}
}

// A Library of another kind of tensors.
type fakeTensor struct {
	numbers []int
	grad    *fakeTensor
	stamp   int
}

func TestStepsTellOfTensors(t *testing.T) {
	before := inspect.Linked
	defer func() { inspect.Linked = before }()
	clear(tensorTypes)
	inspect.Linked = &inspect.Library{
		Type: reflect.TypeFor[*fakeTensor](),
		Describe: func(v any, _ int) (f inspect.Tensor, ok bool) {
			x := v.(*fakeTensor)
			f = inspect.Tensor{Text: fmt.Sprint(x.numbers), Memory: &x.numbers[0], Size: 8 * len(x.numbers), Dtype: "int", Shape: []int{len(x.numbers)}, Strides: []int{1}, Tracked: x.grad != nil}
			if x.grad != nil {
				f.Grad = x.grad
			}
			return f, true
		},
		Stamp: func(v any) any { return v.(*fakeTensor).stamp },
		Reach: func(v any, visit func(any, int, string)) {
			visit(&v.(*fakeTensor).numbers[0], 8*len(v.(*fakeTensor).numbers), "")
		},
	}
	s, st := recording()
	numbers := []int{1, 2, 3}
	x := &fakeTensor{numbers: numbers}
	y := &fakeTensor{numbers: numbers[:2], grad: &fakeTensor{numbers: []int{5}}}
	type inner struct{ hidden map[string]any }
	model := struct{ in *inner }{&inner{map[string]any{"w": &fakeTensor{numbers: []int{7}}}}}
	got := s.values(st, 0, []any{"gx", &x, "vy", y, "gmodel", &model}, false)
	if want := "int;3;1;0;1;24;"; got[3] != want {
		t.Errorf("facts of x: %q, want %q", got[3], want)
	}
	if want := "int;2;1;0;1;16;grad"; got[varFields+3] != want || got[varFields+4] != "[5]" {
		t.Errorf("facts of y: %q, want %q, and its gradient %q", got[varFields+3], want, got[varFields+4])
	}
	if held := s.reached(st); len(held) != 2 || held[0] != (heldPart{"model", "", 1, 8}) && held[1] != (heldPart{"model", "", 1, 8}) {
		t.Errorf("variables hold %+v, want the memory of model, and that of x and y once", held)
	}
	x.stamp = 1
	if got := recordedVars(s.values(st, 0, nil, true)); !slices.Equal(got, []string{"x@0=[1 2 3]"}) {
		t.Errorf("after a change: %q", got)
	}
}

// Very many bytes, perhaps of a file, are not read to show their ends.
func TestFormatLongBytes(t *testing.T) {
	text := []byte(strings.Repeat("día ", 1<<20))
	if got := Format(text); !strings.HasPrefix(got, `[]byte("día día`) || !strings.Contains(got, fmt.Sprintf(`día " // %d bytes`, len(text))) {
		t.Errorf("text: %.80s … %s", got, got[max(0, len(got)-80):])
	}
	numbers := make([]byte, 5<<20)
	if n := testing.AllocsPerRun(1, func() { Format(numbers) }); n > 2000 {
		t.Errorf("%v allocations", n)
	}
	if got := Format(numbers); !strings.HasPrefix(got, "[]byte{ // 5242880 elements") || len(got) > 1000 {
		t.Errorf("numbers: %.100s", got)
	}
}

// A statement that runs very many small operations is not slowed by hearing of each; one of large ones is heard out.
func TestStepsStopHearingOfSmallOperations(t *testing.T) {
	for _, c := range []struct {
		name string
		took time.Duration
		deaf bool
	}{{"small", 0, true}, {"large", time.Hour, false}} {
		s, st := recording()
		stopped := 0
		s.stop = func() { stopped++ }
		s.now = func() time.Time { return s.began.Add(c.took) }
		s.before = -time.Hour // the processor has worked for this program alone
		for range 100_000 {
			s.ran(inspect.Op{FLOPs: 1})
		}
		ops, heard := s.take(st), s.heard.Load()
		if s.deaf.Load() != c.deaf || stopped > 1 || c.deaf != (stopped == 1) {
			t.Errorf("%s operations: deaf %v, stopped %d times", c.name, s.deaf.Load(), stopped)
		}
		flops := 0
		for _, op := range ops {
			flops += op.FLOPs
		}
		if heard != 100_000 || int64(flops) != heard || len(ops) > maxSteps {
			t.Errorf("%s operations: %d of them heard, %d kept, with %d FLOPs", c.name, heard, len(ops), flops)
		}
	}
}

// A model has changed when one of its tensors has, also one that is not shown.
func TestStepsSeeTensorsBehindTheText(t *testing.T) {
	before := inspect.Linked
	defer func() { inspect.Linked = before; clear(tensorTypes) }()
	clear(tensorTypes)
	inspect.Linked = &inspect.Library{Type: reflect.TypeFor[*fakeTensor](), Stamp: func(v any) any { return v.(*fakeTensor).stamp }}
	model := &struct {
		Name   string
		Layers []*fakeTensor
	}{Name: strings.Repeat("a long name ", 30), Layers: []*fakeTensor{{stamp: 1}, {stamp: 2}}}
	s, st := recording()
	s.values(st, 0, []any{"gmodel", &model}, false)
	if got := recordedVars(s.values(st, 0, nil, true)); got != nil {
		t.Errorf("nothing has changed: %q", got)
	}
	model.Layers[1].stamp = 3
	if got := recordedVars(s.values(st, 0, nil, true)); len(got) != 1 {
		t.Errorf("a layer has changed: %q", got)
	}
}

func TestPNGNeedsAText(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	PNG([]byte("png"), " ")
}
