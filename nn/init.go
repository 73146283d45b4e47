package nn

import (
	"fmt"
	"math"

	"github.com/lectern-go/lectern/tensor"
)

// Initial values. The output of a layer has the variance
//
//	fanIn · Var(w) · mean square of the input
//
// so weights of standard deviation 1/sqrt(fanIn) keep the size of activations from
// layer to layer (LeCun's rule, for layers without an activation). Xavier also keeps
// the size of gradients, which go the other way and see fanOut; Kaiming makes up for
// the half that ReLU removes.
//
// The functions fill a tensor in place and return it. A nil generator is the
// default one.

// A Fan says which of a weight's two sizes its initial values depend on.
type Fan bool

const (
	FanIn  Fan = false // keep the size of activations
	FanOut Fan = true  // keep the size of gradients
)

// Fans returns the numbers of inputs and outputs of a weight in PyTorch's layout,
// [out in ...]; further axes, a convolution's window, multiply both. It panics if the
// weight has fewer than two axes.
func Fans(w *tensor.Tensor) (in, out int) {
	if w.Dim() < 2 {
		fail(tensor.ErrShape, "fans", fmt.Sprintf("a tensor of shape %v has no inputs and outputs", w.Shape()), "weights have at least two axes; fill a bias with zeros")
	}
	window := 1
	for _, size := range w.Shape()[2:] {
		window *= size
	}
	return w.Size(1) * window, w.Size(0) * window
}

func (f Fan) of(w *tensor.Tensor) int {
	in, out := Fans(w)
	if f == FanOut {
		return out
	}
	return in
}

// Gain returns the factor by which to multiply the weights for an activation:
// "linear", "sigmoid", "tanh", "relu", "selu", or "leaky_relu" with slope 0.01. It
// panics for others.
func Gain(activation string) float64 {
	switch activation {
	case "linear", "sigmoid":
		return 1
	case "tanh":
		return 5. / 3
	case "relu":
		return math.Sqrt2
	case "leaky_relu":
		return math.Sqrt(2 / (1 + 0.01*0.01))
	case "selu":
		return 0.75
	}
	fail(tensor.ErrValue, "gain", fmt.Sprintf("no gain is known for %q", activation), "known are linear, sigmoid, tanh, relu, leaky_relu and selu")
	return 0
}

// XavierUniform fills w with uniform numbers of variance gain²·2/(fanIn+fanOut)
// (Glorot and Bengio, 2010).
func XavierUniform(w *tensor.Tensor, gain float64, g *tensor.Generator) *tensor.Tensor {
	return uniform(w, xavierStd(w, gain)*math.Sqrt(3), g)
}

// XavierNormal is [XavierUniform] with normal numbers.
func XavierNormal(w *tensor.Tensor, gain float64, g *tensor.Generator) *tensor.Tensor {
	return normal(w, xavierStd(w, gain), g)
}

func xavierStd(w *tensor.Tensor, gain float64) float64 {
	in, out := Fans(w)
	return gain * math.Sqrt(2/float64(in+out))
}

// KaimingUniform fills w with uniform numbers of variance gain²/fan: with the gain
// of ReLU, 2/fan (He et al., 2015).
func KaimingUniform(w *tensor.Tensor, fan Fan, gain float64, g *tensor.Generator) *tensor.Tensor {
	return uniform(w, gain*math.Sqrt(3/float64(fan.of(w))), g)
}

// KaimingNormal is [KaimingUniform] with normal numbers.
func KaimingNormal(w *tensor.Tensor, fan Fan, gain float64, g *tensor.Generator) *tensor.Tensor {
	return normal(w, gain/math.Sqrt(float64(fan.of(w))), g)
}

// TruncNormal fills w with normal numbers of mean 0, redrawn if they are more than cut
// standard deviations from 0. PyTorch's trunc_normal_ takes its bounds as numbers
// instead, so a=-3, b=3 cuts off nothing if std is small.
func TruncNormal(w *tensor.Tensor, std, cut float64, g *tensor.Generator) *tensor.Tensor {
	tensor.NoGrad(func() { w.TruncNormalInPlace(0, std, -cut*std, cut*std, g) })
	return w
}

// Orthogonal fills a matrix with rows, or columns if there are more rows than
// columns, that are perpendicular to each other and of length gain. Further axes
// count as columns. It panics if w has fewer than two axes.
func Orthogonal(w *tensor.Tensor, gain float64, g *tensor.Generator) *tensor.Tensor {
	Fans(w)
	rows, columns := w.Size(0), w.Len()/max(w.Size(0), 1)
	n, length := min(rows, columns), max(rows, columns)
	values := tensor.With(tensor.Float64, generator(g)).Randn(n, length)
	orthonormalize(tensor.Data[float64](values), n, length)
	if rows > columns {
		values = values.T()
	}
	tensor.NoGrad(func() { w.CopyFrom(values.Mul(gain).Reshape(w.Shape()...)) })
	return w
}

// orthonormalize makes the n rows of a matrix perpendicular and of length 1, by the
// Gram-Schmidt method, done twice for each row so that rounding errors don't build up.
func orthonormalize(m []float64, n, length int) {
	dot := func(a, b []float64) (sum float64) {
		for i := range a {
			sum += a[i] * b[i]
		}
		return sum
	}
	for i := range n {
		row := m[i*length : (i+1)*length]
		for range 2 {
			for j := range i {
				other := m[j*length : (j+1)*length]
				part := dot(row, other)
				for k := range row {
					row[k] -= part * other[k]
				}
			}
			size := math.Sqrt(dot(row, row))
			for k := range row {
				row[k] /= size
			}
		}
	}
}

func uniform(w *tensor.Tensor, bound float64, g *tensor.Generator) *tensor.Tensor {
	tensor.NoGrad(func() { w.UniformInPlace(-bound, bound, g) })
	return w
}

func normal(w *tensor.Tensor, std float64, g *tensor.Generator) *tensor.Tensor {
	tensor.NoGrad(func() { w.NormalInPlace(0, std, g) })
	return w
}

// generator returns g, or the default one for nil.
func generator(g *tensor.Generator) *tensor.Generator {
	if g == nil {
		return tensor.DefaultGenerator()
	}
	return g
}
