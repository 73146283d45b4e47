package tensor

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lectern-go/lectern/internal/testenv"
	"github.com/lectern-go/lectern/tensor/internal/loops"
)

// corners are numbers at which functions have corners.
var corners = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, -2, 3, 1e-45, -1e-45, 1e-38, math.MaxFloat32, -math.MaxFloat32, math.Inf(1), math.Inf(-1), math.NaN(), 0.1, 7, 1 << 30, 1e300, 5e-324}

func random32(r *rand.Rand) float32 { return math.Float32frombits(r.Uint32()) }

// TestPowAgainstMath compares powers with those of package math, rounded once.
func TestPowAgainstMath(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, 2000)
	for i := range x {
		x[i] = random32(r)
		if i%2 == 0 {
			x[i] = float32(r.NormFloat64())
		}
	}
	for i, v := range corners {
		x[i] = float32(v)
	}
	dst, y := make([]float32, len(x)), make([]float32, len(x))
	for p := -9.; p <= 9; p += 0.25 {
		for i := range y {
			y[i] = float32(p)
		}
		loops.PowFloat32(dst, x, y)
		for i, v := range x {
			// Squares are one product, reciprocals one division; others may be off by the last bit of a
			// result that is rounded once.
			want := float32(math.Pow(float64(v), p))
			off := 1.
			if p == 3 { // two products
				off = 2
			}
			if same(dst[i], want) || math.Abs(ulps(dst[i], want)) <= off {
				continue
			}
			t.Fatalf("%g to the power of %g is %g, want %g", v, p, dst[i], want)
		}
	}
	for i := range y {
		y[i] = random32(r)
	}
	loops.PowFloat32(dst, x, y)
	for i, v := range x {
		if want := float32(math.Pow(float64(v), float64(y[i]))); !same(dst[i], want) && math.Abs(ulps(dst[i], want)) > 1 {
			t.Fatalf("%g to the power of %g is %g, want %g", v, y[i], dst[i], want)
		}
	}
}

// TestModIsExact compares with math.Mod, bit for bit.
func TestModIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	check := func(a, b float64) {
		if got, want := loops.Mod(a, b), math.Mod(a, b); math.Float64bits(got) != math.Float64bits(want) && !(got != got && want != want) {
			t.Fatalf("%g mod %g is %g, want %g", a, b, got, want)
		}
	}
	for _, a := range corners {
		for _, b := range corners {
			check(a, b)
		}
	}
	for range testenv.Cases(200_000) {
		a, b := float64(random32(r)), float64(random32(r))
		check(a, b)
		check(r.NormFloat64()*100, r.NormFloat64())
		check(math.Float64frombits(r.Uint64()), math.Float64frombits(r.Uint64()))
		// Quotients that are nearly whole.
		n := math.Trunc(r.Float64() * (1 << 40))
		check(n*b, b)
		check(math.Nextafter(n*b, 0), b)
		check(math.Nextafter(n*b, math.Inf(1)), b)
	}
}

func same(a, b float32) bool {
	return a == b && math.Signbit(float64(a)) == math.Signbit(float64(b)) || a != a && b != b
}

// ulps is how many numbers lie between two.
func ulps(a, b float32) float64 {
	order := func(v float32) float64 {
		if n := int32(math.Float32bits(v)); n < 0 {
			return float64(math.MinInt32 - n)
		} else {
			return float64(n)
		}
	}
	if a != a || b != b || a == 0 && b == 0 { // zeros of two signs
		return math.Inf(1)
	}
	return order(a) - order(b)
}

// TestSlopeOfANumberedPower: the exponent of a gradient keeps the digits of the number that was given.
func TestSlopeOfANumberedPower(t *testing.T) {
	for _, p := range []float64{1. / 3, 0.1, -2.7, 1 + 1e-9} {
		x := With(Float64).Of(0.3, 1.7, 1e5).RequireGrad()
		x.Pow(p).Sum().Backward()
		for i, v := range x.Floats() {
			if got, want := x.Grad().At(i), p*math.Pow(v, p-1); math.Abs(got-want) > 1e-14*math.Abs(want) {
				t.Errorf("the slope of %g to the power of %g is %.17g, want %.17g", v, p, got, want)
			}
		}
	}
}
