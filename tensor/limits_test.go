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

// TestActivationsAtMinusInfinity: the dtypes that are computed in float32 have the limit on every processor.
func TestActivationsAtMinusInfinity(t *testing.T) {
	for name, f := range map[string]func(x *Tensor) *Tensor{"SiLU": (*Tensor).SiLU, "GELU": (*Tensor).GELU, "GELUTanh": (*Tensor).GELUTanh} {
		for _, dtype := range []Dtype{Float32, Float16, BFloat16} {
			for _, n := range []int{1, 40} { // loops of vectors may begin at some size
				if got := f(With(dtype).Full(math.Inf(-1), n)).Floats()[n-1]; got != 0 || !math.Signbit(got) {
					t.Errorf("%s of -Inf in %v, element %d: %v, want -0", name, dtype, n-1, got)
				}
			}
		}
		if got := f(With(Float64).Of(math.Inf(-1))).Floats()[0]; !math.IsNaN(got) {
			t.Errorf("%s of -Inf in float64: %v, want NaN", name, got)
		}
	}
}
