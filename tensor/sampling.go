package tensor

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Multinomial draws n positions from each row of t, an int64 tensor [n] of a vector
// and [rows n] of a matrix. Position i comes with a probability in proportion to the
// row's element i, which need not add up to 1. With replacement positions may come
// again; without it they differ, in the order in which they were drawn. g may be nil:
// the default generator.
//
// It panics if t has other than one or two axes, if an element is negative, infinite
// or NaN, if a row has none above 0, or fewer than n of them without replacement.
func (t *Tensor) Multinomial(n int, replacement bool, g *Generator) *Tensor {
	if dim := t.exist("multinomial").Dim(); dim != 1 && dim != 2 {
		fail(ErrShape, "multinomial", describe(t), fmt.Sprintf("weights have one or two axes, these have %d", dim), "")
	}
	shape := t.Shape()
	size := shape[len(shape)-1]
	if n < 0 {
		fail(ErrValue, "multinomial", describe(t), fmt.Sprintf("%d positions were asked for", n), "")
	}
	shape[len(shape)-1] = n
	out := newTensor(Int64, shape, false)
	if out.Len() == 0 {
		return out.To(t.Device())
	}
	if g == nil {
		g = defaultGenerator
	}
	weights, drawn := t.Detach().Floats(), plain[int64](out)
	perRow := n // random words
	if !replacement {
		perRow = size
	}
	random := g.reserve(len(drawn) / n * perRow).uniforms(len(drawn) / n * perRow)
	for row := range len(drawn) / n {
		w, u, to := weights[row*size:][:size], random[row*perRow:][:perRow], drawn[row*n:][:n]
		positive := t.checkWeights(row, w)
		switch {
		case replacement && positive > 0:
			drawAgain(to, w, u)
		case positive >= n:
			drawOnce(to, w, u)
		default:
			fail(ErrValue, "multinomial", describe(t), fmt.Sprintf("row %d has %d weights above 0, and %d positions were asked for", row, positive, n), "")
		}
	}
	return out.To(t.Device())
}

// checkWeights returns how many weights are above 0.
func (t *Tensor) checkWeights(row int, w []float64) (positive int) {
	for i, v := range w {
		if !(v >= 0) || math.IsInf(v, 1) {
			fail(ErrValue, "multinomial", describe(t), fmt.Sprintf("weight %d of row %d is %g", i, row, v), "weights are finite and at least 0; softmax makes such of logits")
		}
		if v > 0 {
			positive++
		}
	}
	return positive
}

// uniforms returns the first n words as numbers in [0, 1).
func (d draw) uniforms(n int) []float64 {
	words := make([]uint64, n+n%2)
	d.words(words, 0)
	u := make([]float64, n)
	for i := range u {
		u[i] = float64(words[i]>>11) * 0x1p-53
	}
	return u
}

// drawAgain draws with replacement: where the sum of the weights up to a position
// first exceeds a share of their total.
func drawAgain(to []int64, w, u []float64) {
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

// drawOnce draws without replacement. Waiting times with the weights as rates end in
// the order in which the positions would be drawn one after another: Efraimidis and
// Spirakis, Weighted random sampling with a reservoir, 2006.
func drawOnce(to []int64, w, u []float64) {
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
