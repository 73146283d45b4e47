package tensor

import (
	"fmt"
	"math"

	"github.com/lectern-go/lectern/tensor/internal/random"
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
	fractions := g.reserve(len(drawn) / n * perRow).FirstUniforms(len(drawn) / n * perRow)
	for row := range len(drawn) / n {
		w, u, to := weights[row*size:][:size], fractions[row*perRow:][:perRow], drawn[row*n:][:n]
		positive := t.checkWeights(row, w)
		switch {
		case replacement && positive > 0:
			random.WithReplacement(to, w, u)
		case positive >= n:
			random.WithoutReplacement(to, w, u)
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
