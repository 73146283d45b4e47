package cpu

import (
	"math"
	"testing"
	"unsafe"
)

// inFloats returns integers in the places of float64.
func inFloats(x []int64) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// wholes returns n integers of all sizes up to so many bits, of both signs, the extremes among them.
func wholes(n, bits int, seed uint64) []int64 {
	x := make([]int64, n)
	last := int64(1)<<(bits-1) - 1 + int64(1)<<(bits-1)
	special := []int64{0, -1, 1, last, -last - 1, 7, -7, last - 1}
	for i := range x {
		seed = seed*0x5851f42d4c957f2d + 0x14057b7ef767814f
		x[i] = int64(seed) >> (63 - (int(seed>>33)%bits + 1))
		if i%3 == 0 {
			x[i] = special[i/3%len(special)]
		}
	}
	return x
}

// TestWhole compares each loop over int64 with Go's own arithmetic.
func TestWhole(t *testing.T) {
	floor := func(a, b int64) int64 {
		q := a / b
		if a%b != 0 && (a < 0) != (b < 0) {
			q--
		}
		return q
	}
	one := func(b bool) int64 {
		if b {
			return 1
		}
		return 0
	}
	atVectorLevels(t, func(t *testing.T) {
		v := Float64s()
		p0, p1 := math.Float64frombits(1<<64-100), math.Float64frombits(1<<40)
		for n := range 70 {
			for _, bits := range []int{63, 50} {
				x, y := guardedSlice(t, wholes(n, bits, 1), n%2 == 0), guardedSlice(t, wholes(n, bits, 2), n%2 == 0)
				for i := range y {
					if i%5 == 0 {
						y[i] = x[i]
					}
					if bits == 50 && y[i] == 0 { // a divisor
						y[i] = 3
					}
				}
				dst := guardedSlice(t, make([]int64, n), n%2 == 0)
				to, a, b := inFloats(dst), inFloats(x), inFloats(y)
				loops := map[string]struct {
					run  func()
					want func(a, b int64) int64
				}{
					"add":   {func() { v.AddWhole(to, a, b) }, func(a, b int64) int64 { return a + b }},
					"sub":   {func() { v.SubWhole(to, a, b) }, func(a, b int64) int64 { return a - b }},
					"max":   {func() { v.MaxWhole(to, a, b) }, func(a, b int64) int64 { return max(a, b) }},
					"min":   {func() { v.MinWhole(to, a, b) }, func(a, b int64) int64 { return min(a, b) }},
					"equal": {func() { v.EqualWhole(to, a, b) }, func(a, b int64) int64 { return one(a == b) }},
					"less":  {func() { v.LessWhole(to, a, b) }, func(a, b int64) int64 { return one(a < b) }},
					"neg":   {func() { v.NegWhole(to, a) }, func(a, _ int64) int64 { return -a }},
					"abs":   {func() { v.AbsWhole(to, a) }, func(a, _ int64) int64 { return max(a, -a) }},
					"sign":  {func() { v.SignWhole(to, a) }, func(a, _ int64) int64 { return one(a > 0) - one(a < 0) }},
					"clamp": {func() { v.ClampWhole(to, a, p0, p1) }, func(a, _ int64) int64 { return min(max(a, -100), 1<<40) }},
				}
				if bits == 50 {
					near := map[string]struct {
						run  func()
						want func(a, b int64) int64
					}{
						"quotient": {func() { v.QuotientNear(to, a, b) }, func(a, b int64) int64 { return a / b }},
						"floor":    {func() { v.FloorNear(to, a, b) }, floor},
						"rest":     {func() { v.RestNear(to, a, b) }, func(a, b int64) int64 { return a % b }},
						"mod":      {func() { v.ModNear(to, a, b) }, func(a, b int64) int64 { return a - floor(a, b)*b }},
						"from":     {func() { v.FromNear(to, a) }, func(a, _ int64) int64 { return int64(math.Float64bits(float64(a))) }},
						"back":     {func() { v.FromNear(to, a); v.ToNear(to, to) }, func(a, _ int64) int64 { return a }},
					}
					for name, f := range near {
						loops[name] = f
					}
				}
				for name, f := range loops {
					f.run()
					for i := range dst {
						if want := f.want(x[i], y[i]); dst[i] != want {
							t.Fatalf("%s of %d and %d is %d, want %d; number %d of %d", name, x[i], y[i], dst[i], want, i, n)
						}
					}
				}
				for _, turn := range []uint64{0, math.MaxUint64, 0x8080808080808080, 0x7f7f7f7f7f7f7f7f, 0x8000800080008000} {
					for bits, f := range map[int]struct {
						most    func(dst, x, y []float64, turn float64)
						highest func(x []float64, turn float64) float64
					}{8: {v.MaxBytes, v.HighestBytes}, 16: {v.MaxShorts, v.HighestShorts}} {
						f.most(to, a, b, math.Float64frombits(turn))
						for i := range dst {
							if want := largestParts(bits, uint64(x[i])^turn, uint64(y[i])^turn) ^ turn; uint64(dst[i]) != want {
								t.Fatalf("the largest of %d bits of %#x and %#x, turned by %#x: %#x, want %#x", bits, uint64(x[i]), uint64(y[i]), turn, uint64(dst[i]), want)
							}
						}
						want := uint64(0)
						for _, v := range x[:n&^7] {
							want = largestParts(bits, want, uint64(v)^turn)
						}
						if got := math.Float64bits(f.highest(a[:n&^7], math.Float64frombits(turn))); got != want {
							t.Fatalf("the largest of %d bits of %d places, turned by %#x: %#x, want %#x", bits, n&^7, turn, got, want)
						}
					}
				}
				var sum, bytes int64
				var shorts int32
				for _, v := range x {
					sum += v
					for at := 0; at < 64; at += 8 {
						bytes += int64(int8(v >> at))
						shorts += int32(int16(v>>at)) * int32(1-at/8%2)
					}
				}
				const signs = 0x8080808080808080
				if got := int64(math.Float64bits(v.SumBytes(a, math.Float64frombits(signs)))) - 128*8*int64(n); got != bytes {
					t.Fatalf("the sum of %d int8 is %d, want %d", 8*n, got, bytes)
				}
				if got := int32(math.Float32bits(Float32s().SumShorts(unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(a))), 2*n)))); got != shorts {
					t.Fatalf("the sum of %d int16 is %d, want %d", 4*n, got, shorts)
				}
				if got := int64(math.Float64bits(v.SumWhole(a))); got != sum {
					t.Fatalf("the sum of %d is %d, want %d", n, got, sum)
				}
			}
			near := guardedSlice(t, wholes(n, 50, 3), n%2 == 0)
			if !Near(near) {
				t.Fatalf("%d numbers of 50 bits are not near", n)
			}
			for i := range near {
				for _, far := range []int64{1 << 50, -1<<50 - 1, math.MaxInt64, math.MinInt64, 1 << 51, -1 << 51} {
					old := near[i]
					if near[i] = far; Near(near) {
						t.Fatalf("%d of %d is near", far, n)
					}
					near[i] = old
				}
			}
		}
	})
}

