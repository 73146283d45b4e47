package tensor

// Operations along one axis whose result has the shape of the input: cumulative
// sums, softmax. The elements along that axis are brought together as a row,
// whatever their layout.

// mapRows calls f for each row of x along an axis; dst goes to the same place in
// out. number is the row's place in row-major order of the other axes.
func mapRows[T number](out, x *Tensor, axis int, f func(dst, src []T, number int)) {
	if x.Dim() == 0 {
		x, out = x.alias(Layout{[]int{1}, []int{1}, x.layout.offset}), out.alias(ContiguousLayout(1))
	}
	last := reduced{axes: make([]bool, x.Dim())}
	last.axes[axis] = true
	n := x.layout.shape[axis]
	x, out = last.lastAxes(x), last.lastAxes(out)
	if out.Len() == 0 {
		return
	}
	parallelRows(x.Len()/n, parallelFrom/n, func(start, end int) {
		r, w := newReader[T](x), newWriter[T](out)
		src, dst := make([]T, n), make([]T, n)
		for row := start; row < end; row++ {
			r.copy(src, row*n)
			f(dst, src, row)
			w.copy(dst, row*n)
		}
	})
}

// rowForward returns the forward of an operation along the axis that attr names.
func rowForward(k unaryKernels, rule dtypeRule) func(c *call) *Tensor {
	return func(c *call) *Tensor {
		x, axis := c.input(), c.attr.(int)
		compute, result := rule(x.dtype)
		out := newTensor(result, x.layout.shape, false)
		switch formats[compute].arithmetic {
		case inFloat32:
			mapRows(out, x, axis, func(dst, src []float32, _ int) { k.f32(dst, src) })
		case inFloat64:
			mapRows(out, x, axis, func(dst, src []float64, _ int) { k.f64(dst, src) })
		default:
			mapRows(out, x, axis, func(dst, src []int64, _ int) { k.i64(dst, src) })
		}
		return out
	}
}

// rowAxis is axis for operations that take a single number for a row of one.
func (t *Tensor) rowAxis(op string, axis int) int {
	if t.Dim() == 0 && (axis == 0 || axis == -1) {
		return 0
	}
	return t.axis(op, axis)
}
