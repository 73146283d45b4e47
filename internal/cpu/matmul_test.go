package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"

	"github.com/lectern-go/lectern/internal/race"
)

// atLevels runs a test at each level that this processor has.
func atLevels(t *testing.T, f func(t *testing.T)) {
	defer func(l Level) { level = l }(level)
	for _, l := range supported {
		level = l
		t.Run(l.String(), f)
	}
}

type float interface{ float32 | float64 }

// matrix is a matrix in memory that ends or begins at a guard page, and its elements as an array of rows.
func matrix[T float](t testing.TB, order string, m, n int, value func() T) (Matrix, [][]T) {
	size := int(unsafe.Sizeof(T(0)))
	at := Matrix{Row: n, Col: 1}
	length := m * n
	switch order {
	case "columns":
		at = Matrix{Row: 1, Col: m}
	case "wide rows": // a part of a matrix with more columns
		at = Matrix{Row: n + 3, Col: 1}
		length = m*(n+3) - 3
	case "gaps":
		at = Matrix{Row: 2*n + 1, Col: 2}
		length = m*(2*n+1) - 2
	case "as in a panel": // columns as far apart as in one, rows farther
		col := tileOf(formatOf[T]()).rows
		at = Matrix{Row: n*col + 1, Col: col}
		length = (m-1)*at.Row + (n-1)*col + 1
	case "repeated row":
		at = Matrix{Row: 0, Col: 1}
		length = n
	case "backwards":
		at = Matrix{Row: -n, Col: -1}
	}
	at.Data = guarded(t, max(0, length)*size, order != "columns")
	if order == "backwards" {
		at.Data = unsafe.Add(at.Data, max(0, m*n-1)*size)
	}
	rows := make([][]T, m)
	for i := range rows {
		rows[i] = make([]T, n)
		for j := range rows[i] {
			p := (*T)(unsafe.Add(at.Data, (i*at.Row+j*at.Col)*size))
			if order == "repeated row" && i > 0 {
				rows[i][j] = *p
				continue
			}
			rows[i][j] = value()
			*p = rows[i][j]
		}
	}
	return at, rows
}

// naive is Multiply in three loops.
func naive[T float](a, b, c [][]T, add bool) [][]T {
	out := make([][]T, len(c))
	for i := range c {
		out[i] = make([]T, len(c[i]))
		for j := range c[i] {
			if add {
				out[i][j] = c[i][j]
			}
			for k := range b {
				out[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return out
}

func formatOf[T float]() *Format {
	if unsafe.Sizeof(T(0)) == 4 {
		return Float32
	}
	return Float64
}

// checkProduct multiplies matrices of small integers, whose product is exact in any order.
func checkProduct[T float](t *testing.T, m, n, k int, orderA, orderB, orderC string, add bool) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(m), uint64(n*1000+k)))
	whole := func() T { return T(r.IntN(17) - 8) }
	a, rowsA := matrix(t, orderA, m, k, whole)
	b, rowsB := matrix(t, orderB, k, n, whole)
	c, rowsC := matrix(t, orderC, m, n, whole)
	want := naive(rowsA, rowsB, rowsC, add)
	Multiply(&Product{M: m, N: n, K: k, A: a, B: b, C: c, Format: formatOf[T](), Add: add})
	for i := range m {
		for j := range n {
			got := *(*T)(unsafe.Add(c.Data, (i*c.Row+j*c.Col)*int(unsafe.Sizeof(T(0)))))
			if got != want[i][j] {
				t.Fatalf("%dx%dx%d %s x %s -> %s, add %v: C[%d][%d] = %v, want %v", m, k, n, orderA, orderB, orderC, add, i, j, got, want[i][j])
			}
		}
	}
}

// TestPanelIsNotMistaken multiplies whole tiles of which only the columns of A lie as in a panel.
func TestPanelIsNotMistaken(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		tile := tileOf(Float32)
		checkProduct[float32](t, tile.rows, tile.cols, 20, "as in a panel", "rows", "rows", false)
		tile = tileOf(Float64)
		checkProduct[float64](t, tile.rows, tile.cols, 20, "as in a panel", "rows", "rows", false)
	})
}

func TestProductLayouts(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		sizes := [][3]int{{1, 1, 1}, {1, 33, 7}, {5, 1, 9}, {9, 48, 16}, {10, 65, 17}, {15, 31, 17}, {19, 113, 5}, {3, 5, 0}, {29, 35, 33}}
		orders := []string{"rows", "columns", "wide rows", "gaps", "repeated row", "backwards"}
		for _, s := range sizes {
			for _, a := range orders {
				for _, b := range orders {
					for _, c := range []string{"rows", "columns", "gaps"} {
						add := (s[0]+len(a)+len(b)+len(c))%2 == 0
						checkProduct[float32](t, s[0], s[1], s[2], a, b, c, add)
						checkProduct[float64](t, s[0], s[1], s[2], a, b, c, add)
					}
				}
			}
		}
	})
}