// largestParts has the largest of numbers of so many bits without a sign, of which there are several in each word.
func largestParts(bits int, a, b uint64) (all uint64) {
	for at := 0; at < 64; at += bits {
		all |= max(a>>at&(1<<bits-1), b>>at&(1<<bits-1)) << at
	}
	return all
}

// TestWholeConversions compares the conversions of int64 with those of Go.
func TestWholeConversions(t *testing.T) {
	atVectorLevels(t, func(t *testing.T) {
		c := Converters()
		for n := range 70 {
			end := n%2 == 0
			x, near := guardedSlice(t, wholes(n, 63, 1), end), guardedSlice(t, wholes(n, 50, 2), end)
			dst := guardedSlice(t, make([]int64, n), end)
			floats := guardedSlice(t, make([]float32, n), end)
			c.WholeToFloat32(unsafe.Pointer(unsafe.SliceData(floats)), near)
			for i, v := range near {
				if floats[i] != float32(v) {
					t.Fatalf("%d is %v as float32, want %v", v, floats[i], float32(v))
				}
			}
			for i := range floats {
				floats[i] = []float32{0.5, -0.5, -1.999, 2.5, 1<<50 - 1<<26, -(1<<50 - 1<<26), 1e9, float32(math.Copysign(0, -1))}[i%8]
			}
			c.WholeFromFloat32(dst, unsafe.Pointer(unsafe.SliceData(floats)))
			for i, v := range floats {
				if dst[i] != int64(v) {
					t.Fatalf("%v is %d as int64, want %d", v, dst[i], int64(v))
				}
			}
			ints := guardedSlice(t, make([]int32, n), end)
			c.WholeToInt32(unsafe.Pointer(unsafe.SliceData(ints)), x)
			for i, v := range x {
				if ints[i] != int32(v) {
					t.Fatalf("%d is %d as int32, want %d", v, ints[i], int32(v))
				}
			}
			c.WholeFromInt32(dst, unsafe.Pointer(unsafe.SliceData(ints)))
			for i, v := range ints {
				if dst[i] != int64(v) {
					t.Fatalf("%d is %d as int64", v, dst[i])
				}
			}
			bytes := guardedSlice(t, make([]uint8, n), end)
			for i := range x {
				if i%2 == 1 {
					x[i] = int64(i%5) << 40
				}
			}
			c.WholeToBool(unsafe.Pointer(unsafe.SliceData(bytes)), x)
			for i, v := range x {
				if (v != 0) != (bytes[i] == 1) || bytes[i] > 1 {
					t.Fatalf("%d is %d as bool", v, bytes[i])
				}
			}
			for i := range bytes {
				bytes[i] = uint8(i * 37)
			}
			c.WholeFromByte(dst, unsafe.Pointer(unsafe.SliceData(bytes)))
			for i, v := range bytes {
				if dst[i] != int64(v) {
					t.Fatalf("%d is %d as int64", v, dst[i])
				}
			}
		}
	})
}
