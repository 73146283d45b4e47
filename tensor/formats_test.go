package tensor

import (
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/lectern-go/lectern/tensor/internal/printed"

	"github.com/x448/float16"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
)

// nearest finds the code nearest to x by looking at all of a sorted list of
// non-negative numbers, ties to the even code: the definition, in its plainest
// form.
func nearest(values []float64, x float64) int {
	best := 0
	for code, v := range values {
		better := math.Abs(v-x) < math.Abs(values[best]-x)
		tie := math.Abs(v-x) == math.Abs(values[best]-x)
		if better || tie && code%2 == 0 {
			best = code
		}
	}
	return best
}

// probes returns numbers that test rounding to a sorted list: each, the middle
// between each two, and the float32 on either side of both.
func probes(values []float64) []float32 {
	var all []float32
	add := func(x float64) {
		f := float32(x)
		all = append(all, f, math.Nextafter32(f, 0), math.Nextafter32(f, float32(math.Inf(1))))
	}
	for i, v := range values {
		add(v)
		if i > 0 {
			add((v + values[i-1]) / 2)
		}
	}
	return all
}

func TestFloat16AllCodes(t *testing.T) {
	for code := range 1 << 16 {
		want := float16.Frombits(uint16(code)).Float32()
		got := numbers.Float16Value(uint16(code))
		if math.Float32bits(got) != math.Float32bits(want) && !(got != got && want != want) {
			t.Fatalf("code %#04x is %g, want %g", code, got, want)
		}
		if back := numbers.Float16Code(got); back != uint16(code) && got == got {
			t.Fatalf("code %#04x, %g, encodes to %#04x", code, got, back)
		}
	}
	// Rounding: the code, its neighbors in float32, and the middles.
	for code := range 0x7c00 {
		x := numbers.Float16Value(uint16(code))
		up := numbers.Float16Value(uint16(code + 1))
		if code+1 == 0x7c00 {
			up = 65536
		}
		middle := (x + up) / 2
		for _, p := range []float32{x, math.Nextafter32(x, 1e9), middle, math.Nextafter32(middle, 0), math.Nextafter32(middle, 1e9)} {
			for _, p := range []float32{p, -p} {
				want := uint16(float16.Fromfloat32(p))
				if got := numbers.Float16Code(p); got != want {
					t.Fatalf("%g (%#08x) encodes to %#04x, want %#04x", p, math.Float32bits(p), got, want)
				}
			}
		}
	}
	for _, x := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), 1e30, -1e30, 65519.99, 65520} {
		want := float16.Fromfloat32(float32(x))
		got := float16.Frombits(numbers.Float16Code(float32(x)))
		if got != want && !(got.IsNaN() && want.IsNaN()) {
			t.Errorf("%g encodes to %v, want %v", x, got, want)
		}
	}
}

func TestBFloat16AllCodes(t *testing.T) {
	for code := range 1 << 16 {
		x := numbers.BFloat16Value(uint16(code))
		if back := numbers.BFloat16Code(x); back != uint16(code) && x == x {
			t.Fatalf("code %#04x, %g, encodes to %#04x", code, x, back)
		}
		if x != x {
			if back := numbers.BFloat16Value(numbers.BFloat16Code(x)); back == back {
				t.Fatalf("NaN %#04x encodes to %g", code, back)
			}
			continue
		}
		if code&0x7fff >= 0x7f80 {
			continue
		}
		// Half-way to the next code rounds to the even one of the two.
		bits := math.Float32bits(x)
		for _, p := range []struct {
			add  uint32
			want int
		}{{0x7fff, code}, {0x8000, code + code&1}, {0x8001, code + 1}} {
			if got := numbers.BFloat16Code(math.Float32frombits(bits + p.add)); got != uint16(p.want) {
				t.Fatalf("%#04x and %#x encode to %#04x, want %#04x", code, p.add, got, p.want)
			}
		}
	}
}

