// Package random makes random words by counting, and turns them into numbers.
package random

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sort"
	"sync"
	"unsafe"

	"gonum.org/v1/gonum/mathext"

	"github.com/lectern-go/lectern/internal/cpu"
)

// Philox 4×32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw,
// "Parallel Random Numbers: As Easy as 1, 2, 3" (2011). It is a cipher in which
// the plain text is a counter: block number i of a stream can be computed without
// the blocks before it, so that any number of threads can fill a tensor together and
// the result does not depend on how they share the work.

const (
	philoxMul0, philoxMul1 = 0xd2511f53, 0xcd9e8d57
	philoxKey0, philoxKey1 = 0x9e3779b9, 0xbb67ae85 // golden ratio and √3 - 1
	philoxRounds           = 10
)

// Philox returns the block of a counter under a key.
func Philox(counter [4]uint32, key [2]uint32) [4]uint32 {
	c0, c1, c2, c3 := counter[0], counter[1], counter[2], counter[3]
	k0, k1 := key[0], key[1]
	for range philoxRounds {
		high0, low0 := bits.Mul32(philoxMul0, c0)
		high1, low1 := bits.Mul32(philoxMul1, c2)
		c0, c1, c2, c3 = high1^c1^k0, low1, high0^c3^k1, low0
		k0 += philoxKey0
		k1 += philoxKey1
	}
	return [4]uint32{c0, c1, c2, c3}
}

// Draw is a run of random words that belongs to one call.
type Draw struct {
	Key    [2]uint32
	Stream uint64
	First  uint64 // block
}

// Words fills dst, whole blocks, with the words from start on; both are even.
func (d Draw) Words(dst []uint64, start int) {
	block := d.First + uint64(start)/2
	for vectors.Philox != nil && len(dst) >= fewWords {
		s := scratches.Get().(*scratch)
		n := min(len(s.a), len(dst)/2)
		d.blocks(s.a[:n], s.b[:n], block)
		for i, a := range s.a[:n] {
			dst[2*i], dst[2*i+1] = math.Float64bits(a), math.Float64bits(s.b[i])
		}
		scratches.Put(s)
		dst, block = dst[2*n:], block+uint64(n)
	}
	for i := 0; i < len(dst); i += 2 {
		w := Philox([4]uint32{uint32(block), uint32(block >> 32), uint32(d.Stream), uint32(d.Stream >> 32)}, d.Key)
		dst[i], dst[i+1] = uint64(w[0])<<32|uint64(w[1]), uint64(w[2])<<32|uint64(w[3])
		block++
	}
}

// Ints fills dst with the words from start on, which is even, as integers of either sign.
func (d Draw) Ints(dst []int64, start int) {
	words := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(dst))), len(dst))
	even := len(words) &^ 1
	d.Words(words[:even], start)
	if even < len(words) {
		var last [2]uint64
		d.Words(last[:], start+even)
		words[even] = last[0]
	}
}

// BoxMuller turns two words into two independent normal numbers: the radius of a
// point in the plane, and its angle.
func BoxMuller(a, b uint64) (x, y float64) {
	u := (float64(a>>11) + 0.5) * 0x1p-53 // in (0, 1)
	radius := math.Sqrt(-2 * math.Log(u))
	sin, cos := math.Sincos(2 * math.Pi * float64(b>>11) * 0x1p-53)
	return radius * cos, radius * sin
}

// vectors are the loops of this processor, which make the same words. Their normal numbers differ from those of
// BoxMuller in the last digits of a float64, as do those of devices.
var vectors = cpu.Float64s()

// fewWords is how many are made one by one rather than in vectors.
const fewWords = 16

// scratch is room for the halves of blocks and their products.
type scratch struct{ a, b, x, y [512]float64 }

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// counts are 0, 1, 2 ..., as bits in the places of float64.
var counts = func() (c [512]float64) {
	for i := range c {
		c[i] = math.Float64frombits(uint64(i))
	}
	return c
}()

// blocks writes the halves of blocks from a given one on, at most as many as there are counts.
func (d Draw) blocks(a, b []float64, first uint64) {
	key0, key1, stream0, stream1, block := d.places(first)
	vectors.Philox(a, b, counts[:], key0, key1, stream0, stream1, block)
}

