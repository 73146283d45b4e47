package oracle_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"testing"

	"github.com/lectern-go/lectern/internal/oracle"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/tensor"
)

// TestOperations asks results and gradients of operations, with inputs in several
// layouts. generate/operations.py writes the answers.
func TestOperations(t *testing.T) {
	if _, err := oracle.Asset("operations.json"); errors.Is(err, fs.ErrNotExist) && os.Getenv("LECTERN_ORACLE") != "" {
		t.Skip("the folder that LECTERN_ORACLE names has no operations.json")
	}
	ops := oracle.Ops{}
	for name, f := range operations {
		ops[name] = func(c *oracle.Case) (any, error) { return askOperation(c, f) }
	}
	oracle.Run(t, "operations", ops)
}

// operationArgs are all that cases name.
type operationArgs struct {
	Weights []json.RawMessage // of each result: the gradient that arrives there

	Axis, Shift, Before, Behind, Source, To, K int
	Sizes, Axes                                []int
	Value, Slope, Alpha, Q, Eps, Smoothing     float64
	Nan, Positive, Negative                    float64
	Relative, Absolute, Factor, Divide         float64
	AtLeast                                    int `json:"at_least"`
	Descending, Right, Causal, Masked          bool
	Weighted                                   bool
	Number, Torch                              string
	Weight                                     *float64
	Reduction                                  string
	Rule                                       string
	Without                                    bool
	Stride, Padding, Dilation, Groups          int
	Training                                   bool
	Momentum                                   float64
}

var scatterRules = map[string]tensor.ScatterRule{"sum": tensor.ScatterSum, "mean": tensor.ScatterMean, "prod": tensor.ScatterProd, "amax": tensor.ScatterMax, "amin": tensor.ScatterMin}

var reductions = map[string]nn.Reduction{"": nn.MeanLoss, "mean": nn.MeanLoss, "sum": nn.SumLoss, "none": nn.EachLoss}

type operation func(in []*tensor.Tensor, a *operationArgs) []*tensor.Tensor

// many makes the list of results.
func many(all ...*tensor.Tensor) []*tensor.Tensor { return all }

// withOther is an operation on two tensors.
func withOther(f binaryMethod) operation {
	return func(in []*tensor.Tensor, _ *operationArgs) []*tensor.Tensor { return many(f(in[0], in[1])) }
}

func withTensor(f func(a, b *tensor.Tensor) *tensor.Tensor) operation {
	return func(in []*tensor.Tensor, _ *operationArgs) []*tensor.Tensor { return many(f(in[0], in[1])) }
}