func TestFloat8AllCodes(t *testing.T) {
	for _, f := range []struct {
		dtype         Dtype
		encode        func(float32, bool) uint8
		values        *[256]float32
		last          int // code of the largest number
		overflow, nan uint8
		next          float64 // the number after the largest, were there more
	}{
		{Float8E4M3, numbers.E4M3Code, &numbers.E4M3Values, 0x7e, 0x7f, 0x7f, 480},
		{Float8E5M2, numbers.E5M2Code, &numbers.E5M2Values, 0x7b, 0x7c, 0x7e, 65536},
	} {
		if got := float64(f.values[f.last]); got != formats[f.dtype].max {
			t.Errorf("%s: largest number %g, want %g", f.dtype, got, formats[f.dtype].max)
		}
		var grid []float64
		for code := 0; code <= f.last; code++ {
			grid = append(grid, float64(f.values[code]))
		}
		grid = append(grid, f.next)
		for code := range 256 {
			x := f.values[code]
			for _, saturate := range []bool{false, true} {
				got := f.encode(x, saturate)
				want := uint8(code)
				if math.IsInf(float64(x), 0) && saturate {
					want = uint8(f.last | code&0x80)
				}
				if x != x {
					if y := f.values[got]; y == y {
						t.Errorf("%s: NaN encodes to %g", f.dtype, y)
					}
				} else if got != want {
					t.Errorf("%s: code %#02x, %g, encodes to %#02x, want %#02x", f.dtype, code, x, got, want)
				}
			}
		}
		for _, p := range append(probes(grid), 1e9, float32(math.Inf(1)), 1e-40, 464, 61440) {
			want := f.last + 1
			if float64(p) < f.next {
				want = nearest(grid, float64(p))
			}
			plain, full := uint8(want), uint8(want)
			if want > f.last {
				plain, full = f.overflow, uint8(f.last)
			}
			for sign, p := range map[uint8]float32{0: p, 0x80: -p} {
				if got := f.encode(p, false); got != plain|sign {
					t.Errorf("%s: %g encodes to %#02x, want %#02x", f.dtype, p, got, plain|sign)
				}
				var stored uint8
				if numbers.Storer[float32](device.Type(f.dtype))(unsafe.Pointer(&stored), []float32{p}); stored != plain|sign {
					t.Errorf("%s: %g is stored as %#02x, want %#02x", f.dtype, p, stored, plain|sign)
				}
				if got := f.encode(p, true); got != full|sign {
					t.Errorf("%s: %g encodes to %#02x when saturating, want %#02x", f.dtype, p, got, full|sign)
				}
			}
		}
	}
}

func TestFP4AllCodes(t *testing.T) {
	var grid []float64
	for code := range 8 {
		grid = append(grid, float64(numbers.FP4Values[code]))
	}
	for _, p := range append(probes(grid), 7, 100, float32(math.Inf(1))) {
		want := uint8(7)
		if p <= 6 {
			want = uint8(nearest(grid, float64(p)))
		}
		if got := numbers.FP4Code(p); got != want {
			t.Errorf("%g encodes to %d (%g), want %d (%g)", p, got, numbers.FP4Values[got], want, numbers.FP4Values[want])
		}
		if got := numbers.FP4Code(-p); got != want|8 {
			t.Errorf("%g encodes to %d, want %d", -p, got, want|8)
		}
	}
}

// TestLoadersAndStorers checks that every dtype converts to and from each type
// that is computed in, and that scalars and slices agree.
func TestLoadersAndStorers(t *testing.T) {
	for _, d := range Dtypes() {
		for code := range 256 {
			raw := [8]byte{byte(code), byte(code * 7), byte(code * 31)}
			if d == Bool {
				raw[0] &= 1
			}
			want := numbers.Value(device.Type(d), numbers.InMemory(unsafe.Pointer(&raw), d.Size()))
			var f64 [1]float64
			numbers.Loader[float64](device.Type(d))(f64[:], unsafe.Pointer(&raw))
			if f64[0] != want && want == want {
				t.Errorf("%s: %v loads as %g, want %g", d, raw, f64[0], want)
			}
			var f32 [1]float32
			numbers.Loader[float32](device.Type(d))(f32[:], unsafe.Pointer(&raw))
			if float64(f32[0]) != float64(float32(want)) && want == want {
				t.Errorf("%s: %v loads as float32 %g, want %g", d, raw, f32[0], want)
			}
			if want == want && math.Abs(want) < 1e18 {
				var i64 [1]int64
				numbers.Loader[int64](device.Type(d))(i64[:], unsafe.Pointer(&raw))
				if i64[0] != int64(want) && d != Int64 {
					t.Errorf("%s: %v loads as %d, want %d", d, raw, i64[0], int64(want))
				}
			}
		}
		for _, x := range []float64{0, 1, -1, 2.5, 3.999, 100, 1e-8, 70000, -300} {
			if y := numbers.Value(device.Type(d), d.Encode(x)); y == y && y != d.Round(x) {
				t.Errorf("%s: %g encodes as %g and rounds to %g", d, x, y, d.Round(x))
			}
			if got, want := With(Float64).Of(x).To(d).At(0), d.Round(x); got != want && want == want {
				t.Errorf("%s: a tensor holds %g as %g, a scalar as %g", d, x, got, want)
			}
		}
	}
}

