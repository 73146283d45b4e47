package parallel

import (
	"fmt"

	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

// ZeRO trains a model whose ranks see different data, and divides among them what would
// otherwise be on each: from stage 1 on, the optimizer's state; from stage 2 on, the
// gradients, too; and in stage 3, the parameters themselves. Stage 0 divides nothing.
// (Rajbhandari et al. 2019, arXiv:1910.02054.)
//
// A model gets each weight from [ZeRO.With], where it needs it, instead of keeping it.
// The results are the same at each stage.
type ZeRO struct {
	rank      *Rank
	stage     int
	shapes    [][]int
	whole     []*tensor.Tensor // of each parameter; nil in stage 3
	pieces    []*tensor.Tensor // this rank's; the same as whole in stage 0
	optimizer *optim.Optimizer
}

// NewZeRO divides parameters among the ranks, which all give the same ones. newOptimizer
// makes the optimizer for the part that this rank updates, such as:
//
//	func(p []tensor.NamedTensor) *optim.Optimizer { return optim.NewAdamW(p, 1e-3) }
//
// The optimizer must treat each number by itself, as AdamW and SGD do. It panics if
// there is no such stage.
func NewZeRO(r *Rank, stage int, params []tensor.NamedTensor, newOptimizer func([]tensor.NamedTensor) *optim.Optimizer) *ZeRO {
	if stage < 0 || stage > 3 {
		fail(tensor.ErrValue, "zero", fmt.Sprintf("there is no stage %d", stage), "give 0, 1, 2 or 3")
	}
	z := &ZeRO{rank: r, stage: stage}
	var mine []tensor.NamedTensor
	for _, p := range params {
		z.shapes = append(z.shapes, p.Tensor.Shape())
		whole := p.Tensor.Detach().Clone()
		piece := whole
		if stage > 0 {
			piece = r.pieces("zero", whole)[r.ID].Clone()
		}
		if stage == 3 {
			whole = nil
		} else if stage < 2 {
			whole.RequireGrad()
		}
		piece.RequireGrad()
		z.whole, z.pieces = append(z.whole, whole), append(z.pieces, piece)
		mine = append(mine, tensor.NamedTensor{Name: p.Name, Tensor: piece})
	}
	z.optimizer = newOptimizer(mine)
	return z
}

// With returns f of parameter i and x. In stage 3 the ranks assemble the parameter for f,
// drop it, and do so once more in Backward, for which f is run again: f must not use
// results of other operations except x.
func (z *ZeRO) With(i int, x *tensor.Tensor, f func(w, x *tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
	if z.stage < 3 {
		return f(z.weight(i), x)
	}
	return tensor.Recompute(func(in ...*tensor.Tensor) *tensor.Tensor { return f(z.weight(i), in[0]) }, x)
}

// weight returns parameter i. From stage 2 on, it is assembled from the pieces, and its
// gradient is averaged and divided as soon as there is one.
func (z *ZeRO) weight(i int) *tensor.Tensor {
	if z.stage < 2 {
		return z.whole[i]
	}
	return tensor.Apply(tensor.Function{
		Name: "gather weight",
		Forward: func(in []*tensor.Tensor) (*tensor.Tensor, []*tensor.Tensor) {
			if z.stage == 2 {
				return z.whole[i], nil
			}
			return z.rank.AllGather(in[0], z.shapes[i]...), nil
		},
		Gradient: func(_ []*tensor.Tensor, g *tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{z.average(g)}
		},
	}, z.pieces[i])
}

// average returns this rank's piece of the mean gradient.
func (z *ZeRO) average(g *tensor.Tensor) *tensor.Tensor {
	return z.rank.ReduceScatter(g.Contiguous()).Div(float64(z.rank.Size))
}

// Step updates the parameters with the mean of the ranks' gradients, and clears these. All
// ranks must have called Backward before.
func (z *ZeRO) Step() {
	for i, whole := range z.whole {
		switch z.stage {
		case 0:
			z.rank.Average([]tensor.NamedTensor{{Name: "weight", Tensor: whole}})
		case 1:
			z.pieces[i].SetGrad(z.average(whole.Grad()))
		}
	}
	z.optimizer.Step()
	z.optimizer.ZeroGrad(true)
	for i, whole := range z.whole {
		if z.stage == 1 || z.stage == 2 {
			tensor.NoGrad(func() { whole.CopyFrom(z.rank.AllGather(z.pieces[i], z.shapes[i]...)) })
		}
		if z.stage == 1 {
			whole.SetGrad(nil)
		}
	}
}

// Weights returns the parameters in their shapes, assembled if they are divided.
func (z *ZeRO) Weights() []*tensor.Tensor {
	all := make([]*tensor.Tensor, len(z.pieces))
	for i, piece := range z.pieces {
		if z.stage == 3 {
			all[i] = z.rank.AllGather(piece, z.shapes[i]...)
		} else {
			all[i] = z.whole[i].Detach().Clone()
		}
	}
	return all
}

// Held returns the bytes that parameters, gradients and the optimizer's state take on this
// rank now: ask between Backward and Step, when there are gradients. (Stages 1 and 2 hold
// the piece that is updated as well as the whole parameter, of which it is a part: it
// counts once.)
func (z *ZeRO) Held() (parameters, gradients, state int) {
	for i, piece := range z.pieces {
		whole := z.whole[i]
		if whole == nil {
			whole = piece
		}
		parameters += whole.Bytes()
		if g := piece.Grad(); g != nil {
			gradients += g.Bytes()
		}
		if g := whole.Grad(); whole != piece && g != nil {
			gradients += g.Bytes()
		}
	}
	tensors, _ := z.optimizer.SaveState()
	for _, t := range tensors {
		state += t.Bytes()
	}
	return parameters, gradients, state
}