var operations = func() map[string]operation {
	type T = *tensor.Tensor
	type A = *operationArgs
	return map[string]operation{
		"scatter":     func(in []T, a A) []T { return many(in[0].Scatter(a.Axis, in[1], in[2])) },
		"scatter_add": func(in []T, a A) []T { return many(in[0].ScatterAdd(a.Axis, in[1], in[2])) },
		"scatter_reduce": func(in []T, a A) []T {
			rule := scatterRules[a.Rule]
			if a.Without {
				rule = rule.WithoutSelf()
			}
			return many(in[0].ScatterReduce(a.Axis, in[1], in[2], rule))
		},
		"index_add": func(in []T, a A) []T { return many(in[0].IndexAdd(a.Axis, in[1], in[2])) },
		"roll":      func(in []T, a A) []T { return many(in[0].Roll(a.Axis, a.Shift)) },
		"pad":       func(in []T, a A) []T { return many(in[0].Pad(a.Axis, a.Before, a.Behind, a.Value)) },
		"movedim":   func(in []T, a A) []T { return many(in[0].Movedim(a.Source, a.To)) },
		"unflatten": func(in []T, a A) []T { return many(in[0].Contiguous().Unflatten(a.Axis, a.Sizes...)) },
		"meshgrid":  func(in []T, _ A) []T { return tensor.Meshgrid(in...) },
		"dot":       withTensor(T.Dot), "mv": withTensor(T.Mv), "bmm": withTensor(T.Bmm), "outer": withTensor(T.Outer),
		"bincount": func(in []T, a A) []T { return many(in[0].Bincount(a.AtLeast)) },
		"unique": func(in []T, _ A) []T {
			values, at, counts := in[0].Unique()
			return many(values, at, counts)
		},
		"searchsorted": func(in []T, a A) []T { return many(in[0].Searchsorted(in[1], a.Right)) },
		"quantile":     func(in []T, a A) []T { return many(in[0].Quantile(a.Axis, a.Q)) },
		"median":       func(in []T, a A) []T { v, at := in[0].Median(a.Axis); return many(v, at) },
		"sort":         func(in []T, a A) []T { v, at := in[0].Sort(a.Axis, a.Descending); return many(v, at) },
		"topk":         func(in []T, a A) []T { v, at := in[0].TopK(a.Axis, a.K); return many(v, at) },
		"bottomk":      func(in []T, a A) []T { v, at := in[0].BottomK(a.Axis, a.K); return many(v, at) },
		"leaky_relu":   func(in []T, a A) []T { return many(in[0].LeakyReLU(a.Slope)) },
		"elu":          func(in []T, a A) []T { return many(in[0].ELU(a.Alpha)) },
		"nan_to_num":   func(in []T, a A) []T { return many(in[0].NanToNum(a.Nan, a.Positive, a.Negative)) },
		"isclose":      func(in []T, a A) []T { return many(tensor.IsClose(in[0], in[1], a.Relative, a.Absolute)) },
		"remainder":    withOther(T.Remainder), "fmod": withOther(T.Fmod), "logaddexp": withOther(T.Logaddexp),
		"pow": func(in []T, a A) []T {
			if a.Number == "" {
				return many(in[0].Pow(in[1]))
			}
			power, err := strconv.ParseFloat(a.Number, 64)
			if err != nil {
				panic(err)
			}
			return many(in[0].Pow(power))
		},
		"lerp": func(in []T, a A) []T {
			if a.Weight != nil {
				return many(in[0].Lerp(in[1], *a.Weight))
			}
			return many(in[0].Lerp(in[1], in[2]))
		},
		"addcmul": func(in []T, a A) []T { return many(in[0].Addcmul(in[1], in[2], a.Value)) },
		"addcdiv": func(in []T, a A) []T { return many(in[0].Addcdiv(in[1], in[2], a.Value)) },
		"attention": func(in []T, a A) []T {
			s := tensor.AttentionSettings{Causal: a.Causal, Scale: a.Factor}
			if a.Masked {
				s.Mask = in[3]
			}
			return many(tensor.Attention(in[0], in[1], in[2], s))
		},
		"rms_norm": func(in []T, a A) []T {
			if len(in) == 1 {
				return many(in[0].RMSNorm(nil, a.Eps))
			}
			return many(in[0].RMSNorm(in[1], a.Eps))
		},
		"norm": func(in []T, a A) []T { return many(in[0].Norm(a.Axes...)) },
		"pnorm": func(in []T, a A) []T {
			p, err := strconv.ParseFloat(a.Number, 64)
			if err != nil {
				panic(err)
			}
			return many(in[0].PNorm(p, a.Axes...))
		},
		"repeat_interleave": func(in []T, a A) []T { return many(in[0].RepeatInterleave(a.Axis, a.K)) },
		"diag":              func(in []T, _ A) []T { return many(in[0].Diag()) },
		"trace":             func(in []T, _ A) []T { return many(in[0].Trace()) },
		"huber":             func(in []T, a A) []T { return many(nn.Huber(in[0], in[1], a.Value, reductions[a.Reduction])) },
		"kl_div":            func(in []T, a A) []T { return many(nn.KLDiv(in[0], in[1].StopGrad(), reductions[a.Reduction])) },
		"layer_norm": func(in []T, a A) []T {
			if len(in) == 1 {
				return many(in[0].LayerNorm(a.Sizes, nil, nil, a.Eps))
			}
			return many(in[0].LayerNorm(a.Sizes, in[1], in[2], a.Eps))
		},
		"convolve": func(in []T, a A) []T {
			return many(nn.Convolve(in[0], in[1], append(in, nil)[2], nn.Windows{Stride: a.Stride, Padding: a.Padding, Dilation: a.Dilation, Groups: a.Groups}))
		},
		"max_pool": func(in []T, a A) []T {
			return many((&nn.MaxPool{Kernel: a.Sizes, Windows: nn.Windows{Stride: a.Stride, Padding: a.Padding, Dilation: a.Dilation}}).Forward(in[0]))
		},
		"group_norm": func(in []T, a A) []T {
			return many((&nn.GroupNorm{Weight: in[1], Bias: in[2], Groups: a.Groups, Eps: a.Eps}).Forward(in[0]))
		},
		"batch_norm": func(in []T, a A) []T {
			n := &nn.BatchNorm{Weight: in[1], Bias: in[2], RunningMean: in[3].Detach().Clone(), RunningVar: in[4].Detach().Clone(),
				NumBatchesTracked: tensor.With(tensor.Int64).Scalar(0), Momentum: a.Momentum, Eps: a.Eps}
			n.Evaluating = !a.Training
			return many(n.Forward(in[0]), n.RunningMean, n.RunningVar)
		},
		"rotate_pairs": func(in []T, a A) []T {
			angle := tensor.With(tensor.Float64).Arange(0, 15, 1).View(5, 3).Div(a.Divide)
			return many(in[0].RotatePairs(angle.Cos(), angle.Sin()))
		},
		"cross_entropy": func(in []T, a A) []T {
			options := []nn.LossOption{reductions[a.Reduction], nn.LabelSmoothing(a.Smoothing)}
			if a.Weighted {
				options = append(options, nn.ClassWeights(in[2]))
			}
			return many(nn.CrossEntropy(in[0], in[1], options...))
		},
	}
}()

