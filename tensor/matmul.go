package tensor

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Matmul multiplies matrices: C = A·B with C[i][j] = Σk A[i][k]·B[k][j].
//
// The gradients, for G = dL/dC, are matrix products too:
//
//	dL/dA = G·Bᵀ    dL/dB = Aᵀ·G
//
// each with as many FLOPs as the forward product, which is why backward costs twice as
// much as forward.
var opMatmul op

func init() {
	define(&opMatmul, op{
		name:    "matmul",
		cast:    castSmall,
		forward: func(c *call) *Tensor { return matmulForward(c) },
		gradients: []gradient{
			{readsRight, func(c *call, g *Tensor, _ int) *Tensor {
				a, b := c.left(), c.right()
				switch {
				case b.Dim() == 1: // C[..i] = Σk A[..i][k]·b[k], so dA[..i][k] = G[..i]·b[k]
					return g.Unsqueeze(-1).Mul(b).sumTo(a.layout.Shape)
				case a.Dim() == 1:
					return b.Matmul(g.Unsqueeze(-1)).Squeeze(-1).sumTo(a.layout.Shape)
				}
				return g.Matmul(b.T()).sumTo(a.layout.Shape)
			}},
			{readsLeft, func(c *call, g *Tensor, _ int) *Tensor {
				a, b := c.left(), c.right()
				switch {
				case a.Dim() == 1: // C[..j] = Σk a[k]·B[..k][j], so dB[..k][j] = a[k]·G[..j]
					if b.Dim() == 1 {
						return a.Mul(g)
					}
					return a.Unsqueeze(-1).Mul(g.Unsqueeze(-2)).sumTo(b.layout.Shape)
				case b.Dim() == 1: // all rows of A together
					return a.rows().T().Matmul(g.Reshape(-1))
				case b.Dim() == 2: // one product over all rows of all batches
					return a.rows().T().Matmul(g.rows())
				}
				return a.T().Matmul(g).sumTo(b.layout.Shape)
			}},
		},
		flops:    productFLOPs,
		products: productFLOPs,
	})
}

// productFLOPs counts a product and a sum for each term of each element of the result.
func productFLOPs(c *call, out *Tensor) int { return 2 * out.Len() * c.left().Size(-1) }

// Matmul returns the matrix product of t and other, with PyTorch's rules: two
// vectors give their inner product; a vector counts as a row on the left and as a
// column on the right, and that axis disappears; leading axes are batches and are
// broadcast. Operands may have any strides. Small floats are accumulated in float32
// and rounded once; processors that multiply bfloat16 in pairs treat subnormal numbers
// as zero. It panics if the inner sizes differ, if the batch axes can't be broadcast,
// or if an operand is a single number.
func (t *Tensor) Matmul(other *Tensor) *Tensor { return apply(&opMatmul, nil, t, other) }

// The product of small floats without rounding the sums to the small format.
var opMatmulAs opOf[Dtype]

func init() {
	define(&opMatmulAs.op, op{
		name: "matmul as",
		forward: func(c *call) *Tensor {
			a, b, dtype := c.left(), c.right(), opMatmulAs.given(c)
			if c.device != nil {
				return matmulForward(c, dtype)
			}
			wide := call{op: c.op}
			wide.in = append(wide.few[:0], a.Detach().To(wideSum(dtype)), b.Detach().To(wideSum(dtype)))
			return matmulForward(&wide).To(dtype)
		},
		flops:    productFLOPs,
		products: productFLOPs,
	})
}

// MatmulAs is [Tensor.Matmul] with a result of another floating-point dtype: sums are
// rounded to that dtype instead of that of the operands, which may have two different
// formats. x.MatmulAs(tensor.Float32, y) keeps the sums of 8-bit products. Devices
// that can multiply 8-bit formats natively do so. MatmulAs takes no part in gradients.
// It panics as Matmul does, or if a dtype is not floating point.
func (t *Tensor) MatmulAs(dtype Dtype, other *Tensor) *Tensor {
	t.existBeside("matmul as", other)
	if !dtype.IsFloat() || !t.dtype.IsFloat() || !other.dtype.IsFloat() {
		fail(ErrDtype, "matmul as", fmt.Sprintf("%s x %s as %s", t.dtype, other.dtype, dtype), "only floating-point products are rounded", "use Matmul")
	}
	return opMatmulAs.apply(dtype, t, other)
}

// rows returns t as one matrix, with all axes but the last as its rows.
func (t *Tensor) rows() *Tensor {
	last := t.Dim() - 1
	return t.Reshape(layout.Product(t.layout.Shape[:last]), t.layout.Shape[last])
}