func TestProductSizes(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		for n := 1; n <= 67; n += 2 {
			checkProduct[float32](t, n, 68-n, n/2+1, "rows", "rows", "rows", false)
			checkProduct[float64](t, 68-n, n, n/3+1, "rows", "columns", "rows", true)
			checkProduct[float32](t, n/4+1, n, 70-n, "columns", "rows", "rows", true)
		}
		if level == Generic && testing.Short() || race.Enabled {
			return
		}
		// Through every loop over what fits a cache.
		checkProduct[float32](t, 200, 90, 1100, "rows", "rows", "rows", true)
		checkProduct[float64](t, 190, 70, 600, "columns", "columns", "rows", false)
		checkProduct[float32](t, 20, 2100, 30, "rows", "columns", "rows", false)
		checkProduct[float32](t, 180, 150, 100, "gaps", "gaps", "gaps", true)
	})
}

func TestProductKeepsNaNAndInf(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		for _, special := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			for _, n := range []int{3, 19, 40} {
				a := make([]float32, n*n)
				b, c := make([]float32, n*n), make([]float32, n*n)
				for i := range a {
					a[i], b[i] = 1, 1
				}
				a[n+2] = float32(special) // spoils row 1, and nothing else
				multiplySlices(c, a, b, n, n, n)
				for i := range c {
					want := float32(n)
					if i/n == 1 {
						want = float32(special)
					}
					if c[i] != want && !(c[i] != c[i] && want != want) {
						t.Fatalf("%v, n=%d: C[%d][%d] = %v, want %v", special, n, i/n, i%n, c[i], want)
					}
				}
			}
		}
	})
}

// multiplySlices is a product of matrices in row-major order.
func multiplySlices[T float](c, a, b []T, m, n, k int) {
	at := func(x []T, cols int) Matrix { return Matrix{unsafe.Pointer(unsafe.SliceData(x)), cols, 1} }
	Multiply(&Product{M: m, N: n, K: k, A: at(a, k), B: at(b, n), C: at(c, n), Format: formatOf[T]()})
}

func randoms[T float](n int, seed uint64) []T {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]T, n)
	for i := range x {
		x[i] = T(r.NormFloat64())
	}
	return x
}

// TestProductIsAccurate compares with float64. A sum of k products, added in order, is off by at most k·ε·Σ|a·b|.
func TestProductIsAccurate(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		for _, k := range []int{3, 100, 1500} {
			m, n := 15, 33
			a, b, c := randoms[float32](m*k, 1), randoms[float32](k*n, 2), make([]float32, m*n)
			multiplySlices(c, a, b, m, n, k)
			for i := range m {
				for j := range n {
					var want, magnitude float64
					for p := range k {
						x := float64(a[i*k+p]) * float64(b[p*n+j])
						want, magnitude = want+x, magnitude+math.Abs(x)
					}
					if off := math.Abs(float64(c[i*n+j]) - want); off > float64(k+1)*0x1p-24*magnitude {
						t.Fatalf("k=%d: C[%d][%d] = %v, want %v", k, i, j, c[i*n+j], want)
					}
				}
			}
		}
	})
}

// TestProductIgnoresThreads asserts the same bits from any number of threads, and from a part of a product.
func TestProductIgnoresThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	atLevels(t, func(t *testing.T) {
		sizes := [][3]int{{130, 150, 90}, {97, 203, 800}, {400, 31, 60}, {9, 700, 110}, {3, 1100, 1903}}
		for _, s := range sizes {
			m, n, k := s[0], s[1], s[2]
			a, b := randoms[float32](m*k, 3), randoms[float32](k*n, 4)
			var first []float32
			for _, threads := range []int{1, 2, 3, 5, 8} {
				runtime.GOMAXPROCS(threads)
				c := make([]float32, m*n)
				multiplySlices(c, a, b, m, n, k)
				if first == nil {
					first = c
				}
				for i := range c {
					if math.Float32bits(c[i]) != math.Float32bits(first[i]) {
						t.Fatalf("%v with %d threads: C[%d][%d] = %v, with one %v", s, threads, i/n, i%n, c[i], first[i])
					}
				}
			}
			row := make([]float32, n)
			multiplySlices(row, a[(m-1)*k:], b, 1, n, k)
			for j := range row {
				if row[j] != first[(m-1)*n+j] {
					t.Fatalf("%v: the last row alone has %v in column %d, in the product %v", s, row[j], j, first[(m-1)*n+j])
				}
			}
		}
	})
}

