package approx

import (
	"math"
	"testing"
)

func TestEqual(t *testing.T) {
	inf, nan, largest := math.Inf(1), math.NaN(), math.MaxFloat64
	for _, tt := range []struct {
		got, want, share, distance float64
		equal                      bool
	}{
		{1, 1, 0, 0, true},
		{0, math.Copysign(0, -1), 0, 0, true},
		{1.1, 1, 0.01, 0, false},
		{1.1, 1, 0.2, 0, true},
		{0.9, 1, 0.2, 0, true},
		{-1, 1, 0.2, 0, false},
		{1e-9, 0, 0.5, 0, false},
		{1e-9, 0, 0, 1e-8, true},
		{largest, -largest, 0.5, 0, false},
		{nan, nan, 0, 0, true},
		{nan, 0, 1, 1, false},
		{0, nan, 1, 1, false},
		{nan, inf, 1, 1, false},
		{inf, nan, 1, 1, false},
		{inf, inf, 0, 0, true},
		{-inf, -inf, 1e-6, 0, true},
		{inf, -inf, 1e-6, 0, false},
		{0, inf, 1e-6, 0, false},
		{largest, inf, 1e-6, 0, false},
		{-3, -inf, 1e-6, 1, false},
		{inf, 3, 1e-6, 1, false},
		{inf, 0, inf, inf, false},
		{5, inf, inf, inf, false},
		{1, 2, nan, 0, false},
	} {
		if Equal(tt.got, tt.want, tt.share, tt.distance) != tt.equal {
			t.Errorf("Equal(%g, %g, %g, %g) is %t", tt.got, tt.want, tt.share, tt.distance, !tt.equal)
		}
	}
}
