package oracle_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/lectern-go/lectern/einops"
	"github.com/lectern-go/lectern/internal/oracle"
	"github.com/lectern-go/lectern/tensor"
)

func TestAutograd(t *testing.T) {
	oracle.Run(t, "autograd", oracle.Ops{"autograd.program": runProgram})
}

// statement is one line of a program: out = fn(in..., kw...).
type statement struct {
	Fn  string
	In  []string
	Out json.RawMessage // a name, or a list of names
	Kw  json.RawMessage
}

// program is a run of statements over named tensors.
type program struct {
	statements []statement
	values     map[string]*tensor.Tensor
}

func runProgram(c *oracle.Case) (any, error) {
	var args struct{ Program []statement }
	c.DecodeArgs(&args)
	p := &program{args.Program, map[string]*tensor.Tensor{}}
	for _, in := range c.Inputs {
		x := toTensor(in)
		if in.RequiresGrad {
			x.RequireGrad()
		}
		p.values[in.Name] = x
	}
	for i := 0; i < len(p.statements); i++ {
		var at int
		var err error
		if p.statements[i].Fn == "no_grad_begin" {
			tensor.NoGrad(func() {
				for at = i + 1; at < len(p.statements) && p.statements[at].Fn != "no_grad_end" && err == nil; at++ {
					err = p.run(p.statements[at])
				}
			})
			i = at
			at--
		} else {
			at = i
			err = p.run(p.statements[i])
		}
		if err != nil {
			return nil, oracle.At(at, err)
		}
	}
	grads, values := map[string]any{}, map[string]any{}
	requires, leaf := map[string]bool{}, map[string]bool{}
	for name, x := range p.values {
		values[name], requires[name], leaf[name] = answer(x), x.RequiresGrad(), x.IsLeaf()
		grads[name] = nil
		if g := x.Grad(); g != nil {
			grads[name] = answer(g)
		}
	}
	return map[string]any{"grads": grads, "values": values, "requires_grad": requires, "is_leaf": leaf}, nil
}

// run executes one statement. Errors are the library's; a statement that is not
// known panics, so that no case passes by mistake.
func (p *program) run(s statement) error {
	in := make([]*tensor.Tensor, len(s.In))
	for i, name := range s.In {
		x, ok := p.values[name]
		if !ok {
			panic(fmt.Sprintf("statement %s: no tensor %q", s.Fn, name))
		}
		in[i] = x
	}
	return tensor.Try(func() {
		if p.act(s, in) {
			return
		}
		results := s.compute(in)
		var names []string
		var one string
		if json.Unmarshal(s.Out, &one) == nil {
			names = []string{one}
		} else if err := json.Unmarshal(s.Out, &names); err != nil {
			panic(fmt.Sprintf("statement %s: out is %s", s.Fn, s.Out))
		}
		for i, name := range names {
			p.values[name] = results[i]
		}
	})
}

// read decodes the keyword arguments; one that is not known panics.
func (s statement) read(v any) {
	if len(s.Kw) == 0 || string(s.Kw) == "null" {
		return
	}
	d := json.NewDecoder(bytes.NewReader(s.Kw))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		panic(fmt.Sprintf("statement %s: arguments %s: %v", s.Fn, s.Kw, err))
	}
}

