package gradcheck

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/einops"
	"github.com/lectern-go/lectern/internal/elementwise"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/tensor"
)

// Special points are those where a formula changes its branch, divides by
// something that may be 0, or meets ties, infinities or nothing at all. A function
// that is smooth there must have the derivatives of finite differences, whatever
// branches compute it; one that has a corner has the gradient that is stated.

// special is one function at one such point.
type special struct {
	of string // "Tensor.Abs", "nn.MSE": see publicFunctions
	at string
	f  Func
	in []*tensor.Tensor

	want  []float64 // at a corner or an infinity: the gradient of the sum, of all inputs one behind the other
	first bool      // there is no second derivative
}

var (
	inf = math.Inf(1)
	nan = math.NaN()
)

// all64 makes a float64 vector.
func all64(values ...float64) *tensor.Tensor { return tensor.With(tensor.Float64).Of(values) }

// specialsOf returns the points of a row of the table of elementwise operations, for f.
func specialsOf(row *elementwise.Op, of string, f Func) (all []special) {
	add := func(p elementwise.Point, want []float64) {
		in := make([]*tensor.Tensor, len(p))
		for i, v := range p {
			in[i] = all64(v)
		}
		all = append(all, special{of: of, at: fmt.Sprint([]float64(p)), f: f, in: in, want: want})
	}
	for _, p := range row.Smooth {
		add(p, nil)
	}
	for _, c := range row.Corners {
		add(c.At, c.Want)
	}
	return all
}

