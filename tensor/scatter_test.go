package tensor

import (
	"errors"
	"fmt"
	"testing"
)

// Worked out by hand. A value that another one overwrote has no gradient.
func TestScatter(t *testing.T) {
	x := With(Float64).Of([]float64{1, 2, 3}, []float64{4, 5, 6}).RequireGrad()
	v := With(Float64).Of([]float64{10, 20}, []float64{30, 40}).RequireGrad()
	at := [][]int{{2, 0}, {1, 1}}
	for _, c := range []struct {
		name             string
		y                *Tensor
		want, gradX, grV []float64
	}{
		{"scatter", x.Scatter(1, at, v), []float64{20, 2, 10, 4, 40, 6}, []float64{0, 2, 0, 4, 0, 6}, []float64{3, 1, 0, 5}},
		{"scatter a number", x.Scatter(1, at, 7), []float64{7, 2, 7, 4, 7, 6}, []float64{0, 2, 0, 4, 0, 6}, nil},
		{"scatter add", x.ScatterAdd(1, at, v), []float64{21, 2, 13, 4, 75, 6}, []float64{1, 2, 3, 4, 5, 6}, []float64{3, 1, 5, 5}},
		{"index add", x.IndexAdd(1, []int{2, 2}, v), []float64{1, 2, 33, 4, 5, 76}, []float64{1, 2, 3, 4, 5, 6}, []float64{3, 3, 6, 6}},
	} {
		if !AllClose(c.y.Reshape(-1), With(Float64).Of(c.want), 0, 0) {
			t.Errorf("%s gives %v, want %v", c.name, c.y, c.want)
		}
		x.ZeroGrad()
		v.ZeroGrad()
		c.y.Backward(WithGrad(With(Float64).Of([]float64{1, 2, 3}, []float64{4, 5, 6})))
		if !AllClose(x.Grad().Reshape(-1), With(Float64).Of(c.gradX), 0, 0) {
			t.Errorf("%s: gradient of x is %v, want %v", c.name, x.Grad(), c.gradX)
		}
		if c.grV != nil && !AllClose(v.Grad().Reshape(-1), With(Float64).Of(c.grV), 0, 0) {
			t.Errorf("%s: gradient of the values is %v, want %v", c.name, v.Grad(), c.grV)
		}
	}
}

func TestScatterRefuses(t *testing.T) {
	x := Zeros(2, 3)
	for name, c := range map[string]struct {
		f    func()
		kind error
	}{
		"out of range":       {func() { x.Scatter(1, [][]int{{3}}, 1) }, ErrIndex},
		"negative":           {func() { x.ScatterAdd(1, [][]int{{-1}}, 1) }, ErrIndex},
		"ranks":              {func() { x.Scatter(1, []int{0}, 1) }, ErrShape},
		"too few values":     {func() { x.Scatter(1, [][]int{{0, 1}}, Ones(1, 1)) }, ErrShape},
		"another dtype":      {func() { x.ScatterAdd(1, [][]int{{0}}, Of([]int{1})) }, ErrShape},
		"floats into ints":   {func() { Of(1, 2).Scatter(0, []int{0}, 1.5) }, ErrDtype},
		"no positions":       {func() { x.Gather(0, "a") }, ErrValue},
		"index add: a shape": {func() { x.IndexAdd(0, []int{0, 1}, Ones(3, 3)) }, ErrShape},
	} {
		err := Try(c.f)
		if name == "another dtype" { // dtype is looked at first
			c.kind = ErrDtype
		}
		if !errors.Is(err, c.kind) {
			t.Errorf("%s: got %v, want %v", name, err, c.kind)
		}
	}
}

// TestPositionsAsSlices: what takes positions takes an []int as it does a tensor.
func TestPositionsAsSlices(t *testing.T) {
	x := Arange(6).View(2, 3)
	for name, pair := range map[string][2]*Tensor{
		"gather":       {x.Gather(1, [][]int{{2}, {0}}), x.Gather(1, Of([]int{2}, []int{0}))},
		"index select": {x.IndexSelect(1, []int{2, 0}), x.IndexSelect(1, Of(2, 0))},
		"none":         {x.IndexSelect(1, []int{}), x.IndexSelect(1, With(Int64).Zeros(0))},
		"embedding":    {x.Embedding([]int{1, 1}), x.Embedding(Of(1, 1))},
		"index":        {x.Index(All, []int{2, 0}), x.Index(All, Of(2, 0))},
		"mask":         {x.Index([]bool{false, true}), x.Index(Of(false, true))},
		"set index":    {x.Clone().SetIndex(9, []int{1}), x.Clone().SetIndex(9, Of([]int{1}))},
	} {
		if !Equal(pair[0], pair[1]) {
			t.Errorf("%s: %v and %v", name, pair[0], pair[1])
		}
	}
}

func ExampleTensor_Scatter() {
	fmt.Println(Zeros(2, 3).Scatter(1, [][]int{{2}, {0}}, 1))
	// Output:
	// tensor([[0., 0., 1.],
	//         [1., 0., 0.]])
}