// act runs the statements that change a tensor or its place in the graph; it
// returns false for those that compute a value.
func (p *program) act(s statement, in []*tensor.Tensor) bool {
	var kw struct {
		Grad   *string
		Retain bool `json:"retain_graph"`
		Value  *number
		Alpha  *number
		Items  []json.RawMessage
		Min    *number
		Max    *number
	}
	value := func() any {
		if len(in) > 1 {
			return in[1]
		}
		return kw.Value.value
	}
	switch s.Fn {
	case "backward":
		s.read(&kw)
		var options []tensor.BackwardOption
		if kw.Grad != nil {
			options = append(options, tensor.WithGrad(p.values[*kw.Grad]))
		}
		if kw.Retain {
			options = append(options, tensor.Retain())
		}
		in[0].Backward(options...)
	case "retain_grad":
		in[0].RetainGrad()
	case "zero_grad":
		in[0].ZeroGrad()
	case "zero_grad_":
		in[0].Grad().Zero()
	case "requires_grad_":
		s.read(&kw)
		if kw.Value == nil || kw.Value.value == true {
			in[0].RequireGrad()
		} else {
			in[0].StopGrad()
		}
	case "add_", "sub_":
		s.read(&kw)
		other := value()
		if kw.Alpha != nil {
			other = tensor.Number(kw.Alpha.value).Mul(other)
		}
		if s.Fn == "add_" {
			in[0].AddInPlace(other)
		} else {
			in[0].SubInPlace(other)
		}
	case "mul_", "div_", "pow_":
		s.read(&kw)
		map[string]binaryMethod{"mul_": (*tensor.Tensor).MulInPlace, "div_": (*tensor.Tensor).DivInPlace, "pow_": (*tensor.Tensor).PowInPlace}[s.Fn](in[0], value())
	case "zero_", "relu_", "neg_", "abs_", "exp_", "log_", "sqrt_", "square_", "reciprocal_", "sigmoid_", "tanh_":
		s.read(&struct{}{})
		map[string]unaryMethod{
			"zero_": (*tensor.Tensor).Zero, "relu_": (*tensor.Tensor).ReLUInPlace, "neg_": (*tensor.Tensor).NegInPlace, "abs_": (*tensor.Tensor).AbsInPlace,
			"exp_": (*tensor.Tensor).ExpInPlace, "log_": (*tensor.Tensor).LogInPlace, "sqrt_": (*tensor.Tensor).SqrtInPlace, "square_": (*tensor.Tensor).SquareInPlace,
			"reciprocal_": (*tensor.Tensor).ReciprocalInPlace, "sigmoid_": (*tensor.Tensor).SigmoidInPlace, "tanh_": (*tensor.Tensor).TanhInPlace,
		}[s.Fn](in[0])
	case "clamp_":
		s.read(&kw)
		in[0].ClampInPlace(limit(kw.Min, math.Inf(-1)), limit(kw.Max, math.Inf(1)))
	case "fill_":
		s.read(&kw)
		in[0].Fill(kw.Value.float())
	case "copy_":
		s.read(&struct{}{})
		in[0].CopyFrom(in[1])
	case "setitem":
		s.read(&kw)
		in[0].SetIndex(value(), indexItems(kw.Items)...)
	default:
		return false
	}
	return true
}

func limit(n *number, otherwise float64) float64 {
	if n == nil {
		return otherwise
	}
	return n.float()
}

// viewFunctions are those that viewStep knows, with its defaults.
var viewFunctions = map[string]viewStep{
	"transpose": {}, "t": {}, "permute": {}, "view": {}, "reshape": {}, "expand": {}, "unsqueeze": {}, "squeeze": {}, "narrow": {},
	"select": {}, "flatten": {EndDim: -1}, "diagonal": {Dim2: 1}, "unfold": {}, "contiguous": {}, "clone": {}, "index": {},
}

// compute runs the statements that give values.
func (s statement) compute(in []*tensor.Tensor) []*tensor.Tensor {
	one := func(t *tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{t} }
	x := in[0]
	if step, ok := viewFunctions[s.Fn]; ok {
		s.read(&step)
		step.Op = s.Fn
		return one(step.run(x))
	}
	if f, ok := unaryMethods[s.Fn]; ok {
		s.read(&struct{}{})
		return one(f(x))
	}
	if f, ok := binaryMethods[s.Fn]; ok && len(in) == 2 {
		var kw struct{ Alpha *number }
		s.read(&kw)
		other := in[1]
		if kw.Alpha != nil {
			other = other.Mul(kw.Alpha.value)
		}
		return one(f(x, other))
	}
	if f, ok := axesMethods[s.Fn]; ok {
		var kw struct {
			Dim     axes
			Keepdim bool
		}
		s.read(&kw)
		return one(f(x, keepDim(kw.Dim, kw.Keepdim)...))
	}
	if f, ok := axisMethods[s.Fn]; ok {
		var kw struct{ Dim int }
		s.read(&kw)
		return one(f(x, kw.Dim))
	}
	if f, ok := programFunctions[s.Fn]; ok {
		return one(f(s, in))
	}
	switch s.Fn {
	case "max", "min":
		var kw struct {
			Dim     *int
			Keepdim bool
		}
		s.read(&kw)
		all, at := (*tensor.Tensor).Max, (*tensor.Tensor).MaxAt
		if s.Fn == "min" {
			all, at = (*tensor.Tensor).Min, (*tensor.Tensor).MinAt
		}
		if kw.Dim == nil {
			return one(all(x))
		}
		values, positions := at(x, *kw.Dim, keepDim(nil, kw.Keepdim)...)
		return []*tensor.Tensor{values, positions}
	case "sort":
		var kw struct {
			Dim        *int
			Descending bool
		}
		s.read(&kw)
		dim := -1
		if kw.Dim != nil {
			dim = *kw.Dim
		}
		values, positions := x.Sort(dim, kw.Descending)
		return []*tensor.Tensor{values, positions}
	case "topk":
		kw := struct{ K, Dim int }{Dim: -1}
		s.read(&kw)
		values, positions := x.TopK(kw.Dim, kw.K)
		return []*tensor.Tensor{values, positions}
	case "split", "chunk":
		var kw struct{ N, Dim int }
		s.read(&kw)
		if s.Fn == "split" {
			return x.Split(kw.Dim, kw.N)
		}
		return x.Chunk(kw.Dim, kw.N)
	}
	panic(fmt.Sprintf("no statement %q", s.Fn))
}