// specials returns the table.
func specials() []special {
	type T = *tensor.Tensor
	var all []special
	add := func(s special) { all = append(all, s) }

	// Functions of one number, at each point by itself: a large neighbor would hide a small error.
	each := func(of string, f func(T) T, points ...float64) {
		for _, p := range points {
			add(special{of: of, at: fmt.Sprint(p), f: func(in []T) T { return f(in[0]) }, in: ins(all64(p))})
		}
	}
	corner := func(of string, f func(T) T, at, want float64) {
		add(special{of: of, at: fmt.Sprint(at), f: func(in []T) T { return f(in[0]) }, in: ins(all64(at)), want: []float64{want}})
	}
	for i := range elementwise.Table {
		row := &elementwise.Table[i]
		all = append(all, specialsOf(row, "Tensor."+row.Method, elementwise.Func[T](row))...)
	}
	// Other names of them, and functions with the same points.
	for _, like := range []struct {
		of  string
		f   func(T) T
		row string
	}{
		{"Tensor.Clone", T.Clone, "neg"}, {"Tensor.Contiguous", T.Contiguous, "neg"}, {"nn.Softplus", nn.Softplus, "softplus"}, {"nn.ReLU.Forward", nn.ReLU{}.Forward, "relu"},
		{"nn.SiLU.Forward", nn.SiLU{}.Forward, "silu"}, {"nn.GELU.Forward", nn.GELU{}.Forward, "gelu"}, {"nn.Tanh.Forward", nn.Tanh{}.Forward, "tanh"},
		{"nn.Sigmoid.Forward", nn.Sigmoid{}.Forward, "sigmoid"},
	} {
		all = append(all, specialsOf(elementwise.Find(like.row), like.of, func(in []T) T { return like.f(in[0]) })...)
	}
	clamp := func(x T) T { return x.Clamp(-1, 1) }
	each("Tensor.Clamp", clamp, 0, 0.999, 1.001, -1.001)
	corner("Tensor.Clamp", clamp, 1, 1)
	corner("Tensor.Clamp", clamp, -1, 1)
	// Of two.
	two := func(of string, f func(T, any) T, points ...[2]float64) {
		for _, p := range points {
			add(special{of: of, at: fmt.Sprint(p), f: func(in []T) T { return f(in[0], in[1]) }, in: ins(all64(p[0]), all64(p[1]))})
		}
	}
	cornerOfTwo := func(of string, f func(T, any) T, a, b, da, db float64) {
		add(special{of: of, at: fmt.Sprint(a, " and ", b), f: func(in []T) T { return f(in[0], in[1]) }, in: ins(all64(a), all64(b)), want: []float64{da, db}})
	}
	for at, values := range map[string][2]T{
		"a value of 0": {all64(2, 3), all64(0, 5, 7)}, "an element of 0": {all64(0, 3), all64(4, 5, 7)}, "zeros apart": {all64(0, 3), all64(4, 5, 0)},
	} {
		add(special{of: "Tensor.ScatterReduce", at: at, f: func(in []T) T { return in[0].ScatterReduce(0, []int{0, 0, 1}, in[1], tensor.ScatterProd) }, in: ins(values[0], values[1])})
	}
	for _, p := range [][3]float64{{0, 0, 0}, {1, 3, 0.5}, {1, 3, -0.5}, {-2, 5, 0}, {-2, 5, 1}, {2, 2, 3}} {
		for of, f := range map[string]func(in []T) T{
			"Tensor.Lerp":    func(in []T) T { return in[0].Lerp(in[1], in[2]) },
			"Tensor.Addcmul": func(in []T) T { return in[0].Addcmul(in[1], in[2], 2) },
			"Tensor.Addcdiv": func(in []T) T { return in[0].Addcdiv(in[2], in[1].Add(7), -2) },
		} {
			add(special{of: of, at: fmt.Sprint(p), f: f, in: ins(all64(p[0]), all64(p[1]), all64(p[2]))})
		}
	}
	add(special{of: "Tensor.Addcdiv", at: "a divisor of 0", f: func(in []T) T { return in[0].Addcdiv(in[1], in[2], 2) }, in: ins(all64(1), all64(1), all64(0)), want: []float64{1, inf, -inf}})
	for _, power := range []float64{0, 1, 2, 3, 4} {
		for _, base := range []float64{0, -1.5, 2} {
			add(special{of: "Tensor.Pow", at: fmt.Sprint(base, " to the number ", power), f: func(in []T) T { return in[0].Pow(power) }, in: ins(all64(base))})
			add(special{of: "Tensor.Pow", at: fmt.Sprint(base, " to the tensor ", power), f: func(in []T) T { return in[0].Pow(all64(power, power)) }, in: ins(all64(base))})
		}
	}
	each("Tensor.Pow", func(x T) T { return tensor.Number(2).Pow(x) }, 0, 1, -1, 30)
	corner("Tensor.Pow", func(x T) T { return tensor.With(tensor.Float64).Scalar(0).Pow(x) }, 2, 0)
	for of, pick := range map[string]float64{"first": 1, "second": -1} {
		add(special{of: "tensor.Where", at: "numbers, choosing the " + of, f: func(in []T) T { return tensor.Where(in[1].Gt(0), in[0], in[2]) },
			in: ins(all64(0), all64(pick), all64(2))})
	}

	// Reductions, at ties, zeros, one element and infinities.
	rows := func(of string, f func(T) T, points map[string]T) {
		for at, x := range points {
			add(special{of: of, at: at, f: func(in []T) T { return f(in[0]) }, in: ins(x)})
		}
	}
	stated := func(of, at string, f func(T) T, x T, want ...float64) {
		add(special{of: of, at: at, f: func(in []T) T { return f(in[0]) }, in: ins(x), want: want})
	}
	plain := map[string]T{"zeros": all64(0, 0, 0), "equals": all64(2, 2, 2), "one element": all64(-3), "a single number": all64(1.5).View()}
	over := func(f func(x T, axes ...int) T) func(T) T { return func(x T) T { return f(x) } }
	rows("Tensor.Sum", over(T.Sum), plain)
	rows("Tensor.Mean", over(T.Mean), plain)
	rows("Tensor.Cumsum", func(x T) T { return x.Cumsum(0) }, plain)
	rows("Tensor.Var", func(x T) T { return x.Var(tensor.Biased) }, plain)
	rows("Tensor.Var", over(T.Var), map[string]T{"zeros": all64(0, 0, 0), "equals": all64(2, 2)})
	stated("Tensor.Var", "one element", over(T.Var), all64(2), nan)
	spread := map[string]T{"a zero among them": all64(0, 1, 5), "near each other": all64(1, 1.001)}
	rows("Tensor.Std", over(T.Std), spread)
	rows("Tensor.Norm", over(T.Norm), map[string]T{"a zero among them": all64(0, 3), "one element": all64(-3)})
	stated("Tensor.Std", "equals", over(T.Std), all64(2, 2, 2), 0, 0, 0)
	stated("Tensor.Std", "one element, biased", func(x T) T { return x.Std(tensor.Biased) }, all64(2), 0)
	stated("Tensor.Std", "one element", over(T.Std), all64(2), nan)
	stated("Tensor.Norm", "zeros", over(T.Norm), all64(0, 0), 0, 0)
	stated("Tensor.Norm", "one zero", over(T.Norm), all64(0), 0)
	factors := map[string]T{"no zero": all64(2, -3, 1.5), "one zero": all64(2, 0, 3, -1), "two": all64(0, 2, 0, 5), "three": all64(0, 0, 0), "one element": all64(0), "a single number": all64(0).View()}
	rows("Tensor.Prod", over(T.Prod), factors)
	rows("Tensor.Prod", func(x T) T { return x.Prod(0, 2) }, map[string]T{"zeros in two of three axes": all64(1, 0, 2, 3, 0, 0, 4, 5).View(2, 2, 2)})
	rows("Tensor.Cumprod", func(x T) T { return x.Cumprod(0) }, factors)
	rows("Tensor.LogSumExp", over(T.LogSumExp), map[string]T{"ties": all64(2, 2, 2), "one element": all64(7), "far apart": all64(1000, 0, -1000), "a single number": all64(3).View()})
	stated("Tensor.LogSumExp", "a masked element", over(T.LogSumExp), all64(1, -inf, 1), 0.5, 0, 0.5)
	stated("Tensor.LogSumExp", "all masked", over(T.LogSumExp), all64(-inf, -inf), 0, 0)
	stated("Tensor.LogSumExp", "one is infinite", over(T.LogSumExp), all64(1, inf, -inf), 0, 1, 0)
	stated("Tensor.LogSumExp", "two are", over(T.LogSumExp), all64(inf, inf, 3), 0.5, 0.5, 0)
	stated("Tensor.LogSumExp", "rows of each kind", func(x T) T { return x.LogSumExp(1) }, all64(inf, 3, -inf, -inf, 0, 0).View(3, 2), 1, 0, 0, 0, 0.5, 0.5)
	rowwise := map[string]T{"ties": all64(2, 2, 2), "one element": all64(7), "far apart": all64(300, 0, -300), "a single number": all64(3).View(), "masked": all64(1, -inf, 2)}
	rows("Tensor.Softmax", func(x T) T { return x.Softmax(-1) }, rowwise)
	rows("Tensor.LogSoftmax", func(x T) T { return x.LogSoftmax(-1).Index(tensor.Ellipsis, tensor.Until(1)) }, map[string]T{"ties": all64(2, 2, 2), "one element": all64(7), "far apart": all64(300, 0, -300), "masked": all64(1, -inf, 2)})
	stated("Tensor.Max", "ties", over(T.Max), all64(3, 1, 3), 0.5, 0, 0.5)
	stated("Tensor.Min", "ties", over(T.Min), all64(1, 3, 1), 0.5, 0, 0.5)
	stated("Tensor.Max", "ties of infinities", over(T.Max), all64(inf, 1, inf), 0.5, 0, 0.5)
	stated("Tensor.Min", "nothing but masked", over(T.Min), all64(-inf, -inf), 0.5, 0.5)
	stated("Tensor.MaxAt", "ties", func(x T) T { v, _ := x.MaxAt(0); return v }, all64(1, 3, 3), 0, 1, 0)
	stated("nn.MaxPool.Forward", "ties", func(x T) T { return (&nn.MaxPool{Kernel: []int{3}}).Forward(x.View(1, 1, 3)) }, all64(1, 3, 3), 0, 1, 0)
	stated("Tensor.MinAt", "ties", func(x T) T { v, _ := x.MinAt(0); return v }, all64(1, 3, 1), 1, 0, 0)
	stated("Tensor.Sort", "ties", func(x T) T { v, _ := x.Sort(0, false); return v.Select(0, 0) }, all64(1, 3, 1), 1, 0, 0)
	stated("Tensor.BottomK", "ties", func(x T) T { v, _ := x.BottomK(0, 1); return v }, all64(1, 3, 1), 1, 0, 0)
	stated("Tensor.Median", "ties", func(x T) T { v, _ := x.Median(0); return v }, all64(2, 1, 2, 2), 1, 0, 0, 0)
	stated("Tensor.Median", "an even number", func(x T) T { v, _ := x.Median(0); return v }, all64(4, 1, 3, 2), 0, 0, 0, 1)
	stated("Tensor.Quantile", "between two", func(x T) T { return x.Quantile(0, 0.25) }, all64(5, 1, 3), 0, 0.5, 0.5)
	stated("Tensor.Quantile", "the largest", func(x T) T { return x.Quantile(0, 1) }, all64(5, inf, 3), 0, 1, 0)
	stated("Tensor.LeakyReLU", "zero", func(x T) T { return x.LeakyReLU(0.25).Sum() }, all64(-1, 0, 2), 0.25, 0.25, 1)
	stated("Tensor.ELU", "zero, and far below", func(x T) T { return x.ELU(0.5).Sum() }, all64(0, -inf, 2, inf, nan), 0.5, 0, 1, 1, nan)
	stated("Tensor.NanToNum", "each kind", func(x T) T { return x.NanToNum(1, 2, 3).Sum() }, all64(nan, inf, -inf, 0), 0, 0, 0, 1)
	stated("Tensor.TopK", "ties", func(x T) T { v, _ := x.TopK(0, 1); return v }, all64(3, 1, 3), 1, 0, 0)

	// Norms of layers.
	flat := map[string]T{"equals": all64(2, 2, 2), "zeros": all64(0, 0, 0), "ordinary": all64(1, -2, 0)}
	scale, shift := all64(0.5, 2, -1), all64(0, 1, 0)
	for at, x := range flat {
		layer := func(of string, f Func, in ...T) { add(special{of: of, at: at, f: f, in: in}) }
		layer("Tensor.LayerNorm", func(in []T) T { return in[0].LayerNorm([]int{3}, in[1], in[2], 1e-2) }, x, scale, shift)
		layer("nn.Standardize", func(in []T) T { return nn.Standardize(in[0], []int{3}, in[1], nil, 1e-2) }, x, scale)
		layer("nn.LayerNorm.Forward", func(in []T) T {
			return (&nn.LayerNorm{Weight: in[1], Bias: in[2], Shape: []int{3}, Eps: 1e-2}).Forward(in[0])
		}, x, scale, shift)
		layer("nn.GroupNorm.Forward", func(in []T) T {
			return (&nn.GroupNorm{Weight: in[1], Bias: in[2], Groups: 1, Eps: 1e-2}).Forward(in[0].View(1, 3))
		}, x, scale, shift)
		layer("nn.BatchNorm.Forward", func(in []T) T {
			n := nn.NewBatchNorm(1)
			n.Weight, n.Bias, n.Eps = in[1].Narrow(0, 0, 1), nil, 1e-2
			return n.Forward(in[0].View(3, 1))
		}, x, scale)
		layer("nn.Convolve", func(in []T) T {
			return nn.Convolve(in[0].View(1, 1, 3), in[1].View(1, 1, 3), nil, nn.Windows{Padding: 1})
		}, x, scale)
		layer("nn.Conv.Forward", func(in []T) T {
			return (&nn.Conv{Weight: in[1].View(3, 1, 1), Bias: in[2], Windows: nn.Windows{Stride: 2}}).Forward(in[0].View(1, 1, 3))
		}, x, scale, shift)
		layer("Tensor.RMSNorm", func(in []T) T { return in[0].RMSNorm(in[1], 1e-2) }, x, scale)
		layer("Tensor.RotatePairs", func(in []T) T {
			return in[0].Unsqueeze(1).Expand(3, 2).RotatePairs(scale.Detach().Unsqueeze(1), scale.Detach().Unsqueeze(1))
		}, x)
		layer("tensor.Attention", func(in []T) T {
			column := in[0].Unsqueeze(1)
			return tensor.Attention(column, column, in[1].Unsqueeze(1), tensor.AttentionSettings{Causal: true})
		}, x, scale)
		layer("nn.RMS", func(in []T) T { return nn.RMS(in[0], in[1], 1e-2) }, x, scale)
		layer("nn.RMSNorm.Forward", func(in []T) T { return (&nn.RMSNorm{Weight: in[1], Eps: 1e-2}).Forward(in[0]) }, x, scale)
	}
	rows("Tensor.LayerNorm", func(x T) T { return x.LayerNorm([]int{1}, nil, nil, 1e-2) }, map[string]T{"one element": all64(5)})

	// Losses.
	loss := func(of string, f func(y, target T, options ...nn.LossOption) T, points ...[2]float64) {
		two(of, func(y T, target any) T { return f(y, target.(T)) }, points...)
	}
	loss("nn.MSE", nn.MSE, [2]float64{1, 1}, [2]float64{0, 0}, [2]float64{0, 3})
	loss("nn.L1", nn.L1, [2]float64{1, 1.001}, [2]float64{0, -1})
	huber := func(y, target T, options ...nn.LossOption) T { return nn.Huber(y, target, 1, options...) }
	loss("nn.Huber", huber, [2]float64{0.5, 0}, [2]float64{0, 3}, [2]float64{2, 2}, [2]float64{-5, 0})
	for at, q := range map[string]T{"even": all64(-1, -1, -1), "certain": all64(0, -800, -30)} {
		all = append(all, special{of: "nn.KLDiv", at: at, f: func(in []T) T { return nn.KLDiv(in[0], all64(0, 0.25, 0.75)) }, in: []T{q}})
	}
	for _, p := range []float64{1.5, 3} {
		all = append(all, special{of: "Tensor.PNorm", at: "far apart", f: func(in []T) T { return in[0].PNorm(p) }, in: []T{all64(1, -30, 0.1)}})
		all = append(all, special{of: "Tensor.PNorm", at: "zeros", f: func(in []T) T { return in[0].PNorm(p) }, in: []T{all64(0, 0)}, want: []float64{0, 0}})
	}
	cornerOfTwo("nn.L1", func(y T, target any) T { return nn.L1(y, target.(T)) }, 2, 2, 0, 0)
	loss("nn.BCEWithLogits", nn.BCEWithLogits, [2]float64{0, 0}, [2]float64{0, 1}, [2]float64{0, 0.5}, [2]float64{37, 1}, [2]float64{-37, 1}, [2]float64{1e-9, 0})
	classes := func(of string, f func(y, target T, options ...nn.LossOption) T) {
		for at, y := range map[string]T{"ties": all64(1, 1, 1).View(1, 3), "far apart": all64(300, 0, -300).View(1, 3), "zeros": all64(0, 0, 0, 1, 2, 3).View(2, 3)} {
			target := tensor.Of([]int{1, 2}).Narrow(0, 0, y.Size(0))
			add(special{of: of, at: at, f: func(in []T) T { return f(in[0], target) }, in: ins(y)})
			add(special{of: of, at: at + ", smoothed", f: func(in []T) T { return f(in[0], target, nn.LabelSmoothing(0.1)) }, in: ins(y)})
			add(special{of: of, at: at + ", one ignored", f: func(in []T) T { return f(in[0], target, nn.IgnoreIndex(2), nn.SumLoss) }, in: ins(y)})
		}
		add(special{of: of, at: "one class", f: func(in []T) T { return f(in[0], tensor.Of([]int{0})) }, in: ins(all64(4).View(1, 1))})
		add(special{of: of, at: "all ignored", f: func(in []T) T { return f(in[0], tensor.Of([]int{5}), nn.IgnoreIndex(5)) }, in: ins(all64(4, 5).View(1, 2)), want: []float64{0, 0}})
	}
	classes("nn.CrossEntropy", nn.CrossEntropy)
	classes("nn.NLL", nn.NLL)
	for at, y := range map[string]T{"ties": all64(1, 1, 1).View(1, 3), "far apart": all64(300, 0, -300).View(1, 3), "one ignored": all64(0, 0, 0, 1, 2, 3).View(2, 3)} {
		add(special{of: "Tensor.CrossEntropy", at: at, f: func(in []T) T { return in[0].CrossEntropy(-1, tensor.Of([]int{1, 7}).Narrow(0, 0, y.Size(0)), 7) }, in: ins(y)})
	}
	add(special{of: "Tensor.CrossEntropy", at: "one class", f: func(in []T) T { return in[0].CrossEntropy(0, tensor.Of(0).View(), 7) }, in: ins(all64(4))})
	three := all64(1, 0, 2)
	for at, y := range map[string]T{"ties": all64(1, 1, 1).View(1, 3), "far apart": all64(30, 0, -30).View(1, 3)} {
		add(special{of: "nn.CrossEntropy", at: at + ", weighted", f: func(in []T) T {
			return nn.CrossEntropy(in[0], tensor.Of([]int{2}), nn.ClassWeights(three), nn.LabelSmoothing(0.1))
		}, in: ins(y)})
		add(special{of: "nn.CrossEntropy", at: at + ", soft targets of 0 and 1", f: func(in []T) T {
			return nn.CrossEntropy(in[0], in[1], nn.ClassWeights(three), nn.LabelSmoothing(0.1))
		}, in: ins(y, all64(0, 1, 0).View(1, 3))})
	}
	stated("nn.CrossEntropy", "a masked class", func(x T) T { return nn.CrossEntropy(x, tensor.Of([]int{0})) }, all64(1, -inf, 1).View(1, 3), -0.5, 0, 0.5)

	// Products, with factors of 0 and with nothing to add up.
	product := func(of string, f Func, shapes ...[]int) {
		for _, empty := range []bool{false, true} {
			at, in := "zeros", make([]T, len(shapes))
			for i, shape := range shapes {
				if shape = slices.Clone(shape); empty {
					at = "no inner elements"
					for a := range shape {
						if shape[a] == 3 {
							shape[a] = 0
						}
					}
				}
				in[i] = tensor.With(tensor.Float64).Zeros(shape...)
			}
			add(special{of: of, at: fmt.Sprint(at, " ", shapes), f: f, in: in, first: of == "nn.FP8Linear.Forward"})
		}
	}
	for _, s := range [][2][]int{{{3}, {3}}, {{2, 3}, {3}}, {{3}, {3, 2}}, {{2, 3}, {3, 4}}, {{2, 2, 3}, {3, 4}}, {{2, 2, 3}, {2, 3, 4}}} {
		product("Tensor.Matmul", matmul, s[:]...)
	}
	for _, s := range [][2][]int{{{3}, {4, 3}}, {{2, 3}, {4, 3}}, {{2, 2, 3}, {4, 3}}} {
		product("Tensor.MatmulT", func(in []T) T { return in[0].MatmulT(in[1]) }, s[:]...)
		product("nn.Affine", func(in []T) T { return nn.Affine(in[0], in[1], in[2]) }, s[0], s[1], []int{4})
		product("nn.FP8Linear.Forward", func(in []T) T {
			l := nn.NewFP8Linear(0, 0, nn.NoBias)
			l.Weight = in[1]
			return l.Forward(in[0]).To(tensor.Float64)
		}, s[:]...)
		product("nn.Linear.Forward", func(in []T) T { return (&nn.Linear{Weight: in[1], Bias: in[2]}).Forward(in[0]) }, s[0], s[1], []int{4})
	}
	product("Tensor.Dot", func(in []T) T { return in[0].Dot(in[1]) }, []int{3}, []int{3})
	product("Tensor.Mv", func(in []T) T { return in[0].Mv(in[1]) }, []int{2, 3}, []int{3})
	product("Tensor.Bmm", func(in []T) T { return in[0].Bmm(in[1]) }, []int{2, 2, 3}, []int{2, 3, 4})
	product("Tensor.Outer", func(in []T) T { return in[0].Outer(in[1]) }, []int{2}, []int{3})
	product("einops.Einsum", func(in []T) T { return einops.Einsum("i k, k j -> i j", in[0], in[1]) }, []int{2, 3}, []int{3, 4})
	product("einops.EinsumStrict", func(in []T) T { return einops.EinsumStrict("i k, k j -> i j", in[0], in[1]) }, []int{2, 3}, []int{3, 4})
	product("nn.Dense.Forward", func(in []T) T { return (&nn.Dense{Weight: in[1]}).Forward(in[0]) }, []int{2, 3}, []int{3, 4})
	product("nn.Cruncher.Forward", func(in []T) T {
		d := func(w T) *nn.Dense { return &nn.Dense{Weight: w} }
		return (&nn.Cruncher{Layers: []*nn.Dense{d(in[1])}, Final: d(in[2])}).Forward(in[0])
	}, []int{2, 2}, []int{2, 2}, []int{2, 1})
	return append(all, moving()...)
}