func TestFormatsOfTheLecture(t *testing.T) {
	for _, c := range []struct {
		dtype Dtype
		x     float64
		want  float64
		bits  string
	}{
		{Float16, 1e-8, 0, "0 00000 0000000000"},
		{Float16, 70000, math.Inf(1), "0 11111 0000000000"},
		{Float16, 65504, 65504, "0 11110 1111111111"},
		{Float16, 1, 1, "0 01111 0000000000"},
		{Float32, -2, -2, "1 10000000 00000000000000000000000"},
		{Float8E4M3, 448, 448, "0 1111 110"},
		{Float8E5M2, 57344, 57344, "0 11110 11"},
		{Int8, -1, -1, "11111111"},
	} {
		b := c.dtype.Bits(c.x)
		if b.Value != c.want || b.String() != c.bits {
			t.Errorf("%s of %g is %g, %q; want %g, %q", c.dtype, c.x, b.Value, b, c.want, c.bits)
		}
	}
	if got := printed.Short(BFloat16.Round(1e-8)); got != "1.00117e-08" {
		t.Errorf("bfloat16 of 1e-8 is %s, want 1.00117e-08", got)
	}
	for dtype, want := range map[Dtype]string{
		Float32:    "float32: 32 bits (1+8+23), eps 1.19209e-07, resolution 1e-06, smallest subnormal 1.4013e-45, tiny 1.17549e-38, min -3.40282e+38, max 3.40282e+38",
		Float16:    "float16: 16 bits (1+5+10), eps 9.76562e-04, resolution 1e-03, smallest subnormal 5.96046e-08, tiny 6.10352e-05, min -65504, max 65504",
		BFloat16:   "bfloat16: 16 bits (1+8+7), eps 7.8125e-03, resolution 0.01, smallest subnormal 9.18355e-41, tiny 1.17549e-38, min -3.38953e+38, max 3.38953e+38",
		Float8E4M3: "float8_e4m3fn: 8 bits (1+4+3), eps 0.125, resolution 1, smallest subnormal 1.95312e-03, tiny 0.015625, min -448, max 448",
		Float8E5M2: "float8_e5m2: 8 bits (1+5+2), eps 0.25, resolution 1, smallest subnormal 1.52588e-05, tiny 6.10352e-05, min -57344, max 57344",
	} {
		if got := Finfo(dtype).String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	for text, b := range map[string]Bits{
		"float16 infinity</div>":                      Float16.Bits(1e6),
		"float8_e4m3fn NaN</div>":                     Float8E4M3.Bits(1e6),
		"bfloat16 (-1)^1 · 1.5 · 2^0 = -1.5</div>":    BFloat16.Bits(-1.5),
		"float16 (-1)^0 · 0.5 · 2^-14 = 3.05176e-05<": Float16.Bits(0x1p-15),
		"int8 -1</div>":                               Int8.Bits(-1),
	} {
		if got := b.HTML(); !strings.Contains(got, text) || strings.Count(got, "<span") != 8*b.Dtype.Size() {
			t.Errorf("%s of %g is drawn as %s, want %q in it", b.Dtype, b.Value, got, text)
		}
	}
	text := Formats().String()
	for _, name := range []string{"float64", "fp4 (E2M1)", "smallest subnormal"} {
		if !strings.Contains(text, name) || !strings.Contains(Formats().HTML(), name) {
			t.Errorf("the table of formats lacks %q:\n%s", name, text)
		}
	}
}

func TestQuantize(t *testing.T) {
	x := Of(0., 0.5, 1, -1.5, 2, 3, 4, -6)
	for _, f := range []BlockFormat{NVFP4, MXFP4} {
		q := x.Quantize(f)
		if got := q.Tensor(); !equalFloats(got.Floats(), x.Floats()) {
			t.Errorf("%s: numbers of the format became %v", f, got)
		}
	}
	// Rows of 40: blocks of 16, 16, 8 or of 32, 8.
	big := Linspace(-3, 5, 120).View(3, 40)
	for _, c := range []struct {
		format        BlockFormat
		bytes, scales int
		most          float64 // the largest error relative to the block's largest number
	}{
		// The widest gap, 4 to 6, is a sixth of 6 away from either end. A power
		// of two as scale can leave the largest number just below 8, which is cut to 6.
		{NVFP4, 3*20 + 9 + 4, 9, 1./6 + 0.04},
		{MXFP4, 3*20 + 6, 6, 0.25},
	} {
		q := big.Quantize(c.format)
		if q.Bytes() != c.bytes || len(q.Scales) != c.scales {
			t.Errorf("%s: %d bytes and %d scales, want %d and %d", c.format, q.Bytes(), len(q.Scales), c.bytes, c.scales)
		}
		got, want := q.Tensor().Floats(), big.Floats()
		for row := range 3 {
			for start := 0; start < 40; start += c.format.BlockLen() {
				end := min(40, start+c.format.BlockLen())
				var largest float64
				for _, v := range want[row*40+start : row*40+end] {
					largest = max(largest, math.Abs(v))
				}
				for i := row*40 + start; i < row*40+end; i++ {
					if math.Abs(got[i]-want[i]) > c.most*largest {
						t.Errorf("%s: %g became %g in a block up to %g", c.format, want[i], got[i], largest)
					}
				}
			}
		}
	}
	for _, f := range []BlockFormat{NVFP4, MXFP4} {
		y := Of(math.NaN(), 1, 1, 1).Quantize(f).Tensor()
		if v := y.At(1); v == v {
			t.Errorf("%s: a block with NaN became %v", f, y)
		}
		if y := Zeros(2, 3).Quantize(f).Tensor(); y.Sum().Item() != 0 {
			t.Errorf("%s: zeros became %v", f, y)
		}
		if y := Full(1e-42, 4).Quantize(f).Tensor(); y.At(0) != y.At(0) {
			t.Errorf("%s: subnormals became %v", f, y)
		}
	}
}

func TestToSaturating(t *testing.T) {
	x := Of(1., 1000, -1000, math.Inf(1), math.Inf(-1))
	if got := x.ToSaturating(Float8E4M3).Floats(); !equalFloats(got, []float64{1, 448, -448, 448, -448}) {
		t.Errorf("saturating E4M3: %v", got)
	}
	if got := x.To(Float8E5M2).Floats(); !equalFloats(got, []float64{1, 1024, -1024, math.Inf(1), math.Inf(-1)}) {
		t.Errorf("E5M2: %v", got)
	}
	if got := Of(1e6, 1e-8).ToSaturating(Float16).Floats(); !equalFloats(got, []float64{65504, 0}) {
		t.Errorf("saturating float16: %v", got)
	}
}

func equalFloats(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && !(a[i] != a[i] && b[i] != b[i]) {
			return false
		}
	}
	return true
}

func BenchmarkConvert(b *testing.B) {
	const n = 1 << 16
	for _, d := range []Dtype{Float64, Float16, BFloat16, Float8E4M3, Float8E5M2, Int64} {
		x := Linspace(-10, 10, n)
		y := x.To(d)
		b.Run("from float32 to "+d.String(), func(b *testing.B) {
			b.SetBytes(n * 4)
			for b.Loop() {
				y.assign(x)
			}
		})
		b.Run("to float32 from "+d.String(), func(b *testing.B) {
			b.SetBytes(n * 4)
			for b.Loop() {
				x.assign(y)
			}
		})
	}
}
