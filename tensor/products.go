package tensor

import "fmt"

// Products by the number of their axes. Matmul is all of them but Outer; these refuse
// operands that it would take for something else.

// Dot returns the sum of the products of two vectors' elements, a single number. It
// panics unless both are vectors of one length.
func (t *Tensor) Dot(other *Tensor) *Tensor { return t.product("dot", other, 1, 1) }

// Mv returns a matrix times a vector: [n m] and [m] give [n]. It panics for other
// numbers of axes, or if m differs.
func (t *Tensor) Mv(vector *Tensor) *Tensor { return t.product("mv", vector, 2, 1) }

// Bmm returns the products of two batches of matrices: [b n m] and [b m k] give
// [b n k]. It panics for other numbers of axes, or if b or m differ: unlike
// [Tensor.Matmul] it repeats nothing.
func (t *Tensor) Bmm(other *Tensor) *Tensor {
	t.existBeside("bmm", other)
	if t.Dim() == 3 && other.Dim() == 3 && t.Size(0) != other.Size(0) {
		fail(ErrShape, "bmm", describe(t, other), fmt.Sprintf("the batches have %d and %d matrices", t.Size(0), other.Size(0)), "use Matmul to repeat one matrix")
	}
	return t.product("bmm", other, 3, 3)
}

func (t *Tensor) product(op string, other *Tensor, left, right int) *Tensor {
	t.existBeside(op, other)
	if t.Dim() != left || other.Dim() != right {
		fail(ErrShape, op, describe(t, other), fmt.Sprintf("the operands have %d and %d axes, not %d and %d", t.Dim(), other.Dim(), left, right), "use Matmul")
	}
	return t.Matmul(other)
}

// Outer returns the products of each element of t with each of other: [n] and [m]
// give [n m]. It panics unless both are vectors.
func (t *Tensor) Outer(other *Tensor) *Tensor {
	t.existBeside("outer", other)
	if t.Dim() != 1 || other.Dim() != 1 {
		fail(ErrShape, "outer", describe(t, other), "the operands are not two vectors", "flatten them with View(-1)")
	}
	return t.Unsqueeze(1).Mul(other)
}
