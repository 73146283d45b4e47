package einops

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lectern-go/lectern/tensor"
)

// plansOf reads a pattern in every way there is and returns the errors.
func plansOf(pattern string, rank int) (list []*Error) {
	for _, op := range []string{rearranging, reducing, repeating, parsing} {
		_, err := newPlan(op, pattern, rank)
		list = append(list, err)
	}
	for _, op := range []string{"einsum", "strict einsum"} {
		for _, ranks := range [][]int{{rank}, {rank, 1}, {1, rank, 2}} {
			_, err := newContraction(op, pattern, ranks)
			list = append(list, err)
		}
	}
	_, err := newAnnotation(pattern)
	return append(list, err)
}

// FuzzPattern checks that no text makes the readers fail otherwise than by an
// error that marks a place within the pattern.
func FuzzPattern(f *testing.F) {
	for _, seed := range []string{
		"b s (h d) -> b h s d", "... (heads hidden1) -> ... heads hidden1", "a b -> a b 2", "() 1 -> ", "->",
		"batch seq1 hidden, batch seq2 hidden -> batch seq1 seq2", "i i ->", "a.b -> a", "(a (b c))", ")a(", "a -> b -> c",
		"q: float32|bfloat16 [*batch seq 3 (h d)]", "_ ...", "α β, β γ -> α γ", "a… -> …a", "٣ -> ٣", "a\tb -> b a", "99999999999999999999 ->",
		"x: [", "*", "* a", "a, , b -> ", "\xff -> \xff", "a_ -> _a", "x:[]]", "(... a) -> (a ...)",
	} {
		f.Add(seed, 2)
	}
	f.Fuzz(func(t *testing.T, pattern string, rank int) {
		rank = min(max(rank, 0), 9)
		errs := plansOf(pattern, rank)
		if e, ok := tensor.Try(func() { newStar("pack", pattern) }).(*Error); ok {
			errs = append(errs, e)
		}
		for _, e := range errs {
			if e == nil {
				continue
			}
			if e.Start < 0 || e.Start > e.End || e.End > len(pattern) {
				t.Fatalf("%q: the place %d..%d lies outside the pattern: %s", pattern, e.Start, e.End, e.Reason)
			}
			if e.Kind == nil || e.Reason == "" || e.Pattern != pattern {
				t.Fatalf("%q: incomplete error %#v", pattern, e)
			}
			if pattern == "" {
				continue
			}
			lines := strings.Split(e.Error(), "\n")
			if len(lines) < 3 || !strings.Contains(lines[2], "^") || strings.Trim(lines[2], " ^") != "" {
				t.Fatalf("%q: no marks in %q", pattern, e.Error())
			}
			if n := utf8.RuneCountInString(lines[2]); n > utf8.RuneCountInString(lines[1])+1 {
				t.Fatalf("%q: marks beyond the pattern in %q", pattern, e.Error())
			}
		}
	})
}

