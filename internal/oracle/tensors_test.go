package oracle_test

import (
	"errors"
	"fmt"

	"github.com/lectern-go/lectern/internal/oracle"
	"github.com/lectern-go/lectern/tensor"
)

// dtypeNames maps the names in the files, which are PyTorch's, to ours.
var dtypeNames = func() map[string]tensor.Dtype {
	names := map[string]tensor.Dtype{}
	for _, d := range tensor.Dtypes() {
		names[d.String()] = d
	}
	return names
}()

// dtypeOf returns the dtype of a name.
func dtypeOf(name string) (tensor.Dtype, error) {
	d, ok := dtypeNames[name]
	if !ok {
		return 0, fmt.Errorf("no dtype %q: %w", name, oracle.ErrNotOffered)
	}
	return d, nil
}

// toTensor makes a contiguous tensor of a case's input.
func toTensor(in oracle.Input) *tensor.Tensor {
	d, err := dtypeOf(in.Dtype)
	if err != nil {
		panic(err)
	}
	return tensor.With(tensor.Float64).Of(in.Data).To(d).View(in.Shape...)
}

func toTensors(c *oracle.Case) []*tensor.Tensor {
	all := make([]*tensor.Tensor, len(c.Inputs))
	for i, in := range c.Inputs {
		all[i] = toTensor(in)
	}
	return all
}

// answer is a tensor as the runner compares it.
func answer(t *tensor.Tensor) oracle.Tensor {
	return oracle.Tensor{Dtype: t.Dtype().String(), Shape: t.Shape(), Data: t.Floats()}
}

// answers is the form of operations with several results.
func answers(all ...*tensor.Tensor) any {
	list := make([]oracle.Tensor, len(all))
	for i, t := range all {
		list[i] = answer(t)
	}
	return map[string]any{"tensors": list}
}

// try runs f and returns what it returned, or the library's error.
func try(f func() any) (result any, err error) {
	err = tensor.Try(func() { result = f() })
	var known *tensor.Error
	if err != nil && !errors.As(err, &known) {
		panic(err)
	}
	return result, err
}
