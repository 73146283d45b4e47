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

// Standardize is the function behind [LayerNorm]; weight and bias may be nil:
//
//	y = (x - mean(x)) / sqrt(var(x) + eps) · weight + bias
//
// with the variance divided by n. 16-bit and smaller floats are computed in
// float32 and rounded once.
func Standardize(x *tensor.Tensor, shape []int, weight, bias *tensor.Tensor, eps float64) *tensor.Tensor {
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

// RMS is the function behind [RMSNorm]:
//
//	y = x / sqrt(mean(x²) + eps) · weight
//
// 16-bit and smaller floats are computed in float32 and rounded once.
func RMS(x, weight *tensor.Tensor, eps float64) *tensor.Tensor {
	if alone(x, weight) {
		return x.RMSNorm(weight, eps)
	}
	return inFloat32(x, func(x *tensor.Tensor) *tensor.Tensor {
		return x.RMSNorm(as(x, weight), eps)
	})
}

// alone reports whether an operation may be given x as it is: it computes in float32 and rounds once by itself. But
// its gradients would be rounded more often than those of inFloat32.
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

// inFloat32 computes f in float32 if x is smaller, and returns the result in x's dtype. f must refuse integers.
func inFloat32(x *tensor.Tensor, f func(*tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
	if x.Dtype() == tensor.Float64 || !x.Dtype().IsFloat() {
		return f(x)
	}
	return f(x.To(tensor.Float32)).To(x.Dtype())
}

// GroupNorm is [LayerNorm] over groups of channels: each group of a sample, with all its positions, is standardized,
// then each channel is scaled and shifted. Without positions, one group is LayerNorm; as many groups as channels is
// InstanceNorm.
type GroupNorm struct {
	Weight *tensor.Tensor // [C]; nil: no scale
	Bias   *tensor.Tensor // [C]; nil: no shift
	Groups int
	Eps    float64
}

// NewGroupNorm returns a GroupNorm of C channels with weight 1, bias 0 and eps 1e-5. It panics unless the number
// of groups divides that of the channels.
func NewGroupNorm(groups, channels int) *GroupNorm {
	if groups < 1 || channels%groups != 0 {
		fail(tensor.ErrValue, "new group norm", fmt.Sprintf("%d groups don't divide %d channels", groups, channels), "")
	}
	return &GroupNorm{Parameter(tensor.Ones(channels)), Parameter(tensor.Zeros(channels)), groups, 1e-5}
}

// Forward normalizes x [B C ...]. It panics if x does not have the layer's number of channels. 16-bit and smaller
// floats are computed in float32 and rounded once.
func (n *GroupNorm) Forward(x *tensor.Tensor) *tensor.Tensor {
	checkChannels("group norm", x, n.Weight, n.Bias)
	if n.Groups < 1 || x.Size(1)%n.Groups != 0 {
		fail(tensor.ErrShape, "group norm", fmt.Sprintf("%d groups don't divide the channels of x, %v", n.Groups, x.Shape()), "")
	}
	return inFloat32(x, func(x *tensor.Tensor) *tensor.Tensor {
		size := x.Len() / max(x.Size(0)*n.Groups, 1)
		y := x.Reshape(x.Size(0), n.Groups, size).LayerNorm([]int{size}, nil, nil, n.Eps).Reshape(x.Shape()...)
		return scaleChannels(y, n.Weight, n.Bias)
	})
}

// BatchNorm standardizes each channel over all samples and positions: PyTorch's BatchNorm1d and BatchNorm2d. In
// training it uses the mean and the variance of the batch, and keeps a running mean of both, which it uses after
// [Eval].
type BatchNorm struct {
	Mode
	Weight            *tensor.Tensor // [C]; nil: no scale
	Bias              *tensor.Tensor // [C]; nil: no shift
	RunningMean       *tensor.Tensor `nn:",buffer"` // [C]
	RunningVar        *tensor.Tensor `nn:",buffer"` // [C], divided by n-1 for n samples
	NumBatchesTracked *tensor.Tensor `nn:",buffer"` // an int64, as PyTorch's
	Momentum          float64        // the weight of a batch in the running means
	Eps               float64
}

// NewBatchNorm returns a BatchNorm of C channels with weight 1, bias 0, momentum 0.1 and eps 1e-5.
func NewBatchNorm(channels int) *BatchNorm {
	return &BatchNorm{Weight: Parameter(tensor.Ones(channels)), Bias: Parameter(tensor.Zeros(channels)), RunningMean: tensor.Zeros(channels),
		RunningVar: tensor.Ones(channels), NumBatchesTracked: tensor.With(tensor.Int64).Scalar(0), Momentum: 0.1, Eps: 1e-5}
}

// Forward normalizes x [B C ...]. In training it changes the running means, only once if [Recompute] runs it again.
// It panics if x does not have the layer's number of channels or, in training, if it has a single value for each.
// 16-bit and smaller floats are computed in float32 and rounded once.
func (n *BatchNorm) Forward(x *tensor.Tensor) *tensor.Tensor {
	checkChannels("batch norm", x, n.Weight, n.Bias, n.RunningMean, n.RunningVar)
	return inFloat32(x, func(x *tensor.Tensor) *tensor.Tensor {
		mean, variance := as(x, n.RunningMean), as(x, n.RunningVar)
		if !n.Evaluating {
			mean, variance = n.statistics(x)
		}
		y := x.Sub(perChannel(x, mean)).Mul(perChannel(x, variance.Add(n.Eps).Rsqrt()))
		return scaleChannels(y, n.Weight, n.Bias)
	})
}

// statistics returns the mean and the variance of each channel, the latter divided by the number of its values, and
// adds both to the running means, where the variance is divided by one less.
func (n *BatchNorm) statistics(x *tensor.Tensor) (mean, variance *tensor.Tensor) {
	axes := []int{0}
	for axis := 2; axis < x.Dim(); axis++ {
		axes = append(axes, axis)
	}
	count := float64(x.Len()) / float64(max(x.Size(1), 1))
	if count < 2 {
		fail(tensor.ErrShape, "batch norm", fmt.Sprintf("x has shape %v: a single value of each channel has no variance", x.Shape()), "give more samples, or call nn.Eval")
	}
	mean, variance = x.Mean(axes...), x.Var(append(axes, tensor.Biased)...)
	tensor.Once(func() bool {
		tensor.NoGrad(func() {
			n.RunningMean.LerpInPlace(mean.To(n.RunningMean.Dtype()), n.Momentum)
			n.RunningVar.LerpInPlace(variance.Mul(count/(count-1)).To(n.RunningVar.Dtype()), n.Momentum)
			n.NumBatchesTracked.AddInPlace(1)
		})
		return true
	})
	return mean, variance
}

// scaleChannels returns x [B C ...] times a weight plus a bias, both [C] or absent.
func scaleChannels(x, weight, bias *tensor.Tensor) *tensor.Tensor {
	if weight != nil {
		x = x.Mul(perChannel(x, as(x, weight)))
	}
	if bias != nil {
		x = x.Add(perChannel(x, as(x, bias)))
	}
	return x
}

// checkChannels panics unless x is [B C ...] for the vectors [C] that are given.
func checkChannels(op string, x *tensor.Tensor, vectors ...*tensor.Tensor) {
	if x.Dim() < 2 {
		fail(tensor.ErrShape, op, fmt.Sprintf("x has shape %v", x.Shape()), "give [B C ...]")
	}
	if !x.Dtype().IsFloat() {
		fail(tensor.ErrDtype, op, fmt.Sprintf("x is %s", x.Dtype()), "convert with To(tensor.Float32)")
	}
	for _, v := range vectors {
		if v != nil && !slices.Equal(v.Shape(), x.Shape()[1:2]) {
			fail(tensor.ErrShape, op, fmt.Sprintf("x has shape %v, with other channels than the layer's %v", x.Shape(), v.Shape()), "")
		}
	}
}
