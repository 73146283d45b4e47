package nn

import (
	"fmt"
	"math"

	"github.com/lectern-go/lectern/tensor"
)

// A BiasOption says whether a layer adds a bias.
type BiasOption bool

const (
	WithBias BiasOption = true
	NoBias   BiasOption = false
)

// Linear computes y = x·Wᵀ + b, as PyTorch's layer of this name.
type Linear struct {
	Weight *tensor.Tensor // [out in]
	Bias   *tensor.Tensor // [out]; nil if there is none
}

// NewLinear returns a layer from in to out features. Its values are uniform in
// ±1/sqrt(in), as PyTorch's. Options are those of [tensor.With].
func NewLinear(in, out int, bias BiasOption, options ...tensor.Option) *Linear {
	bound := 1 / math.Sqrt(float64(max(in, 1))) // a bias without inputs is uniform in ±1
	l := &Linear{Weight: Parameter(tensor.With(options...).Uniform(-bound, bound, out, in))}
	if bias {
		l.Bias = Parameter(tensor.With(options...).Uniform(-bound, bound, out))
	}
	return l
}

// Forward takes x [... in] to [... out].
func (l *Linear) Forward(x *tensor.Tensor) *tensor.Tensor { return Affine(x, l.Weight, l.Bias) }

// Affine returns x·Wᵀ + b for x [... in], a weight [out in] and a bias [out],
// which may be nil. Inside [tensor.Autocast] the bias is converted to the dtype of the
// product, so that the result has that dtype, too.
func Affine(x, weight, bias *tensor.Tensor) *tensor.Tensor {
	y := x.MatmulT(weight)
	if bias == nil {
		return y
	}
	if _, on := tensor.AutocastDtype(); on {
		bias = bias.To(y.Dtype())
	}
	if bias.Dtype() == y.Dtype() {
		return y.AddInPlace(bias) // nobody else has the product, and its gradient does not read it
	}
	return y.Add(bias)
}

// Dense computes y = x·W: the lecture's linear layer, whose weight is the
// transpose of PyTorch's.
type Dense struct {
	Weight *tensor.Tensor // [in out]
}

// NewDense returns a layer from in to out features. Its values are normal with a
// standard deviation of 1/sqrt(in), so that the output is as large as the input,
// whatever the sizes. Options are those of [tensor.With].
func NewDense(in, out int, options ...tensor.Option) *Dense {
	return &Dense{Parameter(tensor.With(options...).Normal(0, 1/math.Sqrt(float64(in)), in, out))}
}

// Forward takes x [... in] to [... out].
func (d *Dense) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Matmul(d.Weight) }

// Embedding has a row for each id of a vocabulary.
type Embedding struct {
	Weight *tensor.Tensor // [vocabulary dim]
}

// NewEmbedding returns an embedding of unit normal values. Options are those of
// [tensor.With].
func NewEmbedding(vocabulary, dim int, options ...tensor.Option) *Embedding {
	return &Embedding{Parameter(tensor.With(options...).Randn(vocabulary, dim))}
}

// Forward takes ids [...], integers, to their rows [... dim]. It panics if
// an id is not in the vocabulary.
func (e *Embedding) Forward(ids *tensor.Tensor) *tensor.Tensor {
	return e.Weight.Embedding(ids)
}

// Dropout sets elements to 0 with probability P while a model is trained, and divides
// the others by 1-P so that the mean stays the same. Outside training it does nothing;
// see [Eval].
type Dropout struct {
	Mode
	P         float64
	Generator *tensor.Generator // nil: the default one
}

// NewDropout returns a Dropout with probability p. It panics unless 0 <= p <= 1.
func NewDropout(p float64, g *tensor.Generator) *Dropout {
	checkProbability(p)
	return &Dropout{P: p, Generator: g}
}

func checkProbability(p float64) {
	if !(p >= 0 && p <= 1) {
		fail(tensor.ErrValue, "dropout", fmt.Sprintf("%g is not a probability", p), "give a number from 0 to 1")
	}
}

// Forward returns x with elements left out.
func (d *Dropout) Forward(x *tensor.Tensor) *tensor.Tensor {
	if d.Evaluating {
		return x
	}
	return DropOut(x, d.P, d.Generator)
}

// DropOut sets each element to 0 with probability p and divides the others by 1-p, as
// a [Dropout] in training does. The result is x itself if p is 0. A nil g means the
// default generator. It panics unless 0 <= p <= 1.
func DropOut(x *tensor.Tensor, p float64, g *tensor.Generator) *tensor.Tensor {
	switch checkProbability(p); p {
	case 0:
		return x
	case 1:
		return x.Mul(0)
	}
	keep := tensor.With(x.Dtype(), x.Device(), generator(g)).Bernoulli(1-p, x.Shape()...)
	return x.Mul(keep.Div(1 - p))
}
