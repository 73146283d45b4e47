package cpu

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/lectern-go/lectern/internal/race"
)

// guardedSlice returns a copy of x that ends or begins at a guard page.
func guardedSlice[T any](t testing.TB, x []T, atEnd bool) []T {
	size := int(unsafe.Sizeof(*new(T)))
	s := unsafe.Slice((*T)(guarded(t, len(x)*size, atEnd)), len(x))
	copy(s, x)
	return s
}

// awkward returns n numbers with NaN, infinities, zeros of both signs, the largest and the smallest among them.
func awkward[T float](n int, seed uint64) []T {
	x := randoms[T](n, seed)
	special := []T{T(math.NaN()), T(math.Inf(1)), T(math.Inf(-1)), 0, T(math.Copysign(0, -1)), 3e38, 1e-45, -1e-40, 89, -104}
	for i := range x {
		if (i+int(seed))%3 == 0 {
			x[i] = special[(i/3)%len(special)]
		}
	}
	return x
}

// atVectorLevels runs a test at each level that has loops of its own.
func atVectorLevels(t *testing.T, f func(t *testing.T)) {
	atLevels(t, func(t *testing.T) {
		if vectorsOf(vectorsF32[:]).Add != nil {
			f(t)
		}
	})
}

func same[T float](a, b T) bool {
	return a != a && b != b || a == b && math.Signbit(float64(a)) == math.Signbit(float64(b))
}

func truth[T float](b bool) T {
	if b {
		return 1
	}
	return 0
}