// programFunctions are the value functions with arguments of their own.
var programFunctions = map[string]func(s statement, in []*tensor.Tensor) *tensor.Tensor{
	"detach": func(s statement, in []*tensor.Tensor) *tensor.Tensor { s.read(&struct{}{}); return in[0].Detach() },
	"matmul": func(s statement, in []*tensor.Tensor) *tensor.Tensor { s.read(&struct{}{}); return in[0].Matmul(in[1]) },
	"mm":     func(s statement, in []*tensor.Tensor) *tensor.Tensor { s.read(&struct{}{}); return in[0].Matmul(in[1]) },
	"bmm":    func(s statement, in []*tensor.Tensor) *tensor.Tensor { s.read(&struct{}{}); return in[0].Matmul(in[1]) },
	"where": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		s.read(&struct{}{})
		return tensor.Where(in[0], in[1], in[2])
	},
	"scalar": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		var kw struct {
			Op    string
			Value number
		}
		s.read(&kw)
		x, v := in[0], kw.Value.value
		switch kw.Op {
		case "add", "radd":
			return x.Add(v)
		case "sub":
			return x.Sub(v)
		case "mul", "rmul":
			return x.Mul(v)
		case "div":
			return x.Div(v)
		case "pow":
			return x.Pow(v)
		case "rsub":
			return tensor.Number(v).Sub(x)
		case "rdiv":
			return tensor.Number(v).Div(x)
		case "rpow":
			return tensor.Number(v).Pow(x)
		}
		panic("scalar " + kw.Op)
	},
	"pow": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		var kw struct{ Exponent number }
		s.read(&kw)
		return in[0].Pow(kw.Exponent.value)
	},
	"div": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		s.read(&struct{}{})
		return in[0].Div(in[1])
	},
	"mean": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		var kw struct {
			Dim     axes
			Keepdim bool
		}
		s.read(&kw)
		return in[0].Mean(keepDim(kw.Dim, kw.Keepdim)...)
	},
	"norm": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		var kw struct {
			Dim     axes
			Keepdim bool
		}
		s.read(&kw)
		return in[0].Norm(keepDim(kw.Dim, kw.Keepdim)...)
	},
	"var": func(s statement, in []*tensor.Tensor) *tensor.Tensor { return s.spread((*tensor.Tensor).Var, in[0]) },
	"std": func(s statement, in []*tensor.Tensor) *tensor.Tensor { return s.spread((*tensor.Tensor).Std, in[0]) },
	"to": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		var kw struct{ Dtype string }
		s.read(&kw)
		d, err := dtypeOf(kw.Dtype)
		if err != nil {
			panic(err)
		}
		return in[0].To(d)
	},
	"clamp": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		var kw struct{ Min, Max *number }
		s.read(&kw)
		return in[0].Clamp(limit(kw.Min, math.Inf(-1)), limit(kw.Max, math.Inf(1)))
	},
	"masked_fill": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		var kw struct{ Value number }
		s.read(&kw)
		return in[0].MaskedFill(in[1], kw.Value.float())
	},
	"gelu": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		var kw struct{ Approximate string }
		s.read(&kw)
		if kw.Approximate == "tanh" {
			return in[0].GELUTanh()
		}
		return in[0].GELU()
	},
	"softplus": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		s.read(&struct{}{})
		return in[0].Clamp(0, math.Inf(1)).Add(in[0].Abs().Neg().Exp().Log1p())
	},
	"repeat": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		var kw struct{ Repeats []int }
		s.read(&kw)
		return in[0].Repeat(kw.Repeats...)
	},
	"flip": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		var kw struct{ Dims []int }
		s.read(&kw)
		return in[0].Flip(kw.Dims...)
	},
	"tril": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		var kw struct{ Diagonal int }
		s.read(&kw)
		return in[0].Tril(kw.Diagonal)
	},
	"triu": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		var kw struct{ Diagonal int }
		s.read(&kw)
		return in[0].Triu(kw.Diagonal)
	},
	"cat": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		var kw struct{ Dim int }
		s.read(&kw)
		return tensor.Cat(kw.Dim, in...)
	},
	"stack": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		var kw struct{ Dim int }
		s.read(&kw)
		return tensor.Stack(kw.Dim, in...)
	},
	"gather": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		var kw struct{ Dim int }
		s.read(&kw)
		return in[0].Gather(kw.Dim, in[1])
	},
	"index_select": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		var kw struct{ Dim int }
		s.read(&kw)
		return in[0].IndexSelect(kw.Dim, in[1])
	},
	"index_tensor": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		s.read(&struct{}{})
		return in[0].Index(in[1])
	},
	"embedding": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		s.read(&struct{}{})
		return in[0].Embedding(in[1])
	},
	"linear": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		s.read(&struct{}{})
		y := in[0].Matmul(in[1].T())
		if len(in) > 2 {
			y = y.Add(in[2])
		}
		return y
	},
	"layer_norm": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		kw := struct {
			Shape []int `json:"normalized_shape"`
			Eps   float64
		}{Eps: 1e-5}
		s.read(&kw)
		over := make([]int, 0, len(kw.Shape)+1)
		for i := range kw.Shape {
			over = append(over, -1-i)
		}
		x := in[0]
		centred := x.Sub(x.Mean(append(over, tensor.KeepDim)...))
		y := centred.Mul(x.Var(append(over, tensor.KeepDim, tensor.Biased)...).Add(kw.Eps).Rsqrt())
		if len(in) > 1 {
			y = y.Mul(in[1])
		}
		if len(in) > 2 {
			y = y.Add(in[2])
		}
		return y
	},
	"mse_loss": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		return s.reduce(in[0].Sub(in[1]).Square())
	},
	"l1_loss": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		return s.reduce(in[0].Sub(in[1]).Abs())
	},
	"cross_entropy": crossEntropy,
	"einops.einsum": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		return einops.Einsum(s.einops().Pattern, in...)
	},
	"einops.rearrange": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		kw := s.einops()
		return einops.Rearrange(in[0], kw.Pattern, kw.sizes()...)
	},
	"einops.reduce": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		kw := s.einops()
		return einops.Reduce(in[0], kw.Pattern, einopsReductions[kw.Reduction], kw.sizes()...)
	},
	"einops.repeat": func(s statement, in []*tensor.Tensor) *tensor.Tensor {
		kw := s.einops()
		return einops.Repeat(in[0], kw.Pattern, kw.sizes()...)
	},
}

