package optim

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/internal/rawtensor"
	"github.com/lectern-go/lectern/tensor"
)

// A GradScaler keeps small gradients from vanishing in float16, whose smallest
// number is 6e-8: it multiplies the loss, and so all gradients, by a scale, and
// divides the gradients by it in float32 before the step. If one of them is not
// finite, the scale was too large: the step is skipped and the scale made smaller.
// After enough steps without that, it is made larger again. (Micikevicius et al.,
// 2017.)
//
//	tensor.Autocast(tensor.Float16, func() { loss = ... })
//	scaler.Scale(loss).Backward()
//	scaler.Unscale(opt) // only needed to look at gradients, such as for clipping
//	scaler.Step(opt)
//	scaler.Update()
type GradScaler struct {
	state scalerState
	seen  []unscaled // since the last Update
}

// ScalerSettings control a GradScaler. Fields that are 0 have PyTorch's defaults.
type ScalerSettings struct {
	InitialScale   float64 // 65536
	GrowthFactor   float64 // 2
	BackoffFactor  float64 // 0.5
	GrowthInterval int     // 2000 steps
}

type scalerState struct {
	ScalerSettings
	Scale   float32
	Tracker int // steps without overflow since the scale changed
}

// unscaled says what was found in the gradients of an optimizer.
type unscaled struct {
	optimizer *Optimizer
	overflow  bool
	stepped   bool
}

// NewGradScaler returns a GradScaler. It panics if a setting is out of its range:
// growth above 1, backoff from 0 to 1.
func NewGradScaler(s ScalerSettings) *GradScaler {
	orElse(&s.InitialScale, 65536)
	orElse(&s.GrowthFactor, 2)
	orElse(&s.BackoffFactor, 0.5)
	if s.GrowthInterval == 0 {
		s.GrowthInterval = 2000
	}
	if !(s.GrowthFactor > 1) || !(s.BackoffFactor > 0 && s.BackoffFactor < 1) || s.GrowthInterval < 1 || !(s.InitialScale > 0) {
		fail(tensor.ErrValue, "grad scaler", fmt.Sprintf("settings %+v", s), "growth must be above 1, backoff between 0 and 1, the interval and the scale above 0")
	}
	return &GradScaler{state: scalerState{ScalerSettings: s, Scale: float32(s.InitialScale)}}
}

func orElse(v *float64, otherwise float64) {
	if *v == 0 {
		*v = otherwise
	}
}

// CurrentScale returns the scale.
func (s *GradScaler) CurrentScale() float64 { return float64(s.state.Scale) }

// GrowthTracker returns how many steps have gone by without overflow since the scale
// last changed.
func (s *GradScaler) GrowthTracker() int { return s.state.Tracker }

// Scale returns loss times the scale, in float32 if the loss is smaller.
func (s *GradScaler) Scale(loss *tensor.Tensor) *tensor.Tensor {
	if loss.Dtype() != tensor.Float64 {
		loss = loss.To(tensor.Float32)
	}
	return loss.Mul(float64(s.state.Scale))
}

// Unscale divides the gradients of an optimizer by the scale and returns whether all
// are finite. If it was not called, Step does this. It panics if it is called twice
// before Update, and for gradients of 16 bits or fewer, which would lose what scaling
// saved.
func (s *GradScaler) Unscale(o *Optimizer) (finite bool) {
	if s.find(o) != nil {
		fail(tensor.ErrValue, "unscale", "the gradients of this optimizer were already unscaled", "call Update after each Step")
	}
	overflow := false
	for _, g := range o.groups {
		for _, p := range g.params {
			grad := raw.Grad(p.Tensor)
			if grad == nil {
				continue
			}
			if grad.ElementSize() < 4 {
				fail(tensor.ErrDtype, "unscale", fmt.Sprintf("the gradient of %q is %s, in which small values are lost again", p.Name, grad.Dtype()),
					"keep parameters in float32 and compute inside tensor.Autocast")
			}
			overflow = divide(grad, float64(s.state.Scale)) || overflow
		}
	}
	s.seen = append(s.seen, unscaled{optimizer: o, overflow: overflow})
	return !overflow
}

// divide divides a gradient by the scale and reports whether it is not finite.
func divide(grad *tensor.Tensor, scale float64) (overflow bool) {
	inverse := 1 / scale
	tensor.NoGrad(func() { grad.Detach().MulInPlace(inverse) })
	grad = grad.Detach().Contiguous()
	if !grad.Device().IsCPU() {
		return grad.IsFinite().All().Item() == 0
	}
	if grad.Dtype() == tensor.Float64 {
		return !finite(rawtensor.Elements[float64](raw, grad))
	}
	return !finite(rawtensor.Elements[float32](raw, grad))
}

func finite[T float32 | float64](x []T) bool {
	var bad atomic.Bool
	cpu.Parallel((len(x)+pieceLen-1)/pieceLen, func(piece int) {
		var zeros T // stays 0 while all are finite: 0·inf and 0·nan are nan
		for _, v := range x[piece*pieceLen : min((piece+1)*pieceLen, len(x))] {
			zeros += 0 * v
		}
		if zeros != 0 {
			bad.Store(true)
		}
	})
	return !bad.Load()
}

func (s *GradScaler) find(o *Optimizer) *unscaled {
	for i := range s.seen {
		if s.seen[i].optimizer == o {
			return &s.seen[i]
		}
	}
	return nil
}

// Step calls o.Step if all gradients are finite, and returns whether it did. It
// panics if it is called twice before Update.
func (s *GradScaler) Step(o *Optimizer) (stepped bool) {
	if s.find(o) == nil {
		s.Unscale(o)
	}
	u := s.find(o)
	if u.stepped {
		fail(tensor.ErrValue, "scaler step", "Step was already called for this optimizer", "call Update after each Step")
	}
	u.stepped = true
	if u.overflow {
		return false
	}
	o.Step()
	return true
}

// Update adapts the scale to what was found since the last Update. It panics if no
// optimizer was stepped or unscaled.
func (s *GradScaler) Update() {
	if len(s.seen) == 0 {
		fail(tensor.ErrValue, "scaler update", "nothing was unscaled since the last Update", "call Step first")
	}
	s.UpdateWith(slices.ContainsFunc(s.seen, func(u unscaled) bool { return u.overflow }))
}

// UpdateWith is Update for callers that check for overflow themselves. The scale is a
// float32, as in PyTorch, and does not grow beyond its range.
func (s *GradScaler) UpdateWith(overflow bool) {
	s.seen = nil
	if overflow {
		s.state.Scale *= float32(s.state.BackoffFactor)
		s.state.Tracker = 0
		return
	}
	if s.state.Tracker++; s.state.Tracker == s.state.GrowthInterval {
		if grown := s.state.Scale * float32(s.state.GrowthFactor); !math.IsInf(float64(grown), 0) {
			s.state.Scale = grown
		}
		s.state.Tracker = 0
	}
}

// SaveState makes a GradScaler part of a checkpoint.
func (s *GradScaler) SaveState() (map[string]*tensor.Tensor, any) { return nil, s.state }

// LoadState takes a state that SaveState returned.
func (s *GradScaler) LoadState(_ map[string]*tensor.Tensor, values []byte) error {
	var state scalerState
	if err := json.Unmarshal(values, &state); err != nil {
		return fmt.Errorf("optim: %w", err)
	}
	s.state, s.seen = state, nil
	return nil
}
