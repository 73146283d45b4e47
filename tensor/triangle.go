package tensor

// Parts of matrices, and matrices backwards.

// The part of a matrix above or below a diagonal is linear: the gradient is the
// same part of the gradient.
var opTril, opTriu op

func init() {
	part := func(name string, keep func(column, row int) bool) op {
		o := op{name: name}
		o.forward = func(c *call) *Tensor {
			x, diagonal := c.input(), c.attr.(int)
			out := c.result(x.dtype, x.layout.shape, false)
			if c.device != nil {
				rowsOn(name, x.dtype, out, x, x.Dim()-1, float64(diagonal))
				return out
			}
			switch formats[x.dtype].arithmetic {
			case inFloat32:
				keepPart[float32](out, x, diagonal, keep)
			case inFloat64:
				keepPart[float64](out, x, diagonal, keep)
			default:
				keepPart[int64](out, x, diagonal, keep)
			}
			return out
		}
		return o
	}
	tril := part("tril", func(column, row int) bool { return column <= row })
	tril.gradients = []gradient{{readsNothing, func(c *call, g *Tensor, _ int) *Tensor { return g.Tril(c.attr.(int)) }}}
	triu := part("triu", func(column, row int) bool { return column >= row })
	triu.gradients = []gradient{{readsNothing, func(c *call, g *Tensor, _ int) *Tensor { return g.Triu(c.attr.(int)) }}}
	define(&opTril, tril)
	define(&opTriu, triu)
}

// Tril returns a copy of the matrices in the last two axes with zeros above a
// diagonal: 0 is the main one, positive ones lie above it. It panics if there
// are fewer than two axes.
func (t *Tensor) Tril(diagonal int) *Tensor {
	t.exist("tril")
	return t.triangle(&opTril, diagonal)
}

// Triu returns a copy of the matrices in the last two axes with zeros below a
// diagonal; see [Tensor.Tril]. Triu(1) of ones is the mask of what a causal model
// must not see.
func (t *Tensor) Triu(diagonal int) *Tensor {
	t.exist("triu")
	return t.triangle(&opTriu, diagonal)
}

func (t *Tensor) triangle(o *op, diagonal int) *Tensor {
	if t.Dim() < 2 {
		fail(ErrShape, o.name, describe(t), "a triangle needs two axes", "")
	}
	return apply(o, diagonal, t)
}

func keepPart[T number](out, x *Tensor, diagonal int, keep func(column, row int) bool) {
	rows := x.Size(-2)
	mapRows(out, x, x.Dim()-1, func(dst, src []T, number int) {
		row := number%rows + diagonal
		for j, v := range src {
			dst[j] = 0
			if keep(j, row) {
				dst[j] = v
			}
		}
	})
}

// Reversing twice is doing nothing: the gradient is reversed back.
var opFlip op

func init() {
	define(&opFlip, op{
		name: "flip",
		forward: func(c *call) *Tensor {
			if c.device != nil {
				return flippedOn(c.input(), c.attr.(int))
			}
			return rowForward(unaryKernels{reverse[float32], reverse[float64], reverse[int64]}, sameDtype)(c)
		},
		gradients: []gradient{{readsNothing, func(c *call, g *Tensor, _ int) *Tensor { return g.Flip(c.attr.(int)) }}},
	})
}

// Flip returns a copy with the order of elements reversed along each of the
// axes. It panics if there is no such axis, or one is named twice.
func (t *Tensor) Flip(axes ...int) *Tensor {
	t.exist("flip")
	if t.layout.namesNumber(axes...) {
		return t.Clone()
	}
	seen := make([]bool, t.Dim())
	out := t
	for _, a := range axes {
		a = t.axis("flip", a)
		if seen[a] {
			fail(ErrIndex, "flip", describe(t), "axis "+commas([]int{a})+" is named twice", "")
		}
		seen[a] = true
		out = apply(&opFlip, a, out)
	}
	if out == t {
		return t.Clone()
	}
	return out
}

func reverse[T number](dst, x []T) {
	for i, v := range x {
		dst[len(dst)-1-i] = v
	}
}
