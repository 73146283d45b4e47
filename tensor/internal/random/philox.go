// Package random makes random words by counting, and numbers of them.
package random

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mathext"
)

// Philox 4×32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw,
// "Parallel Random Numbers: As Easy as 1, 2, 3" (2011). It is a cipher in which
// the plain text is a counter: block number i of a stream can be computed without
// the blocks before it, so that any number of threads can fill a tensor together
// and the result does not depend on how they share the work.

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
	for i := 0; i < len(dst); i += 2 {
		w := Philox([4]uint32{uint32(block), uint32(block >> 32), uint32(d.Stream), uint32(d.Stream >> 32)}, d.Key)
		dst[i], dst[i+1] = uint64(w[0])<<32|uint64(w[1]), uint64(w[2])<<32|uint64(w[3])
		block++
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

// Uniforms returns the first n words as numbers in [0, 1).
func (d Draw) Uniforms(n int) []float64 {
	words := make([]uint64, n+n%2)
	d.Words(words, 0)
	u := make([]float64, n)
	for i := range u {
		u[i] = float64(words[i]>>11) * 0x1p-53
	}
	return u
}

// WithReplacement draws with replacement: where the sum of the weights up to a position
// first exceeds a share of their total.
func WithReplacement(to []int64, w, u []float64) {
	largest := slices.Max(w) // by which they are divided, so that no sum overflows
	sums, total, last := make([]float64, len(w)), 0., 0
	for i, v := range w {
		total += v / largest
		sums[i] = total
		if v > 0 {
			last = i
		}
	}
	for i := range to {
		at := sort.Search(len(sums), func(k int) bool { return sums[k] > u[i]*total })
		to[i] = int64(min(at, last))
	}
}

// WithoutReplacement draws without replacement. Waiting times with the weights as rates end in
// the order in which the positions would be drawn one after another: Efraimidis and
// Spirakis, Weighted random sampling with a reservoir, 2006.
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
// unit normal numbers in [a, b]: the inverse of their distribution, so that none
// is drawn in vain and none is cut.
func TruncatedNormal(a, b float64) func(u float64) float64 {
	if a > 0 { // work in the lower tail, where probabilities keep their digits
		mirrored := TruncatedNormal(-b, -a)
		return func(u float64) float64 { return -mirrored(1 - u) }
	}
	below, span := normalCDF(a), normalCDF(b)-normalCDF(a)
	if b < -30 {
		// So far out Φ runs out of exponents. There the density falls like an
		// exponential of rate |b|.
		rate := -b
		mass := -math.Expm1(-rate * (b - a))
		return func(u float64) float64 { return b + math.Log1p(-(1-u)*mass)/rate }
	}
	return func(u float64) float64 { return mathext.NormalQuantile(below + u*span) }
}

// normalCDF is the share of a unit normal distribution below x.
func normalCDF(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
