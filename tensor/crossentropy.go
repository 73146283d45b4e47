package tensor

import (
	"fmt"
	"slices"

	"github.com/lectern-go/lectern/tensor/internal/loops"
)

// y = ln Σexp(x) - x[target], over the rows along an axis, with the gradient
//
//	dL/dx = dL/dy·(softmax(x) - [1 at the target])
//
// LogSoftmax and Gather would each keep or make a tensor of the size of x, and so
// would each step of their gradients: in a language model, whose rows are as long as
// its vocabulary, these would be the largest tensors of all. Here only x is kept,
// which exists anyway, and only the gradient is made.
var opCrossEntropy opOf[classes]

// opCrossEntropyGradient computes dL/dx from dL/dy and x and, if a device computed the cross-entropy in one
// kernel, from what that kept: the logarithm of each row's sum of exponentials, and the targets.
var opCrossEntropyGradient opOf[classes]

// classes holds the arguments of a cross-entropy besides tensors.
type classes struct {
	axis int
	at   []int64 // the target of each row; -1 for a row that does not count
	wide bool    // the result is float32 even if x is smaller
}

// dtypes returns the dtype of the computation, and that of the result.
func (k classes) dtypes(x *Tensor) (compute, result Dtype) {
	compute, result = floatDtype(x.dtype)
	compute = wideSum(compute)
	if k.wide {
		result = compute
	}
	return compute, result
}

func init() {
	define(&opCrossEntropy.op, op{
		name: "cross entropy",
		forward: func(c *call) *Tensor {
			k, x := opCrossEntropy.given(c), c.input()
			compute, result := k.dtypes(x)
			if c.device != nil {
				if out := k.whole(c, result); out != nil {
					return out
				}
				return k.steps(x.Detach().To(compute)).To(result) // in steps that every device has
			}
			r := k.along(x)
			out := c.result(compute, r.shape(x.layout.Shape, false), false)
			needRoom("cross entropy", x.layout.Shape, 8*r.count) // of one row; x may be an expanded view
			loops.CrossEntropies(out.array(), r.lastAxes(x).array(), r.count, k.at)
			return out.To(result)
		},
		gradients: []gradient{{readsInput, func(c *call, g *Tensor, _ int) *Tensor {
			k, x := opCrossEntropy.given(c), c.input()
			if !g.RequiresGrad() && !x.RequiresGrad() {
				return opCrossEntropyGradient.apply(k, append([]*Tensor{g, x}, k.savedByWhole(c)...)...)
			}
			return k.gradientSteps(g, x) // the gradient of the gradient is wanted
		}}},
		// As for logsumexp, plus one difference for each row.
		flops: func(c *call, _ *Tensor) int {
			k, x := opCrossEntropy.given(c), c.input()
			return k.counted() * (4*x.Size(k.axis) + 3)
		},
		bytes: func(c *call, out *Tensor) int {
			k := opCrossEntropy.given(c)
			return k.read(c.input()) + positionBytes*len(k.at) + out.distinctBytes()
		},
	})
	define(&opCrossEntropyGradient.op, op{
		name: "cross entropy gradient",
		forward: func(c *call) *Tensor {
			k, g, x := opCrossEntropyGradient.given(c), c.in[0], c.in[1]
			if c.device != nil {
				if len(c.in) > 2 {
					out := c.unfilled(x.dtype, x.layout.Shape...)
					if c.fused([]*Tensor{out}, append([]*Tensor{g.Detach().Contiguous()}, c.in[1:]...)) {
						return out
					}
				}
				wide := wideSum(x.dtype)
				return k.gradientSteps(g.Detach().To(wide), x.Detach().To(wide)).To(x.dtype)
			}
			out := c.result(x.dtype, x.layout.Shape, false)
			loops.CrossEntropyGradients(out.array(), g.array(), x.array(), k.axis, k.at)
			return out
		},
		// As for softmax, with dL/dy in the quotient that multiplies a row, plus one
		// difference at its target.
		flops: func(c *call, out *Tensor) int {
			k := opCrossEntropyGradient.given(c)
			return k.counted() * (5*out.Size(k.axis) + 2)
		},
		bytes: func(c *call, out *Tensor) int {
			k := opCrossEntropyGradient.given(c)
			sum := k.read(c.in[0]) + k.read(c.in[1]) + positionBytes*len(k.at) + out.distinctBytes()
			if len(c.in) > 2 {
				sum += k.read(c.in[2])
			}
			return sum
		},
	})
}

