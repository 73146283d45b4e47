package oracle_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/lectern-go/lectern/internal/oracle"
	"github.com/lectern-go/lectern/tensor"
)

type (
	unaryMethod  = func(x *tensor.Tensor) *tensor.Tensor
	binaryMethod = func(x *tensor.Tensor, other any) *tensor.Tensor
	axesMethod   = func(x *tensor.Tensor, axes ...int) *tensor.Tensor
	axisMethod   = func(x *tensor.Tensor, axis int) *tensor.Tensor
	pairMethod   = func(x *tensor.Tensor, axis int, keep ...int) (values, at *tensor.Tensor)
)

// The methods that torch's functions of these names are.
var (
	unaryMethods = map[string]unaryMethod{
		"abs": (*tensor.Tensor).Abs, "ceil": (*tensor.Tensor).Ceil, "cos": (*tensor.Tensor).Cos, "erf": (*tensor.Tensor).Erf,
		"exp": (*tensor.Tensor).Exp, "expm1": (*tensor.Tensor).Expm1, "floor": (*tensor.Tensor).Floor, "isfinite": (*tensor.Tensor).IsFinite,
		"isinf": (*tensor.Tensor).IsInf, "isnan": (*tensor.Tensor).IsNaN, "log": (*tensor.Tensor).Log, "log1p": (*tensor.Tensor).Log1p,
		"log2": (*tensor.Tensor).Log2, "logical_not": (*tensor.Tensor).LogicalNot, "neg": (*tensor.Tensor).Neg,
		"reciprocal": (*tensor.Tensor).Reciprocal, "relu": (*tensor.Tensor).ReLU, "round": (*tensor.Tensor).Round, "rsqrt": (*tensor.Tensor).Rsqrt,
		"sigmoid": (*tensor.Tensor).Sigmoid, "sign": (*tensor.Tensor).Sign, "silu": (*tensor.Tensor).SiLU, "sin": (*tensor.Tensor).Sin,
		"sqrt": (*tensor.Tensor).Sqrt, "square": (*tensor.Tensor).Square, "tanh": (*tensor.Tensor).Tanh, "trunc": (*tensor.Tensor).Trunc,
		"bitwise_not": (*tensor.Tensor).Not,
	}
	binaryMethods = map[string]binaryMethod{
		"add": (*tensor.Tensor).Add, "sub": (*tensor.Tensor).Sub, "mul": (*tensor.Tensor).Mul, "pow": (*tensor.Tensor).Pow,
		"floor_divide": (*tensor.Tensor).FloorDiv, "fmod": (*tensor.Tensor).Fmod, "remainder": (*tensor.Tensor).Remainder,
		"eq": (*tensor.Tensor).Eq, "ne": (*tensor.Tensor).Ne, "lt": (*tensor.Tensor).Lt, "le": (*tensor.Tensor).Le,
		"gt": (*tensor.Tensor).Gt, "ge": (*tensor.Tensor).Ge, "maximum": (*tensor.Tensor).Maximum, "minimum": (*tensor.Tensor).Minimum,
		"logical_and": (*tensor.Tensor).LogicalAnd, "logical_or": (*tensor.Tensor).LogicalOr, "logical_xor": (*tensor.Tensor).LogicalXor,
		"bitwise_and": (*tensor.Tensor).And, "bitwise_or": (*tensor.Tensor).Or, "bitwise_xor": (*tensor.Tensor).Xor,
	}
	axesMethods = map[string]axesMethod{
		"sum": (*tensor.Tensor).Sum, "mean": (*tensor.Tensor).Mean, "prod": (*tensor.Tensor).Prod, "amax": (*tensor.Tensor).Max, "amin": (*tensor.Tensor).Min,
		"all": (*tensor.Tensor).All, "any": (*tensor.Tensor).Any, "argmax": (*tensor.Tensor).Argmax, "argmin": (*tensor.Tensor).Argmin,
		"logsumexp": (*tensor.Tensor).LogSumExp,
	}
	axisMethods = map[string]axisMethod{
		"cumsum": (*tensor.Tensor).Cumsum, "cumprod": (*tensor.Tensor).Cumprod,
		"softmax": (*tensor.Tensor).Softmax, "log_softmax": (*tensor.Tensor).LogSoftmax,
	}
)

