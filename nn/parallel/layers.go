package parallel

import (
	"github.com/lectern-go/lectern/tensor"
)

// Average replaces the gradients of parameters by their means over all ranks: data
// parallelism. It panics if a parameter has no gradient.
func (r *Rank) Average(params []tensor.NamedTensor) {
	for _, p := range params {
		g := p.Tensor.Grad()
		if g == nil {
			fail(tensor.ErrGrad, "average", p.Name+" has no gradient", "call Backward before")
		}
		mean := g.Contiguous()
		r.AllReduce(mean)
		p.Tensor.SetGrad(mean.Div(float64(r.Size)))
	}
}

// Enter returns x, which all ranks have, as the input of layers that are divided among
// them. Its gradient is the sum of the gradients that the ranks send back: f in
// Megatron-LM (Shoeybi et al. 2019, arXiv:1909.08053).
func (r *Rank) Enter(x *tensor.Tensor) *tensor.Tensor {
	return tensor.Apply(tensor.Function{
		Name:    "enter",
		Forward: func(in []*tensor.Tensor) (*tensor.Tensor, []*tensor.Tensor) { return in[0], nil },
		Gradient: func(_ []*tensor.Tensor, g *tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{r.sum(g)}
		},
	}, x)
}

// Leave returns the sum of the x of all ranks, each of which is the result of its part
// of the layers. The gradient of each is that of the sum: g in Megatron-LM.
func (r *Rank) Leave(x *tensor.Tensor) *tensor.Tensor {
	return tensor.Apply(tensor.Function{
		Name:    "leave",
		Forward: func(in []*tensor.Tensor) (*tensor.Tensor, []*tensor.Tensor) { return r.sum(in[0]), nil },
		Gradient: func(_ []*tensor.Tensor, g *tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{g}
		},
	}, x)
}

// sum returns the sum of the x of all ranks.
func (r *Rank) sum(x *tensor.Tensor) *tensor.Tensor {
	s := x.Detach().Clone().Contiguous()
	r.AllReduce(s)
	return s
}
