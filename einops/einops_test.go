package einops_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lectern-go/lectern/einops"
	"github.com/lectern-go/lectern/internal/race"
	"github.com/lectern-go/lectern/tensor"
)

// TestSharing states which results are views.
func TestSharing(t *testing.T) {
	x := numbered(2, 3, 8)
	heads := einops.Axis("h", 2)
	for _, c := range []struct {
		name  string
		y     *tensor.Tensor
		share bool
	}{
		{"nothing to do", einops.Rearrange(x, "a b c -> a b c"), true},
		{"permute", einops.Rearrange(x, "a b c -> c a b"), true},
		{"split", einops.Rearrange(x, "a b (h d) -> a b h d", heads), true},
		{"split and permute", einops.Rearrange(x, "a b (h d) -> a h b d", heads), true},
		{"axes of length 1", einops.Rearrange(x, "a b c -> 1 c () b a"), true},
		{"compose neighbors", einops.Rearrange(x, "a b c -> (a b) c"), true},
		{"compose all", einops.Rearrange(x, "... -> (...)"), true},
		{"compose in another order", einops.Rearrange(x, "a b c -> (b a) c"), false},
		{"split and compose back", einops.Rearrange(einops.Rearrange(x, "a b (h d) -> a h b d", heads), "a h b d -> a b (h d)"), true},
		{"repeat", einops.Repeat(x, "a b c -> a k b c", einops.Axis("k", 5)), true},
		{"repeat composed", einops.Repeat(x, "a b c -> a b (c k)", einops.Axis("k", 5)), false},
		{"reduce", einops.Reduce(x, "a b c -> a b", einops.Sum), false},
		{"reduce nothing", einops.Reduce(x, "a b c -> c b a", einops.Sum), true},
		{"einsum permutes", einops.Einsum("a b c -> c b a", x), true},
		{"einsum multiplies", einops.Einsum("a b c, c -> a b", x, numbered(8)), false},
	} {
		if got := tensor.SameStorage(x, c.y); got != c.share {
			t.Errorf("%s: shares storage: %v, want %v", c.name, got, c.share)
		}
	}
	if same := einops.Rearrange(x, "a b c -> a b c"); same != x {
		t.Error("a pattern that changes nothing does not return the tensor itself")
	}
}

func TestInfer(t *testing.T) {
	x := numbered(2, 3, 8)
	var d, b int
	y := einops.Rearrange(x, "b ... (h d) -> b h ... d", einops.Axis("h", 2), einops.Infer("d", &d), einops.Infer("b", &b))
	if d != 4 || b != 2 || !slices.Equal(y.Shape(), []int{2, 2, 3, 4}) {
		t.Errorf("d=%d b=%d shape %v", d, b, y.Shape())
	}
	var k int
	err := tensor.Try(func() { einops.Repeat(x, "a b c -> a b c k", einops.Infer("k", &k)) })
	if !errors.Is(err, einops.ErrLength) {
		t.Errorf("the length of a new axis was inferred: %v", err)
	}
	s := einops.ParseShape(x, "batch _ (heads hidden)", einops.Axis("heads", 2))
	if s.String() != "batch=2, heads=2, hidden=4" || s.Of("hidden") != 4 {
		t.Errorf("ParseShape gives %v", s)
	}
	err = tensor.Try(func() { s.Of("hiden") })
	if err == nil || !strings.Contains(err.Error(), `did you mean "hidden"?`) {
		t.Errorf("Of a name that is not there: %v", err)
	}
}

