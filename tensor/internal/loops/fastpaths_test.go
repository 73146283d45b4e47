package loops

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor/layout"
)

// TestCloseIsItsFormula compares vectors with the loop that states it, and each with results that are known.
func TestCloseIsItsFormula(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, tt := range []struct {
		x, y, relative, absolute float64
		want                     bool
	}{
		{1, 1.1, 0.1, 0, true}, {1, 1.2, 0.1, 0, false}, {1, 1.2, 0, 0.25, true}, {3, 3, 0, 0, true}, {0, math.Copysign(0, -1), 0, 0, true},
		{inf, inf, 0, 0, true}, {inf, -inf, 1, 1, false}, {1, inf, 1, 1, false}, {inf, 1, 1, 1, false}, {nan, nan, 0, 0, true}, {nan, 1, 9, 9, false},
		{1, nan, 9, 9, false}, {5, 5, -1, -1, true}, {5, 5.1, -1, -1, false}, {math.MaxFloat64, -math.MaxFloat64, 10, 0, true}, {1, 2, 0, inf, true},
	} {
		var got [1]float64
		Close(tt.relative, tt.absolute)(got[:], []float64{tt.x}, []float64{tt.y})
		if got[0] != Truth[float64](tt.want) {
			t.Errorf("%v and %v within %v·|y| + %v: %v", tt.x, tt.y, tt.relative, tt.absolute, got[0] == 1)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 600 {
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = r.Float64(), r.Float64()
			if r.IntN(300) == 0 {
				x[i], y[i] = []float64{nan, inf, -inf, 1}[r.IntN(4)], []float64{nan, inf, -inf, 1}[r.IntN(4)]
			}
		}
		want := make([]float64, n)
		closeSlowly(want, x, y, 0.25, 0.125)
		Close(0.25, 0.125)(x, x, y)
		if !slices.Equal(x, want) {
			t.Fatalf("%d numbers: %v, want %v", n, x, want)
		}
	}
}

// TestReversePartsOfEverySize reverses rows of parts of every size, few and many of them.
func TestReversePartsOfEverySize(t *testing.T) {
	for _, size := range []int{1, 2, 3, 4, 8, 12} {
		for _, shape := range [][2]int{{1, 1}, {1, 7}, {1, 8}, {3, 13}, {1, ParallelFrom*2 + 5}, {2, ParallelFrom + 3}, {ParallelFrom / 8, 17}} {
			rows, count := shape[0], shape[1]
			from := make([]byte, rows*count*size)
			for i := range from {
				from[i] = byte(i * 7 >> 2)
			}
			got, want := make([]byte, len(from)), make([]byte, 0, len(from))
			for row := range rows {
				for part := count - 1; part >= 0; part-- {
					want = append(want, from[(row*count+part)*size:][:size]...)
				}
			}
			ReverseParts(got, from, count, size)
			if !bytes.Equal(got, want) {
				t.Errorf("%d rows of %d parts of %d bytes are not reversed", rows, count, size)
			}
		}
	}
}

// TestRowsOfBools repeats a row beside rows of every width.
func TestRowsOfBools(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	random := func(n int) []uint8 {
		x := make([]uint8, n)
		for i := range x {
			x[i] = uint8(r.IntN(2))
		}
		return x
	}
	for width := 1; width < 80; width++ {
		row, many := random(width), random(5*width)
		for name, words := range map[string]WordKernel{"and": AndWords, "xor": XorWords, "same": SameWords} {
			want := make([]uint8, len(many))
			words.Bools(want, many, slices.Repeat(row, 5))
			for side, operands := range [][2][]uint8{{row, many}, {many, row}} {
				got := make([]uint8, len(many))
				words.Rows(got, operands[0], operands[1], width)
				if !bytes.Equal(got, want) {
					t.Fatalf("%s, width %d, the row on side %d: %v, want %v", name, width, side, got, want)
				}
			}
		}
	}
}

// TestCountsAndExtremes compares what threads share with a loop.
func TestCountsAndExtremes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 1000, 4*ParallelFrom + 1} {
		x, want := make([]int64, n), make([]int64, 50)
		for i := range x {
			x[i] = r.Int64N(40) + 3
			want[x[i]]++
		}
		got := make([]int64, 50)
		Count(got, x)
		if !slices.Equal(got, want) {
			t.Errorf("%d numbers: %v, want %v", n, got, want)
		}
		low, high := Extremes(x)
		if n == 0 && (low != 0 || high != -1) || n > 0 && (low != slices.Min(x) || high != slices.Max(x)) {
			t.Errorf("%d numbers from %d to %d", n, low, high)
		}
		if n > 0 {
			product := int64(1)
			for _, v := range x {
				product *= 2*v + 1
			}
			odd := make([]int64, n)
			for i, v := range x {
				odd[i] = 2*v + 1
			}
			if got := Products.I64.block(odd); got != product {
				t.Errorf("product of %d numbers: %d, want %d", n, got, product)
			}
		}
	}
}