// layouts are how inputs, and the gradients that arrive, lie in memory.
var layouts = map[string]func(x *tensor.Tensor) *tensor.Tensor{
	"contiguous": (*tensor.Tensor).Clone,
	"transposed": func(x *tensor.Tensor) *tensor.Tensor {
		if x.Dim() < 2 {
			return x.Clone()
		}
		return x.Transpose(0, -1).Contiguous().Transpose(0, -1)
	},
	"with gaps": func(x *tensor.Tensor) *tensor.Tensor {
		if x.Dim() == 0 {
			return x.Clone()
		}
		return tensor.Stack(-1, x, x).Select(-1, 1)
	},
	"within another": func(x *tensor.Tensor) *tensor.Tensor {
		if x.Dim() == 0 {
			return x.Clone()
		}
		return tensor.Cat(-1, x, x, x).Narrow(-1, x.Size(-1), x.Size(-1))
	},
}

func askOperation(c *oracle.Case, f operation) (any, error) {
	var args operationArgs
	c.DecodeArgs(&args)
	for name, lay := range layouts {
		got, err := resultsAndGradients(c, &args, f, lay)
		if err != nil {
			return nil, err
		}
		if d := oracle.Diff(got, c.Expect, c.Tol); d != "" || c.Error != nil {
			return oracle.Check(func() error { return fmt.Errorf("inputs %s: %s", name, d) }), nil
		}
	}
	return oracle.Check(func() error { return nil }), nil
}

// resultsAndGradients runs a case with inputs in one layout.
func resultsAndGradients(c *oracle.Case, args *operationArgs, f operation, lay func(x *tensor.Tensor) *tensor.Tensor) (any, error) {
	in := toTensors(c)
	for i, x := range in {
		in[i] = lay(x).Detach()
		if c.Inputs[i].RequiresGrad {
			in[i].RequireGrad()
		}
	}
	return try(func() any {
		results := f(in, args)
		answer := answers(results...).(map[string]any)
		if args.Weights == nil {
			return answer
		}
		var loss *tensor.Tensor
		for i, r := range results {
			var weights []number
			if err := json.Unmarshal(args.Weights[i], &weights); err != nil {
				panic(err)
			}
			if weights == nil {
				continue
			}
			w := tensor.With(tensor.Float64).Zeros(r.Len())
			for j, v := range weights {
				w.SetAt(v.float(), j)
			}
			part := r.Mul(lay(w.To(r.Dtype()).View(r.Shape()...))).Sum()
			if loss == nil {
				loss = part
			} else {
				loss = loss.Add(part)
			}
		}
		if loss != nil && loss.RequiresGrad() {
			loss.Backward()
		}
		grads := make([]any, len(in))
		for i, x := range in {
			if g := x.Grad(); g != nil {
				grads[i] = oracle.Tensor{Dtype: g.Dtype().String(), Shape: g.Shape(), Data: g.Floats()}
			}
		}
		answer["grads"] = grads
		return answer
	})
}
