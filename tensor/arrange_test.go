package tensor

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestArrangements(t *testing.T) {
	x := Arange(6).View(2, 3)
	grids := Meshgrid(Of(1, 2), Of(3, 4, 5))
	for name, c := range map[string][2]*Tensor{
		"roll":           {x.Roll(1, 1), Of([]int{2, 0, 1}, []int{5, 3, 4})},
		"roll back":      {x.Roll(-1, -4), Of([]int{1, 2, 0}, []int{4, 5, 3})},
		"roll by none":   {x.Roll(0, 2), x},
		"pad":            {x.Pad(1, 1, 2, 7), Of([]int{7, 0, 1, 2, 7, 7}, []int{7, 3, 4, 5, 7, 7})},
		"movedim":        {Zeros(2, 3, 4).Movedim(0, -1), Zeros(3, 4, 2)},
		"movedim back":   {x.View(1, 2, 3).Movedim(2, 0), x.T().Unsqueeze(1)},
		"unflatten":      {x.Unflatten(1, 3, -1), x.View(2, 3, 1)},
		"grid of rows":   {grids[0], Of([]int{1, 1, 1}, []int{2, 2, 2})},
		"grid of column": {grids[1], Of([]int{3, 4, 5}, []int{3, 4, 5})},
		"outer":          {Of(1, 2).Outer(Of(3, 4)), Of([]int{3, 4}, []int{6, 8})},
		"dot":            {Of(1, 2).Dot(Of(3, 4)), With(Int64).Scalar(11)},
		"mv":             {x.Mv(Of(1, 0, 2)), Of(4, 13)},
		"bmm":            {x.View(2, 1, 3).Bmm(x.View(2, 3, 1)), Of([]int{5}, []int{50}).View(2, 1, 1)},
	} {
		if !Equal(c[0], c[1]) || c[0].dtype != c[1].dtype {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
	if !SameStorage(x, x.Movedim(0, 1)) || !SameStorage(x, x.Unflatten(1, 3, 1)) {
		t.Error("a view is a copy")
	}
	for name, f := range map[string]func(){
		"dot of matrices":          func() { x.Dot(x) },
		"mv of vectors":            func() { Of(1, 2).Mv(Of(1, 2)) },
		"bmm of batches":           func() { Zeros(2, 1, 3).Bmm(Zeros(1, 3, 1)) },
		"outer of a matrix":        func() { x.Outer(Of(1)) },
		"meshgrid of a matrix":     func() { Meshgrid(x) },
		"unflatten to a wrong one": func() { x.Unflatten(1, 2, 2) },
	} {
		if err := Try(f); !errors.Is(err, ErrShape) {
			t.Errorf("%s: got %v, want ErrShape", name, err)
		}
	}
	if err := Try(func() { x.Pad(0, -1, 0, 0) }); !errors.Is(err, ErrValue) {
		t.Errorf("pad by less than nothing: got %v", err)
	}
}

func ExampleTensor_Roll() {
	fmt.Println(Of(1, 2, 3, 4).Roll(0, 1))
	// Output: tensor([4, 1, 2, 3])
}

func ExampleTensor_Outer() {
	fmt.Println(Of(1, 2).Outer(Of(3, 4, 5)))
	// Output:
	// tensor([[ 3,  4,  5],
	//         [ 6,  8, 10]])
}

// TestMadeOfOthers: what operations that are made of others refuse, and what they share.
func TestMadeOfOthers(t *testing.T) {
	m, v := Of([]float64{1, 2}, []float64{3, 4}), Of(1., 2, 3)
	for what, f := range map[string]func(){
		"p-norm: [2 2]: p is -1":                           func() { m.PNorm(-1) },
		"the norm of integers":                             func() { Of(1, 2).PNorm(3) },
		"diag: [2 2]: not a vector; Diagonal":              func() { m.Diag() },
		"trace: [3]: not a matrix":                         func() { v.Trace() },
		"repeat interleave: [3]: the count -1 is negative": func() { v.RepeatInterleave(0, -1) },
		"repeat interleave: [3]: there is no axis 1":       func() { v.RepeatInterleave(1, 2) },
	} {
		if err := Try(f); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("got %v, want an error that says %q", err, what)
		}
	}
	v.RepeatInterleave(0, 1).SetAt(9, 0)
	v.Diag().SetAt(9, 0, 0)
	if v.At(0) != 1 {
		t.Error("a copy shares memory with what it was made of")
	}
}
