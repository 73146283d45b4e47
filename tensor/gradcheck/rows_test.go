package gradcheck

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lectern-go/lectern/tensor"
)

// row checks one use of an operation that the table of package tensor's tests doesn't have: every operation of that is
// checked there.
type row struct {
	op   string
	note string
	f    Func
	in   []*tensor.Tensor

	none string  // why there is no gradient; f must then give a result without one
	once string  // why there is no second derivative to check
	step float64 // 0 means the usual one
}

// smooth returns numbers without ties and away from 0, from about -2 to 2.
func smooth(shape ...int) *tensor.Tensor {
	t := direction(shape, 3)
	return t.Add(t.Sign().Mul(0.5)).Mul(1.3)
}

// positive returns numbers from 0.5 to 2.5.
func positive(shape ...int) *tensor.Tensor { return direction(shape, 5).Add(1.5) }

func ins(in ...*tensor.Tensor) []*tensor.Tensor { return in }

func unary(op string, f func(*tensor.Tensor) *tensor.Tensor, x *tensor.Tensor) row {
	return row{op: op, f: func(in []*tensor.Tensor) *tensor.Tensor { return f(in[0]) }, in: ins(x)}
}

// coarse is for functions that round to float32: they are linear, and a step that
// float32 can hold finds their slope exactly.
func coarse(op string, f func(*tensor.Tensor) *tensor.Tensor) row {
	r := unary(op, f, tensor.Of(0.5, -1.25, 2))
	r.step, r.once = 1./256, "it is linear"
	return r
}

func binary(op string, f func(*tensor.Tensor, any) *tensor.Tensor, x, y func(...int) *tensor.Tensor) []row {
	apply := func(in []*tensor.Tensor) *tensor.Tensor { return f(in[0], in[1]) }
	return []row{
		{op: op, note: "same shape", f: apply, in: ins(x(2, 3), y(2, 3))},
		{op: op, note: "broadcast right", f: apply, in: ins(x(2, 3), y(3))},
		{op: op, note: "broadcast both", f: apply, in: ins(x(2, 1), y(1, 3))},
		{op: op, note: "single number", f: apply, in: ins(x(), y(2))},
		{op: op, note: "expanded operand", f: func(in []*tensor.Tensor) *tensor.Tensor { return f(in[0].Expand(4, 3), in[1].T()) }, in: ins(x(1, 3), y(3, 4))},
		{op: op, note: "with itself", f: func(in []*tensor.Tensor) *tensor.Tensor { return f(in[0], in[0].Mul(1)) }, in: ins(positive(3))},
	}
}

