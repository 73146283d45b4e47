package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

func widen(code uint16) float32 { return math.Float32frombits(uint32(code) << 16) }

func narrow(x float32) uint16 {
	bits := math.Float32bits(x)
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}

// testFormats are bfloat16, and the same without saying so, which is then converted.
func testFormats() map[string]*Format {
	load := func(dst []float32, src unsafe.Pointer) {
		for i, code := range unsafe.Slice((*uint16)(src), len(dst)) {
			dst[i] = widen(code)
		}
	}
	store := func(dst unsafe.Pointer, src []float32) {
		for i, x := range src {
			unsafe.Slice((*uint16)(dst), len(src))[i] = narrow(x)
		}
	}
	return map[string]*Format{
		"bfloat16":  {Size: 2, BFloat16: true, Load: load, Store: store},
		"converted": {Size: 2, Load: load, Store: store},
	}
}

func TestProductOfSmallFloats(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		for name, format := range testFormats() {
			for _, s := range [][3]int{{1, 1, 1}, {3, 2, 5}, {14, 32, 16}, {15, 33, 17}, {30, 40, 2}, {9, 35, 40}, {5, 7, 0}, {17, 35, 1201}, {5, 33, 2100}, {1, 6, 50}, {7, 1, 40}, {1, 1, 100}} {
				for layout := range 27 {
					if s[2] > 100 && layout%3 > 0 {
						continue
					}
					m, n, k := s[0], s[1], s[2]
					r := rand.New(rand.NewPCG(uint64(layout), uint64(m)))
					matrix := func(order, m, n int) (Matrix, []float32) {
						at := []Matrix{{nil, n, 1}, {nil, 1, m}, {nil, 2*n + 3, 2}}[order]
						length := max(0, (m-1)*at.Row+(n-1)*at.Col+1)
						if m == 0 || n == 0 {
							length = 0
						}
						at.Data = guarded(t, 2*length, true)
						values := make([]float32, m*n)
						for i := range values {
							values[i] = float32(r.IntN(9) - 4)
							*(*uint16)(unsafe.Add(at.Data, 2*(i/n*at.Row+i%n*at.Col))) = narrow(values[i])
						}
						return at, values
					}
					add := layout%2 == 1
					a, x := matrix(layout%3, m, k)
					b, y := matrix(layout/3%3, k, n)
					c, z := matrix(layout/9, m, n)
					Multiply(&Product{M: m, N: n, K: k, A: a, B: b, C: c, Format: format, Add: add})
					for i := range m {
						for j := range n {
							want := float32(0)
							if add {
								want = z[i*n+j]
							}
							for p := range k {
								want += x[i*k+p] * y[p*n+j]
							}
							got := *(*uint16)(unsafe.Add(c.Data, 2*(i*c.Row+j*c.Col)))
							if got != narrow(want) {
								t.Fatalf("%s %v, layout %d: C[%d][%d] = %v, want %v", name, s, layout, i, j, widen(got), want)
							}
						}
					}
				}
			}
		}
	})
}

// TestPairsOfSpecialNumbers asserts that NaN and infinities come through products of pairs.
func TestPairsOfSpecialNumbers(t *testing.T) {
	atLevels(t, func(t *testing.T) {
		for _, special := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32} {
			for k := 1; k < 5; k++ {
				a, b, c := make([]uint16, 2*k), make([]uint16, k), make([]uint16, 2)
				for i := range b {
					b[i] = narrow(1)
				}
				a[k-1] = uint16(math.Float32bits(special) >> 16)
				at := func(x []uint16, row int) Matrix { return Matrix{unsafe.Pointer(&x[0]), row, 1} }
				Multiply(&Product{M: 2, N: 1, K: k, A: at(a, k), B: at(b, 1), C: at(c, 1), Format: testFormats()["bfloat16"]})
				if got, want := widen(c[0]), widen(a[k-1]); !same(got, want) || c[1] != 0 {
					t.Fatalf("%v as number %d of a row: %v and %v, want %v and 0", special, k, got, widen(c[1]), want)
				}
			}
		}
	})
}
