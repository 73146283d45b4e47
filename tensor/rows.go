package tensor

import "github.com/lectern-go/lectern/tensor/internal/loops"

// Operations along one axis whose result has the shape of the input: cumulative
// sums, softmax. The elements along that axis are brought together as a row,
// whatever their layout.

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
func rowForward(k loops.UnaryKernels, rule dtypeRule) func(c *call) *Tensor {
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
			loops.MapRows(out.array(), x.array(), axis, func(dst, src []float32, _ int) { k.F32(dst, src) })
		case inFloat64:
			loops.MapRows(out.array(), x.array(), axis, func(dst, src []float64, _ int) { k.F64(dst, src) })
		default:
			loops.MapRows(out.array(), x.array(), axis, func(dst, src []int64, _ int) { k.I64(dst, src) })
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