func testArithmetic[T float](t *testing.T, v *Vectors[T]) {
	binary := map[string]func(x, y T) T{
		"Add": func(x, y T) T { return x + y }, "Sub": func(x, y T) T { return x - y },
		"Mul": func(x, y T) T { return x * y }, "Div": func(x, y T) T { return x / y },
		"Equal": func(x, y T) T { return truth[T](x == y) }, "Differ": func(x, y T) T { return truth[T](x != y) },
		"Less": func(x, y T) T { return truth[T](x < y) }, "AtMost": func(x, y T) T { return truth[T](x <= y) },
		"Maximum": func(x, y T) T { return max(x, y) }, "Minimum": func(x, y T) T { return min(x, y) },
		"Pass": func(x, y T) T {
			if y != 0 {
				return x
			}
			return 0
		},
	}
	unary := map[string]func(x T) T{
		"Neg": func(x T) T { return -x }, "Abs": func(x T) T { return T(math.Abs(float64(x))) },
		"Square": func(x T) T { return x * x }, "Reciprocal": func(x T) T { return 1 / x },
		"Infinite": func(x T) T { return truth[T](math.IsInf(float64(x), 0)) },
		"Finite":   func(x T) T { return truth[T](x-x == 0) },
		"Cube":     func(x T) T { return T(x*x) * x },
		"Sign":     func(x T) T { return truth[T](x > 0) - truth[T](x < 0) },
		"Sqrt":     func(x T) T { return T(math.Sqrt(float64(x))) },
		"Relu":     func(x T) T { return max(x, 0) },
		"Floor":    func(x T) T { return T(math.Floor(float64(x))) }, "Ceil": func(x T) T { return T(math.Ceil(float64(x))) },
		"Trunc": func(x T) T { return T(math.Trunc(float64(x))) }, "Round": func(x T) T { return T(math.RoundToEven(float64(x))) },
	}
	fields := reflect.ValueOf(*v)
	for n := range 70 {
		for _, end := range []bool{true, false} {
			x, y := guardedSlice(t, awkward[T](n, 1), end), guardedSlice(t, awkward[T](n, 2), end)
			for i := 0; i < n; i += 5 { // equal ones, and halves
				y[i] = T(i) / 2
				x[i] = y[i]
			}
			for name, want := range binary {
				dst := guardedSlice(t, make([]T, n), end)
				fields.FieldByName(name).Interface().(func(dst, x, y []T))(dst, x, y)
				for i := range dst {
					if !same(dst[i], want(x[i], y[i])) {
						t.Fatalf("%s(%v, %v) = %v, want %v; %d of %d", name, x[i], y[i], dst[i], want(x[i], y[i]), i, n)
					}
				}
			}
			for name, want := range unary {
				dst := guardedSlice(t, make([]T, n), end)
				fields.FieldByName(name).Interface().(func(dst, x []T))(dst, x)
				for i := range dst {
					if !same(dst[i], want(x[i])) {
						t.Fatalf("%s(%v) = %v, want %v; %d of %d", name, x[i], dst[i], want(x[i]), i, n)
					}
				}
			}
			dst := guardedSlice(t, make([]T, n), end)
			v.Affine(dst, x, 3, 0.5)
			for i := range dst {
				if want := (x[i] - 3) * 0.5; !same(dst[i], want) {
					t.Fatalf("Affine(%v) = %v, want %v", x[i], dst[i], want)
				}
			}
			for _, bounds := range [][2]T{{-1, 1}, {0, 3}, {-2, 0}, {2, -2}, {T(math.Inf(-1)), 0.5}, {T(math.Copysign(0, -1)), T(math.Inf(1))}} {
				v.Clamp(dst, x, bounds[0], bounds[1])
				for i := range dst {
					if want := min(max(x[i], bounds[0]), bounds[1]); !same(dst[i], want) {
						t.Fatalf("Clamp(%v, %v) = %v, want %v", x[i], bounds, dst[i], want)
					}
				}
			}
			z := awkward[T](n, 4)
			v.Normalize(dst, x, y, z, 3, 0.5)
			for i := range dst {
				if want := T(T((x[i]-3)*0.5)*y[i]) + z[i]; !same(dst[i], want) {
					t.Fatalf("Normalize(%v, %v, %v) = %v, want %v", x[i], y[i], z[i], dst[i], want)
				}
			}
			v.LessTimes(dst, x, y, 3, 0.25, 0.5)
			for i := range dst {
				if want := T(x[i]-3-T(y[i]*0.25)) * 0.5; !same(dst[i], want) {
					t.Fatalf("LessTimes(%v, %v) = %v, want %v", x[i], y[i], dst[i], want)
				}
			}
			fused := func(a, b, c T) T { // exact in float64 for float32, but for what is rounded twice
				return T(math.FMA(float64(a), float64(b), float64(c)))
			}
			v.Fill(dst, -7)
			for i := range dst {
				if dst[i] != -7 {
					t.Fatalf("Fill: number %d of %d is %v", i, n, dst[i])
				}
			}
			v.Leaky(dst, x, 0.25)
			for i := range dst {
				want := x[i] * 0.25
				if x[i] > 0 {
					want = x[i]
				}
				if !same(dst[i], want) {
					t.Fatalf("Leaky(%v) = %v, want %v", x[i], dst[i], want)
				}
			}
			for name, f := range map[string]struct {
				run  func(dst, x, y []T, by T)
				want func(x, y, by T) T
			}{
				"Forth": {v.Forth, func(x, y, by T) T { return x + T((y-x)*by) }},
				"Back":  {v.Back, func(x, y, by T) T { return y - T((y-x)*by) }},
			} {
				f.run(dst, x, y, 0.3)
				for i := range dst {
					if want := f.want(x[i], y[i], 0.3); !same(dst[i], want) {
						t.Fatalf("%s(%v, %v) = %v, want %v", name, x[i], y[i], dst[i], want)
					}
				}
			}
			v.Lerp(dst, x, y, z)
			for i := range dst {
				want := y[i] - T((y[i]-x[i])*(1-z[i]))
				if z[i] > -0.5 && z[i] < 0.5 {
					want = x[i] + T(z[i]*(y[i]-x[i]))
				}
				if !same(dst[i], want) {
					t.Fatalf("Lerp(%v, %v, %v) = %v, want %v", x[i], y[i], z[i], dst[i], want)
				}
			}
			v.Replace(dst, x, 3, -4, 5)
			for i := range dst {
				want := x[i]
				switch {
				case want != want:
					want = 3
				case math.IsInf(float64(want), 1):
					want = -4
				case math.IsInf(float64(want), -1):
					want = 5
				}
				if !same(dst[i], want) {
					t.Fatalf("Replace(%v) = %v, want %v", x[i], dst[i], want)
				}
			}
			v.AddProduct(dst, x, y, z, 0.3)
			for i := range dst {
				if want := x[i] + T(T(y[i]*0.3)*z[i]); !same(dst[i], want) {
					t.Fatalf("AddProduct(%v, %v, %v) = %v, want %v", x[i], y[i], z[i], dst[i], want)
				}
			}
			v.AddQuotient(dst, x, y, z, 0.3)
			for i := range dst {
				if want := x[i] + T(T(y[i]/z[i])*0.3); !same(dst[i], want) {
					t.Fatalf("AddQuotient(%v, %v, %v) = %v, want %v", x[i], y[i], z[i], dst[i], want)
				}
			}
			whole := func(seed uint64) []T {
				w := randoms[T](n, seed)
				for i := range w {
					w[i] = T(math.Round(float64(w[i]) * 100))
				}
				return guardedSlice(t, w, end)
			}
			sums, p, q, r, s := whole(5), whole(6), whole(7), whole(8), whole(9)
			copy(dst, sums)
			v.AddScaled(dst, p, 0.3)
			for i := range dst {
				if want := fused(p[i], 0.3, sums[i]); !same(dst[i], want) {
					t.Fatalf("AddScaled(%v, %v) = %v, want %v", sums[i], p[i], dst[i], want)
				}
			}
			copy(dst, sums)
			v.AddFour(dst, p, q, r, s, 0.3, -7, 1e4, 0.7)
			for i := range dst {
				if want := fused(s[i], 0.7, fused(r[i], 1e4, fused(q[i], -7, fused(p[i], 0.3, sums[i])))); !same(dst[i], want) {
					t.Fatalf("AddFour(%v, %v, %v, %v, %v) = %v, want %v", sums[i], p[i], q[i], r[i], s[i], dst[i], want)
				}
			}
			copy(dst, sums)
			v.MulFour(dst, p, q, r, s)
			for i := range dst {
				if want := sums[i] * p[i] * q[i] * r[i] * s[i]; !same(dst[i], want) {
					t.Fatalf("MulFour(%v, %v, %v, %v, %v) = %v, want %v", sums[i], p[i], q[i], r[i], s[i], dst[i], want)
				}
			}
			copy(dst, sums)
			v.AddSquares(dst, p, q, r, s, 0.3)
			for i := range dst {
				want := sums[i]
				for _, x := range []T{p[i], q[i], r[i], s[i]} {
					want += T((x - 0.3) * (x - 0.3))
				}
				if !same(dst[i], want) {
					t.Fatalf("AddSquares(%v, %v, %v, %v, %v) = %v, want %v", sums[i], p[i], q[i], r[i], s[i], dst[i], want)
				}
			}
			v.Plus(dst, x, 0.3)
			for i := range dst {
				if want := x[i] + 0.3; !same(dst[i], want) {
					t.Fatalf("Plus(%v) = %v, want %v", x[i], dst[i], want)
				}
			}
			p, q, r, s = guardedSlice(t, awkward[T](n, 5), end), guardedSlice(t, awkward[T](n, 6), end), guardedSlice(t, awkward[T](n, 7), end), guardedSlice(t, awkward[T](n, 8), end)
			copy(dst, x)
			v.MaxFour(dst, p, q, r, s)
			for i := range dst {
				if want := max(x[i], p[i], q[i], r[i], s[i]); !same(dst[i], want) {
					t.Fatalf("MaxFour(%v, %v, %v, %v, %v) = %v, want %v", x[i], p[i], q[i], r[i], s[i], dst[i], want)
				}
			}
			copy(dst, x)
			v.MinFour(dst, p, q, r, s)
			for i := range dst {
				if want := min(x[i], p[i], q[i], r[i], s[i]); !same(dst[i], want) {
					t.Fatalf("MinFour(%v, %v, %v, %v, %v) = %v, want %v", x[i], p[i], q[i], r[i], s[i], dst[i], want)
				}
			}
			v.Scale(x, x, 3) // in place
			if n > 1 && x[1] != 3*awkward[T](n, 1)[1] {
				t.Fatal("Scale in place")
			}
		}
	}
}

