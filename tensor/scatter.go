package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
)

// Writing and adding at positions: the reverse of Gather and IndexSelect, with their
// rules. All return new tensors.

// Scatter returns a copy of t with values, a tensor or a number, at the positions that
// index gives, by the rules of [Tensor.Gather]:
//
//	y.At(i, index.At(i, j)) = values.At(i, j) // axis 1
//
// Of several values for one position, the last stays. A tensor of values has t's dtype
// and may be larger than index; elements outside are not read. It panics as Gather
// does, and if there are too few values.
func (t *Tensor) Scatter(axis int, index, values any) *Tensor {
	at, v := t.scattered("scatter", axis, index, values)
	if t.Dim() == 0 {
		return v
	}
	if !(GradEnabled() && (t.RequiresGrad() || v.RequiresGrad())) && t.storage.Device == nil {
		return opScatter.apply(at, v, t)
	}
	flat := newTensor(Int64, []int{at.index.Len()}, false)
	rows := ContiguousLayout(t.layout.Shape...)
	at.loop().Each(rows, func(i, place int) { plain[int64](flat)[i] = int64(place) })
	return t.withPicked(v, flat)
}

// y[i, at[i,j]] = x[i,j], over a copy of the second input. Where gradients are recorded, Scatter takes other steps.
var opScatter opOf[gathering]

func init() {
	define(&opScatter.op, op{
		name: "scatter",
		forward: func(c *call) *Tensor {
			a, x, out := opScatter.given(c), c.in[0], c.in[1].converted(c.in[1].dtype)
			x.contiguously(func(x *Tensor) { loops.Put(out.array(), x.array(), a.loop()) })
			return out
		},
		bytes: func(c *call, out *Tensor) int {
			return c.inputBytes() + positionBytes*opScatter.given(c).index.Len() + out.distinctBytes()
		},
	})
}

// ScatterAdd is like [Tensor.Scatter], but adds the values to the elements of t;
// several for one position are all added.
func (t *Tensor) ScatterAdd(axis int, index, values any) *Tensor {
	at, v := t.scattered("scatter add", axis, index, values)
	if t.Dim() == 0 {
		return t.Add(v)
	}
	return opScatterAdd.apply(at, v, t)
}

// scattered checks the arguments of Scatter and returns the values in the shape of
// the positions.
func (t *Tensor) scattered(op string, axis int, index, values any) (gathering, *Tensor) {
	positions, v := positionsGiven(op, t, index), operand(op, values)
	t.existBeside(op, v)
	v = t.fitting(op, v)
	if t.Dim() == 0 && positions.Dim() == 0 && v.Dim() == 0 && t.layout.NamesNumber(axis) {
		t.Reshape(1).gatheringAt(op, 0, positions.Reshape(1), false)
		return gathering{}, v
	}
	at := t.gatheringAt(op, axis, positions, (t.RequiresGrad() || v.RequiresGrad()) && GradEnabled())
	shape := at.index.layout.Shape
	if v.number || v.Dim() == 0 {
		return at, v.Expand(shape...)
	}
	if v.Dim() != len(shape) {
		fail(ErrShape, op, describe(t, positions, v), fmt.Sprintf("the values have %s, the positions have %d", humanize.Count(v.Dim(), "axis"), len(shape)), "")
	}
	for a, size := range shape {
		if v.layout.Shape[a] < size {
			fail(ErrShape, op, describe(t, positions, v), fmt.Sprintf("axis %d has %s for %s", a, humanize.Count(v.layout.Shape[a], "value"), humanize.Count(size, "position")), "give a value for each position, or one number")
		}
		v = v.Narrow(a, 0, size)
	}
	return at, v
}

// fitting returns values in the dtype of t, to which a number adapts.
func (t *Tensor) fitting(op string, v *Tensor) *Tensor {
	if v.number && formats[v.dtype].class <= formats[t.dtype].class {
		return v.To(t.dtype, t.Device())
	}
	if v.dtype != t.dtype {
		fail(ErrDtype, op, describe(t, v), fmt.Sprintf("the values are %s, the tensor is %s", v.dtype, t.dtype), "convert the values with To")
	}
	return v
}

