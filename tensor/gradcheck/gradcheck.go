// Package gradcheck compares gradients with finite differences.
//
// For y = f(x), the derivative in the direction of one element of x is about
//
//	(f(x+ε) - f(x-ε)) / 2ε
//
// with an error of order ε² from the curvature and of order 1/ε from rounding. In
// float64, ε = 1e-6 leaves about nine correct digits: enough to find any mistake in a
// formula.
package gradcheck

import (
	"fmt"
	"math"
	"slices"

	"github.com/lectern-go/lectern/internal/approx"
	"github.com/lectern-go/lectern/tensor"
)

// Func is a function of tensors whose gradient is to be checked. It may use
// other tensors, as constants.
type Func func(in []*tensor.Tensor) *tensor.Tensor

const (
	// step is ε.
	step = 1e-6
	// tolerance is the largest difference allowed from the finite difference, relative to
	// 1 or to the largest entry: a hundred times the expected error.
	tolerance = 1e-6
)

// Error says where a gradient differs from the finite difference.
type Error struct {
	Input      int    // the input of the function
	Element    []int  // its element
	Layout     string // how the inputs lay in memory
	Gradient   float64
	Difference float64 // the finite difference
}

func (e *Error) Error() string {
	return fmt.Sprintf("gradcheck: input %d, element %v (%s): the gradient is %.10g, the finite difference %.10g",
		e.Input, e.Element, e.Layout, e.Gradient, e.Difference)
}

// First checks the gradient of f with respect to each floating-point input, converted
// to float64. Inputs are tried contiguous and strided, and gradients of the result
// contiguous, strided and expanded. It returns nil, an [*Error], or the error that
// kept f from being differentiated.
func First(f Func, in ...*tensor.Tensor) error {
	return first(f, in, step)
}

func first(f Func, in []*tensor.Tensor, step float64) error {
	for _, a := range arrangements {
		if err := check(f, in, a, step); err != nil {
			return err
		}
	}
	return nil
}

// Second checks the gradient of the gradient in the same way, once.
func Second(f Func, in ...*tensor.Tensor) error {
	gradient := func(in []*tensor.Tensor) *tensor.Tensor {
		out := f(in)
		var sum *tensor.Tensor
		if !out.RequiresGrad() {
			return tensor.With(tensor.Float64).Scalar(0)
		}
		before := make([]*tensor.Tensor, len(in))
		for i, x := range in {
			before[i] = x.Grad()
			x.ZeroGrad()
		}
		out.Backward(tensor.CreateGraph(), tensor.WithGrad(direction(out.Shape(), 1)))
		for i, x := range in {
			g := x.Grad()
			if x.RequiresGrad() {
				x.SetGrad(before[i])
			}
			if g == nil {
				continue
			}
			part := g.Mul(direction(g.Shape(), 2+i)).Sum()
			if sum == nil {
				sum = part
			} else {
				sum = sum.Add(part)
			}
		}
		if sum == nil {
			return tensor.With(tensor.Float64).Scalar(0)
		}
		return sum
	}
	return check(gradient, in, arrangements[0], step)
}

// arrangement says how the operands of f, and the gradient of its result, lie in
// memory.
type arrangement struct {
	name string
	in   func(x *tensor.Tensor) *tensor.Tensor
	// loss reduces the result to a number, with weights for each element.
	loss    func(out *tensor.Tensor) *tensor.Tensor
	weights func(shape []int) []float64
}

var arrangements = []arrangement{
	{"contiguous", (*tensor.Tensor).Clone, weighted, func(shape []int) []float64 { return direction(shape, 1).Floats() }},
	{"strided", strided, func(out *tensor.Tensor) *tensor.Tensor {
		turned := out.Permute(reversed(out.Dim())...)
		return turned.Mul(direction(out.Shape(), 1).Permute(reversed(out.Dim())...).Clone()).Sum()
	}, func(shape []int) []float64 { return direction(shape, 1).Floats() }},
	{"contiguous, expanded gradient", (*tensor.Tensor).Clone, func(out *tensor.Tensor) *tensor.Tensor { return out.Sum() }, func(shape []int) []float64 {
		return tensor.With(tensor.Float64).Ones(shape...).Floats()
	}},
}

func weighted(out *tensor.Tensor) *tensor.Tensor { return out.Mul(direction(out.Shape(), 1)).Sum() }

// direction returns fixed numbers between -1 and 1 that look irregular.
func direction(shape []int, seed int) *tensor.Tensor {
	t := tensor.With(tensor.Float64).Zeros(shape...)
	for i, values := 0, tensor.Data[float64](t); i < len(values); i++ {
		values[i] = math.Sin(float64(i+1)*12.9898 + float64(seed)*78.233)
	}
	return t
}

// strided returns a copy with the axes in the reverse order in memory and a gap
// after each element.
func strided(x *tensor.Tensor) *tensor.Tensor {
	if x.Dim() == 0 {
		return x.Clone()
	}
	shape := x.Shape()
	slices.Reverse(shape)
	last := len(shape) - 1
	shape[last] = 2 * shape[last]
	room := tensor.With(x.Dtype()).Zeros(shape...)
	return room.Slice(last, 0, shape[last], 2).Permute(reversed(len(shape))...).Detach().CopyFrom(x)
}

func reversed(n int) []int {
	axes := make([]int, n)
	for i := range axes {
		axes[i] = n - 1 - i
	}
	return axes
}

func check(f Func, given []*tensor.Tensor, a arrangement, step float64) error {
	in := make([]*tensor.Tensor, len(given))
	for i, x := range given {
		if x.Dtype().IsFloat() {
			in[i] = a.in(x.Detach().To(tensor.Float64)).RequireGrad()
		} else {
			in[i] = x
		}
	}
	var out *tensor.Tensor
	if err := tensor.Try(func() {
		out = f(in)
		if out.RequiresGrad() {
			a.loss(out).Backward()
		}
	}); err != nil {
		return fmt.Errorf("gradcheck: %s: %w", a.name, err)
	}
	weights := a.weights(out.Shape())
	value := func() float64 { // recorded, as f may itself ask for gradients
		sum := 0.
		for i, y := range f(in).Floats() {
			sum += y * weights[i]
		}
		return sum
	}
	for i, x := range in {
		if !x.RequiresGrad() {
			continue
		}
		gradient := make([]float64, x.Len())
		if g := x.Grad(); g != nil {
			gradient = g.Floats()
		}
		scale := 1.
		for _, g := range gradient {
			scale = max(scale, math.Abs(g))
		}
		for j := range gradient {
			at := position(x.Shape(), j)
			kept := x.At(at...)
			set := func(v float64) { tensor.NoGrad(func() { x.SetAt(v, at...) }) }
			set(kept + step)
			up := value()
			set(kept - step)
			down := value()
			set(kept)
			difference := (up - down) / (2 * step)
			if !approx.Equal(gradient[j], difference, 0, tolerance*scale) || math.IsNaN(difference) {
				return &Error{i, at, a.name, gradient[j], difference}
			}
		}
	}
	return nil
}

// position returns the indices of element i in row-major order.
func position(shape []int, i int) []int {
	at := make([]int, len(shape))
	for a := len(shape) - 1; a >= 0; a-- {
		at[a] = i % shape[a]
		i /= shape[a]
	}
	return at
}