func TestArithmeticFloat32(t *testing.T) {
	atVectorLevels(t, func(t *testing.T) { testArithmetic(t, Float32s()) })
}

func TestArithmeticFloat64(t *testing.T) {
	atVectorLevels(t, func(t *testing.T) { testArithmetic(t, Float64s()) })
}

func testSums[T float](t *testing.T, v *Vectors[T]) {
	for n := range 300 {
		x, y := make([]T, n), make([]T, n)
		var sum, dot, squares T
		largest := T(math.Inf(-1))
		for i := range x { // integers: exact in any order
			x[i], y[i] = T(i*37%101-50), T(i*53%89-40)
			sum, dot, squares = sum+x[i], dot+x[i]*y[i], squares+(x[i]-2)*(x[i]-2)
			largest = max(largest, x[i])
		}
		x, y = guardedSlice(t, x, n%2 == 0), guardedSlice(t, y, n%2 == 0)
		if got := v.Sum(x); got != sum {
			t.Fatalf("Sum of %d: %v, want %v", n, got, sum)
		}
		if got := v.Dot(x, y); got != dot {
			t.Fatalf("Dot of %d: %v, want %v", n, got, dot)
		}
		if got := v.Squares(x, 2); got != squares {
			t.Fatalf("Squares of %d: %v, want %v", n, got, squares)
		}
		if got := v.Largest(x); got != largest {
			t.Fatalf("Largest of %d: %v, want %v", n, got, largest)
		}
		if got := v.Highest(x); got != largest {
			t.Fatalf("Highest of %d: %v, want %v", n, got, largest)
		}
		lowest := T(math.Inf(-1))
		for i := range x {
			lowest = max(lowest, -x[i])
		}
		if got := v.Lowest(x); got != lowest {
			t.Fatalf("Lowest of %d: %v, want %v", n, got, lowest)
		}
		if n > 0 {
			for _, odd := range []T{T(math.NaN()), T(math.Inf(1)), T(math.Inf(-1))} {
				old := x[n/2]
				x[n/2] = odd
				high, low := T(math.Inf(-1)), T(math.Inf(-1))
				for _, w := range x {
					if w != w {
						high, low = T(math.Inf(1)), T(math.Inf(1))
					}
					high, low = max(high, w), max(low, -w)
				}
				if odd != odd {
					high, low = T(math.Inf(1)), T(math.Inf(1))
				}
				if wide := v.Widest(x); wide != max(high, low) {
					t.Fatalf("Widest of %d with %v: %v, want %v", n, odd, wide, max(high, low))
				}
				if h, l := v.Highest(x), v.Lowest(x); h != high || l != low {
					t.Fatalf("Highest and Lowest of %d with %v: %v and %v, want %v and %v", n, odd, h, l, high, low)
				}
				x[n/2] = old
			}
			// Products, in the same lanes as sums.
			near := randoms[T](n, uint64(n)+1)
			var lanes [32]T
			for i := range lanes {
				lanes[i] = 1
			}
			for i := range near {
				near[i] = 1 + near[i]/16
				lanes[i%32] *= near[i]
			}
			for half := 16; half > 0; half /= 2 {
				for i := range half {
					lanes[i] *= lanes[i+half]
				}
			}
			if got := v.Product(near); got != lanes[0] {
				t.Fatalf("Product of %d: %v, want %v in this order", n, got, lanes[0])
			}
			// The order of the sum is stated: 32 lanes, then halves of them.
			r := randoms[T](n, uint64(n))
			var lane [32]T
			for i, v := range r {
				lane[i%32] += v
			}
			for half := 16; half > 0; half /= 2 {
				for i := range half {
					lane[i] += lane[i+half]
				}
			}
			if got := v.Sum(r); got != lane[0] {
				t.Fatalf("Sum of %d: %v, want %v in this order", n, got, lane[0])
			}
			x[n-1] = T(math.NaN())
			if got := v.Sum(x); got == got {
				t.Fatalf("Sum of %d with NaN: %v", n, got)
			}
			for i := range x {
				x[i] = T(-5 - i)
			}
			if got := v.Largest(x); got != -5 {
				t.Fatalf("Largest of %d negative numbers: %v, want -5", n, got)
			}
		}
	}
}

