package nn

import (
	"fmt"
	"math"
	"slices"

	"github.com/lectern-go/lectern/tensor"
)

// Windows says how windows lie along each axis that they slide along. The zero value is PyTorch's default: a window
// at each position, with adjacent elements and no padding, and one group.
type Windows struct {
	Stride   int // positions from one window to the next; 0: 1
	Padding  int // positions before the first element and after the last
	Dilation int // positions from one element of a window to the next; 0: 1
	Groups   int // parts of the channels that don't see each other; 0: 1
}

// Conv is a convolution along one or more axes: PyTorch's Conv1d and Conv2d.
type Conv struct {
	Weight *tensor.Tensor // [out in/groups kernel...], with a size for each axis
	Bias   *tensor.Tensor // [out]; nil if there is none
	Windows
}

// NewConv1d returns a convolution from in to out channels with windows of kernel elements. Its values are uniform in
// ±1/sqrt(in/groups·kernel), as PyTorch's. It panics if the groups don't divide both numbers of channels. Options
// are those of [tensor.With].
func NewConv1d(in, out, kernel int, w Windows, bias BiasOption, options ...tensor.Option) *Conv {
	return newConv(in, out, []int{kernel}, w, bias, options)
}

// NewConv2d is [NewConv1d] for windows of kernel×kernel elements.
func NewConv2d(in, out, kernel int, w Windows, bias BiasOption, options ...tensor.Option) *Conv {
	return newConv(in, out, []int{kernel, kernel}, w, bias, options)
}

func newConv(in, out int, kernel []int, w Windows, bias BiasOption, options []tensor.Option) *Conv {
	groups := max(w.Groups, 1)
	if in%groups != 0 || out%groups != 0 {
		fail(tensor.ErrValue, "new conv", fmt.Sprintf("%d groups don't divide %d and %d channels", groups, in, out), "")
	}
	shape := append([]int{out, in / groups}, kernel...)
	bound := 1 / math.Sqrt(float64(max(product(shape[1:]), 1)))
	c := &Conv{Weight: Parameter(tensor.With(options...).Uniform(-bound, bound, shape...)), Windows: w}
	if bias {
		c.Bias = Parameter(tensor.With(options...).Uniform(-bound, bound, out))
	}
	return c
}

// Forward takes x [B in L...] to [B out windows...]; see [Convolve].
func (c *Conv) Forward(x *tensor.Tensor) *tensor.Tensor {
	return Convolve(x, c.Weight, c.Bias, c.Windows)
}

// Convolve is the function behind [Conv]: for each window, the products of its elements and the weight [out in/groups
// kernel...], added up, plus a bias [out], which may be nil. x is [B in L...], with as many axes after the channels
// as the kernel has; the result is [B out windows...]. All windows are laid side by side and multiplied by the weight
// as a matrix, which takes kernel times the memory of x and
//
//	2 · B · out · windows · in/groups · kernel
//
// FLOPs. It panics if shapes don't fit, or if no window does.
func Convolve(x, weight, bias *tensor.Tensor, w Windows) *tensor.Tensor {
	const op = "convolve"
	groups := max(w.Groups, 1)
	if weight.Dim() < 3 || x.Dim() != weight.Dim() || x.Size(1) != weight.Size(1)*groups || weight.Size(0)%groups != 0 {
		fail(tensor.ErrShape, op, fmt.Sprintf("x has shape %v and the weight %v, with %d groups", x.Shape(), weight.Shape(), groups), "give x [B in L...] and a weight [out in/groups kernel...], with groups that divide out")
	}
	B, out, kernel := x.Size(0), weight.Size(0), weight.Shape()[2:]
	if bias != nil && !slices.Equal(bias.Shape(), []int{out}) {
		fail(tensor.ErrShape, op, fmt.Sprintf("the bias has shape %v and the weight %v", bias.Shape(), weight.Shape()), "give one number for each output channel, or nil")
	}
	x = w.lay(op, x, kernel, slices.Repeat([]int{max(w.Stride, 1)}, len(kernel)), 0)
	windows := x.Shape()[2 : 2+len(kernel)]
	for range windows { // [B in windows... kernel...] to [B in kernel... windows...]
		x = x.Movedim(2, -1)
	}
	inner := weight.Len() / max(out, 1) // in/groups · kernel
	y := weight.Reshape(groups, out/groups, inner).Matmul(x.Reshape(B, groups, inner, product(windows)))
	y = y.Reshape(append([]int{B, out}, windows...)...)
	if bias == nil {
		return y
	}
	return y.Add(perChannel(y, bias.To(y.Dtype())))
}