func TestMistakes(t *testing.T) {
	x := numbered(2, 10)
	halves := func(x *tensor.Tensor, axes ...int) *tensor.Tensor { return x }
	for _, c := range []struct {
		name  string
		call  func()
		kind  error
		wants string // the whole message
	}{
		{"not divisible", func() { einops.Rearrange(x, "b (h d) -> b h d", einops.Axis("h", 4)) }, tensor.ErrShape,
			"einops: rearrange: axis 1 has size 10, not divisible by h=4\n" +
				"    b (h d) -> b h d\n" +
				"      ^^^^^\n" +
				"    shape [2 10] with b=2, h=4\n" +
				"    2 and 5 divide 10"},
		{"another product", func() { einops.Rearrange(x, "b (h d) -> b h d", einops.Axis("h", 4), einops.Axis("d", 3)) }, tensor.ErrShape,
			"einops: rearrange: axis 1 has size 10, not h·d = 4·3 = 12\n" +
				"    b (h d) -> b h d\n" +
				"      ^^^^^\n" +
				"    shape [2 10] with b=2, h=4, d=3\n" +
				"    leave out one length, and it will be worked out"},
		{"unknown lengths", func() { einops.Rearrange(x, "b (h d e) -> b h d e", einops.Axis("h", 2)) }, einops.ErrLength,
			"einops: rearrange: axis 1 has size 10, and the lengths of \"d\" and \"e\" can't both be worked out from it\n" +
				"    b (h d e) -> b h d e\n" +
				"      ^^^^^^^\n" +
				"    shape [2 10] with b=2, h=2\n" +
				"    pass einops.Axis(\"d\", length)"},
		{"misspelt length", func() { einops.Rearrange(x, "b (heads d) -> b heads d", einops.Axis("head", 2)) }, einops.ErrLength,
			"einops: rearrange: a length is given for axis \"head\", which the pattern does not have\n" +
				"    b (heads d) -> b heads d\n" +
				"    ^^^^^^^^^^^^^^^^^^^^^^^^\n" +
				"    shape [2 10]\n" +
				"    did you mean \"heads\"?"},
		{"sizes of an einsum", func() {
			einops.Einsum("batch seq1 hidden, batch seq2 hidden -> batch seq1 seq2", numbered(2, 3, 4), numbered(2, 5, 6))
		}, tensor.ErrShape,
			"einops: einsum: axis \"hidden\" has sizes 4 (axis 2 of operand 0) and 6 (axis 2 of operand 1)\n" +
				"    batch seq1 hidden, batch seq2 hidden -> batch seq1 seq2\n" +
				"                                  ^^^^^^\n" +
				"    shape [2 3 4] x [2 5 6] with batch=2, seq1=3, hidden=4, seq2=5\n" +
				"    axes of different sizes need different names"},
		{"a name that appears once", func() {
			einops.EinsumStrict("batch seq1 hidden, batch seq2 hiden -> batch seq1 seq2", numbered(2, 3, 4), numbered(2, 5, 4))
		}, einops.ErrStrict,
			"einops: strict einsum: axis \"hidden\" appears only once\n" +
				"    batch seq1 hidden, batch seq2 hiden -> batch seq1 seq2\n" +
				"               ^^^^^^\n" +
				"    shape [2 3 4] x [2 5 4]\n" +
				"    did you mean \"hiden\"?"},
		{"strict size of 1", func() { einops.EinsumStrict("b i, b i -> b i", numbered(1, 3), numbered(2, 3)) }, einops.ErrStrict,
			"einops: strict einsum: axis \"b\" has sizes 1 (axis 0 of operand 0) and 2 (axis 0 of operand 1)\n" +
				"    b i, b i -> b i\n" +
				"         ^\n" +
				"    shape [1 3] x [2 3] with b=1, i=3\n" +
				"    repeat the axis of size 1 with Repeat or Expand first"},
		{"dtypes of an einsum", func() { einops.Einsum("a b, b -> a", x, tensor.Zeros(10)) }, tensor.ErrDtype,
			"einops: einsum: operand 0 is float64 and operand 1 is float32\n" +
				"    a b, b -> a\n" +
				"    ^^^^^^^^^^^\n" +
				"    shape [2 10] x [10] with a=2, b=10\n" +
				"    convert one with To"},
		{"reduction of another shape", func() { einops.Reduce(x, "a b -> a", halves) }, tensor.ErrShape,
			"einops: reduce: the reduction turned [2 10] into [2 10], not into that shape without axes [1]\n" +
				"    a b -> a\n" +
				"    ^^^^^^^^\n" +
				"    shape [2 10]\n" +
				"    it must remove exactly the axes that it is given"},
		{"nil reduction", func() { einops.Reduce(x, "a b -> a", nil) }, einops.ErrOperand,
			"einops: reduce: the reduction is nil\n" +
				"    a b -> a\n" +
				"    ^^^^^^^^\n" +
				"    give einops.Sum, Mean, Max, Min, Prod, Any, All or a function of your own"},
		{"packed axes that differ", func() { einops.Pack("* c", numbered(2, 3), numbered(4)) }, tensor.ErrShape,
			"einops: pack: axis \"c\" is 3 in tensor 0 and 4 in tensor 1\n" +
				"    * c\n" +
				"      ^\n" +
				"    shape [2 3] x [4]"},
	} {
		err := tensor.Try(c.call)
		if err == nil || !errors.Is(err, c.kind) || err.Error() != c.wants {
			t.Errorf("%s: got\n%v\nwant\n%s", c.name, err, c.wants)
		}
	}
}