func TestSums(t *testing.T) {
	atVectorLevels(t, func(t *testing.T) {
		testSums(t, Float32s())
		testSums(t, Float64s())
	})
}

// ulps is how far got is from want, in units in the last place of a float32 near want.
func ulps(got float32, want float64) float64 {
	if w := float32(want); w != w || math.IsInf(float64(w), 0) {
		if got == w || got != got && w != w {
			return 0
		}
		if math.IsInf(float64(w), 0) && math.Abs(float64(got)) == math.MaxFloat32 {
			return 1
		}
		return math.Inf(1)
	}
	if got != got {
		return math.Inf(1)
	}
	_, exp := math.Frexp(want)
	return math.Abs(float64(got)-want) / math.Ldexp(1, max(exp-24, -149))
}

// functionTests state the error of each function over all float32.
var functionTests = []struct {
	name string
	ulps float64
	want func(x float64) float64
}{
	{"Exp", 1.1, math.Exp},
	{"Expm1", 2, math.Expm1},
	{"Log", 1, math.Log},
	{"Log2", 2, math.Log2},
	{"Log1p", 1.2, math.Log1p},
	{"Sin", 2, math.Sin},
	{"Cos", 2, math.Cos},
	{"Tanh", 2, math.Tanh},
	{"Sigmoid", 3.2, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }},
	{"Silu", 4, func(x float64) float64 { return max(x, -200) / (1 + math.Exp(-max(x, -200))) }},
	{"Erf", 3, math.Erf},
	{"Rsqrt", 1.6, func(x float64) float64 { return 1 / math.Sqrt(x) }},
	{"Gelu", 7, func(x float64) float64 { return max(x, -200) * 0.5 * math.Erfc(-x/math.Sqrt2) }},
}

// TestFunctions compares with float64 over the float32: each 499th of them, fewer when -short is given; all of them
// with LECTERN_TEST_ALL_FLOATS=1, which takes many minutes.
func TestFunctions(t *testing.T) {
	step := uint64(499)
	if testing.Short() || race.Enabled {
		step = 9973
	}
	if allFloats {
		step = 1
	}
	atVectorLevels(t, func(t *testing.T) {
		v := Float32s()
		const block = 1 << 12
		x, dst := make([]float32, block), make([]float32, block)
		for _, f := range functionTests {
			run := reflect.ValueOf(*v).FieldByName(f.name).Interface().(func(dst, x []float32))
			worst, worstAt := 0.0, float32(0)
			for start := uint64(0); start < 1<<32; start += block * step {
				for i := range x {
					x[i] = math.Float32frombits(uint32(start + uint64(i)*step))
				}
				run(dst, x)
				for i := range x {
					if off := ulps(dst[i], f.want(float64(x[i]))); off > worst {
						worst, worstAt = off, x[i]
					}
				}
			}
			t.Logf("%s: at most %.2f ULP (at %v)", f.name, worst, worstAt)
			if worst > f.ulps {
				t.Errorf("%s: %.2f ULP at %v, stated %v", f.name, worst, worstAt, f.ulps)
			}
		}
	})
}

// TestFunctionsAtTheEnds asserts that a result of 0 has the sign that it should have, as it shows when it is printed,
// and that functions with a limit reach it.
func TestFunctionsAtTheEnds(t *testing.T) {
	atVectorLevels(t, func(t *testing.T) {
		inf := float32(math.Inf(1))
		x := []float32{0, float32(math.Copysign(0, -1)), inf, -inf, math.MaxFloat32, -math.MaxFloat32, 100, -100}
		for _, f := range functionTests {
			got := make([]float32, len(x))
			reflect.ValueOf(*Float32s()).FieldByName(f.name).Interface().(func(dst, x []float32))(got, x)
			for i, x := range x {
				want := float32(f.want(float64(x)))
				if ends := x == 0 || want == 0 || math.Abs(float64(want)) == 1; ends && !same(got[i], want) {
					t.Errorf("%s(%v) = %v, want %v", f.name, x, got[i], want)
				}
			}
		}
	})
}

// TestGeluTanh allows for the argument of the exponential, whose rounding error grows with it.
func TestGeluTanh(t *testing.T) {
	atVectorLevels(t, func(t *testing.T) {
		v := Float32s()
		for x := float32(-9); x < 9; x += 1.0 / 512 {
			var got [1]float32
			v.GeluTanh(got[:], []float32{x})
			u := 2 * 0.7978845608028654 * (float64(x) + 0.044715*float64(x)*float64(x)*float64(x))
			want := float64(x) / (1 + math.Exp(-u))
			if off := ulps(got[0], want); off > 4+2*math.Abs(u) && math.Abs(want) > 1e-37 {
				t.Fatalf("GeluTanh(%v) = %v, want %v: %.1f ULP", x, got[0], want, off)
			}
		}
	})
}

