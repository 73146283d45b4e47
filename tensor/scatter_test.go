package tensor

import (
	"errors"
	"fmt"
	"math"
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

// TestScatterReduce folds one value after the other, in every dtype: those that a position gets, with its element or
// without, and no other element changes.
func TestScatterReduce(t *testing.T) {
	at := []int{3, 0, 3, 1, 3, 0}
	for _, d := range Dtypes() {
		base, v := Of(1, 0, 1, 1).To(d), Of(1, 1, 0, 0, 1, 1).To(d)
		if d != Bool {
			base, v = Of(2, 5, 3, 1).To(d), Of(4, 1, 7, 0, 2, 6).To(d)
		}
		for name, c := range map[string]struct {
			rule ScatterRule
			fold func(a, b float64) float64
		}{
			"sum": {ScatterSum, func(a, b float64) float64 { return a + b }}, "mean": {ScatterMean, func(a, b float64) float64 { return a + b }},
			"product": {ScatterProd, func(a, b float64) float64 { return a * b }},
			"max":     {ScatterMax, func(a, b float64) float64 { return max(a, b) }}, "min": {ScatterMin, func(a, b float64) float64 { return min(a, b) }},
		} {
			for _, self := range []bool{true, false} {
				if name == "mean" && !d.IsFloat() {
					continue
				}
				rule, want, seen := c.rule, base.Floats(), base.Floats()
				for i := range seen {
					seen[i] = 1
				}
				if !self {
					rule = rule.WithoutSelf()
				}
				for i, p := range at {
					if !self && seen[p] == 1 {
						want[p], seen[p] = v.At(i), 2
						continue
					}
					want[p], seen[p] = c.fold(want[p], v.At(i)), seen[p]+1
				}
				for i := range want {
					if n := seen[i]; name == "mean" && n > 1 {
						if !self {
							n--
						}
						want[i] /= n
					}
				}
				checkFast(t, fmt.Sprintf("%s of %s, with itself: %v", name, d, self), base.ScatterReduce(0, at, v, rule), func(i int) float64 {
					if d == Bool {
						return min(want[i], 1)
					}
					return d.Round(want[i])
				})
			}
		}
	}
	// The largest and smallest integers are numbers like others.
	ends := Of([]int64{math.MinInt64, math.MaxInt64})
	for i, rule := range []ScatterRule{ScatterMax, ScatterMin} {
		got := Of(5, 5).ScatterReduce(0, []int{0, 0}, ends.Select(0, i).Expand(2), rule.WithoutSelf())
		if got.AtInt(0) != ends.AtInt(i) || got.AtInt(1) != 5 {
			t.Errorf("rule %d of %d alone gives %v", rule, ends.AtInt(i), got)
		}
	}
	wantTensor(t, "a number", With(Int64).Scalar(3).ScatterReduce(0, With(Int64).Scalar(0), 5, ScatterMax), "int64[][5]")
	wantTensor(t, "NaN", Of(3., 1).ScatterReduce(0, []int{0}, math.NaN(), ScatterMin), "float32[2][NaN 1]")

	base := Of(1., 2, 3).RequireGrad() // positions that change afterwards are those that were
	places := Of(0, 2)
	largest := base.ScatterReduce(0, places, Of(5., 1), ScatterMax)
	places.SetAt(1, 0)
	largest.Sum().Backward()
	wantTensor(t, "positions that change", base.Grad(), "float32[3][0 1 1]")

	wantError(t, "no rule", ErrValue, "there is no rule 9", func() { Of(3.).ScatterReduce(0, []int{0}, 1, 9) })
	x := With(Float64).Of(1., 2).RequireGrad()
	y := x.ScatterReduce(0, []int{0, 0}, x.Mul(0), ScatterProd)
	wantError(t, "several zeros, twice", ErrGrad, "a position has the product of several zeros", func() { Grad(y.Sum(), x) })
	y.Sum().Backward()
	wantTensor(t, "several zeros, once", x.Grad(), "float64[2][0 1]")
}

func ExampleTensor_ScatterReduce() {
	scores, team := Of(3., 9, 4, 7), []int{0, 1, 0, 1}
	fmt.Println(Zeros(2).ScatterReduce(0, team, scores, ScatterMax))
	fmt.Println(Zeros(2).ScatterReduce(0, team, scores, ScatterMean.WithoutSelf()))
	// Output:
	// tensor([4., 9.])
	// tensor([3.5000, 8.0000])
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
