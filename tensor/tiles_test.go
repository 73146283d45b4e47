package tensor

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lectern-go/lectern/internal/race"
	"github.com/lectern-go/lectern/tensor/internal/loops"
)

// TestAttentionAcrossTiles: scores are computed in tiles of 64 queries and 512 keys. Result and gradients are those of
// all scores at once, on either side of each boundary, where the largest score comes in the first tile or the last, and
// where whole tiles are hidden.
func TestAttentionAcrossTiles(t *testing.T) {
	type sizes struct{ queries, keys int }
	all := []sizes{{1, 511}, {1, 512}, {1, 513}, {63, 513}, {64, 512}, {65, 511}, {65, 513}, {128, 1024}, {129, 1025}}
	dtypes := []Dtype{Float32, Float64, BFloat16}
	if race.Enabled {
		all, dtypes = all[5:7], dtypes[:1]
	}
	const heads, shared, d, e = 4, 2, 3, 5
	for _, size := range all {
		n := size.keys
		growing := With(Float64).Arange(0, float64(n), 1).Mul(12 / float64(n)).Unsqueeze(-1)
		for name, slope := range map[string]float64{"level": 0, "largest last": 1, "largest first": -1} {
			for mask, hidden := range map[string]*Tensor{
				"no mask": nil, "first tile hidden": With(Int64).Arange(0, float64(n), 1).Ge(min(512, n-1)), "last tile hidden": With(Int64).Arange(0, float64(n), 1).Lt(max(n-512, 1)),
				"every third hidden": With(Int64).Arange(0, float64(n), 1).Remainder(3).Ne(0),
			} {
				for _, causal := range []bool{false, true} {
					for _, dtype := range dtypes {
						if dtype == BFloat16 && (hidden != nil || slope < 0) {
							continue // the tiles are those of float32
						}
						g := NewGenerator(4)
						random := func(shape ...int) *Tensor { return With(Float64, g).Uniform(-1, 1, shape...) }
						q, k, v := random(heads, size.queries, d).Abs(), random(shared, n, d).Mul(0.5).Add(growing.Mul(slope)), random(shared, n, e)
						seed := random(heads, size.queries, e).To(dtype)
						var in, wide []*Tensor
						for _, x := range []*Tensor{q, k, v} {
							x = x.To(dtype)
							in, wide = append(in, x.Detach().Clone().RequireGrad()), append(wide, x.Detach().To(Float64).Clone().RequireGrad())
						}
						s := AttentionSettings{Causal: causal, Mask: hidden, Scale: 0.9}
						out := Attention(in[0], in[1], in[2], s)
						out.Backward(WithGrad(seed))

						// All scores at once; a query that sees nothing has the result 0.
						repeated := func(x *Tensor) *Tensor {
							return x.Unsqueeze(1).Expand(shared, heads/shared, n, x.Size(-1)).Reshape(heads, n, x.Size(-1))
						}
						scores := wide[0].Matmul(repeated(wide[1]).T()).Mul(0.9)
						none := Zeros(size.queries, n).Ne(0)
						if causal {
							none = Ones(size.queries, n).Triu(n - size.queries + 1).Ne(0)
						}
						if hidden != nil {
							none = none.Or(hidden.Not())
						}
						want := scores.MaskedFill(none, math.Inf(-1)).Softmax(-1).MaskedFill(none, 0).Matmul(repeated(wide[2]))
						want.Backward(WithGrad(seed.To(Float64)))

						what := fmt.Sprintf("%d queries, %d keys, %s, %s, causal %v, %s", size.queries, n, name, mask, causal, dtype)
						tolerance := map[Dtype]float64{Float64: 1e-11, Float32: 2e-5, BFloat16: 2e-2}[dtype]
						close := func(what string, got, want *Tensor) {
							if scale := 1 + want.Abs().Max().Item(); !AllClose(got.To(Float64), want, 0, tolerance*scale) {
								t.Errorf("%s is off by %.2g", what, got.To(Float64).Sub(want).Abs().Max().Item())
							}
						}
						close(what+": result", out.Detach(), want.Detach())
						for i, of := range []string{"queries", "keys", "values"} {
							close(what+": gradient of "+of, in[i].Grad(), wide[i].Grad())
						}
					}
				}
			}
		}
	}
}

