package transformer

import (
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/tensor"
)

// SwiGLU is a feed-forward layer with a gate (Shazeer 2020, arXiv:2002.05202):
//
//	W2·(SiLU(W1·x) ∘ W3·x)
type SwiGLU struct {
	W1, W2, W3 *nn.Linear // D to Hidden, Hidden to D, D to Hidden
}

// Forward takes x [... D] to the same shape.
func (f *SwiGLU) Forward(x *tensor.Tensor) *tensor.Tensor {
	return f.W2.Forward(f.W1.Forward(x).SwiGLU(f.W3.Forward(x)))
}

// MLP is GPT-2's feed-forward layer, with the tanh form of GELU:
//
//	Down·GELU(Up·x)
type MLP struct {
	Up, Down *nn.Linear // D to Hidden, Hidden to D
}

// Forward takes x [... D] to the same shape.
func (f *MLP) Forward(x *tensor.Tensor) *tensor.Tensor {
	return f.Down.Forward(f.Up.Forward(x).GELUTanh())
}