// places are Philox's inputs, as integers in the places of float64.
func (d Draw) places(first uint64) (key0, key1, stream0, stream1, block float64) {
	place := func(w uint32) float64 { return math.Float64frombits(uint64(w)) }
	return place(d.Key[0]), place(d.Key[1]), place(uint32(d.Stream)), place(uint32(d.Stream >> 32)), math.Float64frombits(first)
}

// Normals fills dst with normal numbers with a mean and a standard deviation, made from the words from start on, which
// is even.
func (d Draw) Normals(dst []float64, start int, mean, std float64) {
	block := d.First + uint64(start)/2
	if vectors.Normals == nil {
		for i := 0; i < len(dst); i += 2 {
			var w [2]uint64
			d.Words(w[:], start+i)
			x, y := BoxMuller(w[0], w[1])
			dst[i] = mean + std*x
			if i+1 < len(dst) {
				dst[i+1] = mean + std*y
			}
		}
		return
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	for len(dst) > 0 {
		n := min(len(s.a), (len(dst)+1)/2)
		d.blocks(s.a[:n], s.b[:n], block)
		vectors.Normals(s.x[:n], s.y[:n], s.a[:], s.b[:], mean, std)
		block += uint64(n)
		dst = interleave(dst, s.x[:n], s.y[:n])
	}
}

// Normals32 is Normals for float32: the same numbers, rounded once.
func (d Draw) Normals32(dst []float32, start int, mean, std float64) {
	if vectors.NormalPairs == nil {
		var wide [len(scratch{}.a)]float64
		for len(dst) > 0 {
			n := min(len(wide), len(dst))
			d.Normals(wide[:n], start, mean, std)
			for i, v := range wide[:n] {
				dst[i] = float32(v)
			}
			dst, start = dst[n:], start+n
		}
		return
	}
	block := d.First + uint64(start)/2
	for pairs := len(dst) / 2; pairs > 0; pairs = len(dst) / 2 {
		n := min(pairs, len(counts))
		d.normalPairs(unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(dst))), n), block, mean, std)
		dst, block = dst[2*n:], block+uint64(n)
	}
	if len(dst) > 0 { // the first of a pair
		var pair [1]float64
		d.normalPairs(pair[:], block, mean, std)
		dst[0] = math.Float32frombits(uint32(math.Float64bits(pair[0])))
	}
}

// normalPairs writes normal numbers of the blocks from first on, at most as many as there are counts.
func (d Draw) normalPairs(pairs []float64, first uint64, mean, std float64) {
	key0, key1, stream0, stream1, block := d.places(first)
	vectors.NormalPairs(pairs, counts[:], key0, key1, stream0, stream1, block, mean, std)
}

