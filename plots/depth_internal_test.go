package plots

import "testing"

func TestRoundOutward(t *testing.T) {
	for _, c := range []struct{ low, high, wantLow, wantHigh float64 }{
		{-0.9987, 0.9991, -1, 1},
		{0, 3.141, 0, 3.2},
		{-31.2, 47.9, -32, 48},
		{5, 5, 5, 5}, // settle makes room
		{-1.5e308, 1.5e308, -1.5e308, 1.5e308},
	} {
		if low, high := roundOutward(c.low, c.high); low != c.wantLow || high != c.wantHigh {
			t.Errorf("%v to %v: %v to %v instead of %v to %v", c.low, c.high, low, high, c.wantLow, c.wantHigh)
		}
	}
}