func TestElementwise(t *testing.T) { oracle.Run(t, "elementwise", elementwiseOps()) }

func elementwiseOps() oracle.Ops {
	ops := oracle.Ops{
		"arange": arange, "eye": eye, "full": full, "linspace": linspace, "ones": filled(1), "zeros": filled(0),
		"div": div, "gelu": gelu, "where": where, "clamp": clamp, "masked_fill": maskedFill,
		"cat": cat, "stack": stack, "chunk": chunk, "split": split, "tensor_split": tensorSplit, "repeat": repeat,
		"gather": gather, "index_select": indexSelect, "index_tensor": indexTensor, "one_hot": oneHot,
		"flip": flip, "tril": triangle((*tensor.Tensor).Tril), "triu": triangle((*tensor.Tensor).Triu),
		"sort": sorted, "topk": topK,
		"max": extreme((*tensor.Tensor).Max, (*tensor.Tensor).MaxAt), "min": extreme((*tensor.Tensor).Min, (*tensor.Tensor).MinAt),
		"var": spread((*tensor.Tensor).Var), "std": spread((*tensor.Tensor).Std),
		"matmul": matmul(nil), "mm": matmul(matrices(2)), "bmm": matmul(matrices(3)),
	}
	for name, f := range unaryMethods {
		ops[name] = unary(f)
	}
	for name, f := range binaryMethods {
		ops[name] = binary(f)
	}
	for name, f := range axesMethods {
		ops[name] = reduction(f)
	}
	for name, f := range axisMethods {
		ops[name] = along(f)
	}
	return ops
}

// axes reads "dim", which is an axis, a list of them, or absent.
type axes []int

func (a *axes) UnmarshalJSON(text []byte) error {
	*a = axes{}
	var one int
	if json.Unmarshal(text, &one) == nil {
		*a = axes{one}
		return nil
	}
	return json.Unmarshal(text, (*[]int)(a))
}

// keepDim adds the marker for "keepdim".
func keepDim(dim []int, keep bool) []int {
	if keep {
		return append(dim, tensor.KeepDim)
	}
	return dim
}

// number reads a Python number: 1 is an int, 1.0 a float.
type number struct{ value any }

func (n *number) UnmarshalJSON(text []byte) error {
	switch {
	case text[0] == 't' || text[0] == 'f':
		n.value = text[0] == 't'
		return nil
	case text[0] == '"':
		n.value = map[string]float64{`"nan"`: math.NaN(), `"inf"`: math.Inf(1), `"-inf"`: math.Inf(-1)}[string(text)]
		return nil
	case bytes.ContainsAny(text, ".eE"):
		var v float64
		err := json.Unmarshal(text, &v)
		n.value = v
		return err
	}
	var v int64
	err := json.Unmarshal(text, &v)
	n.value = v
	return err
}

func (n number) float() float64 {
	switch v := n.value.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return 0
}

func unary(f unaryMethod) func(c *oracle.Case) (any, error) {
	return func(c *oracle.Case) (any, error) {
		c.DecodeArgs(&struct{}{})
		return try(func() any { return answer(f(toTensor(c.Inputs[0]))) })
	}
}

// operands returns the two operands of a case; a scalar is on either side.
func operands(c *oracle.Case, scalar number, left bool) (x *tensor.Tensor, y any) {
	x = toTensor(c.Inputs[0])
	switch {
	case len(c.Inputs) > 1:
		return x, toTensor(c.Inputs[1])
	case left:
		return tensor.Number(scalar.value), x
	}
	return x, scalar.value
}

func binary(f binaryMethod) func(c *oracle.Case) (any, error) {
	return func(c *oracle.Case) (any, error) {
		var args struct {
			Scalar     number
			ScalarLeft bool `json:"scalar_left"`
		}
		c.DecodeArgs(&args)
		return try(func() any {
			x, y := operands(c, args.Scalar, args.ScalarLeft)
			return answer(f(x, y))
		})
	}
}

