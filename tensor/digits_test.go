package tensor

import (
	"math"
	"math/big"
	"testing"
)

// TestFloat64KeepsItsDigits looks where the usual formula of a function subtracts
// numbers that are nearly equal: relative errors, not only absolute ones, must stay
// small there.
func TestFloat64KeepsItsDigits(t *testing.T) {
	var near []float64 // numbers around 1
	for e := -52; e <= -1; e++ {
		near = append(near, 1+math.Ldexp(1, e), 1-math.Ldexp(1, e-1), 1+math.Ldexp(1.2345678, e), 1-math.Ldexp(0.87654321, e-1))
	}
	var small, tail []float64
	for e := -300; e <= -1; e += 7 {
		small = append(small, math.Ldexp(1.1234567, e), math.Ldexp(-1.7654321, e))
	}
	for x := 1.; x < 6; x += 0.37 {
		tail = append(tail, -x)
	}
	var below []float64 // numbers that near 1 from below
	for e := -52; e <= -2; e++ {
		below = append(below, 1-math.Ldexp(1.2345678, e))
	}
	var little []float64
	for e := -30; e <= -7; e++ {
		little = append(little, math.Ldexp(1.2345678, e), math.Ldexp(-1, e))
	}
	// With x = 1-d, sin(acos(x)/2) is √(d/2).
	arc := func(x float64) float64 { s := math.Sqrt((1 - x) / 2); return 2 * math.Atan2(s, math.Sqrt(1-s*s)) }
	for _, c := range []struct {
		name string
		f    func(x *Tensor) *Tensor
		at   []float64
		want func(x float64) float64
		ulps float64
	}{
		{"log", (*Tensor).Log, near, func(x float64) float64 { return math.Log1p(x - 1) }, 2},
		{"log2", (*Tensor).Log2, near, func(x float64) float64 { return math.Log1p(x-1) / math.Ln2 }, 4},
		{"log2 of powers", (*Tensor).Log2, []float64{0x1p-1074, 0x1p-1022, 0.25, 0.5, 1, 2, 8, 0x1p52, 0x1p1023}, func(x float64) float64 { _, e := math.Frexp(x); return float64(e - 1) }, 0},
		{"log1p", (*Tensor).Log1p, small, func(x float64) float64 { return series(x, 0, 1, -1./2, 1./3, -1./4) }, 1},
		{"expm1", (*Tensor).Expm1, small, math.Expm1, 1},
		{"sin", (*Tensor).Sin, small, math.Sin, 1},
		{"tan", (*Tensor).Tan, small, math.Tan, 1},
		{"tan near 0", (*Tensor).Tan, little, func(x float64) float64 { return x + x*x*x*(1./3+x*x*(2./15+x*x*17/315)) }, 1},
		{"asin", (*Tensor).Asin, small, math.Asin, 1},
		{"asin of sines", (*Tensor).Asin, below, func(x float64) float64 { return math.Pi/2 - arc(x) }, 1},
		{"acos", (*Tensor).Acos, below, arc, 2},
		{"acos of -1", (*Tensor).Acos, []float64{-1}, func(float64) float64 { return math.Pi }, 0},
		{"sinh", (*Tensor).Sinh, small, math.Sinh, 1},
		{"sinh of much", (*Tensor).Sinh, []float64{709.5, 710.4, -710.4}, func(x float64) float64 { return math.Copysign(math.Exp(math.Abs(x)-1)*(math.E/2), x) }, 512},
		{"cosh of much", (*Tensor).Cosh, []float64{709.5, 710.4, -710.4}, func(x float64) float64 { return math.Exp(math.Abs(x)-1) * (math.E / 2) }, 512},
		{"asinh", (*Tensor).Asinh, small, math.Asinh, 1},
		{"atanh", (*Tensor).Atanh, small, math.Atanh, 1},
		{"tanh", (*Tensor).Tanh, small, math.Tanh, 1},
		{"erf", (*Tensor).Erf, small, math.Erf, 1},
		{"sigmoid", (*Tensor).Sigmoid, tail, func(x float64) float64 { e := math.Exp(x); return e / (1 + e) }, 4},
		{"softplus", (*Tensor).Softplus, tail, func(x float64) float64 { return math.Log1p(math.Exp(x)) }, 4},
		{"silu", (*Tensor).SiLU, tail, func(x float64) float64 { e := math.Exp(x); return x * e / (1 + e) }, 8},
		{"gelu", (*Tensor).GELU, tail, func(x float64) float64 { return 0.5 * x * math.Erfc(-x/math.Sqrt2) }, 4},
		{"gelu tanh", (*Tensor).GELUTanh, tail, func(x float64) float64 {
			u := 0.7978845608028654 * (x + 0.044715*x*x*x)
			e := math.Exp(2 * u) // 1 + tanh u = 2e²ᵘ/(1+e²ᵘ)
			return x * e / (1 + e)
		}, 64}, // of the rounding of u
		{"rsqrt", (*Tensor).Rsqrt, near, func(x float64) float64 {
			root, _ := new(big.Float).SetPrec(200).Sqrt(new(big.Float).SetPrec(200).SetFloat64(x)).SetPrec(200).Float64()
			return 1 / root
		}, 2},
	} {
		got := c.f(With(Float64).Of(c.at)).Floats()
		for i, x := range c.at {
			want := c.want(x)
			if off := math.Abs(got[i]-want) / (math.Nextafter(math.Abs(want), math.Inf(1)) - math.Abs(want)); !(off <= c.ulps) && got[i] != want {
				t.Errorf("%s of %.17g is %.17g, want %.17g: %.3g units in the last place", c.name, x, got[i], want, off)
			}
		}
	}
}

// series is a polynomial for small x.
func series(x float64, c ...float64) float64 {
	if math.Abs(x) > 1e-5 {
		return math.Log1p(x)
	}
	sum := 0.
	for i := len(c) - 1; i >= 0; i-- {
		sum = sum*x + c[i]
	}
	return sum
}
