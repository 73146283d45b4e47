package tensor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// stableOrder is what argsort means, one comparison at a time.
func stableOrder(row []float64, descending bool) []int64 {
	less := func(a, b float64) bool { return a < b || b != b && a == a } // NaN is the largest
	at := make([]int64, len(row))
	for i := range at {
		at[i] = int64(i)
	}
	slices.SortStableFunc(at, func(a, b int64) int {
		x, y := row[a], row[b]
		if descending {
			x, y = y, x
		}
		switch {
		case less(x, y):
			return -1
		case less(y, x):
			return 1
		}
		return 0
	})
	return at
}

// TestSortAgainstStableOrder has rows on both sides of each limit: of the heap, of the sort by bytes, with ties,
// NaN, infinities and zeros of two signs.
func TestSortAgainstStableOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, -1, math.MaxFloat32, -1e-40}
	for _, n := range []int{1, 2, 7, 64, 255, 256, 257, 3000} {
		row := make([]float64, n)
		for kind := range 4 {
			for i := range row {
				switch kind {
				case 0:
					row[i] = float64(float32(r.NormFloat64()))
				case 1:
					row[i] = float64(r.IntN(5) - 2)
				case 2:
					row[i] = odd[r.IntN(len(odd))]
				case 3:
					row[i] = float64(i - n/2)
				}
			}
			for _, dtype := range []Dtype{Float32, Float64, Int64, Int32} {
				if !dtype.IsFloat() && kind != 1 && kind != 3 {
					continue
				}
				x := With(Float64).Of(row).To(dtype)
				for _, descending := range []bool{false, true} {
					want := stableOrder(row, descending)
					what := fmt.Sprint(dtype, " ", n, " numbers of kind ", kind, ", descending ", descending)
					if got := Data[int64](x.Argsort(0, descending)); !slices.Equal(got, want) {
						t.Fatalf("%s: %v, want %v", what, got, want)
					}
					for _, k := range []int{0, 1, n / 9, n / 8, n/8 + 1, n} {
						if k > n || !descending {
							continue
						}
						if _, at := x.TopK(0, k); !slices.Equal(Data[int64](at), want[:k]) {
							t.Fatalf("%s, the first %d: %v, want %v", what, k, Data[int64](at), want[:k])
						}
					}
				}
			}
		}
	}
}

func BenchmarkSort(b *testing.B) {
	Seed(1)
	x := Randn(64, 8192)
	b.Run("argsort", func(b *testing.B) {
		for b.Loop() {
			x.Argsort(1, false)
		}
	})
	b.Run("topk 50", func(b *testing.B) {
		for b.Loop() {
			x.TopK(1, 50)
		}
	})
}