// MaxPool takes the largest element of each window, separately for each channel. If several are equal, the first gets
// the gradient. Padding counts as smaller than every element. With a Stride of 0, windows lie side by side, as in
// PyTorch.
type MaxPool struct {
	Kernel []int // the sizes of a window
	Windows
}

// Forward takes x [B C L...] to [B C windows...]. It panics if no window fits, or if the padding is more than half a
// window.
func (m *MaxPool) Forward(x *tensor.Tensor) *tensor.Tensor {
	const op = "max pool"
	if x.Dim() != 2+len(m.Kernel) || len(m.Kernel) == 0 || m.Groups > 1 || m.Padding > slices.Min(m.Kernel)/2 {
		fail(tensor.ErrShape, op, fmt.Sprintf("x has shape %v for windows of %v with %+v", x.Shape(), m.Kernel, m.Windows), "give x [B C L...] with an axis for each size, no groups, and padding of at most half a window")
	}
	strides := m.Kernel
	if m.Stride != 0 {
		strides = slices.Repeat([]int{m.Stride}, len(m.Kernel))
	}
	least := math.Inf(-1)
	switch d := x.Dtype(); {
	case d == tensor.Bool:
		least = 0
	case !d.IsFloat():
		least = float64(tensor.Iinfo(d).Min)
	case math.IsNaN(d.Round(least)): // it has no infinity
		least = -tensor.Finfo(d).Max
	}
	largest, _ := m.lay(op, x, m.Kernel, strides, least).Flatten(2+len(m.Kernel), -1).MaxAt(-1)
	return largest
}

// lay returns a view of all windows of x [B C L...], [B C windows... kernel...]; with padding, a view of a copy.
func (w Windows) lay(op string, x *tensor.Tensor, kernel, strides []int, padding float64) *tensor.Tensor {
	dilation := max(w.Dilation, 1)
	if w.Stride < 0 || w.Dilation < 0 || w.Padding < 0 || w.Groups < 0 || slices.ContainsFunc(kernel, func(size int) bool { return size < 1 }) {
		fail(tensor.ErrValue, op, fmt.Sprintf("windows of %v with %+v", kernel, w), "each size of a kernel must be at least 1, and stride, dilation, padding and groups at least 0")
	}
	for i, size := range kernel {
		axis, span := 2+i, (size-1)*dilation+1
		if w.Padding > 0 {
			x = x.Pad(axis, w.Padding, w.Padding, padding)
		}
		if x.Size(axis) < span {
			fail(tensor.ErrShape, op, fmt.Sprintf("a window spans %d positions and axis %d of x has %d with its padding", span, axis, x.Size(axis)), "")
		}
		x = x.Unfold(axis, span, strides[i]).Slice(-1, 0, span, dilation)
	}
	return x
}

func product(sizes []int) int {
	n := 1
	for _, size := range sizes {
		n *= size
	}
	return n
}

// perChannel returns a vector [C], which may be absent, in a shape that broadcasts with x [B C ...].
func perChannel(x, v *tensor.Tensor) *tensor.Tensor {
	if v == nil {
		return nil
	}
	shape := slices.Repeat([]int{1}, x.Dim()-1)
	shape[0] = v.Len()
	return v.Reshape(shape...)
}
