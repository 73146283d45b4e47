package nn

import (
	"fmt"
	"slices"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor"
)

// A LossOption changes what a loss function does: a [Reduction], [IgnoreIndex],
// [LabelSmoothing] or [ClassWeights].
type LossOption interface{ set(*lossOptions) }

// A Reduction says what becomes of the losses of all elements.
type Reduction uint8

const (
	MeanLoss Reduction = iota // their mean; the default
	SumLoss                   // their sum
	EachLoss                  // they are returned as they are
)

// IgnoreIndex is a target that does not count in CrossEntropy; -100 unless given.
type IgnoreIndex int

// LabelSmoothing is the fraction of the target's probability that CrossEntropy spreads
// evenly over all classes; 0 unless given.
type LabelSmoothing float64

// ClassWeights returns the option that multiplies the losses of each class by a
// weight, [C]; the mean of CrossEntropy is then the weighted one. The weights take
// no part in gradients.
func ClassWeights(weights *tensor.Tensor) LossOption { return classWeights{weights} }

type classWeights struct{ of *tensor.Tensor }

type lossOptions struct {
	reduction Reduction
	ignore    int
	smoothing float64
	weights   *tensor.Tensor // [C]; nil: all are 1
}

func (r Reduction) set(o *lossOptions)      { o.reduction = r }
func (i IgnoreIndex) set(o *lossOptions)    { o.ignore = int(i) }
func (s LabelSmoothing) set(o *lossOptions) { o.smoothing = float64(s) }
func (w classWeights) set(o *lossOptions)   { o.weights = w.of.Detach() }

func lossOptionsOf(options []LossOption) lossOptions {
	o := lossOptions{ignore: -100}
	for _, option := range options {
		option.set(&o)
	}
	return o
}

func (r Reduction) of(losses *tensor.Tensor) *tensor.Tensor {
	switch r {
	case SumLoss:
		return losses.Sum()
	case EachLoss:
		return losses
	}
	return losses.Mean()
}

// MSE returns the mean of (y-target)². It panics if the shapes differ: PyTorch
// broadcasts them with a warning, which for [B] and [B 1] compares every element
// with every other.
func MSE(y, target *tensor.Tensor, options ...LossOption) *tensor.Tensor {
	sameShape("mse", y, target)
	return lossOptionsOf(options).reduction.of(y.Sub(target).Square())
}

// L1 returns the mean of |y-target|. It panics if the shapes differ.
func L1(y, target *tensor.Tensor, options ...LossOption) *tensor.Tensor {
	sameShape("l1 loss", y, target)
	return lossOptionsOf(options).reduction.of(y.Sub(target).Abs())
}

// Huber returns the mean of ½d² where the distance d = y-target is at most delta, and of delta·(|d| - ½delta) beyond: a
// square for small errors, and a straight line for outliers. It panics if the shapes differ or delta is not above 0.
func Huber(y, target *tensor.Tensor, delta float64, options ...LossOption) *tensor.Tensor {
	sameShape("huber", y, target)
	if !(delta > 0) {
		fail(tensor.ErrValue, "huber", fmt.Sprintf("delta is %g", delta), "it is the distance beyond which the loss grows in a straight line: give one above 0")
	}
	d := y.Sub(target)
	near := d.Clamp(-delta, delta)
	return lossOptionsOf(options).reduction.of(near.Mul(d.Sub(near.Mul(0.5))))
}

// KLDiv returns the mean of p·(ln p - logq), the terms of the Kullback-Leibler divergence of q from target = p; 0 where
// p is 0. logq has logarithms of probabilities, such as LogSoftmax returns. As in PyTorch, the mean is over all
// elements; the divergence itself is a sum over classes: [SumLoss] divided by the number of rows. It panics if the
// shapes differ.
func KLDiv(logq, target *tensor.Tensor, options ...LossOption) *tensor.Tensor {
	sameShape("kl div", logq, target)
	zero := target.Detach().Eq(0)
	losses := target.Mul(target.MaskedFill(zero, 1).Log().Sub(logq)).MaskedFill(zero, 0)
	return lossOptionsOf(options).reduction.of(losses)
}

// BCEWithLogits returns the mean binary cross-entropy of sigmoid(logits) with
// target, a probability for each element:
//
//	softplus(x) - x·target
//
// which does not overflow, and whose gradient is sigmoid(x) - target. It panics if the shapes differ.
func BCEWithLogits(logits, target *tensor.Tensor, options ...LossOption) *tensor.Tensor {
	sameShape("bce with logits", logits, target)
	losses := Softplus(logits).Sub(logits.Mul(target))
	return lossOptionsOf(options).reduction.of(losses)
}

// Softplus returns ln(1 + exp(x)), without overflow.
func Softplus(x *tensor.Tensor) *tensor.Tensor { return x.Softplus() }

func sameShape(op string, y, target *tensor.Tensor) {
	if !slices.Equal(y.Shape(), target.Shape()) {
		fail(tensor.ErrShape, op, fmt.Sprintf("%v x %v: the shapes differ", y.Shape(), target.Shape()), "use View, Squeeze or Expand to say which elements belong together")
	}
}

