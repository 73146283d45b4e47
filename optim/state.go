package optim

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor"
)

// optimizerState is the part of an optimizer's state that is not tensors.
type optimizerState struct {
	Algorithm string
	Groups    []groupState
}

type groupState struct {
	Settings Settings
	Params   []string
	Steps    []int // by parameter
}

// masterName is the name of a float32 copy in a parameter's state.
const masterName = "master"

// SaveState returns the state as checkpoints hold it (checkpoint.Part): tensors
// named by parameter, such as layers.0.weight.exp_avg, and the settings and steps.
// The tensors are the optimizer's own.
func (o *Optimizer) SaveState() (map[string]*tensor.Tensor, any) {
	tensors := map[string]*tensor.Tensor{}
	state := optimizerState{Algorithm: o.algorithm}
	for _, g := range o.groups {
		gs := groupState{Settings: g.Settings}
		names := algorithms[o.algorithm].states(&g.Settings)
		for i, p := range g.params {
			gs.Params = append(gs.Params, p.Name)
			gs.Steps = append(gs.Steps, g.slots[i].steps)
			for j, t := range g.slots[i].state {
				tensors[p.Name+"."+names[j]] = t
			}
			if m := g.slots[i].master; m != nil {
				tensors[p.Name+"."+masterName] = m
			}
		}
		state.Groups = append(state.Groups, gs)
	}
	return tensors, state
}

// LoadState takes a state that SaveState returned, copies its tensors in the dtype
// that the parameters need now, and continues from there with its settings. It returns
// an error, and changes nothing, if it belongs to another algorithm or to other
// parameters, or if a setting is out of its range.
func (o *Optimizer) LoadState(tensors map[string]*tensor.Tensor, values []byte) error {
	var state optimizerState
	if err := json.Unmarshal(values, &state); err != nil {
		return fmt.Errorf("optim: %w", err)
	}
	if state.Algorithm != o.algorithm {
		return fmt.Errorf("optim: the state is that of %s, the optimizer is %s", state.Algorithm, o.algorithm)
	}
	if len(state.Groups) != len(o.groups) {
		return fmt.Errorf("optim: the state has %s, the optimizer %d", humanize.Count(len(state.Groups), "group"), len(o.groups))
	}
	loaded := make([][]*slot, len(o.groups))
	for i, g := range o.groups {
		gs := state.Groups[i]
		var own []string
		for _, p := range g.params {
			own = append(own, p.Name)
		}
		if !slices.Equal(gs.Params, own) || len(gs.Steps) != len(own) {
			return fmt.Errorf("optim: group %d of the state has the parameters %v, that of the optimizer %v", i, gs.Params, own)
		}
		if err := tensor.Try(func() { gs.Settings.check(o.algorithm) }); err != nil {
			return err
		}
		names := algorithms[o.algorithm].states(&gs.Settings)
		for j, p := range g.params {
			s := &slot{steps: gs.Steps[j]}
			if s.steps < 0 {
				return fmt.Errorf("optim: the state has %s of %s", humanize.Count(s.steps, "step"), p.Name)
			}
			get := func(name string) error {
				t, ok := tensors[p.Name+"."+name]
				if !ok {
					return fmt.Errorf("optim: the state has no %s.%s", p.Name, name)
				}
				if !slices.Equal(t.Shape(), p.Tensor.Shape()) {
					return fmt.Errorf("optim: %s.%s is %v and its parameter %v", p.Name, name, t.Shape(), p.Tensor.Shape())
				}
				t = tensor.With(workingDtype(p.Tensor), p.Tensor.Device()).Empty(t.Shape()...).CopyFrom(t).SetRole(tensor.OptimizerState)
				if name == masterName {
					s.master = t
				} else {
					s.state = append(s.state, t)
				}
				return nil
			}
			if s.steps > 0 {
				for _, name := range names {
					if err := get(name); err != nil {
						return err
					}
				}
			}
			if _, ok := tensors[p.Name+"."+masterName]; ok {
				if err := get(masterName); err != nil {
					return err
				}
			}
			loaded[i] = append(loaded[i], s)
		}
	}
	for i, g := range o.groups {
		g.Settings, g.slots = state.Groups[i].Settings, loaded[i]
	}
	return nil
}

// State returns a tensor of the state of a parameter, such as "exp_avg", or nil before
// its first step and if there is none of that name. It is the optimizer's own tensor.
func (o *Optimizer) State(p *tensor.Tensor, name string) *tensor.Tensor {
	for _, g := range o.groups {
		for i, other := range g.params {
			if other.Tensor != p {
				continue
			}
			if name == masterName {
				return g.slots[i].master
			}
			if at := slices.Index(algorithms[o.algorithm].states(&g.Settings), name); at >= 0 && at < len(g.slots[i].state) {
				return g.slots[i].state[at]
			}
		}
	}
	return nil
}