// TestMoreMistakes checks that each of these is refused with an error of its
// kind and nothing else.
func TestMoreMistakes(t *testing.T) {
	x := numbered(2, 3)
	var none *tensor.Tensor
	for _, c := range []struct {
		name string
		call func()
		kind error
	}{
		{"nil tensor", func() { einops.Rearrange(none, "a b -> b a") }, einops.ErrOperand},
		{"nil operand", func() { einops.Einsum("a, a -> a", numbered(2), nil) }, einops.ErrOperand},
		{"nil in a list", func() { einops.Rearrange([]*tensor.Tensor{x, nil}, "l a b -> b a l") }, einops.ErrOperand},
		{"empty list", func() { einops.Rearrange([]*tensor.Tensor{}, "l a b -> b a l") }, einops.ErrOperand},
		{"list of two shapes", func() { einops.Rearrange([]*tensor.Tensor{x, numbered(3, 2)}, "l a b -> b a l") }, tensor.ErrShape},
		{"nil packed", func() { einops.Pack("*", x, nil) }, einops.ErrOperand},
		{"nothing packed", func() { einops.Pack("*") }, einops.ErrOperand},
		{"nil unpacked", func() { einops.Unpack(nil, nil, "*") }, einops.ErrOperand},
		{"packed dtypes", func() { einops.Pack("*", x, tensor.Zeros(2)) }, tensor.ErrDtype},
		{"two stars", func() { einops.Pack("* *", x) }, einops.ErrPattern},
		{"number in pack", func() { einops.Pack("2 *", x) }, einops.ErrPattern},
		{"nil parsed", func() { einops.ParseShape(nil, "a") }, einops.ErrOperand},
		{"parse composed", func() { einops.ParseShape(x, "a (b c)") }, einops.ErrLength},
		{"negative length", func() { einops.Repeat(x, "a b -> a b c", einops.Axis("c", -1)) }, einops.ErrLength},
		{"huge length", func() { einops.Repeat(x, "a b -> (a b c)", einops.Axis("c", math.MaxInt)) }, einops.ErrLength},
		{"huge product", func() {
			einops.Rearrange(x, "a (b c d e) -> a b c d e", einops.Axis("b", 1<<40), einops.Axis("c", 1<<40), einops.Axis("d", 1<<40))
		}, tensor.ErrShape},
		{"two lengths", func() { einops.Rearrange(x, "a b -> b a", einops.Axis("a", 2), einops.Axis("a", 3)) }, einops.ErrLength},
		{"length of the ellipsis", func() { einops.Rearrange(x, "... -> ...", einops.Axis("...", 2)) }, einops.ErrLength},
		{"zero beside unknown", func() { einops.Rearrange(x, "a (b c) -> a b c", einops.Axis("b", 0)) }, tensor.ErrShape},
		{"mean of integers", func() { einops.Reduce(tensor.Of(1, 2), "a ->", einops.Mean) }, tensor.ErrDtype},
		{"max of nothing", func() { einops.Reduce(numbered(2, 0), "a b -> a", einops.Max) }, nil},
		{"einsum of bools", func() { einops.Einsum("a ->", tensor.Of(true, false)) }, tensor.ErrDtype},
		{"diagonal of a rectangle", func() { einops.Einsum("a a -> a", x) }, tensor.ErrShape},
		{"65 names", func() { einops.Einsum(many(65)+" ->", numbered(slices.Repeat([]int{1}, 65)...)) }, einops.ErrPattern},
		{"explain an einsum", func() { einops.Explain("a, b -> a b", []int{2}) }, einops.ErrPattern},
		{"explain nonsense", func() { einops.Explain("a (b -> a b", []int{2}) }, einops.ErrPattern},
	} {
		err := tensor.Try(c.call)
		if err == nil || c.kind != nil && !errors.Is(err, c.kind) {
			t.Errorf("%s: got %v, want an error of kind %v", c.name, err, c.kind)
		}
	}
	if y := einops.Einsum(many(64)+" ->", numbered(slices.Repeat([]int{1}, 64)...).Add(3)); y.Item() != 3 {
		t.Errorf("64 names: %v", y)
	}
}