func div(c *oracle.Case) (any, error) {
	var args struct {
		Scalar       number
		ScalarLeft   bool    `json:"scalar_left"`
		RoundingMode *string `json:"rounding_mode"`
	}
	c.DecodeArgs(&args)
	return try(func() any {
		x, y := operands(c, args.Scalar, args.ScalarLeft)
		switch {
		case args.RoundingMode == nil:
			return answer(x.Div(y))
		case *args.RoundingMode == "floor":
			return answer(x.FloorDiv(y))
		}
		return answer(x.TruncDiv(y))
	})
}

func gelu(c *oracle.Case) (any, error) {
	var args struct{ Approximate string }
	c.DecodeArgs(&args)
	return try(func() any {
		if args.Approximate == "tanh" {
			return answer(toTensor(c.Inputs[0]).GELUTanh())
		}
		return answer(toTensor(c.Inputs[0]).GELU())
	})
}

func where(c *oracle.Case) (any, error) {
	c.DecodeArgs(&struct{}{})
	in := toTensors(c)
	return try(func() any { return answer(tensor.Where(in[0], in[1], in[2])) })
}

func clamp(c *oracle.Case) (any, error) {
	var args struct{ Min, Max *number }
	c.DecodeArgs(&args)
	low, high := math.Inf(-1), math.Inf(1)
	if args.Min != nil {
		low = args.Min.float()
	}
	if args.Max != nil {
		high = args.Max.float()
	}
	return try(func() any { return answer(toTensor(c.Inputs[0]).Clamp(low, high)) })
}

func maskedFill(c *oracle.Case) (any, error) {
	var args struct{ Value number }
	c.DecodeArgs(&args)
	in := toTensors(c)
	return try(func() any { return answer(in[0].MaskedFill(in[1], args.Value.float())) })
}

func reduction(f axesMethod) func(c *oracle.Case) (any, error) {
	return func(c *oracle.Case) (any, error) {
		var args struct {
			Dim     axes
			Keepdim bool
			Dtype   string
		}
		c.DecodeArgs(&args)
		x, err := converted(c, args.Dtype)
		if err != nil {
			return nil, err
		}
		return try(func() any { return answer(f(x, keepDim(args.Dim, args.Keepdim)...)) })
	}
}

// converted returns the input, in the dtype that it is to be converted to first.
func converted(c *oracle.Case, dtype string) (*tensor.Tensor, error) {
	x := toTensor(c.Inputs[0])
	if dtype == "" {
		return x, nil
	}
	d, err := dtypeOf(dtype)
	return x.To(d), err
}

func spread(f axesMethod) func(c *oracle.Case) (any, error) {
	return func(c *oracle.Case) (any, error) {
		var args struct {
			Dim      axes
			Keepdim  bool
			Unbiased *bool
		}
		c.DecodeArgs(&args)
		which := keepDim(args.Dim, args.Keepdim)
		if args.Unbiased != nil && !*args.Unbiased {
			which = append(which, tensor.Biased)
		}
		return try(func() any { return answer(f(toTensor(c.Inputs[0]), which...)) })
	}
}

// extreme is max and min: a value without "dim", values and positions with it.
func extreme(all axesMethod, at pairMethod) func(c *oracle.Case) (any, error) {
	return func(c *oracle.Case) (any, error) {
		var args struct {
			Dim     *int
			Keepdim bool
		}
		c.DecodeArgs(&args)
		return try(func() any {
			x := toTensor(c.Inputs[0])
			if args.Dim == nil {
				return answer(all(x))
			}
			return answers(at(x, *args.Dim, keepDim(nil, args.Keepdim)...))
		})
	}
}

func along(f axisMethod) func(c *oracle.Case) (any, error) {
	return func(c *oracle.Case) (any, error) {
		var args struct {
			Dim   int
			Dtype string
		}
		c.DecodeArgs(&args)
		x, err := converted(c, args.Dtype)
		if err != nil {
			return nil, err
		}
		return try(func() any { return answer(f(x, args.Dim)) })
	}
}

