package nn

import (
	"fmt"
	"math"

	"github.com/lectern-go/lectern/tensor"
)

// Sequential applies modules one after the other. Names in its state begin with their
// numbers: 0.weight.
type Sequential []Module

// Forward applies all modules in order.
func (s Sequential) Forward(x *tensor.Tensor) *tensor.Tensor {
	for _, m := range s {
		x = m.Forward(x)
	}
	return x
}

// ReLU, GELU, SiLU, Tanh and Sigmoid are activations as modules.
type (
	ReLU    struct{}
	GELU    struct{}
	SiLU    struct{}
	Tanh    struct{}
	Sigmoid struct{}
)

// Forward returns max(x, 0).
func (ReLU) Forward(x *tensor.Tensor) *tensor.Tensor { return x.ReLU() }

// Forward returns x·Φ(x), see [tensor.Tensor.GELU].
func (GELU) Forward(x *tensor.Tensor) *tensor.Tensor { return x.GELU() }

// Forward returns x·sigmoid(x).
func (SiLU) Forward(x *tensor.Tensor) *tensor.Tensor { return x.SiLU() }

// Forward returns tanh(x).
func (Tanh) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Tanh() }

// Forward returns 1/(1+exp(-x)).
func (Sigmoid) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Sigmoid() }

// Cruncher is the lecture's model: square linear layers one after the other, and a
// last one with a single output.
type Cruncher struct {
	Layers []*Dense
	Final  *Dense
}

// NewCruncher returns a Cruncher of dim²·layers + dim parameters. Options are
// those of [tensor.With].
func NewCruncher(dim, layers int, options ...tensor.Option) *Cruncher {
	return &Cruncher{squares(dim, layers, options), NewDense(dim, 1, options...)}
}

// Forward takes x [B D] to [B].
func (c *Cruncher) Forward(x *tensor.Tensor) *tensor.Tensor {
	for _, layer := range c.Layers {
		x = layer.Forward(x)
	}
	return c.Final.Forward(x).Squeeze(-1)
}

func squares(dim, layers int, options []tensor.Option) []*Dense {
	all := make([]*Dense, layers)
	for i := range all {
		all[i] = NewDense(dim, dim, options...)
	}
	return all
}

// DeepNetwork is a stack of blocks relu(x·w), one for each layer. It shows what
// activations cost: with Segment = 0 all of them are kept for backward, B·D for each
// block; see [Recompute] for other values.
type DeepNetwork struct {
	Layers []*Dense
	// Segment is how many blocks are recomputed at a time in backward: only the input of a
	// segment is kept. 1 keeps the input of each block; sqrt(layers) needs the least
	// memory; 0 computes nothing twice.
	Segment int
}

// NewDeepNetwork returns a network of dim²·layers parameters. Options are those
// of [tensor.With].
func NewDeepNetwork(dim, layers int, options ...tensor.Option) *DeepNetwork {
	return &DeepNetwork{Layers: squares(dim, layers, options)}
}

// Forward takes x [B D] to [B D].
func (d *DeepNetwork) Forward(x *tensor.Tensor) *tensor.Tensor {
	if d.Segment <= 0 {
		return Blocks(d.Layers).Forward(x)
	}
	for first := 0; first < len(d.Layers); first += d.Segment {
		segment := d.Layers[first:min(first+d.Segment, len(d.Layers))]
		x = tensor.RecomputeModule(Blocks(segment), x)
	}
	return x
}

// Blocks is layers with a ReLU after each.
type Blocks []*Dense

// Forward takes x [B D] to [B D].
func (b Blocks) Forward(x *tensor.Tensor) *tensor.Tensor {
	for _, layer := range b {
		x = layer.Forward(x).ReLU()
	}
	return x
}

// MLP is a stack of linear layers with biases and an activation between them.
type MLP struct {
	Layers     []*Linear
	Activation Module
}

// NewMLP returns an MLP with the given sizes: of the input, of the hidden layers and
// of the output. A nil activation means ReLU. Weights have Kaiming's uniform values
// and biases are 0. It panics if there are fewer than two sizes. Options are those of
// [tensor.With].
func NewMLP(sizes []int, activation Module, options ...tensor.Option) *MLP {
	if len(sizes) < 2 {
		fail(tensor.ErrValue, "mlp", fmt.Sprintf("%v are not the sizes of an input and an output", sizes), "")
	}
	if activation == nil {
		activation = ReLU{}
	}
	m := &MLP{Activation: activation}
	for i := range len(sizes) - 1 {
		layer := NewLinear(sizes[i], sizes[i+1], NoBias, options...)
		// NewLinear's variance is 1/(3·in), Kaiming's is 2/in.
		tensor.NoGrad(func() { layer.Weight.MulInPlace(math.Sqrt(6)) })
		layer.Bias = Parameter(tensor.With(options...).Zeros(sizes[i+1]))
		m.Layers = append(m.Layers, layer)
	}
	return m
}

// Forward takes x [... first size] to [... last size].
func (m *MLP) Forward(x *tensor.Tensor) *tensor.Tensor {
	for i, layer := range m.Layers {
		if i > 0 {
			x = m.Activation.Forward(x)
		}
		x = layer.Forward(x)
	}
	return x
}
