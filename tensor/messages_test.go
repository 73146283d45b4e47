package tensor_test

import (
	"errors"
	"math"
	"testing"

	"github.com/lectern-go/lectern/tensor"
)

// TestOperationMessages reads what a user would: the operation with its
// operands, the rule, a remedy.
func TestOperationMessages(t *testing.T) {
	x := tensor.Zeros(2, 3)
	for _, c := range []struct {
		run  func()
		kind error
		want string
	}{
		{func() { tensor.Cat(1, x, tensor.Zeros(3, 3)) }, tensor.ErrShape,
			"tensor: cat: [2 3] x [3 3]: axis 0 has size 3 in tensor 1 and 2 in tensor 0; only axis 1 may differ"},
		{func() { tensor.Cat(0) }, tensor.ErrValue, "tensor: cat: no tensors are given"},
		{func() { tensor.Cat(0, x, nil) }, tensor.ErrValue, "tensor: cat: tensor 1 is nil"},
		{func() { tensor.Cat(0, tensor.Scalar(1)) }, tensor.ErrShape, "tensor: cat: []: tensor 0 is a single number, without an axis to join along; use Stack"},
		{func() { tensor.Stack(0) }, tensor.ErrValue, "tensor: stack: no tensors are given"},
		{func() { tensor.Stack(0, x, nil) }, tensor.ErrValue, "tensor: stack: tensor 1 is nil"},
		{func() { x.Split(0, 0) }, tensor.ErrValue, "tensor: split: [2 3]: parts of size 0; give a size of at least 1"},
		{func() { x.Chunk(0, 0) }, tensor.ErrValue, "tensor: chunk: [2 3]: 0 parts; ask for at least 1"},
		{func() { x.SplitInto(0, -1) }, tensor.ErrValue, "tensor: split: [2 3]: -1 parts; ask for at least 1"},
		{func() { x.Repeat(2) }, tensor.ErrShape, "tensor: repeat: [2 3]: 1 count for 2 axes; give one for each axis, 1 where nothing repeats"},
		{func() { x.Repeat(1, -2) }, tensor.ErrValue, "tensor: repeat: [2 3]: count -2 of axis 1 is negative"},
		{func() { tensor.Of(1.).Tril(0) }, tensor.ErrShape, "tensor: tril: [1]: a triangle needs two axes"},
		{func() { x.Flip(1, -1) }, tensor.ErrIndex, "tensor: flip: [2 3]: axis 1 is named twice"},
		{func() { x.Index("row") }, tensor.ErrIndex,
			"tensor: index: [2 3]: an index is a string; use an int, a tensor.Range such as tensor.All, tensor.Ellipsis, tensor.NewAxis or a tensor"},
		{func() { x.To(nil) }, tensor.ErrValue, "tensor: to: [2 3]: a tensor can't be converted or copied to a <nil>; give a Dtype or a Device"},
		{func() { x.ToSaturating(tensor.Int8) }, tensor.ErrDtype, "tensor: to saturating: int8: only floating-point formats saturate; use To"},
		{func() { tensor.Of(1).Clone().UniformInPlace(0, 1, nil) }, tensor.ErrDtype,
			"tensor: uniform: int64: random fractions need a floating-point dtype; use Randint for integers"},
		{func() { tensor.Ones(1, 2, 3).Multinomial(1, true, nil) }, tensor.ErrShape, "tensor: multinomial: [1 2 3]: weights have one or two axes, these have 3"},
		{func() { x.Multinomial(-1, true, nil) }, tensor.ErrValue, "tensor: multinomial: [2 3]: -1 positions were asked for"},
		{func() { tensor.Stack(0, x, tensor.Zeros(3)) }, tensor.ErrShape,
			"tensor: stack: [2 3] x [3]: tensor 1 has shape [3], tensor 0 has [2 3]; use Cat to join along an existing axis"},
		{func() { x.SplitSizes(1, 1, 1) }, tensor.ErrShape, "tensor: split: [2 3]: sizes [1 1] add up to 2, axis 1 has 3"},
		{func() { x.IndexSelect(1, tensor.Of(3)) }, tensor.ErrIndex, "tensor: index select: [2 3] x [1]: position 3 is out of range for axis 1 of size 3"},
		{func() { x.Embedding(tensor.Of(1.)) }, tensor.ErrDtype,
			"tensor: embedding: [2 3] x [1]: the positions are float32, not integers; convert with To(tensor.Int64)"},
		{func() { x.Gather(0, tensor.Of(1)) }, tensor.ErrShape, "tensor: gather: [2 3] x [1]: the positions have 1 axis, the tensor has 2"},
		{func() { tensor.OneHot(tensor.Of(3), 3) }, tensor.ErrIndex, "tensor: one hot: [1]: id 3 is out of range for 3 classes"},
		{func() { x.TopK(1, 4) }, tensor.ErrValue, "tensor: topk: [2 3]: 4 elements of an axis of size 3"},
		{func() { tensor.Zeros(2, 0).Max(1) }, tensor.ErrShape, "tensor: max: [2 0]: there is no element to choose from"},
		{func() { x.Argmax(0, 1) }, tensor.ErrIndex, "tensor: argmax: [2 3]: more than one axis is named; name one axis, or none for all elements"},
		{func() { tensor.Of(1, 2).Mean() }, tensor.ErrDtype,
			"tensor: mean: int64: the mean of integers is not an integer; convert with To(tensor.Float32)"},
		{func() { tensor.Of(true).Sub(tensor.Of(1)) }, tensor.ErrDtype, "tensor: sub: [1] x [1]: not defined for bool tensors; use Xor, or Not for a mask"},
		{func() { tensor.Of(1, 2).Remainder(tensor.Of(0, 1)) }, tensor.ErrValue,
			"tensor: remainder: [2] x [2]: an integer is divided by 0; convert with To(tensor.Float32) to get an infinity instead"},
		{func() { tensor.Of(1, 2).Pow(tensor.Of(-1)) }, tensor.ErrValue,
			"tensor: pow: [2] x [1]: an integer to a negative power is not an integer; convert with To(tensor.Float32)"},
		{func() { x.MaskedFill(x, 1) }, tensor.ErrDtype,
			"tensor: masked fill: [2 3] x [2 3]: the mask is float32, not a bool tensor; make one with a comparison such as x.Gt(0)"},
		{func() { x.MaskedFill(tensor.Of(true, false), 0) }, tensor.ErrShape,
			"tensor: masked fill: [2 3] x [2]: the mask does not fit: its axis 1 has size 2 and can't be expanded to 3; a mask has the shape of the tensor, or can be expanded to it"},
		{func() { x.MaskedSelect(x) }, tensor.ErrDtype,
			"tensor: masked select: [2 3] x [2 3]: the mask is float32, not a bool tensor; make one with a comparison such as x.Gt(0)"},
		{func() { tensor.Where(x, 1, x) }, tensor.ErrDtype,
			"tensor: where: [2 3] x [] x [2 3]: the condition is float32, not a bool tensor; make one with a comparison such as x.Gt(0)"},
		{func() { x.Clone().SetIndex(tensor.Ones(4), 0) }, tensor.ErrShape,
			"tensor: set index: [2 3] x [4]: the part has shape [3], to which the value can't be expanded; give a value of the part's shape, or a number"},
		{func() { x.Clone().SetIndex(tensor.Ones(4), tensor.Of(true, true)) }, tensor.ErrShape,
			"tensor: set index: [2 3] x [4]: the part has shape [2 3], to which the value can't be expanded; give a value of the part's shape, or a number"},
		{func() { x.Clone().SetIndex(1, 5) }, tensor.ErrIndex, "tensor: set index: [2 3] x []: index 5 is out of range for axis 0 of size 2"},
		{func() { x.Clone().SetIndex(1, tensor.Of(5)) }, tensor.ErrIndex, "tensor: set index: [2 3] x []: position 5 is out of range for axis 0 of size 2"},
		{func() { x.Clone().SetIndex(1, 0, 0, 0) }, tensor.ErrIndex, "tensor: set index: [2 3] x []: 3 indices for 2 axes"},
		{func() { tensor.Ones(2).RequireGrad().SetIndex(1, 0) }, tensor.ErrWrite,
			"tensor: set index: [2] x []: the tensor is a view of a leaf of shape [2] that requires a gradient, which a recorded write would turn into a result; write inside tensor.NoGrad, or to a Clone()"},
		{func() { x.Sum(tensor.Biased) }, tensor.ErrIndex, "tensor: sum: [2 3]: tensor.Biased is not an axis: it is given to Var and Std, after their axes"},
		{func() { x.Mean(0, tensor.Biased) }, tensor.ErrIndex, "tensor: mean: [2 3]: tensor.Biased is not an axis: it is given to Var and Std, after their axes"},
		{func() { x.Softmax(tensor.KeepDim) }, tensor.ErrIndex, "tensor: softmax: [2 3]: tensor.KeepDim is not an axis: it is given to reductions, after their axes"},
		{func() { x.Squeeze(tensor.KeepDim) }, tensor.ErrIndex, "tensor: squeeze: [2 3]: tensor.KeepDim is not an axis: it is given to reductions, after their axes"},
		{func() { x.MaxAt(0, tensor.Biased) }, tensor.ErrValue, "tensor: max at: [2 3]: tensor.Biased follows the axis; only tensor.KeepDim may; one axis is reduced at a time"},
		{func() { x.MinAt(0, 1) }, tensor.ErrValue, "tensor: min at: [2 3]: 1 follows the axis; only tensor.KeepDim may; one axis is reduced at a time"},
		{func() { x.Add((*tensor.Tensor)(nil)) }, tensor.ErrValue, "tensor: add: [2 3] x nil: the right operand is a nil tensor; look where it should have been set"},
		{func() { (*tensor.Tensor)(nil).Add(x) }, tensor.ErrValue, "tensor: add: nil x [2 3]: the left operand is a nil tensor; look where it should have been set"},
		{func() { x.Matmul(new(tensor.Tensor)) }, tensor.ErrValue,
			"tensor: matmul: [2 3] x []: the right operand is the zero Tensor, which has no memory; make one with a function such as tensor.Zeros or tensor.Of"},
		{func() { tensor.Of(1).MaskedFill(tensor.Of(true), math.Inf(-1)) }, tensor.ErrValue,
			"tensor: masked fill: [1] x [1]: a int64 tensor can't hold -Inf; convert with To(tensor.Float32)"},
		{func() { x.To(tensor.Float8E4M3).Add(x) }, tensor.ErrDtype,
			"tensor: add: float8_e4m3fn x float32: 8-bit floats have no common dtype with others; convert one with To"},
		{func() { x.Index(tensor.Of(true, true, true)) }, tensor.ErrShape,
			"tensor: index: [2 3]: a mask of shape [3] stands for axes of sizes [2]; a mask has the sizes of the axes that it picks from"},
		{func() { tensor.With(tensor.Int64).Rand(2) }, tensor.ErrDtype,
			"tensor: rand: int64: random fractions need a floating-point dtype; use Randint for integers"},
		{func() { tensor.TruncNormal(0, 1, 3, 2, 4) }, tensor.ErrValue,
			"tensor: trunc normal: [4]: bounds [3, 2] and standard deviation 1; give low ≤ high and std > 0"},
		{func() { tensor.Finfo(tensor.Int8) }, tensor.ErrDtype, "tensor: finfo: int8: not a floating-point format; use Iinfo for integers"},
	} {
		err := tensor.Try(c.run)
		if err == nil || err.Error() != c.want || !errors.Is(err, c.kind) {
			t.Errorf("got  %v\nwant %s (%v)", err, c.want, c.kind)
		}
	}
}