// IndexAdd returns a copy of t with values added along an axis: position j of values
// to position index[j] of t, where index is a vector. A position that is listed
// several times gets the sum. It panics as [Tensor.IndexSelect] does, and if values
// does not have the shape that IndexSelect would return, or the dtype of t.
func (t *Tensor) IndexAdd(axis int, index any, values *Tensor) *Tensor {
	const op = "index add"
	at := positionsGiven(op, t, index)
	t.existBeside(op, values)
	if t.Dim() == 0 {
		fail(ErrShape, op, describe(t, at, values), "a single number has no axis to add along", "use Add")
	}
	axis = t.axis(op, axis)
	if at.Dim() > 1 {
		fail(ErrShape, op, describe(t, at, values), "the positions are not a vector", "flatten them with View(-1)")
	}
	want := t.Shape()
	want[axis] = at.Len()
	if !slices.Equal(values.layout.Shape, want) {
		fail(ErrShape, op, describe(t, at, values), fmt.Sprintf("the values have shape %v, the positions stand for %v", values.layout.Shape, want), "give one slice for each position")
	}
	s := selection{axis, t.layout.Shape[axis], t.checkedPositions(op, axis, at.Reshape(-1))}
	return opIndexAdd.apply(s, t.fitting(op, values), t)
}

// ScatterRule says how [Tensor.ScatterReduce] combines the values for a position with the element there.
type ScatterRule uint8

const (
	ScatterSum ScatterRule = iota // what [Tensor.ScatterAdd] does
	ScatterMean
	ScatterProd
	ScatterMax
	ScatterMin

	withoutSelf ScatterRule = 1 << 7
)

// WithoutSelf returns the rule for the values alone: an element that gets any of them is replaced, not included.
func (r ScatterRule) WithoutSelf() ScatterRule { return r | withoutSelf }

// neutral returns the number of a dtype that leaves the result unchanged.
func (r ScatterRule) neutral(d Dtype) *Tensor {
	sign, largest := 1, r == ScatterMin
	if !largest {
		sign = -1
	}
	switch {
	case r == ScatterProd:
		return With(d).Scalar(1)
	case r != ScatterMax && !largest:
		return With(d).Scalar(0)
	case d == Bool:
		return With(d).Scalar(float64(1+sign) / 2)
	case d.IsFloat() && math.IsNaN(d.Round(math.Inf(1))): // which has no infinity
		return With(d).Scalar(float64(sign) * Finfo(d).Max)
	case d.IsFloat():
		return With(d).Scalar(math.Inf(sign))
	}
	end := Iinfo(d).Min // as an int64: float64 doesn't have all of them
	if largest {
		end = Iinfo(d).Max
	}
	return Of([]int64{end}).To(d).Reshape()
}

// ScatterReduce returns a copy of t in which each position that index gives, by the rules of [Tensor.Gather], has the
// sum, mean, product, largest or smallest of all its values and of the element of t there:
//
//	y.At(i, index.At(i, j)) = max(x.At(i, index.At(i, j)), values.At(i, j)) // axis 1, ScatterMax
//
// A rule's WithoutSelf leaves out t's element. If several are the largest, they share the gradient equally. Values
// are as for [Tensor.Scatter]. It panics as that does, if there is no such rule, and for a mean of integers.
func (t *Tensor) ScatterReduce(axis int, index, values any, rule ScatterRule) *Tensor {
	const op = "scatter reduce"
	kind := rule &^ withoutSelf
	if kind > ScatterMin {
		fail(ErrValue, op, describe(t), fmt.Sprintf("there is no rule %d", kind), "give a constant such as tensor.ScatterSum")
	}
	if kind == ScatterMean {
		t.exist(op).needFloats(op, "the mean of integers is not an integer")
	}
	at, v := t.scattered(op, axis, index, values)
	if t.Dim() == 0 {
		return t.Reshape(1).ScatterReduce(0, []int{0}, v.Reshape(1), rule).Reshape()
	}
	base := t
	blank := func(x *Tensor, kind ScatterRule) *Tensor {
		if rule == kind {
			return x
		}
		hit := With(Bool, t.Device()).Zeros(t.layout.Shape...).Scatter(at.axis, at.index.To(t.Device()), true)
		return Where(hit, kind.neutral(x.dtype).To(t.Device()), x)
	}
	switch base = blank(base, kind); kind {
	case ScatterSum:
		return opScatterAdd.apply(at, v, base)
	case ScatterMean:
		wide := wideSum(t.dtype)
		counts := opScatterAdd.apply(at, OnesLike(v).To(wide), blank(OnesLike(t).To(wide), kind))
		return opScatterAdd.apply(at, v.To(wide), base.To(wide)).Div(counts).To(t.dtype)
	}
	return opScatterFold.apply(folding{at, kind}, v, base)
}