// Uniforms fills dst with numbers from low to high, made from the first 53 or 24 bits of the
// words from start on, which is even.
func (d Draw) Uniforms(dst []float64, start, bits int, low, high float64) {
	block := d.First + uint64(start)/2
	kernel := vectors.Uniforms
	if bits == 24 {
		kernel = vectors.Uniforms24
	}
	if kernel == nil || bits != 24 && bits != 53 {
		scale := math.Ldexp(1, -bits)
		for i := 0; i < len(dst); i += 2 {
			var w [2]uint64
			d.Words(w[:], start+i)
			dst[i] = low + float64(w[0]>>(64-bits))*scale*(high-low)
			if i+1 < len(dst) {
				dst[i+1] = low + float64(w[1]>>(64-bits))*scale*(high-low)
			}
		}
		return
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	for len(dst) > 0 {
		n := min(len(s.a), (len(dst)+1)/2)
		d.blocks(s.a[:n], s.b[:n], block)
		kernel(s.x[:n], s.a[:], low, high-low)
		kernel(s.y[:n], s.b[:], low, high-low)
		block += uint64(n)
		dst = interleave(dst, s.x[:n], s.y[:n])
	}
}

// interleave writes x and y alternately and returns the rest of dst, which may end with one of x.
func interleave(dst, x, y []float64) (rest []float64) {
	pairs := min(len(x), len(dst)/2)
	to := dst[:2*pairs]
	y = y[:len(x)]
	for i := 0; i < len(to)-1; i += 2 {
		to[i], to[i+1] = x[i/2], y[i/2]
	}
	if pairs < len(x) && len(dst) > 2*pairs {
		dst[2*pairs] = x[pairs]
		return nil
	}
	return dst[2*pairs:]
}

// FirstUniforms returns the first n words as numbers in [0, 1).
func (d Draw) FirstUniforms(n int) []float64 {
	words := make([]uint64, n+n%2)
	d.Words(words, 0)
	u := make([]float64, n)
	for i := range u {
		u[i] = float64(words[i]>>11) * 0x1p-53
	}
	return u
}

// WithReplacement draws with replacement: the first position at which the sum of the weights exceeds a random
// fraction of their total. At least one weight is above 0, and none is infinite. It first computes the sums up to
// the ends of blocks, and then only those inside the block that the fraction falls into.
func WithReplacement(to []int64, w, u []float64) {
	const block = 64
	scale, largest := 1., 0.
	if vectors.Highest != nil {
		largest = vectors.Highest(w)
	} else {
		largest = slices.Max(w)
	}
	switch {
	case largest > math.MaxFloat64/float64(len(w)): // a sum would overflow
		scale = 0x1p-64
	case largest < 0x1p-900: // a fraction would lose digits
		scale = 0x1p600
	}
	sumOf := func(x []float64) (sum float64) {
		if scale == 1 && vectors.Sum != nil {
			return vectors.Sum(x)
		}
		for _, v := range x {
			sum += scale * v
		}
		return sum
	}
	ends := make([]float64, (len(w)+block-1)/block)
	total := 0.
	for b := range ends {
		total += sumOf(w[b*block : min((b+1)*block, len(w))])
		ends[b] = total
	}
	for i := range to {
		share := u[i] * total
		b := min(sort.Search(len(ends), func(k int) bool { return ends[k] > share }), len(ends)-1)
		sum, at := 0., -1
		if b > 0 {
			sum = ends[b-1]
		}
		for j, v := range w[b*block : min((b+1)*block, len(w))] {
			if v > 0 {
				at = j
			}
			if sum += scale * v; sum > share {
				break
			}
		}
		for at < 0 { // rounded so that the fraction falls after all weights
			b--
			for j, v := range w[b*block : (b+1)*block] {
				if v > 0 {
					at = j
				}
			}
		}
		to[i] = int64(b*block + at)
	}
}

// WithoutReplacement draws without replacement. Waiting times with the weights as rates end in
// the order in which the positions would be drawn one after another: Efraimidis and Spirakis,
// Weighted random sampling with a reservoir, 2006.
func WithoutReplacement(to []int64, w, u []float64) {
	type waiting struct {
		at   int64
		time float64
	}
	all := make([]waiting, 0, len(w))
	for i, v := range w {
		if v > 0 {
			all = append(all, waiting{int64(i), -math.Log1p(-u[i]) / v})
		}
	}
	slices.SortStableFunc(all, func(a, b waiting) int { return cmp.Compare(a.time, b.time) })
	for i := range to {
		to[i] = all[i].at
	}
}

// TruncatedNormal returns the function that maps uniform numbers in (0, 1) to
// unit normal numbers in [a, b]: the inverse of their distribution, so that no draw is
// wasted and none is clipped.
func TruncatedNormal(a, b float64) func(u float64) float64 {
	if a > 0 { // work in the lower tail, where probabilities keep their digits
		mirrored := TruncatedNormal(-b, -a)
		return func(u float64) float64 { return -mirrored(1 - u) }
	}
	below, span := normalCDF(a), normalCDF(b)-normalCDF(a)
	if b < -30 {
		// This far out, Φ runs out of exponents. There the density falls like an exponential
		// of rate |b|.
		rate := -b
		mass := -math.Expm1(-rate * (b - a))
		return func(u float64) float64 { return b + math.Log1p(-(1-u)*mass)/rate }
	}
	return func(u float64) float64 { return mathext.NormalQuantile(below + u*span) }
}

// normalCDF is the probability that a standard normal number is below x.
func normalCDF(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