// TestFLOPs counts by hand.
func TestFLOPs(t *testing.T) {
	x, w := tensor.Ones(4, 6), tensor.Ones(6, 5)
	for _, c := range []struct {
		name string
		run  func()
		want int
	}{
		{"x + x", func() { x.Add(x) }, 24},
		{"x + row", func() { x.Add(tensor.Ones(6)) }, 24},
		{"exp", func() { x.Exp() }, 24},
		{"relu", func() { x.ReLU() }, 24},
		{"gelu", func() { x.GELU() }, 20 * 24},
		{"softmax", func() { x.Softmax(1) }, 5 * 24},
		{"sum", func() { x.Sum() }, 24},
		{"var", func() { x.Var(0) }, 4*24 + 2*6},
		{"norm", func() { x.Norm() }, 2*24 + 1},
		{"matmul", func() { x.Matmul(w) }, 2 * 4 * 6 * 5},
		{"views and copies", func() { x.T().Contiguous().View(-1).Clone() }, 0},
		{"comparison", func() { x.Gt(0) }, 0},
		{"embedding", func() { x.Embedding(tensor.Of(1, 2)) }, 0},
	} {
		flops := 0
		stop := tensor.Trace(func(e tensor.Event) { flops += e.FLOPs })
		c.run()
		stop()
		if flops != c.want {
			t.Errorf("%s: %d FLOPs, want %d", c.name, flops, c.want)
		}
	}
}