func many(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("a%d", i)
	}
	return strings.Join(words, " ")
}

// TestDigits reads every digit, in the scripts of three continents.
func TestDigits(t *testing.T) {
	for _, ten := range []string{"0123456789", "०१२३४५६७८९", "٠١٢٣٤٥٦٧٨٩", "𝟶𝟷𝟸𝟹𝟺𝟻𝟼𝟽𝟾𝟿"} {
		for i, digit := range []rune(ten) {
			length := "1" + string(digit)
			if y := einops.Repeat(numbered(2), "a -> a "+length); y.Size(1) != 10+i {
				t.Errorf("%q stands for %d, want %d", length, y.Size(1), 10+i)
			}
		}
	}
}

// TestEllipsisOfFewAxes: an ellipsis may stand for no axis, and then the output need not have it; one axis is enough
// for the output to need it.
func TestEllipsisOfFewAxes(t *testing.T) {
	x := numbered(3)
	if y := einops.Einsum("... i, i -> i", x, x); !tensor.Equal(y, x.Mul(x)) {
		t.Errorf("an ellipsis for nothing: %v", y)
	}
	err := tensor.Try(func() { einops.Einsum("... i, i -> i", numbered(2, 3), x) })
	if err == nil || !strings.Contains(err.Error(), "the output does not have the ellipsis of the operands") {
		t.Errorf("an ellipsis for one axis: %v", err)
	}
}

// TestUnpackWorksOneLengthOut, wherever the -1 stands in its shape, and whatever is beside it.
func TestUnpackWorksOneLengthOut(t *testing.T) {
	x := numbered(2, 17)
	for want, shapes := range map[string][][]int{
		"[[2 5] [2 3 4]]": {{5}, {3, -1}}, "[[2 5] [2 4 3]]": {{-1}, {4, 3}}, "[[2 2 2 3] [2 4] [2]]": {{2, -1, 3}, {4}, {}}, "[[2 17] [2 0 3]]": {{17}, {-1, 3}},
	} {
		var got [][]int
		at := 0
		for _, piece := range einops.Unpack(x, shapes, "a *") {
			got = append(got, piece.Shape())
			n := piece.Len() / 2
			if !tensor.Equal(piece.Reshape(2, n), x.Narrow(1, at, n)) {
				t.Errorf("%v: the piece from %d on is %v", shapes, at, piece)
			}
			at += n
		}
		if fmt.Sprint(got) != want || at != 17 {
			t.Errorf("%v gives %v and %d of 17 elements, want %s", shapes, got, at, want)
		}
	}
}

// TestExplainNamesWhatIsReduced, in the order of the input, and what is left.
func TestExplainNamesWhatIsReduced(t *testing.T) {
	e := einops.Explain("b s (h d) -> d b", []int{2, 3, 8}, einops.Axis("h", 4))
	for _, s := range e.Steps {
		if s.Op == "Reduce" {
			if got := fmt.Sprint(s.Summed, s.FLOPs, s.Copies); got != "[s h] 48 true" {
				t.Errorf("the reduction is of %s, want [s h], 48 FLOPs and a copy", got)
			}
			return
		}
	}
	t.Errorf("nothing is reduced in\n%v", e)
}