// folding is what ScatterReduce remembers of a product, or of the largest or smallest.
type folding struct {
	At   gathering
	Rule ScatterRule
}

var folds = [...]loops.Fold2{
	ScatterProd: {F64: product[float64], I64: product[int64]}, ScatterMax: {F64: largest[float64], I64: largest[int64]},
	ScatterMin: {F64: smallest[float64], I64: smallest[int64]},
}

func product[T numbers.Number](a, b T) T  { return a * b }
func largest[T numbers.Number](a, b T) T  { return max(a, b) }
func smallest[T numbers.Number](a, b T) T { return min(a, b) }

// With y[p] = x[p]·Πv: dy/dv is the product of all other factors, which is y/v where v isn't 0.
// With y[p] = max(x[p], v, …): the gradient is shared by the values that equal y[p].
var opScatterFold opOf[folding]

func init() {
	define(&opScatterFold.op, op{
		name: "scatter fold",
		forward: func(c *call) *Tensor {
			f, base, wide := opScatterFold.given(c), c.in[1].onHost(), Int64
			if base.dtype.IsFloat() {
				wide = Float64 // as in Prod
			}
			out := base.converted(wide)
			folds[f.Rule].Scatter(out.array(), c.in[0].onHost().array(), f.At.loop())
			return out.To(base.dtype).on(c.device)
		},
		gradients: []gradient{
			{readsLeft | readsRight | readsOutput, func(c *call, g *Tensor, _ int) *Tensor { return opScatterFold.given(c).gradient(c, g, true) }},
			{readsLeft | readsRight | readsOutput, func(c *call, g *Tensor, _ int) *Tensor { return opScatterFold.given(c).gradient(c, g, false) }},
		},
		flops: inputElements,
		bytes: func(c *call, out *Tensor) int {
			return c.inputBytes() + positionBytes*opScatterFold.given(c).At.index.Len() + out.distinctBytes()
		},
	})
}

// gradient returns the gradient of the values, or of the tensor that they are folded into.
func (f folding) gradient(c *call, g *Tensor, ofValues bool) *Tensor {
	values, base, out := c.in[0], c.in[1], c.out
	spread := func(x *Tensor) *Tensor { return opGather.apply(f.At, x) } // from positions to their values
	count := func(ofValues, ofBase *Tensor) *Tensor {                    // for each position
		return opScatterAdd.apply(f.At, ofValues.To(g.dtype), ofBase.To(g.dtype))
	}
	if f.Rule != ScatterProd {
		won, stood := values.Eq(spread(out)), base.Eq(out)
		share := g.Div(count(won, stood))
		if ofValues {
			return spread(share).MaskedFill(won.Not(), 0)
		}
		return share.MaskedFill(stood.Not(), 0)
	}
	zero, gone := values.Eq(0), base.Eq(0)
	several := count(zero, gone).Gt(1)
	if (values.RequiresGrad() || base.RequiresGrad()) && several.Any().Item() != 0 { // the gradient of the gradient is wanted
		fail(ErrGrad, "backward", describe(values, base), "a position has the product of several zeros, whose second derivative is not known", "give values that are not 0")
	}
	rest := opScatterFold.apply(f, values.MaskedFill(zero, 1), base.MaskedFill(gone, 1)).MaskedFill(several, 0)
	if ofValues {
		return spread(g).Mul(Where(zero, spread(rest), spread(out).Div(values.MaskedFill(zero, 1))))
	}
	return g.Mul(Where(gone, rest, out.Div(base.MaskedFill(gone, 1))))
}
