package show

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
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
	if got := stepText(make([]int, 100)); len(got) > maxStepValue+3 || !strings.Contains(got, "100 elements") {
		t.Errorf("got %q", got)
	}
	if got := stepText(strings.Repeat("日", 200)); !strings.HasSuffix(got, "…") {
		t.Errorf("got %q", got)
	}
}

// What changes in place is shown at the step that changed it, wherever its name is.
func TestStepValuesChangedInPlace(t *testing.T) {
	s := newStepValues()
	weight, n := []int{1, 2}, 3
	s.fields([]any{"weight", weight, "n", n})
	if got := s.fields([]any{"loss", 5}); !slices.Equal(got, []string{"loss", "5"}) {
		t.Errorf("nothing changed, got %q", got)
	}
	weight[0] = 7
	if got := s.fields(nil); !slices.Equal(got, []string{"weight", "[]int{7, 2}"}) {
		t.Errorf("after a change in place: got %q", got)
	}
	if got := s.fields(nil); got != nil {
		t.Errorf("it was shown already: got %q", got)
	}
	s.enter()
	weight[1] = 8
	if got := s.fields([]any{"x", 1}); !slices.Equal(got, []string{"x", "1", "weight", "[]int{7, 8}"}) {
		t.Errorf("changed by a call: got %q", got)
	}
	s.leave()
	s.enter()
	own := []int{0}
	weight[1] = 9
	if got := s.fields([]any{"own", own}); !slices.Equal(got, []string{"own", "[]int{0}", "weight", "[]int{7, 9}"}) {
		t.Errorf("changed by another call: got %q", got)
	}
	s.leave()
	own[0] = 1
	if got := s.fields(nil); got != nil {
		t.Errorf("a variable of a call that has ended is shown: %q", got)
	}
}

// askedError notes whether it is asked for its text by what writes a value for a step.
type askedError struct{ written bool }

func (e *askedError) Error() string {
	e.written = formatting()
	return "end"
}

// To write a value for a step may call a method of the cell that has steps itself.
func TestStepsWhileAValueIsWritten(t *testing.T) {
	e := &askedError{}
	if got := stepsShown.fields([]any{"err", fmt.Errorf("read: %w", e)}); len(got) != 2 || !strings.Contains(got[1], "end") {
		t.Errorf("got %q", got)
	}
	_ = e.Error()
	if e.written {
		t.Error("a call by the cell counts as one by its steps")
	}
	stepsShown.fields([]any{"err", e})
	if !e.written {
		t.Error("a call by its steps counts as one by the cell")
	}
}
