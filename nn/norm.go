package nn

import (
	"fmt"
	"slices"

	"github.com/lectern-go/lectern/tensor"
)

// LayerNorm subtracts the mean over the last axes and divides by the standard
// deviation, then scales and shifts each feature.
type LayerNorm struct {
	Weight *tensor.Tensor // the normalized shape; nil: no scale
	Bias   *tensor.Tensor // the same shape; nil: no shift
	Shape  []int          // the sizes of the last axes
	Eps    float64
}

// NewLayerNorm returns a LayerNorm over the last len(shape) axes with weight 1,
// bias 0 and eps 1e-5.
func NewLayerNorm(shape ...int) *LayerNorm {
	return &LayerNorm{Parameter(tensor.Ones(shape...)), Parameter(tensor.Zeros(shape...)), slices.Clone(shape), 1e-5}
}

// Forward normalizes x. It panics if the last sizes of x are not l.Shape.
func (l *LayerNorm) Forward(x *tensor.Tensor) *tensor.Tensor {
	return Standardize(x, l.Shape, l.Weight, l.Bias, l.Eps)
}

// Standardize is the function of [LayerNorm]; weight and bias may be nil:
//
//	y = (x - mean(x)) / sqrt(var(x) + eps) · weight + bias
//
// with the variance divided by n. 16-bit and smaller floats are computed in
// float32 and rounded once.
func Standardize(x *tensor.Tensor, shape []int, weight, bias *tensor.Tensor, eps float64) *tensor.Tensor {
	checkLastSizes("layer norm", x, shape)
	if alone(x, weight, bias) {
		return x.LayerNorm(shape, weight, bias, eps)
	}
	return inFloat32(x, func(x *tensor.Tensor) *tensor.Tensor {
		return x.LayerNorm(shape, as(x, weight), as(x, bias), eps)
	})
}

// as returns a parameter, which may be absent, in the dtype of x.
func as(x, parameter *tensor.Tensor) *tensor.Tensor {
	if parameter == nil {
		return nil
	}
	return parameter.To(x.Dtype())
}

// RMSNorm divides by the root of the mean square over the last axis, then scales
// each feature.
type RMSNorm struct {
	Weight *tensor.Tensor // [dim]
	Eps    float64
}

// NewRMSNorm returns an RMSNorm with weight 1 and eps 1e-5.
func NewRMSNorm(dim int) *RMSNorm { return &RMSNorm{Parameter(tensor.Ones(dim)), 1e-5} }

// Forward normalizes x. It panics if its last size is not that of the weight.
func (r *RMSNorm) Forward(x *tensor.Tensor) *tensor.Tensor { return RMS(x, r.Weight, r.Eps) }

// RMS is the function of [RMSNorm]:
//
//	y = x / sqrt(mean(x²) + eps) · weight
//
// 16-bit and smaller floats are computed in float32 and rounded once.
func RMS(x, weight *tensor.Tensor, eps float64) *tensor.Tensor {
	checkLastSizes("rms norm", x, weight.Shape())
	if alone(x, weight) {
		return x.RMSNorm(weight, eps)
	}
	return inFloat32(x, func(x *tensor.Tensor) *tensor.Tensor {
		return x.RMSNorm(as(x, weight), eps)
	})
}

// checkLastSizes panics unless the last axes have the given sizes.
func checkLastSizes(op string, x *tensor.Tensor, shape []int) {
	have := x.Shape()
	if len(shape) == 0 || len(shape) > len(have) || !slices.Equal(have[len(have)-len(shape):], shape) {
		fail(tensor.ErrShape, op, fmt.Sprintf("the input has shape %v, whose last sizes are not %v", have, shape), "")
	}
}

// alone reports whether an operation may be given x as it is: it computes in float32 and rounds once by itself. Its
// gradients would be rounded more often than those of inFloat32.
func alone(x *tensor.Tensor, parameters ...*tensor.Tensor) bool {
	gradient := x.RequiresGrad()
	for _, p := range parameters {
		if p != nil {
			if p.Dtype() != x.Dtype() {
				return false
			}
			gradient = gradient || p.RequiresGrad()
		}
	}
	return !gradient || !tensor.GradEnabled()
}

// inFloat32 computes f in float32 if x is smaller, and returns x's dtype.
func inFloat32(x *tensor.Tensor, f func(*tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
	if x.Dtype() == tensor.Float64 {
		return f(x)
	}
	return f(x.To(tensor.Float32)).To(x.Dtype())
}
