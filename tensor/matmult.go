package tensor

import "fmt"

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
				fail(ErrShape, "matmul transposed", describe(c.in...), fmt.Sprintf("the right operand has %d axes, not 2", b.Dim()), "use Matmul")
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
		flops: func(c *call, out *Tensor) int { return 2 * out.Len() * c.left().Size(-1) },
	})
}

// MatmulT returns t·otherᵀ for a matrix other [n k] and t [... k]: [... n]. It is
// Matmul(other.T()) with a cheaper gradient, for weights that lie as PyTorch's do.
// It panics if other is not a matrix, or as Matmul does.
func (t *Tensor) MatmulT(other *Tensor) *Tensor { return apply(&opMatmulT, nil, t, other) }