// CrossEntropy returns the mean of -ln softmax(logits)[target]. logits are [C], [N C]
// or [N C ...], with the classes on axis 1, and target has the same shape without that
// axis: integers from 0 to C-1, or the ignored one. If all are ignored, the mean is
// NaN.
//
// A floating-point target with the shape of the logits has a probability for each
// class: soft targets, of which none is ignored. The mean is then over all positions,
// whatever the weights.
//
// It panics if the shapes don't fit, or if a target is out of range.
func CrossEntropy(logits, target *tensor.Tensor, options ...LossOption) *tensor.Tensor {
	axis := min(1, logits.Dim()-1)
	o := lossOptionsOf(options)
	if target.Dtype().IsFloat() && logits.Dim() > 0 && slices.Equal(logits.Shape(), target.Shape()) {
		return softCrossEntropy(logits, target, axis, o)
	}
	checkTarget("cross entropy", logits, target, axis)
	if o.weights != nil || o.smoothing > 0 {
		return nll("cross entropy", logits.LogSoftmax(axis), target, axis, o)
	}
	target, counted := o.classesOf("cross entropy", logits, target, axis)
	losses := logits.CrossEntropy(axis, target, o.ignore)
	if o.reduction == MeanLoss && counted < target.Len() {
		return losses.Sum().Div(float64(counted))
	}
	return o.reduction.of(losses)
}

func softCrossEntropy(logits, target *tensor.Tensor, axis int, o lossOptions) *tensor.Tensor {
	if o.smoothing > 0 {
		target = target.Mul(1 - o.smoothing).Add(o.smoothing / float64(logits.Size(axis)))
	}
	losses := logits.LogSoftmax(axis).Mul(target)
	if o.weights != nil {
		losses = losses.Mul(o.weightsAlong("cross entropy", losses, axis))
	}
	return o.reduction.of(losses.Sum(axis).Neg())
}

// weightsAlong returns the weights in a shape that is broadcast along an axis.
func (o lossOptions) weightsAlong(op string, losses *tensor.Tensor, axis int) *tensor.Tensor {
	if !slices.Equal(o.weights.Shape(), []int{losses.Size(axis)}) {
		fail(tensor.ErrShape, op, fmt.Sprintf("weights of shape %v for %s", o.weights.Shape(), humanize.Count(losses.Size(axis), "class")), "give one weight for each class")
	}
	shape := slices.Repeat([]int{1}, losses.Dim())
	shape[axis] = losses.Size(axis)
	return o.weights.To(losses.Dtype()).Reshape(shape...)
}

// NLL is [CrossEntropy] for logarithms of probabilities, such as LogSoftmax returns.
func NLL(logProbabilities, target *tensor.Tensor, options ...LossOption) *tensor.Tensor {
	axis := min(1, logProbabilities.Dim()-1)
	checkTarget("nll", logProbabilities, target, axis)
	return nll("nll", logProbabilities, target, axis, lossOptionsOf(options))
}

func checkTarget(op string, logits, target *tensor.Tensor, axis int) {
	if logits.Dim() == 0 || !slices.Equal(slices.Delete(logits.Shape(), axis, axis+1), target.Shape()) {
		fail(tensor.ErrShape, op, fmt.Sprintf("logits %v x target %v: the target must have the shape of the logits without axis %d, the classes", logits.Shape(), target.Shape(), max(axis, 0)),
			"reshape [B T V] and [B T] with logits.View(-1, V) and target.View(-1)")
	}
	if target.Dtype().IsFloat() || target.Dtype() == tensor.Bool {
		fail(tensor.ErrDtype, op, fmt.Sprintf("the target is %s", target.Dtype()), "targets are numbers of classes: convert with To(tensor.Int64)")
	}
}

// classesOf returns the targets as int64, each of which must be a class or ignored, and
// how many count.
func (o lossOptions) classesOf(op string, logits, target *tensor.Tensor, axis int) (ids *tensor.Tensor, counted int) {
	ids = target.Detach().To(tensor.Int64)
	counted = ids.Len()
	for i, id := range ids.Ints() {
		switch {
		case id == int64(o.ignore):
			counted--
		case id < 0 || id >= int64(logits.Size(axis)):
			fail(tensor.ErrIndex, op, fmt.Sprintf("target %d, number %d, is not one of the %d classes", id, i, logits.Size(axis)), "mark targets that don't count with nn.IgnoreIndex")
		}
	}
	return ids, counted
}

func nll(op string, logp, target *tensor.Tensor, axis int, o lossOptions) *tensor.Tensor {
	target, counted := o.classesOf(op, logp, target, axis)
	var ignored *tensor.Tensor
	if counted < target.Len() {
		ignored = target.Eq(o.ignore)
		target = target.MaskedFill(ignored, 0)
	}
	losses := logp.Gather(axis, target.Unsqueeze(axis)).Squeeze(axis).Neg()
	var weights *tensor.Tensor // of each target
	if o.weights != nil {
		along := o.weightsAlong(op, logp, axis)
		weights = along.Expand(logp.Shape()...).Gather(axis, target.Unsqueeze(axis)).Squeeze(axis)
		losses = losses.Mul(weights)
		logp = logp.Mul(along)
	}
	if o.smoothing > 0 {
		losses = losses.Mul(1 - o.smoothing).Sub(logp.Mean(axis).Mul(o.smoothing))
	}
	if ignored == nil && weights == nil {
		return o.reduction.of(losses)
	}
	if ignored != nil {
		losses = losses.MaskedFill(ignored, 0)
	}
	switch {
	case o.reduction == SumLoss:
		return losses.Sum()
	case o.reduction == EachLoss:
		return losses
	case weights == nil:
		return losses.Sum().Div(float64(counted))
	case ignored != nil:
		weights = weights.MaskedFill(ignored, 0)
	}
	return losses.Sum().Div(weights.Sum())
}
