package nn

import (
	"encoding/json"
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
	walk("state dict", model, visitor{tensor: func(name string, t *tensor.Tensor, _ bool) { all = append(all, tensor.Named(name, t)) }})
	return all
}

// State is named tensors of a model, in a fixed order: all of them, or its
// parameters.
type State []tensor.NamedTensor

// Tensors returns the tensors without their names, such as for a ledger of memory:
//
//	accounting.Memory(step, nn.StateDict(model).Tensors()...)
func (s State) Tensors() []*tensor.Tensor {
	all := make([]*tensor.Tensor, len(s))
	for i, p := range s {
		all[i] = p.Tensor
	}
	return all
}

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
		return &tensor.Error{Package: "nn", Kind: ErrState, Op: "load state dict", Reason: strings.Join(wrong, ", ") + hint}
	}
	tensor.NoGrad(func() {
		for _, p := range own {
			p.Tensor.CopyFrom(state[p.Name])
		}
	})
	return nil
}

// Part makes a model part of a checkpoint (checkpoint.Part): its tensors, and where
// the generators of its layers are, such as those of Dropout.
func Part(model any) ModelPart { return ModelPart{model} }

// ModelPart saves and loads the state of a model; see [Part].
type ModelPart struct{ model any }

// SaveState returns the model's tensors and the states of its generators.
func (p ModelPart) SaveState() (map[string]*tensor.Tensor, any) {
	tensors := StateDict(p.model).Map()
	all := generators(p.model)
	if len(all) == 0 {
		return tensors, nil
	}
	states := map[string][]byte{}
	for name, g := range all {
		states[name], _ = g.MarshalBinary() // a generator's state can always be written
	}
	return tensors, states
}

// LoadState copies tensors into the model, see [LoadStateDict], and lets its
// generators go on where those of the same names were.
func (p ModelPart) LoadState(tensors map[string]*tensor.Tensor, values []byte) error {
	var states map[string][]byte
	if len(values) > 0 {
		if err := json.Unmarshal(values, &states); err != nil {
			return fmt.Errorf("nn: %w", err)
		}
	}
	for name, state := range states {
		if err := new(tensor.Generator).UnmarshalBinary(state); err != nil {
			return fmt.Errorf("nn: generator %s: %w", name, err)
		}
	}
	if err := LoadStateDict(p.model, tensors); err != nil {
		return err
	}
	for name, g := range generators(p.model) {
		if state, ok := states[name]; ok {
			if err := g.UnmarshalBinary(state); err != nil {
				return fmt.Errorf("nn: generator %s: %w", name, err)
			}
		}
	}
	return nil
}

// generators returns the random generators in a model.
func generators(model any) map[string]*tensor.Generator {
	all := map[string]*tensor.Generator{}
	walk("generators", model, visitor{generator: func(name string, g *tensor.Generator) { all[name] = g }})
	return all
}