func triangle(f axisMethod) func(c *oracle.Case) (any, error) {
	return func(c *oracle.Case) (any, error) {
		var args struct{ Diagonal int }
		c.DecodeArgs(&args)
		return try(func() any { return answer(f(toTensor(c.Inputs[0]), args.Diagonal)) })
	}
}

// matrices is the check that torch.mm and torch.bmm add to matmul.
func matrices(rank int) func(x *tensor.Tensor) error {
	return func(x *tensor.Tensor) error {
		if x.Dim() != rank {
			return errors.New("not of the right number of axes")
		}
		return nil
	}
}

func matmul(check func(x *tensor.Tensor) error) func(c *oracle.Case) (any, error) {
	return func(c *oracle.Case) (any, error) {
		c.DecodeArgs(&struct{}{})
		in := toTensors(c)
		if check != nil {
			for _, x := range in {
				if err := check(x); err != nil {
					return nil, err
				}
			}
		}
		return try(func() any { return answer(in[0].Matmul(in[1])) })
	}
}

func cat(c *oracle.Case) (any, error) {
	var args struct{ Dim int }
	c.DecodeArgs(&args)
	return try(func() any { return answer(tensor.Cat(args.Dim, toTensors(c)...)) })
}

func stack(c *oracle.Case) (any, error) {
	var args struct{ Dim int }
	c.DecodeArgs(&args)
	return try(func() any { return answer(tensor.Stack(args.Dim, toTensors(c)...)) })
}

type partArgs struct {
	N        any
	Dim      int
	Sections int
	Indices  []int
}

func split(c *oracle.Case) (any, error) {
	var args partArgs
	c.DecodeArgs(&args)
	x := toTensor(c.Inputs[0])
	return try(func() any {
		if sizes, ok := args.N.([]any); ok {
			var list []int
			for _, s := range sizes {
				list = append(list, int(s.(float64)))
			}
			return answers(x.SplitSizes(args.Dim, list...)...)
		}
		return answers(x.Split(args.Dim, int(args.N.(float64)))...)
	})
}

func chunk(c *oracle.Case) (any, error) {
	var args partArgs
	c.DecodeArgs(&args)
	return try(func() any { return answers(toTensor(c.Inputs[0]).Chunk(args.Dim, int(args.N.(float64)))...) })
}

func tensorSplit(c *oracle.Case) (any, error) {
	var args partArgs
	c.DecodeArgs(&args)
	x := toTensor(c.Inputs[0])
	return try(func() any {
		if args.Indices != nil {
			return answers(x.SplitAt(args.Dim, args.Indices...)...)
		}
		return answers(x.SplitInto(args.Dim, args.Sections)...)
	})
}

func repeat(c *oracle.Case) (any, error) {
	var args struct{ Repeats []int }
	c.DecodeArgs(&args)
	return try(func() any { return answer(toTensor(c.Inputs[0]).Repeat(args.Repeats...)) })
}

func gather(c *oracle.Case) (any, error) {
	var args struct{ Dim int }
	c.DecodeArgs(&args)
	in := toTensors(c)
	return try(func() any { return answer(in[0].Gather(args.Dim, in[1])) })
}

func indexSelect(c *oracle.Case) (any, error) {
	var args struct{ Dim int }
	c.DecodeArgs(&args)
	in := toTensors(c)
	return try(func() any { return answer(in[0].IndexSelect(args.Dim, in[1])) })
}

func indexTensor(c *oracle.Case) (any, error) {
	c.DecodeArgs(&struct{}{})
	in := toTensors(c)
	return try(func() any { return answer(in[0].Index(in[1])) })
}

func oneHot(c *oracle.Case) (any, error) {
	var args struct {
		NumClasses *int `json:"num_classes"`
	}
	c.DecodeArgs(&args)
	return try(func() any {
		if args.NumClasses == nil || *args.NumClasses == -1 {
			return answer(tensor.OneHot(toTensor(c.Inputs[0])))
		}
		return answer(tensor.OneHot(toTensor(c.Inputs[0]), *args.NumClasses))
	})
}

