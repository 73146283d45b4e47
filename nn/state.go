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

// Tensors returns the tensors without their names, for example for a memory ledger:
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

// String lists names, shapes and dtypes, one tensor per line.
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

// A LoadOption changes what LoadStateDict accepts.
type LoadOption func(*loading)

// loading is what a state and a model don't have in common.
type loading struct {
	partial             bool
	missing, unexpected []string
	report              func(missing, unexpected []string)
}

// Partial lets LoadStateDict load what state and model have in common, for example into a model with a new head.
// report, unless it is nil, is told the names that the state lacks, whose tensors keep their values, and those that the
// model lacks, sorted. Shapes that differ are still an error.
func Partial(report func(missing, unexpected []string)) LoadOption {
	return func(l *loading) { l.partial, l.report = true, report }
}

// LoadStateDict copies tensors into a model, converted to its dtypes. It returns an error of kind [ErrState], and
// leaves the model unchanged, if something doesn't fit. The error lists every name that is missing or that the model
// does not have, unless [Partial] is given, every shape that differs, and names of the same tensor of the model for
// which the state has different values.
func LoadStateDict(model any, state map[string]*tensor.Tensor, options ...LoadOption) error {
	var l loading
	for _, option := range options {
		option(&l)
	}
	own := StateDict(model)
	var wrong []string
	first := map[*tensor.Tensor]string{} // the name by which a tensor is loaded
	for _, p := range own {
		t, ok := state[p.Name]
		if !ok {
			l.missing = append(l.missing, p.Name)
			continue
		}
		if !slices.Equal(t.Shape(), p.Tensor.Shape()) {
			wrong = append(wrong, fmt.Sprintf("%s is %v and the model's is %v", p.Name, t.Shape(), p.Tensor.Shape()))
			continue
		}
		if other, twice := first[p.Tensor]; !twice {
			first[p.Tensor] = p.Name
		} else if as := p.Tensor.Dtype(); !tensor.AllClose(state[other].To(as, tensor.CPU), t.To(as, tensor.CPU), 0, 0) {
			wrong = append(wrong, fmt.Sprintf("%s and %s are the same tensor in the model, but differ here", other, p.Name))
		}
	}
	known := own.Map()
	for _, name := range slices.Sorted(maps.Keys(state)) {
		if _, ok := known[name]; !ok {
			l.unexpected = append(l.unexpected, name)
		}
	}
	sort.Strings(l.missing)
	if !l.partial {
		for _, name := range l.missing {
			wrong = append(wrong, name+" is missing")
		}
		for _, name := range l.unexpected {
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
			if first[p.Tensor] == p.Name {
				p.Tensor.CopyFrom(state[p.Name])
			}
		}
	})
	if l.report != nil {
		l.report(l.missing, l.unexpected)
	}
	return nil
}

// Part makes a model part of a checkpoint (checkpoint.Part): its tensors, and the
// positions of its layers' generators, such as those of Dropout.
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
// generators continue where those of the same names were.
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
