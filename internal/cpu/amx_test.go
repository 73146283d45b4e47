//go:build amd64

package cpu

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"
)

// naiveTile is what the kernel for tiles computes: for each element a sum of the products of even terms and one of odd
// ones, of 16 pairs at a time.
func naiveTile(x *amxArgs) {
	b := unsafe.Slice((*uint16)(x.b), x.tiles*x.k*amxStep/2)
	for j := range x.tiles * amxSide {
		panel := b[j/amxSide*x.k*amxStep/2+j%amxSide*2:]
		for i := range amxSide {
			c := (*float32)(unsafe.Add(x.c, uintptr(i)*x.cRow+uintptr(4*j)))
			sum := float32(0)
			if x.add != 0 {
				sum = *c
			}
			for step := range x.k {
				var even, odd float32
				for p := range amxTerms / 2 {
					left := (*[2]uint16)(unsafe.Add(x.a, uintptr(step)*x.aStep+uintptr(i)*x.aRow+uintptr(4*p)))
					right := panel[step*amxStep/2+p*2*amxSide:]
					even += widen(left[0]) * widen(right[0])
					odd += widen(left[1]) * widen(right[1])
				}
				sum += even + odd
			}
			*c = sum
		}
	}
}

// TestProductByTiles computes products in all layouts and awkward sizes by way of tiles, with the naive one in the
// kernel's place, and with the kernel itself where the processor has it.
func TestProductByTiles(t *testing.T) {
	if !slices.Contains(supported, AVX512) {
		t.Log("packing for tiles needs AVX-512, which this processor does not have")
		return
	}
	found := tilesAMX()
	defer func(l Level) { level, amx = l, found }(level)
	level = AVX512
	kernels := map[string]func(*amxArgs){"naive": naiveTile}
	if found == nil {
		t.Log("this processor, or its system, has no AMX: the kernel itself is not run")
	} else {
		kernels["AMX"] = found
	}
	for name, kernel := range kernels {
		t.Run(name, func(t *testing.T) {
			amx = kernel
			format := testFormats()["bfloat16"]
			for _, s := range [][3]int{{1, 1, 1}, {3, 2, 5}, {32, 32, 32}, {33, 31, 33}, {31, 65, 64}, {64, 64, 96}, {5, 7, 0}, {70, 40, 31}, {17, 35, 1201}, {33, 33, 2100}, {300, 34, 64}, {37, 600, 40}, {64, 100, 64}, {1100, 33, 2050}} {
				m, n, k := s[0], s[1], s[2]
				for layout := range 8 {
					if layout > 3 && m*n*k > 100000 {
						continue
					}
					t.Run(fmt.Sprintf("%v %d", s, layout), func(t *testing.T) { testTiles(t, format, m, n, k, layout) })
				}
			}
		})
	}
}

// TestAWrongKernelIsNotUsed tries kernels before they are used.
func TestAWrongKernelIsNotUsed(t *testing.T) {
	if !multipliesRight(naiveTile) {
		t.Error("the naive kernel is refused")
	}
	for name, kernel := range map[string]func(x *amxArgs){
		"does nothing": func(*amxArgs) {},
		"forgets what was there": func(x *amxArgs) {
			other := *x
			other.add = 0
			naiveTile(&other)
		},
		"leaves out half of the terms": func(x *amxArgs) {
			other := *x
			other.k = 1
			naiveTile(&other)
		},
		"computes one tile of two": func(x *amxArgs) {
			other := *x
			other.tiles = 1
			naiveTile(&other)
		},
	} {
		if multipliesRight(kernel) {
			t.Errorf("a kernel that %s is used", name)
		}
	}
}

// testTiles multiplies integers, whose sums are exact. The bits of layout say which operand is transposed, and
// whether to add.
func testTiles(t *testing.T, format *Format, m, n, k, layout int) {
	number := func(i int) float32 { return float32(i*37%7 - 3) }
	matrix := func(rows, cols int, transposed, atEnd bool) (Matrix, func(i, j int) *uint16) {
		at := Matrix{guarded(t, 2*rows*cols, atEnd), cols, 1}
		if transposed {
			at.Row, at.Col = 1, rows
		}
		return at, func(i, j int) *uint16 { return (*uint16)(unsafe.Add(at.Data, 2*(i*at.Row+j*at.Col))) }
	}
	a, ofA := matrix(m, k, layout&1 != 0, true)
	b, ofB := matrix(k, n, layout&2 != 0, true)
	c, ofC := matrix(m, n, false, true)
	for i := range m {
		for p := range k {
			*ofA(i, p) = narrow(number(i*k + p))
		}
	}
	for p := range k {
		for j := range n {
			*ofB(p, j) = narrow(number(p*n + 3*j))
		}
	}
	for i := range m {
		for j := range n {
			*ofC(i, j) = narrow(number(i + j))
		}
	}
	add := layout&4 != 0
	Multiply(&Product{M: m, N: n, K: k, A: a, B: b, C: c, Format: format, Add: add})
	for i := range m {
		for j := range n {
			want := float32(0)
			if add {
				want = number(i + j)
			}
			for p := range k {
				want += number(i*k+p) * number(p*n+3*j)
			}
			if got := *ofC(i, j); got != narrow(want) {
				t.Fatalf("element (%d, %d) is %v, want %v", i, j, widen(got), want)
			}
		}
	}
}

// TestTilesKeepSpecialNumbers asserts that what pads a tile reaches no result.
func TestTilesKeepSpecialNumbers(t *testing.T) {
	if !slices.Contains(supported, AVX512) {
		t.Log("packing for tiles needs AVX-512, which this processor does not have")
		return
	}
	found := tilesAMX()
	defer func(l Level) { level, amx = l, found }(level)
	level, amx = AVX512, naiveTile
	inf := float32(math.Inf(1))
	for range 3 { // the buffers then hold what was left in them
		for _, x := range []float32{inf, float32(math.NaN()), 1} {
			a := []uint16{narrow(x), narrow(2), narrow(3)}
			if x != x {
				a[0] = 0x7fc0
			}
			b := []uint16{narrow(1), narrow(1), narrow(1)}
			var c uint16
			Multiply(&Product{M: 1, N: 1, K: 3, A: Matrix{unsafe.Pointer(&a[0]), 3, 1}, B: Matrix{unsafe.Pointer(&b[0]), 1, 1},
				C: Matrix{unsafe.Pointer(&c), 1, 1}, Format: testFormats()["bfloat16"]})
			if got := widen(c); !(got == x+5 || x != x && got != got) {
				t.Errorf("%v + 2 + 3 = %v", x, got)
			}
		}
	}
}
