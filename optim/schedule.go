package optim

import "math"

// A Schedule gives the learning rate of each step, counted from 0. It depends on
// nothing else, so a resumed run needs only the step:
//
//	opt.SetLR(schedule.LR(step))
//
// The schedules of this package that warm up begin with 0: step 0 changes only the
// averages of the optimizer. Negative steps have the rate of step 0.
type Schedule interface{ LR(step int) float64 }

// warmUp returns the fraction of the peak in the first n steps: 0, 1/n, 2/n and so on,
// so that step n is the first at the peak, as in the course's assignment.
func warmUp(step, n int) (share float64, warm bool) {
	if step = max(step, 0); step < n {
		return float64(step) / float64(n), true
	}
	return 1, false
}

// progress returns how much of the way from one step to another is done, from 0 to 1.
func progress(step, from, to int) float64 {
	switch {
	case step >= to:
		return 1
	case step <= from: // which may be to, and then there is nothing to divide by
		return 0
	}
	return float64(step-from) / float64(to-from)
}

// Constant is one learning rate, after a linear warm-up of Warmup steps.
type Constant struct {
	Peak   float64
	Warmup int
}

// LR returns the learning rate of a step.
func (s Constant) LR(step int) float64 {
	share, _ := warmUp(step, s.Warmup)
	return share * s.Peak
}

// Cosine rises linearly for Warmup steps to Peak and then falls along half a cosine to
// Final, which it keeps from step Steps on.
type Cosine struct {
	Peak, Final   float64
	Warmup, Steps int
}

// LR returns the learning rate of a step.
func (s Cosine) LR(step int) float64 {
	if share, warm := warmUp(step, s.Warmup); warm {
		return share * s.Peak
	}
	return s.Final + (s.Peak-s.Final)*0.5*(1+math.Cos(math.Pi*progress(step, s.Warmup, s.Steps)))
}

// Linear rises linearly for Warmup steps to Peak and then falls linearly to Final,
// which it keeps from step Steps on.
type Linear struct {
	Peak, Final   float64
	Warmup, Steps int
}

// LR returns the learning rate of a step.
func (s Linear) LR(step int) float64 {
	if share, warm := warmUp(step, s.Warmup); warm {
		return share * s.Peak
	}
	return s.Peak + (s.Final-s.Peak)*progress(step, s.Warmup, s.Steps)
}

// WSD is warm-up, stable, decay: it rises linearly for Warmup steps to Peak, stays
// there, and falls linearly to Final in the last Decay of Steps. The stable part can
// be made longer afterwards without repeating it.
type WSD struct {
	Peak, Final          float64
	Warmup, Decay, Steps int
}

// LR returns the learning rate of a step.
func (s WSD) LR(step int) float64 {
	if share, warm := warmUp(step, s.Warmup); warm {
		return share * s.Peak
	}
	return s.Peak + (s.Final-s.Peak)*progress(step, s.Steps-s.Decay, s.Steps)
}