func rows() []row {
	type T = *tensor.Tensor
	all := []row{
		coarse("to", func(x T) T { return x.To(tensor.Float32).To(tensor.Float64) }),
		coarse("to saturating", func(x T) T { return x.ToSaturating(tensor.Float32).To(tensor.Float64) }),

		unary("sum", func(x T) T { return x.Sum() }, smooth(2, 3)),
		unary("sum", func(x T) T { return x.Sum(0, 2) }, smooth(2, 3, 2)),
		unary("sum", func(x T) T { return x.Sum(1, tensor.KeepDim) }, smooth(2, 3, 2)),
		unary("mean", func(x T) T { return x.Mean(-1) }, smooth(2, 3)),
		unary("max", func(x T) T { return x.Max(1) }, smooth(2, 3)), unary("min", func(x T) T { return x.Min() }, smooth(2, 3)),
		unary("prod", func(x T) T { return x.Prod(1) }, smooth(2, 3)),
		unary("prod", func(x T) T { return x.Prod(0, tensor.KeepDim) }, smooth(2, 3, 2)),
		{op: "prod", note: "a zero among the factors", f: func(in []T) T { return in[0].Prod(1) }, in: ins(tensor.Of([]float64{0, 2, 3}, []float64{0, 0, 1.5}, []float64{1, 2, 3}))},
		unary("var", func(x T) T { return x.Var(1) }, smooth(2, 4)), unary("var", func(x T) T { return x.Var(0, tensor.Biased) }, smooth(3, 2)),
		unary("std", func(x T) T { return x.Std(1) }, smooth(2, 4)), unary("norm", func(x T) T { return x.Norm(1) }, smooth(2, 3)),
		unary("logsumexp", func(x T) T { return x.LogSumExp(0, 2) }, smooth(2, 2, 3)),
		unary("softmax", func(x T) T { return x.Softmax(-1) }, smooth(2, 4)), unary("softmax", func(x T) T { return x.Softmax(0) }, smooth(3, 2)),
		unary("log softmax", func(x T) T { return x.LogSoftmax(1) }, smooth(2, 4)),
		unary("cross entropy", func(x T) T { return x.CrossEntropy(1, tensor.Of(2, 0, -1), -1) }, smooth(3, 4)),
		unary("cross entropy", func(x T) T { return x.CrossEntropy(0, tensor.Of([]int64{2, 0}, []int64{1, 7}), 7) }, smooth(3, 2, 2)),
		{op: "cross entropy gradient", once: "other steps take its place where its gradient is wanted", f: func(in []T) T { return in[0].CrossEntropy(1, tensor.Of(1, 3), -1) }, in: ins(smooth(2, 4))},
		unary("cumsum", func(x T) T { return x.Cumsum(0) }, smooth(3, 2)), unary("cumprod", func(x T) T { return x.Cumprod(1) }, positive(2, 4)),
		{op: "cumprod", note: "a zero among the factors", f: func(in []T) T { return in[0].Cumprod(0) }, in: ins(tensor.Of(2., 0, 3, 4))},

		unary("clamp", func(x T) T { return x.Clamp(-1, 1) }, smooth(2, 3)),
		unary("masked fill", func(x T) T { return x.MaskedFill(tensor.Of(1, 0, 1).Eq(1), 7) }, smooth(2, 3)),
		{op: "where", f: func(in []T) T { return tensor.Where(tensor.Of([]int64{1}, []int64{0}).Eq(1), in[0], in[1]) }, in: ins(smooth(2, 3), smooth(3))},
		unary("tril", func(x T) T { return x.Tril(0) }, smooth(2, 3, 3)), unary("triu", func(x T) T { return x.Triu(1) }, smooth(3, 4)),
		unary("flip", func(x T) T { return x.Flip(0, 1) }, smooth(2, 3)),

		unary("transpose", func(x T) T { return x.Transpose(0, 2) }, smooth(2, 3, 2)), unary("permute", func(x T) T { return x.Permute(2, 0, 1) }, smooth(2, 3, 2)),
		unary("view", func(x T) T { return x.Contiguous().View(3, 2) }, smooth(2, 3)), unary("expand", func(x T) T { return x.Expand(4, 2, 3) }, smooth(2, 1)),
		unary("squeeze", func(x T) T { return x.Squeeze(1) }, smooth(2, 1, 3)), unary("unsqueeze", func(x T) T { return x.Unsqueeze(1) }, smooth(2, 3)),
		unary("select", func(x T) T { return x.Select(1, -1) }, smooth(2, 3)), unary("slice", func(x T) T { return x.Slice(1, 0, 5, 2) }, smooth(2, 5)),
		unary("diagonal", func(x T) T { return x.Diagonal(1, 0, 1) }, smooth(3, 4)), unary("unfold", func(x T) T { return x.Unfold(0, 3, 1) }, smooth(5)),
		{op: "view backward", f: func(in []T) T { return in[0].T().Mul(in[1]) }, in: ins(smooth(2, 3), smooth(3, 2))},
		{op: "relu gradient", f: func(in []T) T { return in[0].ReLU().Mul(in[1]) }, in: ins(smooth(2, 3), smooth(2, 3))},
		{op: "spread", f: func(in []T) T { return in[0].Unfold(0, 2, 1).Mul(in[1]) }, in: ins(smooth(4), smooth(3, 2))},

		unary("index select", func(x T) T { return x.IndexSelect(1, tensor.Of(2, 0, 2)) }, smooth(2, 3)),
		unary("index select", func(x T) T { return x.Embedding(tensor.Of([]int64{0, 2}, []int64{2, 1})) }, smooth(3, 2)),
		{op: "index add", f: func(in []T) T { return in[0].IndexSelect(0, tensor.Of(1, 1, 0)).Mul(in[1]) }, in: ins(smooth(2, 2), smooth(3, 2))},
		unary("gather", func(x T) T { return x.Gather(1, tensor.Of([]int64{2, 0}, []int64{1, 1})) }, smooth(2, 3)),
		{op: "scatter add", f: func(in []T) T {
			return in[0].Gather(1, tensor.Of([]int64{2, 0}, []int64{1, 1})).Mul(in[1])
		}, in: ins(smooth(2, 3), smooth(2, 2))},
		{op: "scatter add", note: "public, with a position twice", f: func(in []T) T {
			return in[0].Square().ScatterAdd(1, tensor.Of([]int64{2, 0}, []int64{1, 1}), in[1].Square())
		}, in: ins(smooth(2, 3), smooth(2, 2))},
		{op: "where", note: "scatter", f: func(in []T) T {
			return in[0].Square().Scatter(1, tensor.Of([]int64{2, 0}, []int64{1, 2}), in[1].Square())
		}, in: ins(smooth(2, 3), smooth(2, 2))},
		{op: "scatter fold", note: "the largest", f: func(in []T) T {
			return in[0].Square().ScatterReduce(1, tensor.Of([]int64{2, 0}, []int64{1, 1}), in[1].Square(), tensor.ScatterMax)
		}, in: ins(smooth(2, 3), smooth(2, 2))},
		{op: "scatter fold", note: "a product", f: func(in []T) T {
			return in[0].Square().ScatterReduce(1, tensor.Of([]int64{2, 0}, []int64{1, 1}), in[1].Square(), tensor.ScatterProd)
		}, in: ins(positive(2, 3), positive(2, 2))},
		{op: "div", note: "a mean of scattered values", f: func(in []T) T {
			return in[0].Square().ScatterReduce(1, tensor.Of([]int64{2, 0}, []int64{1, 1}), in[1].Square(), tensor.ScatterMean.WithoutSelf())
		}, in: ins(smooth(2, 3), smooth(2, 2))},
		{op: "index add", note: "public, with a position twice", f: func(in []T) T {
			return in[0].Square().IndexAdd(0, []int{1, 1, 0}, in[1].Square())
		}, in: ins(smooth(2, 3), smooth(3, 3))},
		{op: "matmul", note: "dot", f: func(in []T) T { return in[0].Dot(in[1]) }, in: ins(smooth(3), positive(3))},
		{op: "matmul", note: "mv", f: func(in []T) T { return in[0].Mv(in[1]) }, in: ins(smooth(2, 3), positive(3))},
		{op: "matmul", note: "bmm", f: func(in []T) T { return in[0].Bmm(in[1]) }, in: ins(smooth(2, 2, 3), smooth(2, 3, 2))},
		{op: "mul", note: "outer", f: func(in []T) T { return in[0].Outer(in[1]) }, in: ins(smooth(3), positive(2))},
		{op: "cat", note: "roll", f: func(in []T) T { return in[0].Roll(1, -2).Square() }, in: ins(smooth(2, 3))},
		{op: "cat", note: "pad", f: func(in []T) T { return in[0].Pad(1, 2, 1, 3).Square() }, in: ins(smooth(2, 3))},
		{op: "permute", note: "movedim", f: func(in []T) T { return in[0].Movedim(0, -1).Square() }, in: ins(smooth(2, 3, 2))},
		{op: "view", note: "unflatten", f: func(in []T) T { return in[0].Clone().Unflatten(1, 2, -1).Square() }, in: ins(smooth(2, 4))},
		{op: "expand", note: "meshgrid", f: func(in []T) T {
			grid := tensor.Meshgrid(in[0], in[1])
			return grid[0].Mul(grid[1])
		}, in: ins(smooth(2), positive(3))},
		{op: "gather", note: "quantile", f: func(in []T) T { return in[0].Quantile(1, 0.3).Square() }, in: ins(smooth(2, 4))},
		{op: "gather", note: "median", f: func(in []T) T { v, _ := in[0].Median(0); return v.Square() }, in: ins(smooth(3, 2))},
		{op: "gather", note: "the smallest", f: func(in []T) T { v, _ := in[0].BottomK(1, 2); return v.Square() }, in: ins(smooth(2, 4))},
		{op: "gather", note: "the largest", f: func(in []T) T { v, _ := in[0].TopK(0, 2); return v.Square() }, in: ins(smooth(3, 2))},
		{op: "gather", note: "sorted", f: func(in []T) T { v, _ := in[0].Sort(1, true); return v.Square() }, in: ins(smooth(2, 4))},
		{op: "nan to num", f: func(in []T) T {
			return in[0].Log().NanToNum(0, 1, -1).Square()
		}, in: ins(smooth(2, 3))},
		{op: "leaky relu", f: func(in []T) T { return in[0].LeakyReLU(0.1).Square() }, in: ins(smooth(2, 3))},
		{op: "elu", f: func(in []T) T { return in[0].ELU(0.7) }, in: ins(smooth(2, 3))},
		{op: "cat", f: func(in []T) T { return tensor.Cat(1, in...) }, in: ins(smooth(2, 1), positive(2, 3), smooth(2, 2))},
		{op: "cat", note: "one tensor twice", f: func(in []T) T { return tensor.Cat(0, in[0], in[1], in[0]) }, in: ins(smooth(2), positive(1))},
		{op: "put", f: func(in []T) T {
			y := in[0].Mul(in[0])
			return y.SetIndex(in[1].Mul(3), tensor.All, 1)
		}, in: ins(smooth(2, 3), smooth(2))},
		{op: "put", note: "through a view of a view", f: func(in []T) T {
			y := in[0].Mul(in[0])
			y.T().Select(0, 1).MulInPlace(in[1])
			return y.Mul(y)
		}, in: ins(smooth(2, 3), smooth(2))},
		{op: "pick", f: func(in []T) T {
			y := in[0].Mul(2)
			early := y.T()
			y.MulInPlace(in[1])
			return early.Mul(early)
		}, in: ins(smooth(2, 3), smooth(3))},

		{op: "pick backward", f: func(in []T) T {
			y := in[0].Mul(2)
			windows := y.Unfold(0, 2, 1)
			y.MulInPlace(3)
			return windows.Mul(in[1])
		}, in: ins(smooth(4), smooth(3, 2))},
		{op: "recompute", once: "it has none", f: func(in []T) T {
			return tensor.Recompute(func(x ...T) T { return x[0].Mul(x[1]).Tanh() }, in...)
		}, in: ins(smooth(2, 3), smooth(3))},
		{op: "custom", once: "it has none", f: func(in []T) T {
			return tensor.Apply(tensor.Function{Name: "x²y", Forward: func(in []T) (T, []T) {
				return in[0].Square().Mul(in[1]), in
			}, Gradient: func(saved []T, g T) []T {
				x, y := saved[0], saved[1]
				return []T{g.Mul(x).Mul(y).Mul(2), g.Mul(x.Square())}
			}}, in...)
		}, in: ins(smooth(2, 3), smooth(2, 3))},
		{op: "matmul as", none: "it is what derivatives of products in 8 bits are made of", f: func(in []T) T {
			return in[0].MatmulAs(tensor.Float64, in[1])
		}, in: ins(smooth(2, 3), smooth(3, 4))},

		{op: "layer norm", f: layerNorm, in: ins(smooth(2, 3, 4), positive(4), smooth(4))},
		{op: "layer norm", note: "over two axes, without weight", f: func(in []T) T { return in[0].LayerNorm([]int{3, 4}, nil, nil, 0.01) }, in: ins(smooth(2, 3, 4))},
		{op: "rms norm", f: func(in []T) T { return in[0].RMSNorm(in[1], 0.01) }, in: ins(smooth(2, 3, 4), positive(4))},
		{op: "rms norm gradient", once: "other steps take its place where its gradient is wanted", f: func(in []T) T { return in[0].RMSNorm(in[1], 0.01) }, in: ins(smooth(2, 4), positive(4))},
		{op: "swiglu", f: func(in []T) T { return in[0].SwiGLU(in[1]) }, in: ins(smooth(2, 3), smooth(2, 3))},
		{op: "silu gradient", f: func(in []T) T { return in[0].SwiGLU(in[1]) }, in: ins(smooth(2, 3), smooth(2, 3))},
		{op: "lerp", f: func(in []T) T { return in[0].Lerp(in[1], in[2]) }, in: ins(smooth(2, 3), smooth(3), smooth(2, 1))},
		{op: "lerp", note: "by a number", f: func(in []T) T { return in[0].Lerp(in[1], 0.3) }, in: ins(smooth(3), smooth(2, 3))},
		{op: "addcmul", f: func(in []T) T { return in[0].Addcmul(in[1], in[2], -1.5) }, in: ins(smooth(2, 3), smooth(3), smooth(2, 1))},
		{op: "addcmul", note: "all one", f: func(in []T) T { return in[0].Addcmul(in[0], in[0], 2) }, in: ins(smooth(3))},
		{op: "addcdiv", f: func(in []T) T { return in[0].Addcdiv(in[1], in[2], 0.5) }, in: ins(smooth(2, 3), smooth(3), positive(2, 1))},
		{op: "rotate pairs", f: func(in []T) T {
			angles := tensor.With(tensor.Float64).Arange(0, 6, 1).View(3, 2)
			return in[0].RotatePairs(angles.Cos(), angles.Sin())
		}, in: ins(smooth(2, 3, 4))},
		{op: "attention", f: func(in []T) T {
			return tensor.Attention(in[0], in[1], in[2], tensor.AttentionSettings{Causal: true})
		}, in: ins(smooth(2, 3, 4), smooth(1, 5, 4), smooth(1, 5, 2))},
		{op: "attention", note: "masked, and grouped", f: func(in []T) T {
			seen := tensor.Of([]bool{true, false, true}, []bool{false, true, true})
			return tensor.Attention(in[0], in[1], in[2], tensor.AttentionSettings{Mask: seen, Scale: 0.8})
		}, in: ins(smooth(4, 2, 2), smooth(2, 3, 2), smooth(2, 3, 2))},
		{op: "attention gradient", once: "other steps take its place where its gradient is wanted", f: func(in []T) T {
			return tensor.Attention(in[0], in[1], in[2], tensor.AttentionSettings{})
		}, in: ins(smooth(3, 4), smooth(5, 4), smooth(5, 2))},
		{op: "layer norm gradient", once: "other steps take its place where its gradient is wanted", f: layerNorm, in: ins(smooth(2, 4), positive(4), smooth(4))},

		{op: "matmul", note: "matrices", f: matmul, in: ins(smooth(2, 3), smooth(3, 4))},
		{op: "matmul transposed", f: func(in []T) T { return in[0].MatmulT(in[1]) }, in: ins(smooth(2, 3), smooth(4, 3))},
		{op: "matmul transposed", note: "batch", f: func(in []T) T { return in[0].MatmulT(in[1]) }, in: ins(smooth(2, 2, 3), smooth(4, 3))},
		{op: "matmul transposed", note: "vector", f: func(in []T) T { return in[0].MatmulT(in[1]) }, in: ins(smooth(3), smooth(4, 3))},
		{op: "matmul", note: "inner product", f: matmul, in: ins(smooth(3), smooth(3))},
		{op: "matmul", note: "matrix and vector", f: matmul, in: ins(smooth(2, 3), smooth(3))},
		{op: "matmul", note: "vector and matrix", f: matmul, in: ins(smooth(3), smooth(3, 2))},
		{op: "matmul", note: "batch and matrix", f: matmul, in: ins(smooth(2, 2, 3), smooth(3, 2))},
		{op: "matmul", note: "matrix and batch", f: matmul, in: ins(smooth(2, 3), smooth(2, 3, 2))},
		{op: "matmul", note: "batches", f: matmul, in: ins(smooth(2, 2, 3), smooth(2, 3, 2))},
		{op: "matmul", note: "broadcast batches", f: matmul, in: ins(smooth(2, 1, 2, 3), smooth(3, 3, 2))},
		{op: "matmul", note: "batch and vector", f: matmul, in: ins(smooth(2, 2, 3), smooth(3))},
		{op: "matmul", note: "vector and batch", f: matmul, in: ins(smooth(3), smooth(2, 3, 2))},
		{op: "matmul", note: "transposed", f: func(in []T) T { return in[0].T().Matmul(in[1].T()) }, in: ins(smooth(3, 2), smooth(4, 3))},
	}
	all = append(all, binary("add", T.Add, smooth, smooth)...)
	all = append(all, binary("sub", T.Sub, smooth, smooth)...)
	all = append(all, binary("mul", T.Mul, smooth, smooth)...)
	all = append(all, binary("div", T.Div, smooth, positive)...)
	all = append(all, binary("pow", T.Pow, positive, smooth)...)
	all = append(all, binary("maximum", T.Maximum, smooth, positive)[:5]...)
	all = append(all, binary("minimum", T.Minimum, smooth, positive)[:5]...)
	all = append(all, binary("logaddexp", T.Logaddexp, smooth, smooth)...)
	all = append(all, binary("remainder", T.Remainder, smooth, positive)[:3]...)
	all = append(all, binary("fmod", T.Fmod, smooth, positive)[:3]...)

	return all
}