// matmulForward returns the product, in dtype as if that is given; the operands then need not have it.
func matmulForward(c *call, as ...Dtype) *Tensor {
	a, b := c.in[0], c.in[1]
	operands := func() string { return describe(c.in[0], c.in[1]) }
	if a.Dim() == 0 || b.Dim() == 0 {
		fail(ErrShape, "matmul", operands(), "a single number is not a matrix", "use Mul")
	}
	inner := max(b.Dim()-2, 0)
	if a.Size(-1) != b.Size(inner) {
		fail(ErrShape, "matmul", operands(), fmt.Sprintf("inner sizes differ, %d (axis %d of left) and %d (axis %d of right)",
			a.Size(-1), a.Dim()-1, b.Size(inner), inner), transposeHint(a, b))
	}
	dtype := a.dtype
	if len(as) > 0 {
		dtype = as[0]
	} else if a.dtype != b.dtype {
		fail(ErrDtype, "matmul", fmt.Sprintf("%s x %s", a.dtype, b.dtype), "both operands must have the same dtype", "convert one with To")
	}
	rowVector, columnVector := a.Dim() == 1, b.Dim() == 1
	if rowVector {
		a = a.Detach().Unsqueeze(0)
	}
	if columnVector {
		b = b.Detach().Unsqueeze(1)
	}
	batch, err := layout.Broadcast(a.layout.Shape[:a.Dim()-2], b.layout.Shape[:b.Dim()-2])
	if err != nil {
		e := err.(*layout.Error)
		fail(e.Kind, "matmul", operands(), "batch "+e.Reason, e.Hint)
	}
	m, n := a.Size(-2), b.Size(-1)
	var few [6]int
	out := c.result(dtype, append(append(few[:0], batch...), m, n), false)
	multiply(out, a, b, batch)
	if !rowVector && !columnVector {
		return out
	}
	shape := batch
	if !rowVector {
		shape = append(slices.Clip(shape), m)
	}
	if !columnVector {
		shape = append(slices.Clip(shape), n)
	}
	l, err := out.layout.View(shape...)
	out.must("matmul", err)
	out.layout = l
	return out
}

// transposeHint proposes a transpose if that makes the operands fit.
func transposeHint(a, b *Tensor) string {
	if b.Dim() >= 2 && a.Size(-1) == b.Size(-1) {
		return "the right operand fits when transposed: use T()"
	}
	if a.Dim() >= 2 && b.Dim() >= 2 && a.Size(-2) == b.Size(-2) {
		return "the left operand fits when transposed: use T()"
	}
	return ""
}

// multiply computes the product of batches of matrices into out, which is
// contiguous.
func multiply(out, a, b *Tensor, batch []int) {
	k := a.Size(-1)
	m, n := a.Size(-2), b.Size(-1)
	// A batch whose right operand is shared is one tall product.
	if b.Dim() == 2 && len(batch) > 0 {
		if l, err := a.layout.View(-1, k); err == nil && k > 0 {
			a, batch, m = a.alias(l), nil, l.Shape[0]
		}
	}
	if len(batch) > 0 {
		a, b = a.expanded(slices.Concat(batch, []int{m, k})), b.expanded(slices.Concat(batch, []int{k, n}))
	}
	if out.storage.Device != nil {
		multiplyOn(out, a, b, slices.Concat(batch, []int{m, n}))
		return
	}
	if !out.dtype.IsFloat() {
		for p := range layout.Product(batch) {
			loops.MultiplyWhole(out.array(), p*m*n, a.batch(p, batch).array(), b.batch(p, batch).array())
		}
		return
	}
	p := cpu.Product{
		M: m, N: n, K: k,
		A: a.matrix(), B: b.matrix(), C: cpu.Matrix{Data: out.storage.Data, Row: n, Col: 1},
		Format: productFormats[out.dtype],
	}
	if len(batch) > 0 {
		p.Batch = layout.Product(batch)
		p.Offset = func(i int) (inA, inB, inC int) {
			inC = i * m * n
			for axis := len(batch) - 1; axis >= 0; axis-- {
				inA += i % batch[axis] * a.layout.Strides[axis]
				inB += i % batch[axis] * b.layout.Strides[axis]
				i /= batch[axis]
			}
			return inA, inB, inC
		}
	}
	if out.Len() > 0 {
		cpu.Multiply(&p)
	}
}

// multiplyOn is multiply on another device, for an out with the batches of a and b.
func multiplyOn(out, a, b *Tensor, shape []int) {
	if a.Len() == 0 { // sums of no terms
		out.fill(0)
		return
	}
	out.fillOn("matmul", func(on device.Backend) error {
		return on.Matmul(out.alias(ContiguousLayout(shape...)).view(), a.view(), b.view())
	})
}

// matrix describes the last two axes, at index 0 of all others.
func (t *Tensor) matrix() cpu.Matrix {
	needHost(t.storage)
	last := t.Dim() - 1
	return cpu.Matrix{
		Data: unsafe.Add(t.storage.Data, t.layout.Offset*t.dtype.Size()),
		Row:  t.layout.Strides[last-1], Col: t.layout.Strides[last],
	}
}

