package tensor

import (
	"math"
	"testing"
)

// The loop without branches against the plain one, over every kind of number.
func TestReLUGradientLoops(t *testing.T) {
	y := []float64{0, math.Copysign(0, -1), 1, -1, math.SmallestNonzeroFloat32, math.Inf(1), math.Inf(-1), math.NaN()}
	g := []float64{1, 2, -3, 4, 5, math.Inf(1), 7, math.NaN()}
	want := make([]float64, len(y))
	pass(want, g, y)
	y32, g32, got := make([]float32, len(y)), make([]float32, len(y)), make([]float32, len(y))
	for i := range y {
		y32[i], g32[i] = float32(y[i]), float32(g[i])
	}
	passFloat32(got, g32, y32)
	for i := range got {
		if w := float32(want[i]); got[i] != w && !(got[i] != got[i] && w != w) {
			t.Errorf("gradient %v at result %v: got %v, want %v", g[i], y[i], got[i], w)
		}
	}
}