// TestWholesAcrossTiles: sums and extremes of integers are those of a loop, on either side of a word, a vector, a
// block of the loops, and the part that is folded at a time, of all numbers, along memory and across it.
func TestWholesAcrossTiles(t *testing.T) {
	edges := []int{1, 8, 16, 64, 128, 256, 512, loops.BlockLen, 2 * loops.BlockLen, 16 * loops.BlockLen, 40_000}
	if race.Enabled {
		edges = []int{1, 8, 64, 128, loops.BlockLen}
	}
	for _, dtype := range []Dtype{Bool, Uint8, Int8, Int16, Int32, Int64} {
		low, high := int64(0), int64(1)
		if dtype != Bool {
			low, high = max(Iinfo(dtype).Min, -1<<40), min(Iinfo(dtype).Max, 1<<40)
		}
		for _, edge := range edges {
			for n := max(edge-1, 1); n <= edge+1; n++ {
				const rows = 3
				all := With(Int64, NewGenerator(uint64(n))).Randint(int(low), int(high)+1, rows*n+1)
				if n%2 == 0 { // extremes at the ends
					all.SetAt(float64(low), rows*n)
					all.SetAt(float64(high), 1)
				} else if low == 0 {
					all = all.Maximum(1) // so that all of them are true
				}
				x := all.To(dtype).Narrow(0, 1, rows*n) // at an odd place
				values := x.Ints()
				fold := func(at func(i int) int64, count int) (sum, low, high int64) {
					low, high = at(0), at(0)
					for i := range count {
						sum, low, high = sum+at(i), min(low, at(i)), max(high, at(i))
					}
					return sum, low, high
				}
				check := func(what string, x *Tensor, axes []int, results, count int, at func(result, i int) int64) {
					sums, lows, highs := x.Sum(axes...).Ints(), x.Min(axes...).Ints(), x.Max(axes...).Ints()
					alls, anys := x.All(axes...).Ints(), x.Any(axes...).Ints()
					for r := range results {
						some, every := int64(0), int64(1)
						for i := range count {
							if at(r, i) == 0 {
								every = 0
							} else {
								some = 1
							}
						}
						sum, low, high := fold(func(i int) int64 { return at(r, i) }, count)
						if got, want := []int64{sums[r], lows[r], highs[r], alls[r], anys[r]}, []int64{sum, low, high, every, some}; !slices.Equal(got, want) {
							t.Errorf("%s, %d numbers %s, number %d: sum, min, max, all, any are %v, want %v", dtype, n, what, r, got, want)
							return
						}
					}
				}
				check("as a whole", x, nil, 1, rows*n, func(_, i int) int64 { return values[i] })
				check("along memory", x.View(rows, n), []int{1}, rows, n, func(r, i int) int64 { return values[r*n+i] })
				check("across memory", x.View(rows, n), []int{0}, n, rows, func(r, i int) int64 { return values[i*n+r] })
				check("with gaps", x.View(n, rows).Select(1, 1), nil, 1, n, func(_, i int) int64 { return values[i*rows+1] })
			}
		}
	}
}

// TestZerosOfExtremes: of zeros of two signs +0 is the larger, wherever it is.
func TestZerosOfExtremes(t *testing.T) {
	negative := math.Copysign(0, -1)
	for _, dtype := range []Dtype{Float32, Float64} {
		for _, n := range []int{1, 2, 7, 64, 65, loops.BlockLen, loops.BlockLen + 1} {
			for _, sign := range []float64{1, -1} { // the other numbers
				for _, zeros := range [][2]float64{{0, 0}, {negative, negative}, {0, negative}, {negative, 0}} {
					for at := range min(n, 3) {
						x := With(dtype).Full(sign, n)
						x.SetAt(zeros[0], n-1)
						x.SetAt(zeros[1], at)
						low, high := math.Inf(1), math.Inf(-1)
						for _, v := range x.Floats() {
							low, high = min(low, v), max(high, v)
						}
						for what, pair := range map[string][2]float64{"min": {x.Min().Item(), low}, "max": {x.Max().Item(), high}} {
							if math.Float64bits(pair[0]) != math.Float64bits(pair[1]) {
								t.Errorf("%s of %d %s with %v among %v is %v, want %v", what, n, dtype, zeros, sign, pair[0], pair[1])
							}
						}
					}
				}
			}
		}
	}
}

// TestSlicesOfEveryKind has every start, stop and step of short axes beside Go's own loop.
func TestSlicesOfEveryKind(t *testing.T) {
	for n := range 8 {
		x := With(Int64).Arange(0, float64(n), 1)
		for start := range n + 1 {
			for stop := start; stop <= n; stop++ {
				for step := 1; step <= n+1; step++ {
					var want []float64
					for i := start; i < stop; i += step {
						want = append(want, float64(i))
					}
					if got := x.Slice(0, start, stop, step); fmt.Sprint(got.Floats()) != fmt.Sprint(want) {
						t.Errorf("%d numbers from %d to %d by %d: %v, want %v", n, start, stop, step, got.Floats(), want)
					}
				}
			}
		}
	}
}

// TestELUNearZero: eˣ-1 keeps its digits where eˣ is next to 1.
func TestELUNearZero(t *testing.T) {
	for _, dtype := range []Dtype{Float32, Float64} {
		for _, v := range []float64{-1e-3, -1e-7, -1e-12, -1e-20} {
			x := Scalar(v).To(dtype)
			if got, want := x.ELU(1).Item(), math.Expm1(x.Item()); math.Abs(got-want) > 4*Finfo(dtype).Eps*math.Abs(want) {
				t.Errorf("ELU of %g in %s is %g, want %g", v, dtype, got, want)
			}
		}
	}
}