// productFormats say how the kernels of matrix products read and write the elements of
// each floating-point dtype.
var productFormats = [numDtypes]*cpu.Format{
	Float32:    cpu.Float32,
	Float64:    cpu.Float64,
	Float16:    smallFormat(Float16),
	BFloat16:   smallFormat(BFloat16),
	Float8E4M3: smallFormat(Float8E4M3),
	Float8E5M2: smallFormat(Float8E5M2),
}

func smallFormat(d Dtype) *cpu.Format {
	return &cpu.Format{Size: d.Size(), BFloat16: d == BFloat16, Load: numbers.Loader[float32](device.Type(d)), Store: numbers.Storer[float32](device.Type(d))}
}

// batch returns matrix p of a stack of matrices.
func (t *Tensor) batch(p int, batch []int) *Tensor {
	l := Layout{Shape: t.layout.Shape[len(batch):], Strides: t.layout.Strides[len(batch):], Offset: t.layout.Offset}
	for axis := len(batch) - 1; axis >= 0; axis-- {
		l.Offset += p % batch[axis] * t.layout.Strides[axis]
		p /= batch[axis]
	}
	return t.alias(l)
}

// Products for operands with fixed numbers of axes. Matmul covers all of them except
// Outer; these refuse operands that Matmul would treat differently.

// Dot returns the sum of the products of two vectors' elements, a single number. It
// panics unless both are vectors of the same length.
func (t *Tensor) Dot(other *Tensor) *Tensor { return t.product("dot", other, 1, 1) }

// Mv returns a matrix times a vector: [n m] and [m] give [n]. It panics for other
// numbers of axes, or if m differs.
func (t *Tensor) Mv(vector *Tensor) *Tensor { return t.product("mv", vector, 2, 1) }

// Bmm returns the products of two batches of matrices: [b n m] and [b m k] give
// [b n k]. It panics for other numbers of axes, or if b or m differ: unlike
// [Tensor.Matmul], it repeats nothing.
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

// Diag returns a matrix with t, a vector, on its main diagonal and 0 elsewhere; [Tensor.Diagonal] does the reverse.
// It panics unless t is a vector.
func (t *Tensor) Diag() *Tensor {
	if t.exist("diag").Dim() != 1 {
		fail(ErrShape, "diag", describe(t), "not a vector", "Diagonal takes the diagonal of a matrix")
	}
	n := t.Len() // elements are n+1 apart
	return t.Unsqueeze(1).Pad(1, 0, n, 0).View(n*(n+1)).Narrow(0, 0, n*n).View(n, n)
}

// Trace returns the sum of the main diagonal. It panics unless t is a matrix.
func (t *Tensor) Trace() *Tensor {
	if t.exist("trace").Dim() != 2 {
		fail(ErrShape, "trace", describe(t), "not a matrix", "of several matrices, sum Diagonal(0, -2, -1) over the last axis")
	}
	return t.Diagonal(0, 0, 1).Sum()
}

// A product with a transposed matrix is an operation of its own because of its
// gradient: that of B comes out in the layout of B, where the gradient of
// B.T() would have to be copied into it.
//
//	C = A·Bᵀ    dL/dA = G·B    dL/dB = Gᵀ·A
var opMatmulT op

func init() {
	define(&opMatmulT, op{
		name: "matmul transposed",
		cast: castSmall,
		forward: func(c *call) *Tensor {
			b := c.right()
			if b.Dim() != 2 {
				fail(ErrShape, "matmul transposed", describe(c.in...), fmt.Sprintf("the right operand has %s, not 2", humanize.Count(b.Dim(), "axis")), "use Matmul")
			}
			l, err := b.layout.Transpose(0, 1)
			b.must("matmul transposed", err)
			product := call{op: c.op, device: c.device}
			product.in = append(product.few[:0], c.left(), b.alias(l))
			return matmulForward(&product)
		},
		gradients: []gradient{
			{readsRight, func(c *call, g *Tensor, _ int) *Tensor { return g.Matmul(c.right()) }},
			{readsLeft, func(c *call, g *Tensor, _ int) *Tensor {
				return g.rows().T().Matmul(c.left().rows())
			}},
		},
		flops:    productFLOPs,
		products: productFLOPs,
	})
}

// MatmulT returns t·otherᵀ for a matrix other [n k] and t [... k]: [... n]. It is
// Matmul(other.T()) with a cheaper gradient, for weights stored as PyTorch stores
// them. It panics if other is not a matrix, or as Matmul does.
func (t *Tensor) MatmulT(other *Tensor) *Tensor { return apply(&opMatmulT, nil, t, other) }
