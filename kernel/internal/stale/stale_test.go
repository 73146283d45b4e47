package stale

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A play is a book to which runs are told. A step of it is written as in "b reads x; defines y=1". Beside reads,
// defines and declares there are changes, for a variable that a cell gives another value without defining it,
// and drops, for names that are no more.
type play struct {
	t    *testing.T
	b    Book
	now  map[string]string
	runs int
}

func (p *play) run(step string) {
	p.t.Helper()
	id, rest, _ := strings.Cut(step, " ")
	p.runs++
	r := Run{ID: id, Number: p.runs, Code: step, Groups: map[string]int{}}
	for part := range strings.SplitSeq(rest, ";") {
		words := strings.Fields(part)
		if len(words) == 0 {
			continue
		}
		for _, w := range words[1:] {
			name, value, _ := strings.Cut(w, "=")
			switch words[0] {
			case "reads":
				r.Reads = append(r.Reads, name)
				continue
			case "defines":
				r.Defines = append(r.Defines, name)
			case "declares":
				r.Declares = append(r.Declares, name)
			case "drops":
				delete(p.now, name)
				continue
			case "changes":
			case "groups":
				r.Groups[name], _ = strconv.Atoi(value)
				continue
			default:
				p.t.Fatalf("%q is no part of a step", words[0])
			}
			p.now[name] = value
		}
	}
	r.Now = maps.Clone(p.now)
	p.b.Ran(r)
}

func (p *play) stale() string {
	var list []string
	for _, s := range p.b.Stale() {
		list = append(list, s.ID+":"+strings.Join(s.Names, ","))
	}
	return strings.Join(list, " ")
}

func TestStale(t *testing.T) {
	for _, c := range []struct {
		name  string
		steps []string // the last run, after "->", makes these cells stale
	}{
		{"first runs make nothing stale", []string{"a defines x=1", "b reads x", "c reads x; changes x=2", "d reads x", "e defines x=5", "f reads x ->"}},
		{"another value", []string{"a defines x=1", "b reads x", "c", "a defines x=2 -> b:x"}},
		{"the same value", []string{"a defines x=1", "b reads x", "a defines x=1 ->"}},
		{"the first value again", []string{"a defines x=1", "b reads x", "a defines x=2 -> b:x", "a defines x=1 ->"}},
		{"run again", []string{"a defines x=1", "b reads x", "a defines x=2 -> b:x", "b reads x ->"}},
		{"by way of another variable", []string{"a defines x=1", "b reads x; defines y=1", "c reads y", "a defines x=2 -> b:x c:y"}},
		{"the way is run again, and makes the same", []string{"a defines x=1", "b reads x; defines y=1", "c reads y", "a defines x=2", "b reads x; defines y=1 ->"}},
		{"the way is run again, and makes something else", []string{"a defines x=1", "b reads x; defines y=1", "c reads y", "a defines x=2", "b reads x; defines y=2 -> c:y"}},
		{"another declaration", []string{"a declares f=old", "b reads f", "a declares f=new -> b:f"}},
		{"the same declaration", []string{"a declares f=old", "b reads f", "a declares f=old ->"}},
		{"a declaration does not change by what its cell reads", []string{"a defines x=1", "b reads x; declares f=1", "c reads f", "a defines x=2 -> b:x"}},
		{"another cell gives the name a new meaning", []string{"a defines x=1", "b reads x", "c defines x=2 ->", "d reads x", "c defines x=3 -> d:x"}},
		{"what has been made of the old value is undone", []string{"a defines x=1", "b reads x; changes x=2", "c reads x", "a defines x=1 -> b:x c:x"}},
		{"no value brings back what is undone", []string{"a defines x=1", "b reads x; changes x=2", "a defines x=1", "a defines x=1 -> b:x"}},
		{"done again", []string{"a defines x=1", "b reads x; changes x=2", "c reads x", "a defines x=1", "b reads x; changes x=2 ->"}},
		{"a cell that counts up", []string{"a defines x=1", "b reads x; changes x=2", "c reads x", "b reads x; changes x=3 -> c:x"}},
		{"and is undone", []string{"a defines x=1", "b reads x; changes x=2", "b reads x; changes x=3", "c reads x", "a defines x=1 -> b:x c:x"}},
		{"a name that its cell no longer defines", []string{"a defines x=1", "b reads x", "a defines y=1 -> b:x"}},
		{"and does again", []string{"a defines x=1", "b reads x", "a defines y=1", "a defines x=1 ->"}},
		{"a name that is no more", []string{"a defines x=1", "b reads x", "a drops x -> b:x"}},
		{"a removed name, removed below", []string{"a defines x=1", "b reads x", "c drops x ->"}},
		{"a cell that reads what it makes", []string{"a reads x; defines x=1", "a reads x; defines x=2 ->"}},
		{"a cell between, run later", []string{"a defines x=1", "b reads x", "n reads x; changes x=5 ->", "b reads x ->", "n reads x; changes x=6 -> b:x"}},
		{"a view of memory that is replaced", []string{"a defines x=1; groups x=1", "b reads x; defines y=1; groups x=2 y=2", "c reads x; groups x=2 y=2", "d reads y; groups x=2 y=2",
			"a defines x=1; groups x=3 y=2 -> b:x d:y", "a defines x=1; groups x=4 y=2 -> b:x d:y", "b reads x; defines y=1; groups x=5 y=5 ->"}},
		{"a copy of a value that is made anew", []string{"a defines x=1; groups x=1", "b reads x; defines y=1; groups x=1 y=2", "a defines x=1; groups x=3 y=2 ->"}},
		{"what a cell did itself is no news to it", []string{"a defines x=1", "b reads x; changes x=2", "c reads x; changes x=3", "b reads x; changes x=4 -> c:x", "c reads x; changes x=5 ->"}},
		{"a cell is changed to read nothing", []string{"a defines x=1", "b reads x", "b", "a defines x=2 ->"}},
	} {
		p := &play{t: t, now: map[string]string{}}
		for i, s := range c.steps {
			step, want, given := strings.Cut(s, "->")
			p.run(step)
			if got := p.stale(); given && got != strings.TrimSpace(want) {
				t.Errorf("%s: after step %d, %s, stale are %q, want %q", c.name, i+1, strings.TrimSpace(step), got, strings.TrimSpace(want))
			}
		}
	}
}