func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		op, pattern string
		rank        int
		marked      string // what the marks are under
		kind        error
		reason      string // part of it
	}{
		{rearranging, "a b => b a", 2, "=>", ErrPattern, "no arrow"},
		{rearranging, "a b -> b -> a", 2, "->", ErrPattern, "second arrow"},
		{rearranging, "a (b (c d)) -> a b c d", 2, "(", ErrPattern, "inside parentheses"},
		{rearranging, "a b) -> a b", 2, ")", ErrPattern, "never opened"},
		{rearranging, "(a b -> a b", 2, "(", ErrPattern, "never closed"},
		{rearranging, "a b -> (a b a)", 2, "a", ErrPattern, `"a" appears twice`},
		{rearranging, "a b -> a", 2, "b", ErrPattern, "on the left but not on the right"},
		{rearranging, "a -> a b", 1, "b", ErrPattern, "on the right but not on the left"},
		{rearranging, "a b -> a b 2", 2, "2", ErrPattern, "length 2 without a name"},
		{rearranging, "a b -> a ... b", 2, "...", ErrPattern, "none on the left"},
		{rearranging, "... ... -> ...", 2, "...", ErrPattern, "second ellipsis"},
		{rearranging, "(... a) -> a", 2, "(... a)", ErrPattern, "can't be on the left"},
		{rearranging, "...a -> a ...", 2, "...a", ErrPattern, "not an axis name"},
		{rearranging, "a .. -> a", 2, ".", ErrPattern, "dot outside"},
		{rearranging, "α-β -> β", 2, "-", ErrPattern, `'-'`},
		{rearranging, "_a -> _a", 1, "_a", ErrPattern, "underscore"},
		{rearranging, "a _ -> _ a", 2, "_", ErrPattern, "not an axis name"},
		{rearranging, "1a -> 1a", 1, "1a", ErrPattern, "start with a letter"},
		{rearranging, "0 -> 0", 1, "0", ErrPattern, "at least 1"},
		{rearranging, "a b c -> a b c", 2, "a b c ", tensor.ErrShape, "for 3 axes, the tensor has 2"},
		{rearranging, "a b c ... -> a b c ...", 2, "a b c ... ", tensor.ErrShape, "at least 3 axes"},
		{repeating, "a b -> a", 2, "b", ErrPattern, "on the left but not"},
		{reducing, "a -> a b", 1, "b", ErrPattern, "on the right but not"},
		{reducing, "2 a -> 2", 2, "2", ErrPattern, "the axis of length 2"},
		{parsing, "a (...) b", 2, "(...)", ErrPattern, "parentheses"},
	} {
		_, err := newPlan(c.op, c.pattern, c.rank)
		if err == nil {
			t.Errorf("%s %q: no error", c.op, c.pattern)
			continue
		}
		if got := c.pattern[err.Start:err.End]; got != c.marked || !errors.Is(err, c.kind) || !strings.Contains(err.Reason, c.reason) {
			t.Errorf("%s %q: %v under %q, kind %v; want %q under %q, kind %v", c.op, c.pattern, err.Reason, got, err.Kind, c.reason, c.marked, c.kind)
		}
	}
}

// TestMarksUnderRunes checks the column of the marks behind letters of several
// bytes.
func TestMarksUnderRunes(t *testing.T) {
	_, err := newPlan(rearranging, "größe β -> γ", 2)
	want := "einops: rearrange: axis \"größe\" is on the left but not on the right\n" +
		"    größe β -> γ\n" +
		"    ^^^^^\n" +
		"    use Reduce to remove an axis"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestLongPatterns(t *testing.T) {
	for _, err := range plansOf(strings.Repeat("a ", maxPattern)+"->", 2) {
		if !errors.Is(err, ErrPattern) || !strings.Contains(err.Reason, "bytes") {
			t.Errorf("got %v", err.Reason)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"batch", "seq1", "seq2", "hidden"}
	for name, want := range map[string]string{
		"hiden": `did you mean "hidden"?`, "seq": `did you mean "seq1"?`, "bacth": `did you mean "batch"?`, "x": "", "width": "", "": "",
	} {
		if got := nearest(name, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestCacheIsBounded fills a cache beyond its limit; what is asked for again
// and again stays.
func TestCacheIsBounded(t *testing.T) {
	c := cache[int, int]{limit: 8}
	c.put(-1, 1)
	for i := range 1000 {
		c.put(i, i)
		if _, ok := c.get(-1); !ok {
			t.Fatalf("after %d entries the one in use is gone", i)
		}
		if c.len() > 16 {
			t.Fatalf("%d entries with a limit of 8", c.len())
		}
	}
	if _, ok := c.get(3); ok {
		t.Error("an entry that nobody asked for is still there")
	}
	if v, ok := c.get(999); !ok || v != 999 {
		t.Errorf("the latest entry is %d, %v", v, ok)
	}
}