// TestFunctionsOfParts asserts that a result does not depend on where in a slice it is, and
// that nothing beyond is touched.
func TestFunctionsOfParts(t *testing.T) {
	atVectorLevels(t, func(t *testing.T) {
		v := Float32s()
		for _, f := range append(functionTests[:len(functionTests):len(functionTests)], functionTests[0]) {
			run := reflect.ValueOf(*v).FieldByName(f.name).Interface().(func(dst, x []float32))
			for n := range 150 {
				x := guardedSlice(t, awkward[float32](n, 3), n%2 == 0)
				dst := guardedSlice(t, make([]float32, n), n%2 == 0)
				run(dst, x)
				place := slices.Clone(x)
				run(place, place)
				for i := range x {
					if !same(place[i], dst[i]) {
						t.Fatalf("%s(%v) is %v in place and %v elsewhere", f.name, x[i], place[i], dst[i])
					}
					var one [1]float32
					run(one[:], x[i:i+1])
					if !same(one[0], dst[i]) {
						t.Fatalf("%s(%v) is %v alone and %v as number %d of %d", f.name, x[i], one[0], dst[i], i, n)
					}
				}
			}
		}
		for n := range 150 {
			x := guardedSlice(t, randoms[float32](n, 4), true)
			dst := guardedSlice(t, make([]float32, n), true)
			sum := v.ExpSum(dst, x, 0.5)
			want := 0.0
			for i := range x {
				var one [1]float32
				v.Exp(one[:], []float32{x[i] - 0.5})
				if one[0] != dst[i] {
					t.Fatalf("ExpSum: element %d is %v, want %v", i, dst[i], one[0])
				}
				want += float64(one[0])
			}
			if math.Abs(float64(sum)-want) > 1e-6*want {
				t.Fatalf("ExpSum of %d: %v, want %v", n, sum, want)
			}
		}
	})
}

// TestConversions goes over all codes of both formats, and over float32 with their neighbors' midpoints.
func TestConversions(t *testing.T) {
	atVectorLevels(t, func(t *testing.T) {
		c := Converters()
		codes := make([]uint16, 1<<16)
		for i := range codes {
			codes[i] = uint16(i)
		}
		values := make([]float32, len(codes))
		c.FromBFloat16(values, unsafe.Pointer(&codes[0]))
		back := make([]uint16, len(codes))
		for i, v := range values {
			if math.Float32bits(v) != uint32(i)<<16 {
				t.Fatalf("bfloat16 %#04x is %v", i, v)
			}
		}
		for _, delta := range []uint32{0, 0x7fff, 0x8000, 0x8001, 0xffff} {
			for i := range values {
				values[i] = math.Float32frombits(uint32(i)<<16 + delta)
			}
			c.ToBFloat16(unsafe.Pointer(&back[0]), values)
			for i, v := range values {
				bits := math.Float32bits(v)
				want := uint16((bits + 0x7fff + bits>>16&1) >> 16)
				if v != v {
					want = uint16(bits>>16) | 0x40
				}
				if back[i] != want {
					t.Fatalf("%v becomes bfloat16 %#04x, want %#04x", v, back[i], want)
				}
			}
		}
		c.FromFloat16(values, unsafe.Pointer(&codes[0]))
		for i, v := range values {
			e, m := i>>10&31, float64(i&1023)
			want := math.Ldexp(1+m/1024, e-15)
			switch {
			case e == 0:
				want = math.Ldexp(m, -24)
			case e == 31 && m == 0:
				want = math.Inf(1)
			case e == 31:
				want = math.NaN()
			}
			if i&0x8000 != 0 {
				want = -want
			}
			if !same(v, float32(want)) && want == want || (v == v) != (want == want) {
				t.Fatalf("float16 %#04x is %v, want %v", i, v, want)
			}
		}
		c.ToFloat16(unsafe.Pointer(&back[0]), values)
		for i := range codes {
			want := uint16(i)
			if values[i] != values[i] {
				want = want&0x8000 | 0x7e00
			}
			if back[i] != want {
				t.Fatalf("%v becomes float16 %#04x, want %#04x", values[i], back[i], want)
			}
		}
		for i := 0; i < 0x7bff; i++ { // between neighbors: to the even one
			middle := []float32{(values[i] + values[i+1]) / 2}
			c.ToFloat16(unsafe.Pointer(&back[0]), middle)
			if want := uint16(i + i&1); back[0] != want {
				t.Fatalf("%v becomes float16 %#04x, want %#04x", middle[0], back[0], want)
			}
		}
		testBytes(t, c)
		for n := range 40 {
			codes := guardedSlice(t, codes[:n], true)
			x := guardedSlice(t, make([]float32, n), true)
			c.FromFloat16(x, unsafe.Pointer(unsafe.SliceData(codes)))
			c.FromBFloat16(x, unsafe.Pointer(unsafe.SliceData(codes)))
			c.ToFloat16(unsafe.Pointer(unsafe.SliceData(codes)), x)
			c.ToBFloat16(unsafe.Pointer(unsafe.SliceData(codes)), x)
		}
	})
}