// moving are functions that copy, view or pick: linear everywhere. What is special
// to them are shapes: axes of size 1, none at all, and no elements.
func moving() []special {
	type T = *tensor.Tensor
	var all []special
	on := func(of string, f func(x T) T, shapes ...[]int) {
		for _, shape := range shapes {
			all = append(all, special{of: of, at: fmt.Sprint(shape), f: func(in []T) T { return f(in[0]) }, in: ins(smooth(shape...))})
		}
	}
	once := func(of string, f func(x T) T, shapes ...[]int) { // there is no second derivative
		from := len(all)
		on(of, f, shapes...)
		for i := range all[from:] {
			all[from+i].first = true
		}
	}
	number, one, none, thin, noColumns := []int{}, []int{1}, []int{0}, []int{1, 3}, []int{2, 0}
	on("Tensor.Transpose", func(x T) T { return x.Transpose(0, -1) }, number, one, none, thin, noColumns)
	on("Tensor.T", T.T, thin, noColumns, []int{2, 1, 1})
	on("Tensor.Permute", func(x T) T { return x.Permute(reversed(x.Dim())...) }, number, one, none, thin, noColumns)
	on("Tensor.View", func(x T) T { return x.View(1, x.Len(), 1) }, number, one, none, thin, noColumns)
	on("Tensor.Reshape", func(x T) T { return x.Reshape(x.Len()) }, number, one, none, thin, noColumns)
	on("Tensor.Flatten", func(x T) T { return x.Flatten(0, -1) }, number, one, none, thin, noColumns)
	on("Tensor.Expand", func(x T) T { return x.Expand(append([]int{2}, x.Shape()...)...) }, number, one, none, thin, noColumns)
	on("Tensor.Expand", func(x T) T { return x.Expand(append([]int{0}, x.Shape()...)...) }, number, one, none)
	on("Tensor.Unsqueeze", func(x T) T { return x.Unsqueeze(0).Unsqueeze(-1) }, number, one, none, thin, noColumns)
	on("Tensor.Squeeze", func(x T) T { return x.Squeeze() }, number, one, none, thin, noColumns)
	on("Tensor.Squeeze", func(x T) T { return x.Squeeze(0) }, number, one, none, thin, noColumns)
	on("Tensor.Select", func(x T) T { return x.Select(0, -1) }, one, thin, noColumns)
	on("Tensor.Narrow", func(x T) T { return x.Narrow(0, 0, 0) }, one, none, thin, noColumns)
	on("Tensor.Slice", func(x T) T { return x.Slice(0, 0, 9, 2) }, one, none, thin, noColumns)
	on("Tensor.Diagonal", func(x T) T { return x.Diagonal(0, 0, 1) }, thin, noColumns)
	on("Tensor.Diagonal", func(x T) T { return x.Diagonal(5, 0, 1) }, thin, noColumns)
	on("Tensor.Unfold", func(x T) T { return x.Unfold(0, 1, 1) }, number, one, thin)
	on("Tensor.Index", func(x T) T { return x.Index(tensor.Ellipsis, tensor.NewAxis) }, number, one, none, thin, noColumns)
	on("Tensor.Index", func(x T) T { return x.Index(x.Gt(99)) }, number, one, none, thin, noColumns)
	on("Tensor.Index", func(x T) T { return x.Index(tensor.Of([]int64{})) }, one, none, thin, noColumns)
	on("Tensor.IndexSelect", func(x T) T { return x.IndexSelect(0, tensor.Of([]int64{})) }, one, none, thin, noColumns)
	on("Tensor.Embedding", func(x T) T { return x.Embedding(tensor.Of([]int64{})) }, thin, noColumns)
	on("nn.Embedding.Forward", func(x T) T { return (&nn.Embedding{Weight: x}).Forward(tensor.Of([]int64{0, 0})) }, thin, noColumns)
	on("Tensor.Gather", func(x T) T { return x.Gather(0, tensor.With(tensor.Int64).Zeros(x.Shape()...)) }, one, none, thin, noColumns)
	first := func(x T) T { return tensor.With(tensor.Int64).Zeros(x.Shape()...) }
	on("Tensor.Scatter", func(x T) T { return x.Mul(2).Scatter(0, first(x), x) }, number, one, none, thin, noColumns)
	on("Tensor.ScatterAdd", func(x T) T { return x.Mul(2).ScatterAdd(0, first(x), x) }, number, one, none, thin, noColumns)
	for _, rule := range []tensor.ScatterRule{tensor.ScatterSum, tensor.ScatterMean, tensor.ScatterProd, tensor.ScatterMax, tensor.ScatterMin} {
		on("Tensor.ScatterReduce", func(x T) T { return x.Mul(2).ScatterReduce(0, first(x), x, rule) }, number, one, none, thin, noColumns)
		on("Tensor.ScatterReduce", func(x T) T { return x.Mul(2).ScatterReduce(0, first(x), x, rule.WithoutSelf()) }, number, one, none, thin, noColumns)
	}
	on("Tensor.IndexAdd", func(x T) T { return x.Mul(2).IndexAdd(0, []int{}, x.Narrow(0, 0, 0)) }, one, none, thin, noColumns)
	on("Tensor.IndexAdd", func(x T) T { return x.Mul(2).IndexAdd(0, []int{0, 0}, x.Repeat(2, 1)) }, []int{1, 1}, []int{1, 3})
	on("Tensor.Roll", func(x T) T { return x.Roll(0, 5) }, one, none, thin, noColumns)
	on("Tensor.Pad", func(x T) T { return x.Pad(0, 0, 0, 1) }, one, none, thin, noColumns)
	on("Tensor.Pad", func(x T) T { return x.Pad(-1, 2, 1, math.Inf(1)).Tanh() }, one, none, thin, noColumns)
	on("Tensor.Movedim", func(x T) T { return x.Movedim(0, -1) }, one, none, thin, noColumns)
	on("Tensor.Unflatten", func(x T) T { return x.Unflatten(0, x.Size(0), 1) }, one, none, thin, noColumns)
	on("tensor.Meshgrid", func(x T) T { return tensor.Stack(0, tensor.Meshgrid(x, x)...) }, one, none)
	on("Tensor.MaskedSelect", func(x T) T { return x.MaskedSelect(x.Gt(0)) }, number, one, none, thin, noColumns)
	on("Tensor.MaskedFill", func(x T) T { return x.MaskedFill(x.Gt(0), math.Inf(-1)).Exp() }, number, one, none, thin, noColumns)
	on("Tensor.Tril", func(x T) T { return x.Tril(-5) }, thin, noColumns)
	on("Tensor.Triu", func(x T) T { return x.Triu(0) }, thin, noColumns)
	on("Tensor.Flip", func(x T) T { return x.Flip(0) }, one, none, thin, noColumns)
	on("Tensor.Repeat", func(x T) T { return x.Repeat(2, 0) }, number, one, none, thin, noColumns)
	on("Tensor.Repeat", func(x T) T { return x.Repeat(2, 1) }, number, one, none, thin, noColumns)
	on("tensor.Cat", func(x T) T { return tensor.Cat(0, x, x.Narrow(0, 0, 0), x) }, one, none, thin, noColumns)
	on("tensor.Stack", func(x T) T { return tensor.Stack(0, x, x) }, number, one, none, thin, noColumns)
	joined := func(parts []T) T { return tensor.Cat(0, parts...) }
	on("Tensor.Split", func(x T) T { return joined(x.Split(0, 2)) }, one, none, thin, noColumns)
	on("Tensor.SplitSizes", func(x T) T { return joined(x.SplitSizes(0, 0, x.Size(0))) }, one, none, thin, noColumns)
	on("Tensor.SplitInto", func(x T) T { return joined(x.SplitInto(0, 3)) }, one, none, thin, noColumns)
	on("Tensor.SplitAt", func(x T) T { return joined(x.SplitAt(0, 0, 7)) }, one, none, thin, noColumns)
	on("Tensor.Chunk", func(x T) T { return joined(x.Chunk(0, 2)) }, one, none, thin, noColumns)
	on("Tensor.CopyFrom", func(x T) T { return x.Mul(0).CopyFrom(x) }, number, one, none, thin, noColumns)
	on("Tensor.SetIndex", func(x T) T { return x.Mul(2).SetIndex(x.Sum(), tensor.Ellipsis) }, number, one, none, thin, noColumns)
	once("nn.Recompute", func(x T) T { return nn.Recompute(T.Tanh, x) }, one, none, thin)
	once("tensor.Recompute", func(x T) T { return tensor.Recompute(func(in ...T) T { return in[0].Tanh() }, x) }, one, none, thin)
	on("nn.Sequential.Forward", func(x T) T { return nn.Sequential{nn.Tanh{}, nn.Sigmoid{}}.Forward(x) }, one, none)
	on("nn.Dropout.Forward", func(x T) T { return (&nn.Dropout{P: 0}).Forward(x) }, number, one, none, thin)
	for name, f := range map[string]func(T, ...int) T{"einops.Sum": einops.Sum, "einops.Mean": einops.Mean, "einops.Prod": einops.Prod} {
		on(name, func(x T) T { return f(x) }, number, one, thin)
	}
	on("einops.Max", func(x T) T { return einops.Max(x) }, number, one)
	on("einops.Min", func(x T) T { return einops.Min(x) }, number, one)
	on("einops.Rearrange", func(x T) T { return einops.Rearrange(x, "a b -> b a") }, thin, noColumns)
	on("einops.Reduce", func(x T) T { return einops.Reduce(x, "a b -> a", einops.Sum) }, thin, noColumns)
	on("einops.Repeat", func(x T) T { return einops.Repeat(x, "a b -> a n b", einops.Axis("n", 2)) }, thin, noColumns)
	on("einops.Check", func(x T) T { return einops.Check(x, "a b") }, thin, noColumns)
	on("einops.Pack", func(x T) T { packed, _ := einops.Pack("* a", x, x); return packed }, one, thin)
	on("einops.Unpack", func(x T) T { return einops.Unpack(x, [][]int{{}}, "* a")[0] }, thin)
	return all
}

