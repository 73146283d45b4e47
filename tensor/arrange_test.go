package tensor

import (
	"errors"
	"fmt"
	"math"
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

// TestPNorms compares the norms with their definition, and their gradients with x|x|ᵖ⁻²/‖x‖ᵖ⁻¹, which is 0 at 0.
func TestPNorms(t *testing.T) {
	values := []float64{3, -4, 0, 0.5, -2, 1}
	for _, p := range []float64{0, 0.5, 1, 2, 3, math.Inf(1)} {
		x := With(Float64).Of(values).View(2, 3).RequireGrad()
		got := x.PNorm(p, 1)
		for row := range 2 {
			norm, count := 0.0, 0.0
			for _, v := range values[3*row : 3*row+3] {
				if norm += math.Pow(math.Abs(v), p); v != 0 {
					count++
				}
			}
			switch norm = math.Pow(norm, 1/p); {
			case p == 0:
				norm = count
			case math.IsInf(p, 1):
				norm = []float64{4, 2}[row]
			}
			if off := got.At(row) - norm; math.Abs(off) > 1e-12 {
				t.Errorf("the %g-norm of row %d is %g, want %g", p, row, got.At(row), norm)
			}
			if p == 0 || math.IsInf(p, 1) {
				continue
			}
			slope := Grad(got.Select(0, row), x)[0]
			for i, v := range values[3*row : 3*row+3] {
				want := 0.0
				if v != 0 {
					want = math.Copysign(math.Pow(math.Abs(v)/norm, p-1), v)
				}
				if off := slope.At(row, i) - want; math.Abs(off) > 1e-12 {
					t.Errorf("the slope of the %g-norm at %g is %g, want %g", p, v, slope.At(row, i), want)
				}
			}
		}
	}
}

// TestPNormOfSmallFloats: the powers are beyond float16, and the norm isn't.
func TestPNormOfSmallFloats(t *testing.T) {
	if got := With(Float16).Of(100., 100).PNorm(3); got.Dtype() != Float16 || got.Item() != 126 {
		t.Errorf("got %v %v, want float16 126", got.Dtype(), got.Item())
	}
}

// TestProductHasAllDerivatives: the second derivative of a product by two of its factors is the product of the others,
// whether some are 0 or not.
func TestProductHasAllDerivatives(t *testing.T) {
	for _, values := range [][]float64{{2, 3, 5, 7}, {2, 0, 5, 7}, {2, 0, 5, 0}, {0, 0, 0, 7}} {
		x := With(Float64).Of(values, values).T().RequireGrad() // two columns of factors
		slope := Grad(x.Prod(0).Sum(), x)[0]
		for i := range values {
			curvature := Grad(slope.Select(0, i).Sum(), x)[0]
			for j := range values {
				want := 1.0
				for k, v := range values {
					if k != i && k != j {
						want *= v
					}
				}
				if i == j {
					want = 0
				}
				if got := curvature.Select(0, j); !AllClose(got, With(Float64).Of(want, want), 0, 1e-12) {
					t.Errorf("of %g by factors %d and %d: %v, want %g", values, i, j, got, want)
				}
			}
		}
	}
}
