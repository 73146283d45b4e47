package nn

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/lectern-go/lectern/tensor"
)

// StateDict returns all tensors of a model, parameters and buffers, in the order
// of its fields. They are the model's own, not copies. A tensor that is used in
// two places appears under both names.
func StateDict(model any) State {
	var all State
	walk("state dict", model, func(name string, t *tensor.Tensor, _ bool) { all = append(all, tensor.Named(name, t)) }, nil)
	return all
}

// State is the named tensors of a model, in a fixed order.
type State []tensor.NamedTensor

// Map returns the tensors by name.
func (s State) Map() map[string]*tensor.Tensor {
	m := make(map[string]*tensor.Tensor, len(s))
	for _, p := range s {
		m[p.Name] = p.Tensor
	}
	return m
}

// Get returns a tensor by name, nil if there is none.
func (s State) Get(name string) *tensor.Tensor { return s.Map()[name] }

// String lists names, shapes and dtypes, one in a line.
func (s State) String() string {
	width := 0
	for _, p := range s {
		width = max(width, len(p.Name))
	}
	var b strings.Builder
	for i, p := range s {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%-*s %v %s", width, p.Name, p.Tensor.Shape(), p.Tensor.Dtype())
	}
	return b.String()
}

// LoadStateDict copies tensors into a model, converted to its dtypes. It returns
// an error of kind [ErrState] that lists every name that is missing or that the
// model does not have, and every shape that differs; the model is unchanged then.
func LoadStateDict(model any, state map[string]*tensor.Tensor) error {
	own := StateDict(model)
	var wrong []string
	for _, p := range own {
		t, ok := state[p.Name]
		switch {
		case !ok:
			wrong = append(wrong, p.Name+" is missing")
		case !slices.Equal(t.Shape(), p.Tensor.Shape()):
			wrong = append(wrong, fmt.Sprintf("%s is %v and the model's is %v", p.Name, t.Shape(), p.Tensor.Shape()))
		}
	}
	known := own.Map()
	for _, name := range slices.Sorted(maps.Keys(state)) {
		if _, ok := known[name]; !ok {
			wrong = append(wrong, "the model has no "+name)
		}
	}
	if len(wrong) > 0 {
		hint := ""
		sort.Strings(wrong)
		if len(wrong) > 10 {
			hint = fmt.Sprintf(" and %d more", len(wrong)-10)
			wrong = wrong[:10]
		}
		return &Error{Kind: ErrState, Op: "load state dict", Reason: strings.Join(wrong, ", ") + hint}
	}
	tensor.NoGrad(func() {
		for _, p := range own {
			p.Tensor.CopyFrom(state[p.Name])
		}
	})
	return nil
}

// Part makes a model part of a checkpoint (checkpoint.Part).
func Part(model any) ModelPart { return ModelPart{model} }

// ModelPart saves and loads the state of a model; see [Part].
type ModelPart struct{ model any }

// SaveState returns the model's tensors.
func (p ModelPart) SaveState() (map[string]*tensor.Tensor, any) {
	return StateDict(p.model).Map(), nil
}

// LoadState copies tensors into the model; see [LoadStateDict].
func (p ModelPart) LoadState(tensors map[string]*tensor.Tensor, _ []byte) error {
	return LoadStateDict(p.model, tensors)
}
