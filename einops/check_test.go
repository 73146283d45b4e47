package einops_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/einops"
	"github.com/lectern-go/lectern/tensor"
)

func TestCheckAccepts(t *testing.T) {
	for _, c := range []struct {
		annotation string
		shape      []int
	}{
		{"batch seq heads hidden", []int{2, 3, 4, 5}},
		{"", nil},
		{"n n", []int{3, 3}},
		{"_ _", []int{3, 4}},
		{"batch 3 height width", []int{2, 3, 5, 5}},
		{"1 () n", []int{1, 1, 4}},
		{"...", nil},
		{"... n", []int{2, 3, 4}},
		{"a ... b", []int{2, 4}},
		{"*batch n", []int{2, 3, 4}},
		{"x: float32 [a b]", []int{2, 3}},
		{"x: [a b]", []int{2, 3}},
		{"float[a b]", []int{2, 3}},
		{"float16|float32 [a b]", []int{2, 3}},
		{"number [a]", []int{2}},
		{"h d (h d)", []int{2, 3, 6}},
		{"(h d) h", []int{6, 2}},
		{"(h 3)", []int{6}},
		{"(h h) h", []int{4, 2}},
		{"empty n", []int{0, 3}},
	} {
		x := tensor.Zeros(c.shape...)
		if err := tensor.Try(func() {
			if y := einops.Check(x, c.annotation); y != x {
				t.Errorf("%q: another tensor is returned", c.annotation)
			}
		}); err != nil {
			t.Errorf("%q of %v: %v", c.annotation, c.shape, err)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	for _, c := range []struct {
		annotation string
		shape      []int
		kind       error
		reason     string // part of the message
		marked     string
	}{
		{"batch seq", []int{2, 3, 4}, tensor.ErrShape, "has 3 axes, the annotation is for 2 axes", "batch seq"},
		{"a b ...", []int{2}, tensor.ErrShape, "has 1 axis, the annotation is for at least 2 axes", "a b ..."},
		{"n n", []int{3, 4}, tensor.ErrShape, `axis 1 of the tensor has size 4, but "n" is 3 by axis 0 of the same tensor`, "n"},
		{"q: batch 3", []int{2, 4}, tensor.ErrShape, `axis 1 of "q" has size 4, not 3`, "3"},
		{"a ()", []int{2, 4}, tensor.ErrShape, "axis 1 of the tensor has size 4, not 1", "()"},
		{"(h d) h", []int{7, 2}, tensor.ErrShape, "axis 0 of the tensor has size 7, not divisible by 2", "(h d)"},
		{"h d (h d)", []int{2, 3, 7}, tensor.ErrShape, "axis 2 of the tensor has size 7, not 6", "(h d)"},
		{"(h d)", []int{6}, einops.ErrLength, `a product of "h" and "d", and neither is known`, "(h d)"},
		{"int [a b]", []int{2, 3}, tensor.ErrDtype, "the tensor is float32, not int", "int"},
		{"bool|int64 [a]", []int{2}, tensor.ErrDtype, "the tensor is float32, not bool|int64", "bool|int64"},
		{"float3 [a]", []int{2}, einops.ErrPattern, `"float3" is not a dtype`, "float3"},
		{"[a b", []int{2, 3}, einops.ErrPattern, "never closed", "["},
		{"[a] b", []int{2, 3}, einops.ErrPattern, "more after the axes", " b"},
		{": a", []int{2}, einops.ErrPattern, "name of the tensor", ":"},
		{"* a", []int{2, 3}, einops.ErrPattern, "'*'", "*"},
		{"*2 a", []int{2, 3}, einops.ErrPattern, "a name after it", "*2"},
		{"... *b", []int{2, 3}, einops.ErrPattern, "second ellipsis", "*b"},
		{"(... a)", []int{2}, einops.ErrPattern, "product", "(... a)"},
	} {
		var e *einops.Error
		err := tensor.Try(func() { einops.Check(tensor.Zeros(c.shape...), c.annotation) })
		if !errors.As(err, &e) || !errors.Is(err, c.kind) || !strings.Contains(e.Reason, c.reason) || e.Pattern[e.Start:e.End] != c.marked {
			t.Errorf("%q of %v: got\n%v\nwant %q under %q", c.annotation, c.shape, err, c.reason, c.marked)
		}
	}
	if err := tensor.Try(func() { einops.Check(nil, "a") }); !errors.Is(err, einops.ErrOperand) {
		t.Errorf("a nil tensor: %v", err)
	}
}

// TestScope checks names across tensors.
func TestScope(t *testing.T) {
	var s einops.Scope
	s.Check(tensor.Zeros(2, 4, 8, 16), "q: batch heads seq1 hidden")
	s.Check(tensor.Zeros(2, 4, 9, 16), "k: batch heads seq2 hidden")
	s.Check(tensor.Zeros(2, 4, 8, 9), "batch heads seq1 seq2")
	s.Check(tensor.Zeros(2, 8, 64), "batch seq1 (heads hidden)")
	if got := s.Sizes().String(); got != "batch=2, heads=4, seq1=8, hidden=16, seq2=9" {
		t.Errorf("sizes: %s", got)
	}
	if s.Size("seq2") != 9 {
		t.Errorf("seq2 is %d", s.Size("seq2"))
	}
	err := tensor.Try(func() { s.Check(tensor.Zeros(3, 4, 9, 16), "v: float32 [batch heads new hidden]") })
	want := "einops: check: axis 0 of \"v\" has size 3, but \"batch\" is 2 by axis 0 of \"q\", at check_test.go:N\n" +
		"    v: float32 [batch heads new hidden]\n" +
		"                ^^^^^\n" +
		"    shape [3 4 9 16] with batch=2, heads=4, seq1=8, hidden=16, seq2=9"
	if got := regexp.MustCompile(`\.go:\d+`).ReplaceAllString(fmt.Sprint(err), ".go:N"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// A failed check binds nothing.
	err = tensor.Try(func() { s.Check(tensor.Zeros(7, 3), "new batch") })
	if err == nil || !strings.Contains(err.Error(), "axis 1 of tensor 6 of the scope") {
		t.Errorf("got %v", err)
	}
	if err := tensor.Try(func() { s.Size("new") }); !errors.Is(err, einops.ErrLength) {
		t.Errorf("a failed check has bound a name: %v", err)
	}
}

func TestScopeBindsBeforehand(t *testing.T) {
	var s einops.Scope
	s.Bind(einops.Axis("heads", 4))
	s.Check(tensor.Zeros(2, 12), "batch (heads hidden)")
	if s.Size("hidden") != 3 {
		t.Errorf("hidden is %d", s.Size("hidden"))
	}
	err := tensor.Try(func() { s.Check(tensor.Zeros(2, 5), "batch heads") })
	if err == nil || !strings.Contains(err.Error(), `axis 1 of tensor 2 of the scope has size 5, but "heads" is 4 by Bind, at check_test.go:`) {
		t.Errorf("got %v", err)
	}
	err = tensor.Try(func() { s.Bind(einops.Axis("heads", 5)) })
	if err == nil || !strings.Contains(err.Error(), `axis "heads" can't be 5: it is 4 by Bind`) {
		t.Errorf("got %v", err)
	}
}

func TestScopeOfManyAxes(t *testing.T) {
	var s einops.Scope
	s.Check(tensor.Zeros(2, 3, 8), "x: *batch hidden")
	s.Check(tensor.Zeros(2, 3, 5), "y: *batch out")
	err := tensor.Try(func() { s.Check(tensor.Zeros(2, 4, 8), "z: *batch hidden") })
	if err == nil || !strings.Contains(err.Error(), `the axes of "z" that are *batch have sizes [2 4], but *batch is [2 3] by the axes from 0 on of "x"`) {
		t.Errorf("got %v", err)
	}
}

func TestChecksCanBeOff(t *testing.T) {
	x := tensor.Zeros(2, 3)
	var off *einops.Scope
	off.Bind(einops.Axis("a", 9))
	if off.Check(x, "a a a") != x || len(off.Sizes()) != 0 {
		t.Error("a nil scope checks")
	}
	if was := einops.SetChecks(false); !was {
		t.Error("checks were not on")
	}
	defer einops.SetChecks(true)
	var s einops.Scope
	if err := tensor.Try(func() { s.Check(einops.Check(x, "a a a"), "nonsense (") }); err != nil {
		t.Errorf("a check that is off panics: %v", err)
	}
	if was := einops.SetChecks(true); was {
		t.Error("checks were on")
	}
	if tensor.Try(func() { einops.Check(x, "a a a") }) == nil {
		t.Error("checks are still off")
	}
}

func BenchmarkCheck(b *testing.B) {
	x := tensor.Zeros(2, 3, 4)
	b.Run("on", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			einops.Check(x, "batch seq hidden")
		}
	})
	b.Run("scope of two", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var s einops.Scope
			s.Check(x, "q: batch seq hidden")
			s.Check(x, "k: batch seq hidden")
		}
	})
	b.Run("off", func(b *testing.B) {
		defer einops.SetChecks(einops.SetChecks(false))
		for b.Loop() {
			einops.Check(x, "batch seq hidden")
		}
	})
}
