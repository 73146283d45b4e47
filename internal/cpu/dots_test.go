package cpu

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"unsafe"
)

// TestDots: products with a vector are right for all numbers of rows and of terms, in all
// layouts, up to the edge of what may be read.
func TestDots(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		for _, k := range []int{15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 127, 200} {
			for _, rows := range []int{1, 2, 3, 4, 5, 7, 8, 12} {
				for _, add := range []bool{false, true} {
					for _, order := range []string{"rows", "wide rows", "gaps", "backwards", "columns"} {
						checkProduct[float32](t, rows, 1, k, order, "columns", "rows", add)
						checkProduct[float64](t, rows, 1, k, order, "gaps", "gaps", add)
						checkProduct[float32](t, 1, rows, k, "gaps", "columns", order, add)
						checkProduct[float64](t, 1, rows, k, "rows", "columns", order, add)
					}
				}
			}
		}
		for _, k := range []int{dotPiece, dotPiece + 1, 3*dotPiece - 7} {
			for _, rows := range []int{1, 3} {
				checkProduct[float32](t, rows, 1, k, "rows", "columns", "rows", false)
				checkProduct[float64](t, 1, rows, k, "rows", "columns", "rows", true)
			}
		}
		checkProduct[float32](t, 3*dotStretch/1000, 1, 1000, "rows", "columns", "rows", false)
	})
}

// vectorProduct multiplies rows of k numbers, which lie together, with x.
func vectorProduct(rows, x []float32) []float32 {
	k := len(x)
	sums := make([]float32, len(rows)/k)
	Multiply(&Product{M: len(sums), N: 1, K: k, Format: Float32,
		A: Matrix{unsafe.Pointer(&rows[0]), k, 1}, B: Matrix{unsafe.Pointer(&x[0]), 1, 1}, C: Matrix{unsafe.Pointer(&sums[0]), 1, 1}})
	return sums
}

// TestDotsOfSpecialNumbers: NaN shows in the sum of its row and in no other, wherever it is.
func TestDotsOfSpecialNumbers(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		const count, k = 5, 45
		for at := range count * k {
			for _, special := range []float64{math.NaN(), math.Inf(1)} {
				rows, x := randoms[float32](count*k, 1), make([]float32, k) // Inf·0 is NaN
				rows[at] = float32(special)
				for i, sum := range vectorProduct(rows, x) {
					if nan := sum != sum; nan != (i == at/k) || !nan && sum != 0 {
						t.Fatalf("%v at %d of row %d: sum %d is %v", special, at%k, at/k, i, sum)
					}
				}
			}
		}
	})
}

// TestDotsDependOnTheirRowAlone: neither threads nor the other rows nor, where there are
// several, the level changes a sum.
func TestDotsDependOnTheirRowAlone(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, s := range [][2]int{{1, 5*dotPiece + 3}, {7, 1003}, {300, 511}} {
		count, k := s[0], s[1]
		rows, x := randoms[float32](count*k, 1), randoms[float32](k, 2)
		var first []float32
		atLevels(t, func(t *testing.T) {
			if kernel, _ := dotKernels(); kernel == nil {
				return
			}
			for _, threads := range []int{1, 2, 4} {
				runtime.GOMAXPROCS(threads)
				sums := vectorProduct(rows, x)
				if first == nil {
					first = sums
				}
				for i := range sums {
					if alone := vectorProduct(rows[i*k:][:k], x)[0]; sums[i] != first[i] || alone != first[i] {
						t.Fatalf("%d threads: sum %d of %d is %v, alone %v, at first %v", threads, i, count, sums[i], alone, first[i])
					}
				}
			}
		})
		for i, sum := range first {
			exact, size := 0., 0.
			for j, v := range rows[i*k:][:k] {
				exact += float64(v) * float64(x[j])
				size += math.Abs(float64(v) * float64(x[j]))
			}
			if bound := 1e-6 * size; math.Abs(float64(sum)-exact) > bound {
				t.Errorf("sum %d of %d is %v, %v off, allowed %v", i, count, sum, float64(sum)-exact, bound)
			}
		}
	}
}

func BenchmarkDots(b *testing.B) {
	for _, s := range [][2]int{{1, 1 << 20}, {64, 64}, {256, 256}, {1024, 1024}, {4096, 4096}} {
		rows, x := randoms[float32](s[0]*s[1], 1), randoms[float32](s[1], 2)
		b.Run(fmt.Sprintf("%dx%d", s[0], s[1]), func(b *testing.B) {
			b.SetBytes(int64(4 * len(rows)))
			for b.Loop() {
				vectorProduct(rows, x)
			}
		})
	}
}