func TestSpecialPoints(t *testing.T) {
	for _, s := range specials() {
		t.Run(s.of+" at "+s.at, func(t *testing.T) {
			if s.want != nil {
				s.checkStated(t)
				return
			}
			if err := First(s.f, s.in...); err != nil {
				t.Error(err)
			}
			if s.first {
				return
			}
			if err := Second(s.f, s.in...); err != nil {
				t.Errorf("second derivative: %v", err)
			}
		})
	}
}

// checkStated compares the gradient with the one that is stated; where that is
// finite, the gradient of the gradient must not be NaN.
func (s special) checkStated(t *testing.T) {
	in := make([]*tensor.Tensor, len(s.in))
	for i, x := range s.in {
		in[i] = x.Clone().RequireGrad()
	}
	s.f(in).Sum().Backward(tensor.CreateGraph())
	var got []float64
	finite := true
	sum := tensor.With(tensor.Float64).Scalar(0)
	for _, x := range in {
		g := x.Grad()
		if g == nil {
			got = append(got, make([]float64, x.Len())...)
			continue
		}
		got = append(got, g.Floats()...)
		sum = sum.Add(g.Sum())
		x.ZeroGrad()
	}
	for i, g := range got {
		finite = finite && !math.IsNaN(s.want[i]) && !math.IsInf(s.want[i], 0)
		if g != s.want[i] && !(math.Abs(g-s.want[i]) < 1e-14) && !(math.IsNaN(g) && math.IsNaN(s.want[i])) {
			t.Fatalf("the gradient is %v, want %v", got, s.want)
		}
	}
	if !finite || !sum.RequiresGrad() {
		return
	}
	sum.Backward()
	for i, x := range in {
		if g := x.Grad(); g != nil && g.IsNaN().Any().Item() == 1 {
			t.Errorf("the gradient of the gradient with respect to input %d is %v", i, g)
		}
	}
}