func layerNorm(in []*tensor.Tensor) *tensor.Tensor {
	return in[0].LayerNorm([]int{4}, in[1], in[2], 0.01)
}

func matmul(in []*tensor.Tensor) *tensor.Tensor { return in[0].Matmul(in[1]) }

func TestRows(t *testing.T) {
	counts := map[string]int{}
	for i, r := range rows() {
		t.Run(fmt.Sprintf("%d %s %s", i, r.op, r.note), func(t *testing.T) {
			if ran := operationsOf(r); !slices.Contains(ran, r.op) {
				t.Errorf("the row does not run %q, only %q", r.op, ran)
			}
			if r.none != "" {
				for j, x := range r.in {
					if x.Dtype().IsFloat() {
						r.in[j] = x.Clone().RequireGrad()
					}
				}
				if r.f(r.in).RequiresGrad() {
					t.Errorf("the result takes part in a gradient although %s", r.none)
				}
				counts["without a gradient"]++
				return
			}
			if r.step == 0 {
				r.step = step
			}
			if err := first(r.f, r.in, r.step); err != nil {
				t.Error(err)
			}
			counts["checked"]++
			if r.once == "" {
				if err := Second(r.f, r.in...); err != nil {
					t.Errorf("second derivative: %v", err)
				}
				counts["second derivatives"]++
			}
		})
	}
	t.Log(counts)
}

