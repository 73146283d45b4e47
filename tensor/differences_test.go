package tensor_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/nn"
	. "github.com/lectern-go/lectern/tensor"
)

// TestDifferences runs the rows of docs/pytorch.md.
func TestDifferences(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	gradient := func(f func(x *Tensor) *Tensor, at ...float64) string {
		x := With(Float64).Of(at).RequireGrad()
		f(x).Sum().Backward()
		return "`" + fmt.Sprint(x.Grad().Floats()) + "`"
	}
	values := func(x *Tensor) string {
		if x.Dim() == 0 {
			return fmt.Sprintf("%v `%v`", x.Dtype(), x.Item())
		}
		return fmt.Sprintf("%v `%v`", x.Dtype(), x.Floats())
	}
	bools := Of(true, false)
	rows := map[string]func() string{
		"gradient of `x.Clamp(-1, 1)` at -1, 0, 1, 2":   func() string { return gradient(func(x *Tensor) *Tensor { return x.Clamp(-1, 1) }, -1, 0, 1, 2) },
		"gradient of `x.LogSumExp()` at -Inf, -Inf":     func() string { return gradient(func(x *Tensor) *Tensor { return x.LogSumExp() }, -inf, -inf) },
		"gradient of `x.LogSumExp()` at +Inf, 1":        func() string { return gradient(func(x *Tensor) *Tensor { return x.LogSumExp() }, inf, 1) },
		"gradient of `x.Logaddexp(x)` at -Inf, +Inf, 1": func() string { return gradient(func(x *Tensor) *Tensor { return x.Logaddexp(x) }, -inf, inf, 1) },
		"gradient of `x.Maximum(Of(1., NaN))` at NaN, 1": func() string {
			return gradient(func(x *Tensor) *Tensor { return x.Maximum(Of(1., nan)) }, nan, 1)
		},
		"gradient of `Of(5.).ScatterReduce(0, []int{0, 0}, x, ScatterMax.WithoutSelf())` at 5, 5": func() string {
			return gradient(func(x *Tensor) *Tensor {
				return With(Float64).Of(5.).ScatterReduce(0, []int{0, 0}, x, ScatterMax.WithoutSelf())
			}, 5, 5)
		},
		"`Of(1, 2).ScatterReduce(0, []int{0}, Of(4), ScatterMean)`": func() string { return values(Of(1, 2).ScatterReduce(0, []int{0}, Of(4), ScatterMean)) },
		"`Of(-Inf).SiLU()`": func() string { return values(Of(-inf).SiLU().Squeeze()) },
		"gradient of a cross-entropy whose second row, `[NaN 1]`, is ignored": func() string {
			return gradient(func(x *Tensor) *Tensor { return x.View(2, 2).CrossEntropy(1, Of(0, -1), -1) }, 1, 1, nan, 1)
		},
		"`Of(1, 3).Lerp(Of(2, 4), 0.5)`":              func() string { return values(Of(1, 3).Lerp(Of(2, 4), 0.5)) },
		"`Of(1, 3).Addcmul(Of(2, 4), Of(2, 4), 0.5)`": func() string { return values(Of(1, 3).Addcmul(Of(2, 4), Of(2, 4), 0.5)) },
		"`Of(-0., -Inf).Pow(-0.5)`, gradient": func() string {
			half := func(x *Tensor) *Tensor { return x.Pow(-0.5) }
			return fmt.Sprintf("`%v`, %s", half(With(Float64).Of(math.Copysign(0, -1), -inf)).Floats(), gradient(half, math.Copysign(0, -1), -inf))
		},
		"`Of(-Inf, 0, Inf, NaN).Searchsorted(Of(NaN, Inf), false)`":                func() string { return values(Of(-inf, 0, inf, nan).Searchsorted(Of(nan, inf), false)) },
		"`Of(1., 2, 3).Searchsorted(Of(Inf, NaN), true)` with `Inf, NaN` appended": func() string { return values(Of(1., 2, 3, inf, nan).Searchsorted(Of(inf, nan), true)) },
		"strides of `Ones(2, 3).T().Add(Ones(3, 2))`": func() string {
			return "`" + fmt.Sprint(Ones(2, 3).T().Add(Ones(3, 2)).Strides()) + "`"
		},
		"`Of(true, false).Square()`":                       func() string { return values(bools.Square()) },
		"`Of([]bool{true, true}).Matmul(Of(true, false))`": func() string { return values(Of([]bool{true, true}).Matmul(bools)) },
		"`Of(1, 200).To(Uint8).Lt(-1)`":                    func() string { return values(Of(1, 200).To(Uint8).Lt(-1)) },
		"`Of(1, 200).To(Uint8).Any()`":                     func() string { return values(Of(1, 200).To(Uint8).Any()) },
		"`Of(256.).To(BFloat16).Add(1.003)`":               func() string { return values(Of(256.).To(BFloat16).Add(1.003).Squeeze()) },
		"`Zeros(3).SetIndex(Ones(1), 0)`": func() string {
			x := Zeros(3)
			x.SetIndex(Ones(1), 0)
			return values(x)
		},
		"`Of(1000., -1000).To(Float8E4M3)`":              func() string { return values(Of(1000., -1000).To(Float8E4M3)) },
		"`Cat(0, Zeros(0), Zeros(2, 2))`":                func() string { return values(Cat(0, Zeros(0), Zeros(2, 2))) },
		"`nn.MSE(Ones(2, 1), Zeros(3))`":                 func() string { return values(nn.MSE(Ones(2, 1), Zeros(3))) },
		"`nn.KLDiv(Of(-Inf, 0), Of(0., 1), nn.SumLoss)`": func() string { return values(nn.KLDiv(Of(-inf, 0), Of(0., 1), nn.SumLoss)) },
		"`AllClose(Of(NaN), Of(NaN), 0, 0)`":             func() string { return fmt.Sprintf("`%v`", AllClose(Of(nan), Of(nan), 0, 0)) },
		"positions of `Ones(20).Sort(0, false)`": func() string {
			if _, from := Ones(20).Sort(0, false); slices.IsSorted(from.Ints()) {
				return "in order"
			}
			return "out of order"
		},
	}
	text, err := os.ReadFile("../docs/pytorch.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| expression") {
			continue
		}
		name, want := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])
		f := rows[name]
		if f == nil {
			t.Errorf("docs/pytorch.md has a row %s, which nothing here runs", name)
			continue
		}
		delete(rows, name)
		var got string
		if err := Try(func() { got = f() }); err != nil {
			got = "refused"
		}
		if got != want {
			t.Errorf("%s: got %s, docs/pytorch.md says %s", name, got, want)
		}
	}
	for name := range rows {
		t.Errorf("docs/pytorch.md has no row %s", name)
	}
}