// TestEveryFunctionHasSpecialPoints: a new function needs a row that says what is special to
// it, or why it has no gradient.
func TestEveryFunctionHasSpecialPoints(t *testing.T) {
	have := map[string]bool{}
	for _, s := range specials() {
		have[s.of] = true
	}
	names := publicFunctions(t)
	for _, name := range names {
		base := strings.TrimSuffix(name, "InPlace")
		if why := withoutGradient[name]; have[base] || why != "" {
			if have[base] && why != "" {
				t.Errorf("%s has special points, and none is asked for as %s", name, why)
			}
			continue
		}
		t.Errorf("%s returns tensors and has no special points: add them to its row in internal/elementwise, or to specials, or say in withoutGradient why it has no gradient", name)
	}
	for name := range have {
		if !slices.Contains(names, name) {
			t.Errorf("there are special points for %s, which is no function", name)
		}
	}
}

// publicFunctions lists what returns tensors: methods of Tensor as "Tensor.Abs",
// functions as "nn.MSE" and methods of layers as "nn.Linear.Forward".
func publicFunctions(t *testing.T) (names []string) {
	one, many := reflect.TypeFor[*tensor.Tensor](), reflect.TypeFor[[]*tensor.Tensor]()
	for m := range one.Methods() {
		if first := m.Type.NumOut() > 0; first && (m.Type.Out(0) == one || m.Type.Out(0) == many) {
			names = append(names, "Tensor."+m.Name)
		}
	}
	for _, pkg := range []string{"tensor", "nn", "einops"} {
		files, err := filepath.Glob(filepath.Join("..", "..", pkg, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("the source of package %s is not there: %v", pkg, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || !f.Name.IsExported() || f.Type.Results == nil || !returnsTensors(f.Type.Results.List[0].Type) {
					continue
				}
				switch {
				case f.Recv == nil:
					names = append(names, pkg+"."+f.Name.Name)
				case f.Name.Name == "Forward":
					names = append(names, pkg+"."+receiver(f.Recv.List[0].Type)+".Forward")
				}
			}
		}
	}
	return names
}

func returnsTensors(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.ArrayType:
		return returnsTensors(e.Elt)
	case *ast.StarExpr:
		return returnsTensors(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name == "Tensor"
	case *ast.Ident:
		return e.Name == "Tensor"
	}
	return false
}

func receiver(e ast.Expr) string {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if name, ok := e.(*ast.Ident); ok {
		return name.Name
	}
	return "?"
}

var withoutGradient = map[string]string{}

func init() {
	for i := range elementwise.Table {
		if row := &elementwise.Table[i]; len(row.Slopes) == 0 {
			withoutGradient["Tensor."+row.Method] = "its row in package elementwise has none"
			withoutGradient["Tensor."+row.Method+"InPlace"] = "its row in package elementwise has none"
		}
	}
	for why, names := range map[string]string{
		"its result is bool, or integers": "Tensor.All Tensor.Any " +
			"Tensor.Argmax Tensor.Argmin Tensor.Argsort Tensor.Bincount Tensor.Multinomial Tensor.Nonzero Tensor.Searchsorted " +
			"tensor.IsClose tensor.OneHot einops.All einops.Any",
		"it returns the gradient, or its tensor": "tensor.Grad Tensor.Grad Tensor.BorrowGrad Tensor.Detach Tensor.RequireGrad Tensor.RetainGrad Tensor.StopGrad Tensor.SetRole nn.Parameter",
		"it writes what is no function of the tensor": "Tensor.Fill Tensor.Zero Tensor.NormalInPlace Tensor.UniformInPlace Tensor.TruncNormalInPlace Tensor.SetData " +
			"nn.KaimingNormal nn.KaimingUniform nn.Orthogonal nn.TruncNormal nn.XavierNormal nn.XavierUniform",
		"it makes a tensor of no other": "tensor.Arange tensor.Bernoulli tensor.Empty tensor.EmptyLike tensor.Eye tensor.Full tensor.FullLike tensor.Linspace tensor.Normal tensor.Number tensor.Of tensor.Ones tensor.OnesLike " +
			"tensor.Rand tensor.RandLike tensor.Randint tensor.Randn tensor.RandnLike tensor.Randperm tensor.Scalar tensor.TruncNormal tensor.Uniform tensor.Wrap tensor.Zeros tensor.ZerosLike",
		"it rounds, and passes gradients on as if it did not": "Tensor.To Tensor.ToSaturating tensor.StraightThrough",
		"its derivative is the caller's":                      "tensor.Apply",
		"it takes no part in gradients":                       "Tensor.Unique Tensor.MatmulAs Tensor.PinMemory Tensor.Prefetch",
		"it is made of others that have special points":       "Tensor.Diag Tensor.Trace Tensor.RepeatInterleave nn.DropOut nn.Blocks.Forward nn.DeepNetwork.Forward nn.Func.Forward nn.MLP.Forward tensor.RecomputeModule",
	} {
		for _, name := range strings.Fields(names) {
			withoutGradient[name] = why
		}
	}
}
