package tensor

import (
	"math"
	"strings"
	"testing"
)

// TestTooMuchMemoryIsAMistake: what no machine has memory for is refused with the
// shape; the runtime would end the process, and this test with it.
func TestTooMuchMemoryIsAMistake(t *testing.T) {
	huge := Ones(1).Expand(1 << 55) // a view, which takes none
	none := Zeros(0)
	for name, f := range map[string]func(){
		"empty":               func() { Empty(1 << 45) },
		"zeros":               func() { Zeros(1<<23, 1<<22) },
		"ones":                func() { With(Float64).Ones(1 << 45) },
		"bytes":               func() { With(Uint8).Empty(1 << 46) },
		"product overflows":   func() { Empty(1<<32, 1<<32) },
		"eye":                 func() { Eye(1 << 23) },
		"arange":              func() { Arange(1 << 45) },
		"linspace":            func() { Linspace(0, 1, 1<<45) },
		"randn":               func() { Randn(1 << 45) },
		"randperm":            func() { Randperm(1 << 45) },
		"one hot":             func() { OneHot(Of(1, 2), 1<<45) },
		"one hot of a giant":  func() { OneHot(Of([]int64{math.MaxInt64 - 1})) },
		"repeat":              func() { Ones(8).Repeat(1 << 42) },
		"repeat overflows":    func() { Ones(8).Repeat(math.MaxInt) },
		"expand overflows":    func() { Ones(1).Expand(1<<40, 1<<40) },
		"unfold overflows":    func() { Ones(1).Expand(1<<40).Unfold(0, 1<<39, 1) },
		"sum":                 func() { Ones(1, 1).Expand(1<<23, 1).Add(Ones(1).Expand(1 << 23)) },
		"outer product":       func() { Ones(1, 1).Expand(1<<23, 1).Matmul(Ones(1, 1).Expand(1, 1<<23)) },
		"sum of a view":       func() { huge.Sum() },
		"logsumexp of a view": func() { huge.LogSumExp() },
		"softmax of a view":   func() { huge.Softmax(0) },
		"contiguous":          func() { huge.Contiguous() },
		"clone":               func() { huge.Clone() },
		"to":                  func() { huge.To(Float64) },
		"floats":              func() { huge.Floats() },
		"ints":                func() { huge.Ints() },
		"cat":                 func() { Cat(0, huge, huge) },
		"split":               func() { huge.Split(0, 1) },
		"split into":          func() { none.SplitInto(0, math.MaxInt) },
		"chunk of nothing":    func() { none.Chunk(0, 1<<50) },
		"quantize":            func() { huge.Quantize(NVFP4) },
		"view of nothing":     func() { none.View(1<<32, 1<<32) },
		"narrow":              func() { Ones(4).Narrow(0, 1, math.MaxInt) },
		"mask":                func() { huge.MaskedSelect(huge.Gt(0)) },
	} {
		err := Try(f)
		if err == nil || !strings.HasPrefix(err.Error(), "tensor: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	err := Try(func() { Empty(1 << 45) })
	if want := "tensor: new: [35184372088832]: there is no memory for so many elements: that takes 128 TiB, and this machine has"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s …", err, want)
	}
	if got := huge.String(); !strings.Contains(got, "...") {
		t.Errorf("a huge view is written %s", got)
	}
	for name, got := range map[string]*Tensor{"slice": Arange(9).Slice(0, 2, 9, math.MaxInt), "chunk": Arange(9).Chunk(0, math.MaxInt)[2], "split": Arange(9).Narrow(0, 2, 1).Split(0, math.MaxInt)[0]} {
		if !Equal(got, Of(2)) {
			t.Errorf("%s with a huge step: %v", name, got)
		}
	}
	if got := none.View(0, math.MaxInt); got.Len() != 0 {
		t.Errorf("nothing seen as 0 x MaxInt has %d elements", got.Len())
	}
}
