package tensor

import "github.com/lectern-go/lectern/tensor/internal/numbers"

// Operations along one axis whose result has the shape of the input: cumulative
// sums, softmax. The elements along that axis are brought together as a row,
// whatever their layout.

// mapRows calls f for each row of x along an axis; dst goes to the same place in
// out. number is the row's place in row-major order of the other axes.
func mapRows[T numbers.Number](out, x *Tensor, axis int, f func(dst, src []T, number int)) {
	out, x = rowsLast(out, x, axis)
	n := x.layout.Shape[x.Dim()-1]
	if out.Len() == 0 {
		return
	}
	if isPlain[T](out) && isPlain[T](x) {
		to, from := plain[T](out), plain[T](x)
		parallelRows(len(to)/n, parallelFrom/n, func(start, end int) {
			for row := start; row < end; row++ {
				f(to[row*n:][:n:n], from[row*n:][:n:n], row)
			}
		})
		return
	}
	parallelRows(x.Len()/n, parallelFrom/n, func(start, end int) {
		r, w := newReader[T](x), newWriter[T](out)
		src, dst := make([]T, n), make([]T, n)
		for row := start; row < end; row++ {
			r.copy(src, row*n)
			f(dst, src, row)
			w.row(dst, row)
		}
		w.finish()
	})
}

// rowsLast returns views of both with an axis as the last one; a single number is a
// row of one.
func rowsLast(out, x *Tensor, axis int) (rowsOut, rows *Tensor) {
	if x.Dim() == 0 {
		return out.alias(ContiguousLayout(1)), x.alias(Layout{Shape: []int{1}, Strides: []int{1}, Offset: x.layout.Offset})
	}
	last := reduced{axes: make([]bool, x.Dim())}
	last.axes[axis] = true
	return last.lastAxes(out), last.lastAxes(x)
}

// rowForward returns the forward of an operation along the axis that attr names.
func rowForward(k unaryKernels, rule dtypeRule) func(c *call) *Tensor {
	return func(c *call) *Tensor {
		x, axis := c.input(), c.attr.(int)
		compute, result := rule(x.dtype)
		out := c.result(result, x.layout.Shape, false)
		if c.device != nil {
			rowsOn(c.op.name, compute, out, x, axis)
			return out
		}
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

// rowsAlong returns how many rows a tensor has along an axis.
func rowsAlong(t *Tensor, axis int) int {
	if t.Dim() == 0 {
		return 1
	}
	return t.Len() / max(t.Size(axis), 1)
}

// rowAxis is axis for operations that take a single number for a row of one.
func (t *Tensor) rowAxis(op string, axis int) int {
	if t.exist(op).Dim() == 0 && (axis == 0 || axis == -1) {
		return 0
	}
	return t.axis(op, axis)
}