// CrossEntropy returns -ln softmax(t)[target] for each row of t along an axis, the axis
// of the classes: how surprised, in nats, the logits t are by the target class. target
// has the shape of t without that axis, and so does the result. Rows whose target is
// ignore do not count: their result is 0, and so is their gradient, even where t is
// NaN.
//
// It is [Tensor.LogSoftmax], [Tensor.Gather] and [Tensor.Neg] in one operation, and keeps
// nothing as large as t except t. Small floats are computed in float32 and rounded once,
// or not at all within [Autocast], which then needs no wider copy of t. It panics if
// there is no such axis, the shapes don't fit, or a target is not the number of a class.
func (t *Tensor) CrossEntropy(axis int, target *Tensor, ignore int) *Tensor {
	const name = "cross entropy"
	t.existBeside(name, target)
	k := classes{axis: t.axis(name, axis), at: make([]int64, target.Len())}
	if shape := k.along(t).shape(t.layout.Shape, false); !slices.Equal(shape, target.layout.Shape) {
		fail(ErrShape, name, describe(t, target), fmt.Sprintf("the target must have shape %v: that of the logits without axis %d, the classes", shape, k.axis), "")
	}
	if formats[target.dtype].class != classInt {
		fail(ErrDtype, name, describe(t, target), "the target is "+target.dtype.String(), "targets are numbers of classes: convert with To(tensor.Int64)")
	}
	newReader[int64](target.onHost()).Copy(k.at, 0)
	for i, id := range k.at {
		switch {
		case id == int64(ignore):
			k.at[i] = -1
		case id < 0 || id >= int64(t.Size(k.axis)):
			fail(ErrIndex, name, describe(t, target), fmt.Sprintf("target %d, number %d, is not one of the %d classes", id, i, t.Size(k.axis)), "")
		}
	}
	_, k.wide = AutocastDtype()
	return opCrossEntropy.apply(k, t)
}

// along returns a reduction over the axis of the classes.
func (k classes) along(x *Tensor) reduced {
	r := reduced{axes: make([]bool, x.Dim()), count: x.Size(k.axis)}
	r.axes[k.axis] = true
	return r
}

// counted returns how many rows count.
func (k classes) counted() (n int) {
	for _, id := range k.at {
		if id >= 0 {
			n++
		}
	}
	return n
}

// read returns how many bytes of tensors with rows, or with one element per row, belong
// to rows that count. Repeated elements are read once.
func (k classes) read(x *Tensor) int {
	all := x.distinctBytes()
	if counted := k.counted(); counted == 0 || all == x.Bytes() {
		return all * counted / max(len(k.at), 1)
	}
	return all
}

// whole has the device compute the result in one operation, and keeps what the gradient then reads in place of each
// row's largest element and sum. It returns nil if the device can't.
func (k classes) whole(c *call, result Dtype) *Tensor {
	x := c.input()
	if k.axis != x.Dim()-1 || !x.IsContiguous() || !x.dtype.IsFloat() || x.Len() == 0 {
		return nil
	}
	rows := x.layout.Shape[:k.axis]
	out, sums, targets := c.unfilled(result, rows...), c.unfilled(wideSum(x.dtype), rows...), vectorOf(k.at).To(x.Device())
	if !c.fused([]*Tensor{out, sums}, []*Tensor{x, targets}) {
		return nil
	}
	if c.tracks() {
		c.save(sums, "the logarithms of its sums")
		c.save(targets, "its targets")
	}
	return out
}

// savedByWhole returns what whole has kept; nothing, if the result was computed in steps.
func (k classes) savedByWhole(c *call) (kept []*Tensor) {
	for _, s := range c.saved[:len(c.saved)-1] { // the last is x
		kept = append(kept, s.tensor)
	}
	return kept
}

// steps computes the result in steps that have their own gradients.
func (k classes) steps(x *Tensor) *Tensor {
	at, ignored := k.tensors(x)
	x = x.MaskedFill(ignored, 0) // whatever is there
	picked := x.Gather(k.axis, at).Squeeze(k.axis)
	return x.LogSumExp(k.axis).Sub(picked).MaskedFill(ignored.Squeeze(k.axis), 0)
}

// gradientSteps computes dL/dx from dL/dy and x in such steps.
func (k classes) gradientSteps(g, x *Tensor) *Tensor {
	x = x.To(wideSum(x.dtype))
	at, ignored := k.tensors(x)
	g = g.To(x.dtype).Unsqueeze(k.axis).MaskedFill(ignored, 0)
	x = x.MaskedFill(ignored, 0)
	return g.Mul(x.Softmax(k.axis)).ScatterAdd(k.axis, at, g.Neg())
}

// tensors returns the targets, 0 for rows that don't count, and a mask of those rows,
// both in the shape of x with a single class, and on its device.
func (k classes) tensors(x *Tensor) (at, ignored *Tensor) {
	ids := vectorOf(k.at).Reshape(k.along(x).shape(x.layout.Shape, true)...).To(x.Device())
	return ids.Maximum(0), ids.Lt(0)
}