func (s statement) einops() (kw einopsArgs) {
	s.read(&kw)
	return kw
}

func (s statement) spread(f axesMethod, x *tensor.Tensor) *tensor.Tensor {
	var kw struct {
		Dim      axes
		Keepdim  bool
		Unbiased *bool
	}
	s.read(&kw)
	which := keepDim(kw.Dim, kw.Keepdim)
	if kw.Unbiased != nil && !*kw.Unbiased {
		which = append(which, tensor.Biased)
	}
	return f(x, which...)
}

// reduce is the last step of a loss.
func (s statement) reduce(each *tensor.Tensor) *tensor.Tensor {
	var kw struct{ Reduction string }
	s.read(&kw)
	switch kw.Reduction {
	case "none":
		return each
	case "sum":
		return each.Sum()
	case "", "mean":
		return each.Mean()
	}
	panic("reduction " + kw.Reduction)
}

// crossEntropy is torch's: scores [N, C, ...] or [C], and classes as whole
// numbers, of which those equal to ignore_index don't count.
func crossEntropy(s statement, in []*tensor.Tensor) *tensor.Tensor {
	kw := struct {
		Reduction   string
		IgnoreIndex int     `json:"ignore_index"`
		Smoothing   float64 `json:"label_smoothing"`
	}{Reduction: "mean", IgnoreIndex: -100}
	s.read(&kw)
	scores, target := in[0], in[1]
	axis := min(1, scores.Dim()-1)
	ignored := target.Eq(kw.IgnoreIndex)
	logs := scores.LogSoftmax(axis)
	picked := logs.Gather(axis, target.MaskedFill(ignored, 0).Unsqueeze(axis)).Squeeze(axis).Neg()
	if kw.Smoothing > 0 {
		picked = picked.Mul(1 - kw.Smoothing).Add(logs.Mean(axis).Neg().Mul(kw.Smoothing))
	}
	picked = picked.MaskedFill(ignored, 0)
	switch kw.Reduction {
	case "none":
		return picked
	case "sum":
		return picked.Sum()
	}
	return picked.Sum().Div(ignored.LogicalNot().Sum())
}
