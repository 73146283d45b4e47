package optim

import (
	"fmt"
	"time"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/internal/inspect"
	"github.com/lectern-go/lectern/internal/rawtensor"
	"github.com/lectern-go/lectern/tensor"
)

// raw reaches the memory and gradients of tensors around their methods.
var raw = rawtensor.Of[*tensor.Tensor]()

// pieceLen is how many elements one call to a kernel gets. Elements do not depend on
// each other, so it only affects the speed.
const pieceLen = 1 << 14

// later is a step on a device that waits until the steps of all other parameters are ready: then nothing has
// changed if there is no memory for one of them. Steps with the same numbers are launched together.
type later struct {
	name    string
	numbers device.Numbers
	device  tensor.Device
	steps   [][]*tensor.Tensor // the parameter, its gradient, its state
	after   []func()
}

// do runs them.
func (l *later) do() {
	raw.UpdateMany(l.name, l.steps, &l.numbers)
	for _, f := range l.after {
		f()
	}
}

// update changes one parameter and its state, or leaves it to the last of waiting.
func (o *Optimizer) update(g *Group, s *slot, p, grad *tensor.Tensor, waiting *[]later) {
	a := algorithms[o.algorithm]
	work := s.working(p, g.MasterWeights)
	names := a.states(&g.Settings)
	if s.steps == 0 && len(s.state) != len(names) {
		var state []*tensor.Tensor
		for _, name := range names {
			t := tensor.With(work.Dtype(), work.Device()).Zeros(work.Shape()...).SetRole(tensor.OptimizerState)
			if name == "sum" && g.InitialAccumulator != 0 {
				t.Fill(g.InitialAccumulator)
			}
			state = append(state, t)
		}
		s.state = state
	}
	if len(names) != len(s.state) {
		fail(tensor.ErrValue, o.algorithm+" step", fmt.Sprintf("the settings need the state %v, and %d tensors have been kept since the first step", names, len(s.state)),
			"set momentum, amsgrad and centered before the first step")
	}
	grad = grad.Detach().To(work.Dtype()).Contiguous()
	name, numbers := a.numbers(&g.Settings, s.steps+1)
	s.follow(work.Device())
	told := inspect.Updated.Load()
	if !work.Device().IsCPU() && work.Len() > 0 && told == nil { // observers who want the times of steps need each by itself
		all := *waiting
		if n := len(all); n == 0 || all[n-1].name != name || all[n-1].numbers != *numbers || all[n-1].device != work.Device() {
			all = append(all, later{name: name, numbers: *numbers, device: work.Device()})
		}
		*waiting = all
		l := &all[len(all)-1]
		l.steps = append(l.steps, append([]*tensor.Tensor{work, grad}, s.state...))
		l.after = append(l.after, func() {
			s.steps++
			if !tensor.SameStorage(work, p) {
				p.CopyFrom(work)
			}
		})
		return
	}
	s.steps++
	if told != nil {
		defer o.tell(*told, name, numbers, append([]*tensor.Tensor{work, grad}, s.state...), time.Now())
	}
	switch {
	case work.Len() == 0:
	case !work.Device().IsCPU():
		raw.UpdateMany(name, [][]*tensor.Tensor{append([]*tensor.Tensor{work, grad}, s.state...)}, numbers)
	case work.Dtype() == tensor.Float64:
		run(a.float64(numbers), work, grad, s.state)
	default:
		run(a.float32(numbers), work, grad, s.state)
	}
	if !tensor.SameStorage(work, p) {
		p.CopyFrom(work)
	}
}

// tell reports what an update cost by its formula: each tensor is read, and all but the gradient are written.
func (o *Optimizer) tell(told func(inspect.Op), name string, numbers *device.Numbers, tensors []*tensor.Tensor, began time.Time) {
	u, _, err := device.FindUpdate(name)
	if err != nil {
		return
	}
	op := inspect.Op{Name: o.algorithm + " update", Output: tensors[0].Shape(), FLOPs: u.FLOPs(numbers) * tensors[0].Len(), Elapsed: time.Since(began)}
	var written []inspect.Part
	for i, t := range tensors {
		op.Inputs = append(op.Inputs, t.Shape())
		op.Parts = append(op.Parts, inspect.Part{Kind: inspect.Read, Dtype: t.Dtype().String(), Bytes: t.Bytes()})
		if i != 1 {
			written = append(written, inspect.Part{Kind: inspect.Write, Dtype: t.Dtype().String(), Bytes: t.Bytes()})
		}
	}
	op.Parts = append(op.Parts, written...)
	for _, p := range op.Parts {
		op.Bytes += p.Bytes
	}
	told(op)
}

// workingDtype is the dtype of a parameter's state, and of the tensor that its steps are added to.
func workingDtype(p *tensor.Tensor) tensor.Dtype {
	if p.Dtype() == tensor.Float64 {
		return tensor.Float64
	}
	return tensor.Float32
}

// working returns the tensor that steps are added to: p itself, its kept float32 copy,
// or a copy for this step only.
func (s *slot) working(p *tensor.Tensor, keepMaster bool) *tensor.Tensor {
	p = p.Detach()
	switch {
	case p.Dtype() == tensor.Float32 || p.Dtype() == tensor.Float64:
		return p.Contiguous()
	case !keepMaster:
		return p.To(tensor.Float32)
	case s.master == nil:
		s.master = p.To(tensor.Float32).SetRole(tensor.OptimizerState)
	case s.master.Device() != p.Device():
		s.master = s.master.To(p.Device()).SetRole(tensor.OptimizerState)
	}
	return s.master
}

// follow copies the state to the device that the parameter was moved to.
func (s *slot) follow(d tensor.Device) {
	for i, t := range s.state {
		if t.Device() != d {
			s.state[i] = t.To(d).SetRole(tensor.OptimizerState)
		}
	}
}

// kernel changes elements of a parameter, given those of the gradient and of the
// state.
type kernel[T float32 | float64] func(p, g []T, state [][]T)

// run calls a kernel for pieces of the elements, on all cores.
func run[T float32 | float64](k kernel[T], p, g *tensor.Tensor, state []*tensor.Tensor) {
	n := p.Len()
	ps, gs := rawtensor.Elements[T](raw, p), rawtensor.Elements[T](raw, g)
	all := make([][]T, len(state))
	for i, s := range state {
		all[i] = rawtensor.Elements[T](raw, s)
	}
	cpu.Parallel((n+pieceLen-1)/pieceLen, func(piece int) {
		start, end := piece*pieceLen, min((piece+1)*pieceLen, n)
		part := make([][]T, len(all))
		for i := range part {
			part[i] = all[i][start:end]
		}
		k(ps[start:end], gs[start:end], part)
	})
	raw.Wrote(p)
}