func flip(c *oracle.Case) (any, error) {
	var args struct{ Dims []int }
	c.DecodeArgs(&args)
	return try(func() any { return answer(toTensor(c.Inputs[0]).Flip(args.Dims...)) })
}

func sorted(c *oracle.Case) (any, error) {
	var args struct {
		Dim        *int
		Descending bool
		Stable     bool // every sort is
	}
	c.DecodeArgs(&args)
	dim := -1
	if args.Dim != nil {
		dim = *args.Dim
	}
	return try(func() any { return answers(toTensor(c.Inputs[0]).Sort(dim, args.Descending)) })
}

func topK(c *oracle.Case) (any, error) {
	var args struct {
		K       int
		Dim     *int
		Largest *bool
		Sorted  *bool // if not asked for, any order will do
	}
	c.DecodeArgs(&args)
	dim := -1
	if args.Dim != nil {
		dim = *args.Dim
	}
	return try(func() any {
		x := toTensor(c.Inputs[0])
		if args.Largest == nil || *args.Largest {
			return answers(x.TopK(dim, args.K))
		}
		values, at := x.Sort(dim, false)
		return answers(values.Narrow(dim, 0, args.K), at.Narrow(dim, 0, args.K))
	})
}

// maker returns the Maker for a named dtype, which may be absent.
func maker(name string) (tensor.Maker, error) {
	if name == "" {
		return tensor.With(), nil
	}
	d, err := dtypeOf(name)
	return tensor.With(d), err
}

// arange is given Python numbers: a float among them makes the result float32.
func arange(c *oracle.Case) (any, error) {
	var args struct {
		Args  []number
		Dtype string
	}
	c.DecodeArgs(&args)
	m, err := maker(args.Dtype)
	if err != nil {
		return nil, err
	}
	bounds := make([]float64, len(args.Args))
	for i, n := range args.Args {
		bounds[i] = n.float()
		if _, ok := n.value.(float64); ok && args.Dtype == "" {
			m = tensor.With(tensor.Float32)
		}
	}
	return try(func() any {
		switch len(bounds) {
		case 1:
			return answer(m.Arange(0, bounds[0], 1))
		case 2:
			return answer(m.Arange(bounds[0], bounds[1], 1))
		}
		return answer(m.Arange(bounds[0], bounds[1], bounds[2]))
	})
}

func linspace(c *oracle.Case) (any, error) {
	var args struct {
		Start, End number
		Steps      int
		Dtype      string
	}
	c.DecodeArgs(&args)
	m, err := maker(args.Dtype)
	if err != nil {
		return nil, err
	}
	return try(func() any { return answer(m.Linspace(args.Start.float(), args.End.float(), args.Steps)) })
}

func eye(c *oracle.Case) (any, error) {
	var args struct{ Args []int }
	c.DecodeArgs(&args)
	return try(func() any {
		x := tensor.Eye(args.Args[0])
		if len(args.Args) == 2 {
			x = tensor.Zeros(args.Args[0], args.Args[1])
			x.Diagonal(0, 0, 1).Fill(1)
		}
		return answer(x)
	})
}

// full takes its dtype from the Python value, as torch.full does.
func full(c *oracle.Case) (any, error) {
	var args struct {
		Size      []int
		FillValue number `json:"fill_value"`
		Dtype     string
	}
	c.DecodeArgs(&args)
	m, err := maker(args.Dtype)
	if err != nil {
		return nil, err
	}
	value := args.FillValue.float()
	if args.Dtype == "" {
		switch v := args.FillValue.value.(type) {
		case int64:
			m = tensor.With(tensor.Int64)
		case bool:
			m = tensor.With(tensor.Bool)
			if v {
				value = 1
			}
		}
	}
	return try(func() any { return answer(m.Full(value, args.Size...)) })
}

func filled(value float64) func(c *oracle.Case) (any, error) {
	return func(c *oracle.Case) (any, error) {
		var args struct {
			Size  []int
			Dtype string
		}
		c.DecodeArgs(&args)
		m, err := maker(args.Dtype)
		if err != nil {
			return nil, err
		}
		return try(func() any { return answer(m.Full(value, args.Size...)) })
	}
}
