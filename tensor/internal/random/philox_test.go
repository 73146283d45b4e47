package random

import (
	"math"
	"slices"
	"testing"
)

// TestVectorsMakeTheSameWords compares with one block after another, at all lengths and across
// the ends of both halves of the counter.
func TestVectorsMakeTheSameWords(t *testing.T) {
	for n := 2; n < 2400; n += 2 + n/20*2 {
		d := Draw{Key: [2]uint32{0xdeadbeef, uint32(n)}, Stream: 0x123456789abcdef0 * uint64(n), First: 1<<32 - uint64(n)/4}
		if n%4 == 0 {
			d.First = math.MaxUint64 - uint64(n)/4
		}
		got := make([]uint64, n)
		d.Words(got, 4)
		for i := 0; i < n; i += 2 {
			block := d.First + 2 + uint64(i)/2
			w := Philox([4]uint32{uint32(block), uint32(block >> 32), uint32(d.Stream), uint32(d.Stream >> 32)}, d.Key)
			if a, b := uint64(w[0])<<32|uint64(w[1]), uint64(w[2])<<32|uint64(w[3]); got[i] != a || got[i+1] != b {
				t.Fatalf("words %d and %d of %d are %#x and %#x, want %#x and %#x", i, i+1, n, got[i], got[i+1], a, b)
			}
		}
	}
}

// TestIntsAreWords has as many integers as words, also where their number is odd.
func TestIntsAreWords(t *testing.T) {
	for n := range 70 {
		d := Draw{Key: [2]uint32{5, uint32(n)}, Stream: 9, First: 2}
		words, got := make([]uint64, n+n%2), make([]int64, n)
		d.Words(words, 4)
		d.Ints(got, 4)
		for i, v := range got {
			if uint64(v) != words[i] {
				t.Fatalf("number %d of %d is %#x, want %#x", i, n, v, words[i])
			}
		}
	}
}

// TestVectorsMakeTheSameNumbers compares normal and uniform numbers with those that are made
// one by one from the same words.
func TestVectorsMakeTheSameNumbers(t *testing.T) {
	for n := 1; n < 60000; n += 1 + n/3 {
		d := Draw{Key: [2]uint32{7, uint32(n)}, Stream: 3, First: 11}
		words := make([]uint64, n+n%2)
		d.Words(words, 2)
		got := make([]float64, n)
		d.Normals(got, 2, 3, 0.5)
		for i, v := range got {
			x, y := BoxMuller(words[i&^1], words[i|1])
			want := 3 + 0.5*x
			if i%2 == 1 {
				want = 3 + 0.5*y
			}
			if math.Abs(v-want) > 4e-15 {
				t.Fatalf("normal number %d of %d is %v, want %v", i, n, v, want)
			}
		}
		single := make([]float32, n)
		d.Normals32(single, 2, 3, 0.5)
		for i, v := range single {
			if v != float32(got[i]) {
				t.Fatalf("normal number %d of %d is %v as float32, want %v", i, n, v, got[i])
			}
		}
		d.Normals(got, 2, 0, 1)
		for i, v := range got { // and relative to themselves, but near the zeros of sine and cosine
			x, y := BoxMuller(words[i&^1], words[i|1])
			if i%2 == 1 {
				x = y
			}
			if math.Abs(v-x) > 1e-15*math.Abs(x)+1e-18 {
				t.Fatalf("unit normal number %d of %d is %v, want %v", i, n, v, x)
			}
		}
		for _, bits := range []int{53, 24, 11} {
			d.Uniforms(got, 2, bits, -1, 2)
			for i, v := range got {
				u := float64(words[i]>>(64-bits)) * math.Ldexp(1, -bits)
				if want := -1 + float64(u*3); v != want {
					t.Fatalf("uniform number %d of %d with %d bits is %v, want %v", i, n, bits, v, want)
				}
			}
		}
	}
}

// TestNormalsAtTheEnds gives the words whose logarithm is next to 0 and farthest from it, and
// angles at multiples of π/4.
func TestNormalsAtTheEnds(t *testing.T) {
	if vectors.Normals == nil {
		t.Skip("this processor has no vector instructions that make normal numbers")
	}
	ends := []uint64{0, 1 << 11, 2 << 11, math.MaxUint64, math.MaxUint64 - 1<<11, 1 << 63, 1<<63 - 1, 1 << 52}
	var angles []uint64
	for i := range uint64(8) {
		for off := range uint64(5) {
			angles = append(angles, i<<61+(off-2)<<11)
		}
	}
	for _, a := range ends {
		for _, b := range angles {
			var x, y [1]float64
			vectors.Normals(x[:], y[:], []float64{math.Float64frombits(a)}, []float64{math.Float64frombits(b)}, 0, 1)
			wantX, wantY := BoxMuller(a, b)
			for i, pair := range [][2]float64{{x[0], wantX}, {y[0], wantY}} {
				if !(math.Abs(pair[0]-pair[1]) <= 1e-15*math.Abs(pair[1])+1e-18) {
					t.Errorf("of %#x and %#x number %d is %v, want %v", a, b, i, pair[0], pair[1])
				}
			}
		}
	}
}

// TestWithReplacement compares with a walk along the sums, at each end of blocks, with zeros among the weights and with
// sums that overflow or are subnormal.
func TestWithReplacement(t *testing.T) {
	for n := range 200 {
		for _, scale := range []float64{1, math.MaxFloat64, 5e-324} {
			w := make([]float64, n+1)
			for i := range w {
				if (i+n)%3 != 0 || n == 0 {
					w[i] = float64(1 + i%5)
				}
			}
			if n > 0 && n < 3 {
				w[0] = 1
			}
			largest, total := slices.Max(w), 0.
			for _, v := range w {
				total += v
			}
			u := []float64{0, 0.25, 0.5, 0.75, 1 - 0x1p-53}
			sum := 0.
			for _, v := range w { // and right behind each sum
				sum += v
				u = append(u, min(sum/total, 1-0x1p-53))
			}
			scaled := slices.Clone(w)
			for i, v := range w {
				if scaled[i] = v * scale; scale > 1 {
					scaled[i] = v / largest * scale
				}
			}
			to := make([]int64, len(u))
			WithReplacement(to, scaled, u)
			for i, at := range to {
				before := 0.
				for _, v := range w[:at] {
					before += v
				}
				if share := u[i] * total; w[at] == 0 || before > share*(1+1e-14) || before+w[at] < share*(1-1e-14) {
					t.Fatalf("%d weights times %g: share %g of %g is at %d, which has %g and %g before it", len(w), scale, share, total, at, w[at], before)
				}
			}
		}
	}
}