// testBytes goes over all codes of the formats of a byte, and from and to slices of all lengths.
func testBytes(t *testing.T, c Conversions) {
	float8 := func(mantissa, bias int, infinite bool) func(code int) float64 {
		return func(code int) float64 {
			exponent, fraction := code&0x7f>>mantissa, float64(code&(1<<mantissa-1))/float64(int(1)<<mantissa)
			value := math.Ldexp(1+fraction, exponent-bias)
			switch {
			case exponent == 0:
				value = math.Ldexp(fraction, 1-bias)
			case infinite && code&0x7f == 0x7f>>mantissa<<mantissa:
				value = math.Inf(1)
			case infinite && exponent == 0x7f>>mantissa || code&0x7f == 0x7f:
				value = math.NaN()
			}
			if code&0x80 != 0 {
				value = -value
			}
			return value
		}
	}
	for name, f := range map[string]struct {
		load func(dst []float32, src unsafe.Pointer)
		want func(code int) float64
	}{
		"uint8": {c.FromUint8, func(code int) float64 { return float64(code) }},
		"E4M3":  {c.FromE4M3, float8(3, 7, false)},
		"E5M2":  {c.FromE5M2, float8(2, 15, true)},
	} {
		for n := range 257 {
			codes := make([]uint8, n)
			for i := range codes {
				codes[i] = uint8(i)
			}
			codes = guardedSlice(t, codes, n%2 == 0)
			got := guardedSlice(t, make([]float32, n), n%2 == 0)
			f.load(got, unsafe.Pointer(unsafe.SliceData(codes)))
			for i := range got {
				if want := float32(f.want(i)); !same(got[i], want) {
					t.Fatalf("%s code %#02x, one of %d, is %v, want %v", name, i, n, got[i], want)
				}
			}
		}
	}
	for n := range 100 {
		x := guardedSlice(t, awkward[float32](n, 5), n%2 == 0)
		got := guardedSlice(t, make([]bool, n), n%2 == 0)
		c.ToBool(unsafe.Pointer(unsafe.SliceData(got)), x)
		for i := range got {
			if got[i] != (x[i] != 0) {
				t.Fatalf("%v, number %d of %d, becomes %v", x[i], i, n, got[i])
			}
		}
	}
}

// BenchmarkVectors reports the time of an element, in a cache and beyond.
func BenchmarkVectors(b *testing.B) {
	v := Float32s()
	fields := reflect.ValueOf(*v)
	for _, n := range []int{1 << 12, 1 << 20} {
		x, y, dst := randoms[float32](n, 1), randoms[float32](n, 2), make([]float32, n)
		for i := range fields.NumField() {
			var run func()
			arrays := 2
			switch f := fields.Field(i).Interface().(type) {
			case func(dst, x, y []float32):
				run, arrays = func() { f(dst, x, y) }, 3
			case func(dst, x []float32):
				run = func() { f(dst, x) }
			case func(x []float32) float32:
				run, arrays = func() { f(x) }, 1
			}
			if run == nil || fields.Field(i).IsNil() {
				continue
			}
			b.Run(fmt.Sprintf("%s/%d", fields.Type().Field(i).Name, n), func(b *testing.B) {
				for b.Loop() {
					run()
				}
				ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(n)
				b.ReportMetric(ns, "ns/element")
				b.ReportMetric(4*float64(arrays)/ns, "GB/s")
			})
		}
	}
}

// TestInts runs the loops for int32 that lie in the places of float32, also where their bits are NaN.
func TestInts(t *testing.T) {
	atVectorLevels(t, func(t *testing.T) {
		v := Float32s()
		for n := range 70 {
			x, y, dst := make([]float32, n), make([]float32, n), make([]float32, n)
			a, b, got := ints(x), ints(y), ints(dst)
			for i := range a {
				a[i], b[i] = int32(uint32(i+1)*0x9e3779b9), int32(uint32(i+3)*0xbb67ae85)
				if i%4 == 0 {
					a[i], b[i] = math.MinInt32+int32(i), int32(-i)
				}
				if i%5 == 0 {
					a[i] = b[i]
				}
				if i%7 == 1 { // quotients near integers, and the one that is no int32
					b[i] = int32(n+i)%9 - 4
					a[i] = b[i]*(1<<28) - int32(i%3)
				}
				if b[i] == 0 {
					a[i], b[i] = math.MinInt32, -1
				}
			}
			low, high := int32(0), int32(0)
			for _, w := range a {
				low, high = low+w&0xffff, high+w>>16
			}
			guardedX := guardedSlice(t, x, n%2 == 0)
			if gotLow, gotHigh := math.Float32bits(v.SumLow(guardedX)), math.Float32bits(v.SumHigh(guardedX)); int32(gotLow) != low || int32(gotHigh) != high {
				t.Fatalf("SumLow and SumHigh of %d: %d and %d, want %d and %d", n, int32(gotLow), int32(gotHigh), low, high)
			}
			if n > 0 {
				if high, low := int32(math.Float32bits(v.HighestInts(guardedX))), ^int32(math.Float32bits(v.LowestInts(guardedX))); high != slices.Max(a) || low != slices.Min(a) {
					t.Fatalf("HighestInts and LowestInts of %v: %d and %d", a, high, low)
				}
			}
			v.FromInts(dst, guardedX)
			for i := range dst {
				if dst[i] != float32(a[i]) {
					t.Fatalf("FromInts(%d) = %v", a[i], dst[i])
				}
			}
			numbers := awkward[float32](n, 3)
			v.Cut(dst, guardedSlice(t, numbers, n%2 == 0))
			for i, w := range numbers {
				want := int32(math.MinInt32)
				if w > -1<<31 && w < 1<<31 {
					want = int32(w)
				}
				if got[i] != want {
					t.Fatalf("Cut(%v) = %d, want %d", w, got[i], want)
				}
			}
			for name, op := range map[string]struct {
				run  func(dst, x, y []float32)
				want func(a, b int32) int32
			}{
				"add": {v.AddInts, func(a, b int32) int32 { return a + b }}, "sub": {v.SubInts, func(a, b int32) int32 { return a - b }},
				"mul": {v.MulInts, func(a, b int32) int32 { return a * b }},
				"max": {v.MaxInts, func(a, b int32) int32 { return max(a, b) }}, "min": {v.MinInts, func(a, b int32) int32 { return min(a, b) }},
				"and": {v.AndInts, func(a, b int32) int32 { return a & b }}, "or": {v.OrInts, func(a, b int32) int32 { return a | b }},
				"xor":      {v.XorInts, func(a, b int32) int32 { return a ^ b }},
				"neg":      {func(dst, x, _ []float32) { v.NegInts(dst, x) }, func(a, _ int32) int32 { return -a }},
				"abs":      {func(dst, x, _ []float32) { v.AbsInts(dst, x) }, func(a, _ int32) int32 { return max(a, -a) }},
				"sign":     {func(dst, x, _ []float32) { v.SignInts(dst, x) }, func(a, _ int32) int32 { return min(max(a, -1), 1) }},
				"not":      {func(dst, x, _ []float32) { v.NotInts(dst, x) }, func(a, _ int32) int32 { return ^a }},
				"clamp":    {func(dst, x, _ []float32) { v.ClampInts(dst, x, math.Float32frombits(1<<32-9), math.Float32frombits(7)) }, func(a, _ int32) int32 { return min(max(a, -9), 7) }},
				"quotient": {v.QuotientInts, func(a, b int32) int32 { return a / b }},
				"floor":    {v.FloorInts, floorInt},
				"rest":     {v.RestInts, func(a, b int32) int32 { return a % b }},
				"mod":      {v.ModInts, func(a, b int32) int32 { return a - floorInt(a, b)*b }},
				"equal":    {v.EqualInts, func(a, b int32) int32 { return int32(math.Float32bits(truth[float32](a == b))) }},
				"less":     {v.LessInts, func(a, b int32) int32 { return int32(math.Float32bits(truth[float32](a < b))) }},
			} {
				op.run(guardedSlice(t, dst, n%2 == 0)[:0], x[:0], y[:0])
				op.run(dst, guardedSlice(t, x, n%2 == 0), guardedSlice(t, y, n%2 == 0))
				for i := range got {
					if want := op.want(a[i], b[i]); got[i] != want {
						t.Fatalf("%s of %d and %d is %d, want %d", name, a[i], b[i], got[i], want)
					}
				}
			}
		}
	})
}

