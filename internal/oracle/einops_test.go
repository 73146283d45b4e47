package oracle_test

import (
	"slices"
	"testing"

	"github.com/lectern-go/lectern/einops"
	"github.com/lectern-go/lectern/internal/oracle"
	"github.com/lectern-go/lectern/tensor"
)

func TestEinops(t *testing.T) {
	oracle.Run(t, "einops", oracle.Ops{
		"einops.rearrange":   einopsRearrange,
		"einops.reduce":      einopsReduce,
		"einops.repeat":      einopsRepeat,
		"einops.einsum":      einopsEinsum,
		"einops.pack":        einopsPack,
		"einops.unpack":      einopsUnpack,
		"einops.parse_shape": einopsParseShape,
	})
}

// einopsArgs is the arguments of every operation of the family.
type einopsArgs struct {
	Pattern      string
	AxesLengths  map[string]int `json:"axes_lengths"`
	Reduction    string
	ListInput    bool    `json:"list_input"`
	PackedShapes [][]int `json:"packed_shapes"`
}

func (a *einopsArgs) sizes() (sizes []einops.Size) {
	for name, length := range a.AxesLengths {
		sizes = append(sizes, einops.Axis(name, length))
	}
	return sizes
}

// einopsReductions are the reductions by einops's names. An unknown name is a
// nil function, which Reduce refuses.
var einopsReductions = map[string]einops.Reduction{
	"sum": einops.Sum, "mean": einops.Mean, "max": einops.Max, "min": einops.Min,
	"prod": einops.Prod, "any": einops.Any, "all": einops.All,
}

func einopsRearrange(c *oracle.Case) (any, error) {
	return einopsOne(c, func(x *tensor.Tensor, a einopsArgs) *tensor.Tensor {
		return einops.Rearrange(x, a.Pattern, a.sizes()...)
	},
		func(x []*tensor.Tensor, a einopsArgs) *tensor.Tensor {
			return einops.Rearrange(x, a.Pattern, a.sizes()...)
		})
}

func einopsReduce(c *oracle.Case) (any, error) {
	return einopsOne(c, func(x *tensor.Tensor, a einopsArgs) *tensor.Tensor {
		return einops.Reduce(x, a.Pattern, einopsReductions[a.Reduction], a.sizes()...)
	}, func(x []*tensor.Tensor, a einopsArgs) *tensor.Tensor {
		return einops.Reduce(x, a.Pattern, einopsReductions[a.Reduction], a.sizes()...)
	})
}

func einopsRepeat(c *oracle.Case) (any, error) {
	return einopsOne(c, func(x *tensor.Tensor, a einopsArgs) *tensor.Tensor { return einops.Repeat(x, a.Pattern, a.sizes()...) },
		func(x []*tensor.Tensor, a einopsArgs) *tensor.Tensor {
			return einops.Repeat(x, a.Pattern, a.sizes()...)
		})
}

// einopsOne answers with the one tensor that f or, for a list, g returns.
func einopsOne(c *oracle.Case, f func(*tensor.Tensor, einopsArgs) *tensor.Tensor, g func([]*tensor.Tensor, einopsArgs) *tensor.Tensor) (any, error) {
	var a einopsArgs
	c.DecodeArgs(&a)
	x := einopsInputs(c)
	var y *tensor.Tensor
	err := tensor.Try(func() {
		if a.ListInput {
			y = g(x, a)
		} else {
			y = f(x[0], a)
		}
	})
	if err != nil {
		return nil, err
	}
	return einopsOutput(y), nil
}

func einopsEinsum(c *oracle.Case) (any, error) {
	var a einopsArgs
	c.DecodeArgs(&a)
	var y *tensor.Tensor
	if err := tensor.Try(func() { y = einops.Einsum(a.Pattern, einopsInputs(c)...) }); err != nil {
		return nil, err
	}
	return einopsOutput(y), nil
}

func einopsPack(c *oracle.Case) (any, error) {
	var a einopsArgs
	c.DecodeArgs(&a)
	var packed *tensor.Tensor
	var shapes [][]int
	if err := tensor.Try(func() { packed, shapes = einops.Pack(a.Pattern, einopsInputs(c)...) }); err != nil {
		return nil, err
	}
	return map[string]any{"packed": einopsOutput(packed), "packed_shapes": shapes}, nil
}

func einopsUnpack(c *oracle.Case) (any, error) {
	var a einopsArgs
	c.DecodeArgs(&a)
	var pieces []*tensor.Tensor
	if err := tensor.Try(func() { pieces = einops.Unpack(einopsInputs(c)[0], a.PackedShapes, a.Pattern) }); err != nil {
		return nil, err
	}
	out := make([]oracle.Tensor, len(pieces))
	for i, p := range pieces {
		out[i] = einopsOutput(p)
	}
	return map[string]any{"tensors": out}, nil
}

func einopsParseShape(c *oracle.Case) (any, error) {
	var a einopsArgs
	c.DecodeArgs(&a)
	var sizes einops.Sizes
	if err := tensor.Try(func() { sizes = einops.ParseShape(einopsInputs(c)[0], a.Pattern) }); err != nil {
		return nil, err
	}
	axes := [][]any{}
	for _, s := range sizes {
		axes = append(axes, []any{s.Name, s.Len})
	}
	return map[string]any{"axes": axes}, nil
}

// einopsInputs makes the case's tensors. The cases that only look at shapes have int8, which
// the library lacks: uint8 does as well.
func einopsInputs(c *oracle.Case) []*tensor.Tensor {
	list := make([]*tensor.Tensor, len(c.Inputs))
	for i, in := range c.Inputs {
		at := slices.IndexFunc(tensor.Dtypes(), func(d tensor.Dtype) bool { return d.String() == in.Dtype })
		dtype := tensor.Uint8
		if at >= 0 {
			dtype = tensor.Dtypes()[at]
		}
		list[i] = tensor.With(dtype).Of(in.Data).Reshape(in.Shape...)
	}
	return list
}

func einopsOutput(x *tensor.Tensor) oracle.Tensor {
	return oracle.Tensor{Dtype: x.Dtype().String(), Shape: x.Shape(), Data: x.Floats()}
}