// TestWholeExtremesOfLongBlocks puts the extreme at each position in turn.
func TestWholeExtremesOfLongBlocks(t *testing.T) {
	largest := Whole(MaxFolding[int64](math.MinInt64), nil, 0, nil)
	smallest := Whole(MinFolding[int64](math.MaxInt64), nil, 0, nil)
	for _, n := range []int{511, 512, 513, 700, BlockLen} {
		x := make([]int64, n)
		for i := range x {
			x[i] = int64(i % 7)
		}
		for i := range x {
			kept := x[i]
			if x[i] = math.MaxInt64; largest.block(x) != math.MaxInt64 {
				t.Fatalf("the largest of %d numbers is missed at %d", n, i)
			}
			if x[i] = math.MinInt64; smallest.block(x) != math.MinInt64 {
				t.Fatalf("the smallest of %d numbers is missed at %d", n, i)
			}
			x[i] = kept
		}
	}
}

// TestIntPositions compares with the walk along integers, of which many are equal.
func TestIntPositions(t *testing.T) {
	if Vectors32.HighestInts == nil {
		t.Skip("this processor has no vector instructions for it")
	}
	r := rand.New(rand.NewPCG(3, 4))
	for count := 1; count < 100; count++ {
		ints, wide := make([]int32, 3*count), make([]int64, 3*count)
		for i := range ints {
			ints[i] = int32(r.IntN(9)-4) * (math.MaxInt32 / 4)
			wide[i] = int64(ints[i])
		}
		for _, largest := range []bool{true, false} {
			got := make([]int64, 3)
			intPositions(got, sameBits[float32](ints), count, largest)
			for i := range got {
				if want := int64(firstExtreme(wide[i*count:][:count], largest)); got[i] != want {
					t.Fatalf("%v, largest %v: at %d, want %d", wide[i*count:][:count], largest, got[i], want)
				}
			}
		}
	}
}

// TestFoldAcross compares matrices that run across memory with what they are row by row: to the last bit.
func TestFoldAcross(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, shape := range [][2]int{{16, BlockLen}, {37, 2 * BlockLen}, {300, BlockLen}} {
		rows, columns := shape[0], shape[1]
		across, along := make([]float32, rows*columns), make([]float32, rows*columns)
		for i := range along {
			along[i] = float32(1 + r.NormFloat64()/100)
			across[i%columns*rows+i/columns] = along[i]
		}
		array := func(x []float32, strides ...int) Array {
			l := layout.Layout{Shape: []int{rows, columns}, Strides: strides}
			return Array{Data: unsafe.Pointer(&x[0]), Size: 4 * len(x), Layout: &l, Element: Element{Dtype: device.Float32, Width: 4}}
		}
		for name, f := range map[string]Folding[float32]{"sum": Sums.F32, "product": Products.F32, "squares": SquareSums.F32, "squares from 0.7": squareFolding[float32](0.7)} {
			got, want := make([]float32, 1), make([]float32, 1)
			Fold(want, array(along, columns, 1), len(along), f)
			Fold(got, array(across, 1, rows), len(along), f)
			if got[0] != want[0] {
				t.Errorf("%s of %v: %v across memory, %v along it", name, shape, got, want)
			}
			if f.four != nil && foldAcross(array(across, 1, rows), f) == nil {
				t.Errorf("%s of %v does not go across", name, shape)
			}
		}
	}
}

// TestInterleave writes elements of each width in turn.
func TestInterleave(t *testing.T) {
	for _, width := range []int{1, 2, 4, 8} {
		for _, n := range []int{0, 1, 5, 300} {
			array := func(b []byte) Array {
				l := layout.Layout{Shape: []int{len(b) / width}, Strides: []int{1}}
				return Array{Data: unsafe.Pointer(unsafe.SliceData(b)), Size: len(b), Layout: &l, Element: Element{Width: uint8(width)}}
			}
			x, y, got := make([]byte, n*width), make([]byte, n*width), make([]byte, 2*n*width)
			var want []byte
			for i := range n * width {
				x[i], y[i] = byte(i), byte(100-i)
			}
			for i := range n {
				want = append(append(want, x[i*width:][:width]...), y[i*width:][:width]...)
			}
			if Interleave(array(got), array(x), array(y)); !bytes.Equal(got, want) {
				t.Errorf("%d elements of %d bytes: %v, want %v", n, width, got, want)
			}
		}
	}
}