// TestPosition checks that a panic points at the line of the caller.
func TestPosition(t *testing.T) {
	defer func() {
		err, ok := recover().(*einops.Error)
		if !ok || !strings.HasPrefix(err.Position, "einops_test.go:") || !strings.Contains(err.Error(), "(at einops_test.go:") {
			t.Errorf("got %v", err)
		}
	}()
	einops.Rearrange(numbered(2, 3), "a b -> b")
}

// TestNoExtraAllocations compares calls whose pattern is known with the tensor
// operations that they come down to: patterns cost no memory.
func TestNoExtraAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("pools forget at random under the race detector")
	}
	x, y := tensor.Zeros(2, 3, 8), tensor.Zeros(2, 5, 8)
	w, v := tensor.Zeros(8, 4), tensor.Zeros(4, 6)
	q := tensor.Zeros(2, 3, 2, 4)
	for _, c := range []struct {
		name         string
		call, byHand func()
	}{
		{"nothing to do", func() { einops.Rearrange(x, "a b c -> a b c") }, func() {}},
		{"permute", func() { einops.Rearrange(x, "a b c -> c a b") }, func() { x.Permute(2, 0, 1) }},
		{"split", func() { einops.Rearrange(x, "... (heads d) -> ... heads d", einops.Axis("heads", 2)) }, func() { x.View(2, 3, 2, 4) }},
		{"split and permute", func() { einops.Rearrange(x, "b s (h d) -> b h s d", einops.Axis("h", 2)) },
			func() { x.View(2, 3, 2, 4).Permute(0, 2, 1, 3) }},
		{"compose", func() { einops.Rearrange(q, "b s h d -> b s (h d)") }, func() { q.Reshape(2, 3, 8) }},
		{"reduce", func() { einops.Reduce(x, "... hidden -> ...", einops.Sum) }, func() { x.Sum(2) }},
		{"repeat", func() { einops.Repeat(x, "a b c -> a b c k", einops.Axis("k", 3)) },
			func() { x.View(2, 3, 8, 1).Expand(2, 3, 8, 3) }},
		{"einsum", func() { einops.Einsum("b q d, b k d -> b q k", x, y) }, func() { x.Matmul(y.Permute(0, 2, 1)) }},
		{"einsum of three", func() { einops.Einsum("b s i, i j, j k -> b s k", x, w, v) }, func() { x.Matmul(w).Matmul(v) }},
		{"check", func() { einops.Check(x, "batch seq 8") }, func() {}},
	} {
		got, want := testing.AllocsPerRun(100, c.call), testing.AllocsPerRun(100, c.byHand)
		if got > want {
			t.Errorf("%s: %v allocations, by hand %v", c.name, got, want)
		}
	}
}

// TestOneMatmul checks what einsums come down to.
func TestOneMatmul(t *testing.T) {
	for _, c := range []struct {
		pattern string
		shapes  [][]int
		want    string
	}{
		{"b q d, b k d -> b q k", [][]int{{2, 3, 4}, {2, 5, 4}}, "permute matmul"},
		{"b q h d, b k h d -> b h q k", [][]int{{2, 3, 2, 4}, {2, 5, 2, 4}}, "permute permute matmul"},
		{"b h q k, b k h d -> b q h d", [][]int{{2, 2, 3, 5}, {2, 5, 2, 4}}, "permute matmul permute"},
		{"b s i, o i -> b s o", [][]int{{2, 3, 4}, {5, 4}}, "permute matmul"},
		{"i j, j k -> i k", [][]int{{2, 3}, {3, 4}}, "matmul"},
		{"i j, j k -> k i", [][]int{{2, 3}, {3, 4}}, "permute permute matmul"},
		{"i j, j -> i", [][]int{{2, 3}, {3}}, "matmul"},
		{"b i, b i -> b", [][]int{{2, 3}, {2, 3}}, "view view matmul view"},
		{"i, j -> i j", [][]int{{2}, {3}}, "view mul"},
		{"a b, b a -> a b", [][]int{{2, 3}, {3, 2}}, "permute mul"},
		{"a b c, a b c ->", [][]int{{2, 3, 4}, {2, 3, 4}}, "view view matmul"},
	} {
		var xs []*tensor.Tensor
		for _, s := range c.shapes {
			xs = append(xs, numbered(s...))
		}
		var ops []string
		stop := tensor.Trace(func(e tensor.Event) {
			if e.Op != "" {
				ops = append(ops, e.Op)
			}
		})
		einops.Einsum(c.pattern, xs...)
		stop()
		if got := strings.Join(ops, " "); got != c.want {
			t.Errorf("%s runs %q, want %q", c.pattern, got, c.want)
		}
	}
}

