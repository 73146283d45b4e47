package tensor

import (
	"fmt"
	"testing"
)

// The graph of the lecture: the loss of one linear prediction.
func ExampleGraphOf() {
	x := Of(1., 2, 3)
	w := Of(1., 1, 1).RequireGrad()
	pred := x.Matmul(w)
	loss := pred.Sub(5).Pow(2).Mul(0.5)
	fmt.Print(GraphOf(loss, Named("x", x), Named("w", w), Named("pred", pred), Named("loss", loss)))
	// Output:
	// #0 w [3]: float32, requires grad
	// #1 x [3]: float32
	// #2 pred = matmul [] of #1, #0: float32, 6 FLOPs, saves 12 bytes (its left operand)
	// #3 5 []: int64
	// #4 sub [] of #2, #3: float32, 1 FLOPs
	// #5 2 []: int64
	// #6 pow [] of #4, #5: float32, 1 FLOPs, saves 4 bytes (its left operand)
	// #7 0.5 []: float64
	// #8 loss = mul [] of #6, #7: float32, 1 FLOPs
}

func TestGraphIsReleasedByBackward(t *testing.T) {
	w1, w2 := Ones(4, 4).RequireGrad(), Ones(4, 4).RequireGrad()
	h := w1.Matmul(w2)
	loss := h.Mul(h).Sum()
	g := GraphOf(loss)
	if got, want := g.SavedBytes(), 3*64; got != want { // w1, w2 and h, which is saved twice
		t.Errorf("the graph keeps %d bytes, want %d", got, want)
	}
	if got, want := g.FLOPs(), 2*4*4*4+16+16; got != want {
		t.Errorf("forward takes %d FLOPs, want %d", got, want)
	}
	loss.Backward()
	if got := GraphOf(loss).SavedBytes(); got != 0 {
		t.Errorf("after Backward the graph keeps %d bytes", got)
	}
	wantPanic(t, ErrGrad, "was not recorded", func() { GraphOf(Ones(2)) })
}