func TestLater(t *testing.T) {
	p := &play{t: t, now: map[string]string{}}
	p.b.Later("nobody", map[string]string{}, nil) // before anything has run
	for _, s := range []string{"a defines x=1 y=1", "b reads x", "c reads y; changes y=2", "d reads y"} {
		p.run(s)
	}
	p.b.Later("a", map[string]string{"x": "2", "y": "3"}, map[string]int{}) // what a has left behind changes both
	if got := p.stale(); got != "b:x c:y d:y" {
		t.Errorf("stale are %q, want all that have read what a wrote, and d by way of c", got)
	}
	p.now = map[string]string{"x": "2", "y": "3"}
	p.run("e")
	if w := p.b.Cell("e").Writes(); len(w) > 0 {
		t.Errorf("the next cell is said to have written %q", w)
	}
	p.run("b reads x")
	if got := p.stale(); got != "c:y d:y" {
		t.Errorf("stale are %q after b has run again", got)
	}
	p.b.Later("gone", map[string]string{"x": "4", "y": "3"}, map[string]int{})
	p.now["x"] = "4"
	p.run("e")
	if got := p.stale(); got != "c:y d:y" {
		t.Errorf("after nobody's doing stale are %q", got)
	}
}

func TestNext(t *testing.T) {
	p := &play{t: t, now: map[string]string{}}
	// n ran after b, and then b again: it depends on n now.
	for _, s := range []string{"a defines x=1", "b reads x", "n reads x; changes x=5", "b reads x", "c reads x; defines z=1", "a defines x=2"} {
		p.run(s)
	}
	if got := p.stale(); got != "b:x n:x c:x" {
		t.Fatalf("stale are %s", got)
	}
	done := map[string]bool{}
	var order []string
	for {
		c := p.b.Next(func(c *Cell) bool { return done[c.ID] })
		if c == nil {
			break
		}
		done[c.ID] = true
		order = append(order, c.ID)
		switch c.ID {
		case "n":
			p.run("n reads x; changes x=6")
		case "b":
			p.run("b reads x")
		case "c":
			p.run("c reads x; defines z=2")
		}
	}
	if got := strings.Join(order, " "); got != "n b c" || p.stale() != "" {
		t.Errorf("they are run in the order %s, and then stale are %q", got, p.stale())
	}
}

// Two cells that read from each other are run one after the other all the same.
func TestNextInACircle(t *testing.T) {
	p := &play{t: t, now: map[string]string{}}
	for _, s := range []string{"a defines k=1", "b reads k; defines x=1", "c reads x; defines y=1", "b reads k y; defines x=2", "c reads x; defines y=2", "a defines k=2"} {
		p.run(s)
	}
	if c := p.b.Next(func(*Cell) bool { return false }); c == nil || c.ID != "b" {
		t.Errorf("the first is %v", c)
	}
}

func TestBecause(t *testing.T) {
	p := &play{t: t, now: map[string]string{}}
	for _, s := range []string{"a defines x=1 u=1", "b reads x; defines y=1", "c reads y", "d reads u", "a defines x=2 u=2"} {
		p.run(s)
	}
	ids := func(cells []*Cell) (s []string) {
		for _, c := range cells {
			s = append(s, c.ID)
		}
		return s
	}
	direct, indirect, names := p.b.Because("a", func(c *Cell) bool { return c.ID == "d" })
	if got := fmt.Sprint(ids(direct), ids(indirect), names); got != "[b] [c] [x]" {
		t.Errorf("because of a: %s", got)
	}
	if direct, indirect, _ := p.b.Because("b", func(*Cell) bool { return false }); len(direct)+len(indirect) > 0 {
		t.Errorf("because of b: %v %v", ids(direct), ids(indirect))
	}
}

func TestLinks(t *testing.T) {
	p := &play{t: t, now: map[string]string{}}
	for _, s := range []string{"a defines x=1; declares f=1", "b reads x; defines y=1", "gone defines z=1", "c reads f x y z"} {
		p.run(s)
	}
	p.b.Forget("gone")
	var got []string
	for _, l := range p.b.Links() {
		got = append(got, fmt.Sprintf("%s %s %v", l.From.ID, l.To.ID, l.Names))
	}
	if want := []string{"a b [x]", "a c [f x]", "b c [y]"}; !slices.Equal(got, want) {
		t.Errorf("links %q, want %q", got, want)
	}
	if got := fmt.Sprint(p.b.Cell("a").Writes(), len(p.b.Cells())); got != "[f x] 3" {
		t.Errorf("a writes, and so many cells: %s", got)
	}
	if n := p.b.Names(); !n["x"] || !n["f"] || n["q"] {
		t.Errorf("names: %v", n)
	}
	p.b.Reset()
	if len(p.b.Cells()) > 0 || p.b.Cell("a") != nil {
		t.Error("cells are left")
	}
}