// TestContractionOrder checks the order of products against costs worked out
// by hand.
func TestContractionOrder(t *testing.T) {
	// (1000x10)(10x1000)(1000x5): from the right 2·(10·1000·5 + 1000·10·5),
	// from the left 2·(1000·10·1000 + 1000·1000·5) = 3e7.
	e := einops.ExplainEinsum("i j, j k, k l -> i l", []int{1000, 10}, []int{10, 1000}, []int{1000, 5})
	if e.FLOPs != 2e5 || e.NaiveFLOPs != 3*1000*10*1000*5 {
		t.Errorf("%v FLOPs, naive %v; want 2e5 and 1.5e8\n%v", e.FLOPs, e.NaiveFLOPs, e)
	}
	// A chain of eleven is ordered greedily: it must still beat the order given.
	sizes := []int{40, 2, 40, 2, 40, 2, 40, 2, 40, 2, 40, 2}
	var pattern []string
	var shapes [][]int
	given := 0.
	for i := range 11 {
		pattern = append(pattern, fmt.Sprintf("x%d x%d", i, i+1))
		shapes = append(shapes, []int{sizes[i], sizes[i+1]})
		if i > 0 {
			given += 2 * float64(sizes[0]*sizes[i]*sizes[i+1])
		}
	}
	e = einops.ExplainEinsum(strings.Join(pattern, ", ")+" -> x0 x11", shapes...)
	if e.FLOPs >= given/2 {
		t.Errorf("a chain of eleven costs %v FLOPs, %v from left to right\n%v", e.FLOPs, given, e)
	}
}

