package tensor_test

import (
	"math"
	"testing"

	. "github.com/lectern-go/lectern/tensor"
)

// TestExpUpToTheLargestNumber asks for powers of e that need the last of float64's exponents.
func TestExpUpToTheLargestNumber(t *testing.T) {
	for x, want := range map[float64]float64{
		709.5: 1.3549863193146328e308, 709.7: 1.6549840276802644e308, 709.78: 1.7928227943945155e308, 708.5: 4.984716099444166e307,
	} {
		if got := With(Float64).Of(x).Exp().Item(); math.Abs(got/want-1) > 5e-16 {
			t.Errorf("exp(%v) = %v, want %v", x, got, want)
		}
	}
	if got := With(Float64).Of(709.8).Exp().Item(); !math.IsInf(got, 1) {
		t.Errorf("exp(709.8) = %v, want +Inf", got)
	}
}
