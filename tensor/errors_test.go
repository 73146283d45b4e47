package tensor_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/tensor"
)

func TestMessages(t *testing.T) {
	x := tensor.Arange(6).View(2, 3)
	tests := []struct {
		name string
		f    func()
		kind error
		want string
	}{
		{"inner sizes", func() { tensor.Zeros(4, 8, 16, 32).Matmul(tensor.Zeros(31, 2)) }, tensor.ErrShape,
			"tensor: matmul: [4 8 16 32] x [31 2]: inner sizes differ, 32 (axis 3 of left) and 31 (axis 0 of right)"},
		{"a transpose would do", func() { tensor.Zeros(2, 3).Matmul(tensor.Zeros(4, 3)) }, tensor.ErrShape,
			"tensor: matmul: [2 3] x [4 3]: inner sizes differ, 3 (axis 1 of left) and 4 (axis 0 of right); the right operand fits when transposed: use T()"},
		{"mixed dtypes", func() { tensor.Zeros(2, 3).Matmul(x.T()) }, tensor.ErrDtype,
			"tensor: matmul: float32 x int64: both operands must have the same dtype; convert one with To"},
		{"view of a transpose", func() { x.T().View(2, 3) }, tensor.ErrView,
			"tensor: view: [3 2] (strides [1 3]): view size is not compatible with input tensor's size and stride: shape [3 2] strides [1 3] " +
				"cannot become [2 3] without copying (at least one axis would span two separate pieces of memory); use Contiguous().View(2, 3) or Reshape(2, 3)"},
		{"view of another size", func() { x.View(4, 2) }, tensor.ErrShape, "tensor: view: [2 3]: shape [2 3] has 6 elements, [4 2] has 8"},
		{"unknown size", func() { x.View(4, -1) }, tensor.ErrShape, "tensor: view: [2 3]: shape [2 3] has 6 elements, [4 -1] needs a multiple of 4"},
		{"broadcast", func() { x.Add(tensor.Zeros(2)) }, tensor.ErrShape,
			"tensor: add: [2 3] x [2]: sizes differ, 3 (axis 1 of left) and 2 (axis 0 of right); axes are matched from the last one back; each pair must be equal or contain a 1"},
		{"index", func() { x.Index(2) }, tensor.ErrIndex, "tensor: select: [2 3]: index 2 is out of range for axis 0 of size 2"},
		{"axis", func() { x.Sum(2) }, tensor.ErrIndex, "tensor: sum: [2 3]: there is no axis 2 in a tensor of 2 axes"},
		{"ragged rows", func() { tensor.Of([]float64{1, 2}, []float64{3}) }, tensor.ErrShape,
			"tensor: of: row [1] has 1 value, the rows before it have 2; make all rows equally long"},
		{"a slice among numbers", func() { tensor.Of(1, []int{2}) }, tensor.ErrShape,
			"tensor: of: the value at [1] is a slice where its neighbors are numbers; make all rows equally deep"},
		{"not a number", func() { tensor.Of("one") }, tensor.ErrValue, "tensor: of: the value at [0] is a string, not a number; give numbers, or slices of them"},
		{"no operand", func() { x.Add(nil) }, tensor.ErrValue, "tensor: add: the operand is nil; give a *tensor.Tensor or a number"},
		{"operand", func() { x.Add("one") }, tensor.ErrValue, "tensor: add: the operand is a string; give a *tensor.Tensor or a number"},
		{"write to an expanded view", func() { tensor.Zeros(3, 1).Expand(3, 4).AddInPlace(1) }, tensor.ErrWrite,
			"tensor: add in place: [3 4] (strides [1 0]): several positions share one element of memory, so a write has no clear meaning; write to a Clone()"},
		{"float into integers", func() { x.AddInPlace(0.5) }, tensor.ErrDtype,
			"tensor: add in place: int64 x float64: the result is float32, which a int64 tensor can't hold; convert t with To first"},
		{"negative size", func() { tensor.Zeros(2, -1) }, tensor.ErrShape, "tensor: new: [2 -1]: size -1 of axis 1 is negative"},
		{"absurd size", func() { tensor.Empty(1<<40, 1<<40) }, tensor.ErrShape, "tensor: new: [1099511627776 1099511627776]: there is no memory for so many elements; check the sizes"},
		{"mean of integers", func() { x.Mean() }, tensor.ErrDtype, "tensor: mean: int64: the mean of integers is not an integer; convert with To(tensor.Float32)"},
		{"not one element", func() { x.Item() }, tensor.ErrShape, "tensor: item: [2 3]: the tensor has 6 elements, not one; pick one with At, or reduce with Sum or Mean"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tensor.Try(tt.f)
			if err == nil {
				t.Fatal("no panic")
			}
			if err.Error() != tt.want {
				t.Errorf("got\n%s\nwant\n%s", err, tt.want)
			}
			if !errors.Is(err, tt.kind) {
				t.Errorf("kind %v, want %v", errors.Unwrap(err), tt.kind)
			}
		})
	}
}

func TestPanicPointsAtTheCaller(t *testing.T) {
	var line int
	defer func() {
		err, ok := recover().(*tensor.Error)
		want := fmt.Sprintf("errors_test.go:%d", line)
		if !ok || err.Position != want || !strings.HasSuffix(err.Error(), "(at "+want+")") {
			t.Errorf("panicked with %v, want position %s", err, want)
		}
	}()
	_, _, here, _ := runtime.Caller(0)
	line = here + 2
	tensor.Zeros(2).Matmul(tensor.Zeros(3))
}

func TestTryLetsOtherPanicsPass(t *testing.T) {
	defer func() {
		if r := recover(); r != "mine" {
			t.Errorf("recovered %v, want the panic itself", r)
		}
	}()
	tensor.Try(func() { panic("mine") })
	t.Error("Try swallowed a panic that is not ours")
}