func floorInt(a, b int32) int32 {
	if a%b != 0 && (a < 0) != (b < 0) {
		return a/b - 1
	}
	return a / b
}

func ints(x []float32) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// TestRemainders compares with math.Mod, which is exact, over all exponents.
func TestRemainders(t *testing.T) {
	atVectorLevels(t, func(t *testing.T) {
		v := Float32s()
		for round := range 200 {
			n := 1 + round%67
			x, y := awkward[float32](n, uint64(round)), awkward[float32](n, uint64(round)+1000)
			for i := range x {
				if i%3 == 1 { // any bits
					x[i] = math.Float32frombits(uint32(i+1) * uint32(round+7) * 0x9e3779b9)
					y[i] = math.Float32frombits(uint32(i+5) * uint32(round+3) * 0xbb67ae85)
				}
				if i%3 == 2 { // near a whole number of times
					y[i] = x[i] / float32(i+round%9)
				}
			}
			x, y = guardedSlice(t, x, round%2 == 0), guardedSlice(t, y, round%2 == 0)
			fmod, remainder := make([]float32, n), make([]float32, n)
			v.FmodNear(fmod, x, y)
			v.RemainderNear(remainder, x, y)
			for i := range x {
				want := math.Mod(float64(x[i]), float64(y[i]))
				far := !(math.Abs(float64(x[i]/y[i])) < 1<<23) || math.IsInf(float64(y[i]), 0)
				if near := fmod[i] == fmod[i]; !near && far {
					continue
				}
				if !same(fmod[i], float32(want)) {
					t.Fatalf("fmod of %v and %v is %v, want %v", x[i], y[i], fmod[i], float32(want))
				}
				if want != 0 && (want < 0) != (y[i] < 0) {
					want += float64(y[i])
				}
				if !same(remainder[i], float32(want)) {
					t.Fatalf("remainder of %v and %v is %v, want %v", x[i], y[i], remainder[i], float32(want))
				}
			}
		}
	})
}

// TestElu compares with the function it is made of.
func TestElu(t *testing.T) {
	atVectorLevels(t, func(t *testing.T) {
		v := Float32s()
		for n := range 70 {
			x := guardedSlice(t, awkward[float32](n, 2), n%2 == 0)
			got, want := guardedSlice(t, make([]float32, n), n%2 == 0), make([]float32, n)
			v.Elu(got, x, 0.7)
			v.Expm1(want, x)
			v.Scale(want, want, 0.7)
			for i := range x {
				if x[i] > 0 {
					want[i] = x[i]
				}
				if !same(got[i], want[i]) {
					t.Fatalf("Elu(%v) = %v, want %v", x[i], got[i], want[i])
				}
			}
		}
	})
}

