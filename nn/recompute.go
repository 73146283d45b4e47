package nn

import (
	"fmt"

	"github.com/lectern-go/lectern/tensor"
)

// Recompute returns f(x) and keeps only x for Backward, which calls f again:
// activation checkpointing. Random numbers that f draws from the default generator
// and from those given are the same in the second call; see [tensor.Recompute].
//
//	x = nn.Recompute(block.Forward, x)
func Recompute(f func(x *tensor.Tensor) *tensor.Tensor, x *tensor.Tensor, random ...*tensor.Generator) *tensor.Tensor {
	if len(random) == 0 || !tensor.GradEnabled() {
		return tensor.Recompute(func(in ...*tensor.Tensor) *tensor.Tensor { return f(in[0]) }, x)
	}
	before := states(random)
	first := true
	return tensor.Recompute(func(in ...*tensor.Tensor) *tensor.Tensor {
		if first {
			first = false
			return f(in[0])
		}
		now := states(random)
		setStates(random, before)
		defer setStates(random, now)
		return f(in[0])
	}, x)
}

func states(generators []*tensor.Generator) [][]byte {
	all := make([][]byte, len(generators))
	for i, g := range generators {
		all[i], _ = g.MarshalBinary() // a generator's state can always be written
	}
	return all
}

func setStates(generators []*tensor.Generator, states [][]byte) {
	for i, g := range generators {
		if err := g.UnmarshalBinary(states[i]); err != nil {
			panic(fmt.Sprintf("nn: a generator refused its own state: %v", err))
		}
	}
}
