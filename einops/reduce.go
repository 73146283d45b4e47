package einops

import (
	"fmt"
	"slices"

	"github.com/lectern-go/lectern/tensor"
)

// A Reduction makes one element out of many: it returns x without the named axes,
// which are not negative, ascending, and must not be changed. Methods of Tensor have
// this form, so (*tensor.Tensor).Sum is one, and so is a function of your own:
//
//	logSumExp := func(x *tensor.Tensor, axes ...int) *tensor.Tensor { return x.Exp().Sum(axes...).Log() }
type Reduction func(x *tensor.Tensor, axes ...int) *tensor.Tensor

// Sum adds. Sums of integers and bools are int64.
func Sum(x *tensor.Tensor, axes ...int) *tensor.Tensor { return x.Sum(axes...) }

// Mean averages; it panics unless x is floating point.
func Mean(x *tensor.Tensor, axes ...int) *tensor.Tensor { return x.Mean(axes...) }

// Reduce applies a reduction over the axes that are on the left of the pattern
// but not on the right, and rearranges the others as [Rearrange] does.
//
//	einops.Reduce(x, "... hidden -> ...", einops.Sum)
//	einops.Reduce(x, "b (h 2) (w 2) c -> b h w c", einops.Max) // 2x2 max pooling
//
// The result is new unless no axis is reduced; then it is that of Rearrange. It panics
// with an [*Error] if the pattern is not well formed or does not fit, or if the
// reduction does not return the right shape; and as the reduction itself does.
func Reduce[X Input](x X, pattern string, reduction Reduction, axes ...Size) *tensor.Tensor {
	t := input(reducing, pattern, x)
	p := planFor(reducing, pattern, t)
	if reduction == nil {
		must(&Error{Kind: ErrOperand, Op: reducing, Pattern: pattern, End: len(pattern), Reason: "the reduction is nil",
			Hint: "give einops.Sum, Mean, Max, Min, Prod, Any, All or a function of your own"})
	}
	return p.run(t, reduction, axes)
}

// reduce calls the reduction and checks its result.
func (p *plan) reduce(x *tensor.Tensor, reduction Reduction, axes []int) *tensor.Tensor {
	y := reduction(x, axes...)
	for i, j := 0, 0; i <= x.Dim(); i++ {
		switch {
		case i < x.Dim() && slices.Contains(axes, i):
		case y != nil && i == x.Dim() && j == y.Dim():
		case y == nil || i == x.Dim() || j >= y.Dim() || y.Size(j) != x.Size(i):
			p.badReduction(x, y, axes)
		default:
			j++
		}
	}
	return y
}

func (p *plan) badReduction(x, y *tensor.Tensor, axes []int) {
	got := "nil"
	if y != nil {
		got = fmt.Sprint(y.Shape())
	}
	must(&Error{Kind: tensor.ErrShape, Op: p.op, Pattern: p.pattern, End: len(p.pattern), Shapes: [][]int{x.Shape()},
		Reason: fmt.Sprintf("the reduction turned %v into %s, not into that shape without axes %v", x.Shape(), got, axes),
		Hint:   "it must remove exactly the axes that it is given"})
}

// Max takes the largest; it panics where there are no elements.
func Max(x *tensor.Tensor, axes ...int) *tensor.Tensor { return x.Max(axes...) }

// Min takes the smallest; it panics where there are no elements.
func Min(x *tensor.Tensor, axes ...int) *tensor.Tensor { return x.Min(axes...) }

// Prod multiplies. Products of integers are int64.
func Prod(x *tensor.Tensor, axes ...int) *tensor.Tensor { return x.Prod(axes...) }

// Any reports, as bools, whether any element is not zero.
func Any(x *tensor.Tensor, axes ...int) *tensor.Tensor { return x.Any(axes...) }

// All reports, as bools, whether all elements are not zero.
func All(x *tensor.Tensor, axes ...int) *tensor.Tensor { return x.All(axes...) }