// TestGradients compares with central differences.
func TestGradients(t *testing.T) {
	for _, c := range []struct {
		name   string
		shapes [][]int
		f      func(x []*tensor.Tensor) *tensor.Tensor
	}{
		{"rearrange", [][]int{{2, 6}}, func(x []*tensor.Tensor) *tensor.Tensor {
			return einops.Rearrange(x[0], "a (h d) -> (h a) d", einops.Axis("h", 2))
		}},
		{"reduce mean", [][]int{{2, 6}}, func(x []*tensor.Tensor) *tensor.Tensor {
			return einops.Reduce(x[0], "a (h 3) -> h a", einops.Mean)
		}},
		{"reduce max", [][]int{{2, 6}}, func(x []*tensor.Tensor) *tensor.Tensor {
			return einops.Reduce(x[0], "a (h d) -> d", einops.Max, einops.Axis("h", 2))
		}},
		{"reduce prod", [][]int{{2, 3}}, func(x []*tensor.Tensor) *tensor.Tensor { return einops.Reduce(x[0], "a b -> b", einops.Prod) }},
		{"repeat", [][]int{{2, 3}}, func(x []*tensor.Tensor) *tensor.Tensor {
			return einops.Repeat(x[0], "a b -> (b 2) k a", einops.Axis("k", 3))
		}},
		{"attention scores", [][]int{{2, 3, 2, 4}, {2, 5, 2, 4}}, func(x []*tensor.Tensor) *tensor.Tensor {
			return einops.Einsum("b q h d, b k h d -> b h q k", x...)
		}},
		{"three operands", [][]int{{2, 3}, {3, 4}, {4, 2}}, func(x []*tensor.Tensor) *tensor.Tensor { return einops.Einsum("i j, j k, k l -> l i", x...) }},
		{"trace", [][]int{{3, 3}}, func(x []*tensor.Tensor) *tensor.Tensor { return einops.Einsum("i i ->", x...) }},
		{"size of 1", [][]int{{1, 3}, {2, 3}}, func(x []*tensor.Tensor) *tensor.Tensor { return einops.Einsum("a b, a b -> b", x...) }},
		{"elementwise", [][]int{{2, 3}, {3, 2}, {2}}, func(x []*tensor.Tensor) *tensor.Tensor { return einops.Einsum("a b, b a, a -> b a", x...) }},
		{"pack", [][]int{{2, 3}, {2, 2, 2}}, func(x []*tensor.Tensor) *tensor.Tensor {
			packed, shapes := einops.Pack("a *", x...)
			pieces := einops.Unpack(packed, shapes, "a *")
			return pieces[0].Sum(1).Mul(pieces[1].Sum(1, 2))
		}},
		{"list", [][]int{{2, 3}, {2, 3}}, func(x []*tensor.Tensor) *tensor.Tensor { return einops.Rearrange(x, "l a b -> b (l a)") }},
	} {
		var xs []*tensor.Tensor
		for i, s := range c.shapes {
			// distinct values, in no order, so that a maximum is clear
			x := numbered(s...).Mul(2.4).Add(float64(i)).Sin()
			xs = append(xs, x.RequireGrad())
		}
		weights := numbered(c.f(xs).Shape()...).Mul(0.7).Cos()
		loss := func() *tensor.Tensor { return c.f(xs).Mul(weights).Sum() }
		loss().Backward()
		for i, x := range xs {
			got, values := x.Grad().Floats(), tensor.Data[float64](x)
			for j := range values {
				const step = 1e-5
				old := values[j]
				values[j] = old + step
				up := loss().Item()
				values[j] = old - step
				down := loss().Item()
				values[j] = old
				if want := (up - down) / (2 * step); math.Abs(got[j]-want) > 1e-8 {
					t.Errorf("%s: gradient %d of operand %d is %v, differences give %v", c.name, j, i, got[j], want)
				}
			}
		}
	}
}

// TestDtypes checks that an einsum keeps the dtype of its operands.
func TestDtypes(t *testing.T) {
	for _, d := range []tensor.Dtype{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16, tensor.Int64, tensor.Int32, tensor.Uint8} {
		x := tensor.With(d).Of([]int{1, 2, 3}, []int{4, 5, 6})
		for pattern, want := range map[string][]float64{"a b, a b -> a": {14, 77}, "a b, c b -> ": {1 + 4 + 9 + 16 + 25 + 36 + 2*(4+10+18)}} {
			if y := einops.Einsum(pattern, x, x); y.Dtype() != d || !slices.Equal(y.Floats(), want) {
				t.Errorf("%s of %s: %v %v, want %v", pattern, d, y.Dtype(), y.Floats(), want)
			}
		}
		if y := einops.Einsum("a b -> b", x); y.Dtype() != d || !slices.Equal(y.Floats(), []float64{5, 7, 9}) {
			t.Errorf("sum of %s: %v %v", d, y.Dtype(), y.Floats())
		}
	}
}

// TestConcurrentUse runs patterns from several goroutines; the race detector
// watches.
func TestConcurrentUse(t *testing.T) {
	x := numbered(2, 3, 8)
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			for j := range 50 {
				n := 1 + (i+j)%3
				if y := einops.Repeat(x, fmt.Sprintf("a b c%d -> a b c%[1]d n", j%7), einops.Axis("n", n)); y.Size(3) != n {
					t.Errorf("shape %v with n=%d", y.Shape(), n)
				}
				z := einops.Einsum("a b c, n a -> n b c", x, numbered(n, 2))
				if !slices.Equal(z.Shape(), []int{n, 3, 8}) {
					t.Errorf("shape %v with n=%d", z.Shape(), n)
				}
				einops.Check(x, "a b c")
			}
		})
	}
	wait.Wait()
}