// operationsOf lists the operations that a row runs, forward and backward.
func operationsOf(r row) (ran []string) {
	stop := tensor.Trace(func(e tensor.Event) {
		if e.Kind == tensor.Ran {
			ran = append(ran, e.Op)
		}
	})
	defer stop()
	in := make([]*tensor.Tensor, len(r.in))
	for i, x := range r.in {
		in[i] = x.Clone()
		if x.Dtype().IsFloat() {
			in[i].RequireGrad()
		}
	}
	if out := r.f(in); out.RequiresGrad() {
		ran = append(ran, graphOps(out)...)
		if r.once != "" {
			out.Mul(out).Sum().Backward()
			return ran
		}
		out.Mul(out).Sum().Backward(tensor.CreateGraph())
		for _, x := range in {
			if g := x.Grad(); g != nil && g.RequiresGrad() {
				ran = append(ran, graphOps(g)...)
			}
		}
	}
	return ran
}

// graphOps lists what a result was computed by; a pick is recorded, not run.
func graphOps(t *tensor.Tensor) (names []string) {
	for _, n := range tensor.GraphOf(t).Nodes {
		names = append(names, n.Op)
	}
	return names
}

// A wrong gradient must be found.
func TestWrongGradientIsFound(t *testing.T) {
	wrong := func(in []*tensor.Tensor) *tensor.Tensor {
		y := in[0].Mul(in[0])
		y.OnGrad(func(g *tensor.Tensor) *tensor.Tensor { return g.Mul(1.001) })
		return y
	}
	err := First(wrong, smooth(2, 2))
	if e, ok := err.(*Error); !ok || e.Input != 0 || len(e.Element) != 2 {
		t.Errorf("a gradient that is off by a thousandth: %v", err)
	}
}