// TestWords runs the loops for integers of 64 bits.
func TestWords(t *testing.T) {
	atVectorLevels(t, func(t *testing.T) {
		v := Float64s()
		bits := func(x []float64) []uint64 {
			return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
		}
		for n := range 70 {
			x, y, dst := make([]float64, n), make([]float64, n), make([]float64, n)
			a, b, got := bits(x), bits(y), bits(dst)
			for i := range a {
				a[i], b[i] = uint64(i+1)*0x9e3779b97f4a7c15, uint64(i+3)*0xbb67ae8584caa73b
			}
			x, y = guardedSlice(t, x, n%2 == 0), guardedSlice(t, y, n%2 == 0)
			for name, f := range map[string]struct {
				run  func()
				want func(a, b uint64) uint64
			}{
				"and":    {func() { v.AndBits(dst, x, y) }, func(a, b uint64) uint64 { return a & b }},
				"or":     {func() { v.OrBits(dst, x, y) }, func(a, b uint64) uint64 { return a | b }},
				"xor":    {func() { v.XorBits(dst, x, y) }, func(a, b uint64) uint64 { return a ^ b }},
				"xor of": {func() { v.XorBitsOf(dst, x, math.Float64frombits(0x0101)) }, func(a, _ uint64) uint64 { return a ^ 0x0101 }},
			} {
				f.run()
				for i := range got {
					if want := f.want(a[i], b[i]); got[i] != want {
						t.Fatalf("%s of %#x and %#x is %#x, want %#x", name, a[i], b[i], got[i], want)
					}
				}
			}
			inside := make([]float64, n)
			for i := range inside {
				bits(inside)[i] = uint64(i * 37 % 100)
			}
			last := math.Float64frombits(99)
			if out := math.Float64bits(v.Outside(guardedSlice(t, inside, n%2 == 0), last)); out>>63 != 0 {
				t.Fatalf("Outside of %d: %#x, and none is", n, out)
			}
			for i := range inside {
				for _, odd := range []uint64{100, 1 << 62, 1 << 63, math.MaxUint64} {
					old := inside[i]
					bits(inside)[i] = odd
					if out := math.Float64bits(v.Outside(inside, last)); out>>63 == 0 {
						t.Fatalf("Outside of %d: %#x with %#x at %d", n, out, odd, i)
					}
					inside[i] = old
				}
			}
		}
	})
}

// TestReverse compares with element by element, and looks behind both ends.
func TestReverse(t *testing.T) {
	atVectorLevels(t, func(t *testing.T) {
		for n := range 70 {
			x := make([]uint32, n)
			for i := range x {
				x[i] = uint32(i) * 0x9e3779b9
			}
			dst := guardedSlice(t, make([]uint32, n), n%2 == 0)
			Reverse()(dst, guardedSlice(t, x, n%2 == 0))
			for i, w := range dst {
				if w != x[n-1-i] {
					t.Fatalf("word %d of %d is %#x, want %#x", i, n, w, x[n-1-i])
				}
			}
		}
	})
}

func testTranspose[T uint32 | uint64](t *testing.T) {
	for rows := range 35 {
		for columns := range 21 {
			width, pitch := rows+columns%3, columns+rows%4
			x := make([]T, max(0, (rows-1)*pitch+columns))
			for i := range x {
				x[i] = T(i + 1)
			}
			x = guardedSlice(t, x, columns%2 == 0)
			dst := guardedSlice(t, make([]T, max(0, (columns-1)*width+rows)), columns%2 == 0)
			done := Transpose(dst, width, x, pitch, rows, columns)
			if done > rows || columns >= 8 && done < rows-7 {
				t.Fatalf("%d of %d rows of %d were done", done, rows, columns)
			}
			for j := range columns {
				for i := range rows {
					want := T(0)
					if i < done {
						want = x[i*pitch+j]
					}
					if got := dst[j*width+i]; got != want {
						t.Fatalf("(%d, %d) of %dx%d is %d, want %d", i, j, rows, columns, got, want)
					}
				}
			}
		}
	}
}

// TestTranspose looks at every element, at those that are left to the caller, and behind both ends.
func TestTranspose(t *testing.T) {
	atVectorLevels(t, func(t *testing.T) {
		testTranspose[uint32](t)
		testTranspose[uint64](t)
	})
}

// TestPowers compares with float64, rounded once.
func TestPowers(t *testing.T) {
	atVectorLevels(t, func(t *testing.T) {
		run := Powers()
		for round := range 400 {
			n := round % 67
			x, y := awkward[float32](n, uint64(round)), awkward[float32](n, uint64(round)+1000)
			for i := range x {
				switch i % 4 {
				case 1: // any bits
					x[i] = math.Float32frombits(uint32(i+1) * uint32(round+7) * 0x9e3779b9 >> 1)
				case 2: // near 1, with a large exponent
					x[i] = 1 + float32(i-30)/(1<<18)
					y[i] = float32(round-200) * 1000
				case 3:
					x[i], y[i] = float32(math.Abs(float64(x[i]))), y[i]*20
				}
			}
			x, y = guardedSlice(t, x, round%2 == 0), guardedSlice(t, y, round%2 == 0)
			dst := guardedSlice(t, make([]float32, n), round%2 == 0)
			run(dst, x, y)
			for i, got := range dst {
				want := math.Pow(float64(x[i]), float64(y[i]))
				if !(x[i] > 0 && x[i] <= math.MaxFloat32 && math.Abs(float64(y[i])) <= 1<<20) {
					want = math.NaN()
				}
				if off := ulps(got, want); off > 0.51 {
					t.Fatalf("%v to the power of %v is %v, want %v: %.2f ULP", x[i], y[i], got, want, off)
				}
			}
		}
	})
}