func TestProductBatch(t *testing.T) {
	for _, s := range [][4]int{{7, 3, 5, 4}, {40, 30, 30, 30}, {3, 100, 90, 80}} {
		batch, m, n, k := s[0], s[1], s[2], s[3]
		a, b, c := randoms[float64](batch*m*k, 5), randoms[float64](k*n, 6), make([]float64, batch*m*n)
		at := func(x []float64, cols int) Matrix { return Matrix{unsafe.Pointer(unsafe.SliceData(x)), cols, 1} }
		Multiply(&Product{M: m, N: n, K: k, A: at(a, k), B: at(b, n), C: at(c, n), Format: Float64, Batch: batch,
			Offset: func(i int) (int, int, int) { return i * m * k, 0, i * m * n }})
		want := make([]float64, batch*m*n)
		multiplySlices(want, a, b, batch*m, n, k)
		for i := range c {
			if c[i] != want[i] {
				t.Fatalf("%v: element %d is %v, want %v", s, i, c[i], want[i])
			}
		}
	}
}

func BenchmarkProduct(b *testing.B) {
	for _, s := range [][3]int{{8, 64, 64}, {64, 64, 64}, {128, 128, 128}, {256, 256, 256}, {1024, 64, 256}, {512, 512, 512}, {1024, 1024, 1024}} {
		for _, form := range []string{"xy", "xyT", "xTy"} {
			m, n, k := s[0], s[1], s[2]
			x, y, c := randoms[float32](m*k, 1), randoms[float32](k*n, 2), make([]float32, m*n)
			p := &Product{M: m, N: n, K: k, Format: Float32,
				A: Matrix{unsafe.Pointer(&x[0]), k, 1}, B: Matrix{unsafe.Pointer(&y[0]), n, 1}, C: Matrix{unsafe.Pointer(&c[0]), n, 1}}
			if form == "xyT" {
				p.B.Row, p.B.Col = 1, k
			} else if form == "xTy" {
				p.A.Row, p.A.Col = 1, m
			}
			b.Run(fmt.Sprintf("%dx%dx%d/%s", m, k, n, form), func(b *testing.B) {
				for b.Loop() {
					Multiply(p)
				}
				b.ReportMetric(2*float64(m*n*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}

// BenchmarkTile runs the kernel for a whole tile alone, on panels in the nearest cache.
func BenchmarkTile(b *testing.B) {
	const k = 128
	tile := tileOf(Float32)
	args := &tileArgs{k: k, mask: 1<<tile.cols - 1, aRow: 4, aCol: uintptr(4 * tile.rows), bStride: uintptr(4 * tile.cols), cStride: uintptr(4 * tile.cols)}
	var left, right, sums buffer
	args.a, args.b, args.c = left.bytes(4*tile.rows*k), right.bytes(4*tile.cols*k), sums.bytes(4*tile.rows*tile.cols)
	for b.Loop() {
		tile.compute(args, tile.rows)
	}
	b.ReportMetric(2*float64(tile.rows*tile.cols*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// BenchmarkProductBFloat16 multiplies into memory that is there.
func BenchmarkProductBFloat16(b *testing.B) {
	for _, n := range []int{128, 256, 512, 1024} {
		matrix := func(seed uint64) Matrix {
			codes := make([]uint16, n*n)
			for i, x := range randoms[float32](n*n, seed) {
				codes[i] = narrow(x)
			}
			return Matrix{unsafe.Pointer(&codes[0]), n, 1}
		}
		p := &Product{M: n, N: n, K: n, A: matrix(1), B: matrix(2), C: matrix(3), Format: testFormats()["bfloat16"]}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				Multiply(p)
			}
			b.ReportMetric(2*float64(n*n*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}

// TestGridCoversWithWholeTiles asserts that the blocks of any grid are whole tiles, few enough, and of balanced work.
func TestGridCoversWithWholeTiles(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		tile := tileOf(Float32)
		for _, threads := range []int{2, 3, 4, 7, 16, 64, 192} {
			for _, s := range [][2]int{{1, 1}, {1, 5000}, {5000, 1}, {100, 100}, {512, 512}, {4096, 64}, {1000, 3000}} {
				p := &Product{M: s[0], N: s[1], K: 100, Format: Float32}
				rows, cols := p.grid(threads)
				if rows <= 0 || cols <= 0 || rows%tile.rows != 0 || cols%tile.vector != 0 {
					t.Fatalf("%v for %d threads: blocks of %dx%d, tiles are %dx%d", s, threads, rows, cols, tile.rows, tile.cols)
				}
				blocks := ceil(s[0], rows) * ceil(s[1], cols)
				if blocks > 2*threads {
					t.Errorf("%v for %d threads: %d blocks", s, threads, blocks)
				}
				if s[0]*s[1] >= 512*512 && threads <= 16 && blocks < threads*3/4 {
					t.Errorf("%v for %d threads: only %d blocks", s, threads, blocks)
				}
			}
		}
	})
}
