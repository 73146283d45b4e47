package optim

import (
	"math"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor"
)

// algorithm is everything there is to know about one: what it keeps for each
// parameter, and how it changes a parameter.
type algorithm struct {
	defaults Settings
	options  []string
	states   func(s *Settings) []string // the names of its state, as PyTorch has them

	// numbers names the step, one of device.Updates, whose formula the kernels compute,
	// and gives the numbers in it, which depend only on the settings and the step.
	numbers func(s *Settings, step int) (update string, n *device.Numbers)
	float32 func(n *device.Numbers) kernel[float32]
	float64 func(n *device.Numbers) kernel[float64]
}

var algorithms = map[string]*algorithm{
	"sgd": {
		options: []string{"momentum", "dampening", "nesterov", "weight_decay"},
		states: func(s *Settings) []string {
			if s.Momentum == 0 {
				return nil
			}
			return []string{"momentum_buffer"}
		},
		numbers: sgdNumbers, float32: sgd[float32], float64: sgd[float64],
	},
	"adagrad": {
		defaults: Settings{Eps: 1e-10},
		options:  []string{"eps", "weight_decay", "lr_decay", "initial_accumulator_value"},
		states:   func(*Settings) []string { return []string{"sum"} },
		numbers:  adagradNumbers, float32: adagrad[float32], float64: adagrad[float64],
	},
	"lecture_adagrad": {
		defaults: Settings{Eps: 1e-5},
		options:  []string{"eps"},
		states:   func(*Settings) []string { return []string{"g2"} },
		numbers:  lectureAdagradNumbers, float32: lectureAdagrad[float32], float64: lectureAdagrad[float64],
	},
	"rmsprop": {
		defaults: Settings{Alpha: 0.99, Eps: 1e-8},
		options:  []string{"alpha", "eps", "momentum", "centered", "weight_decay"},
		states: func(s *Settings) []string {
			names := []string{"square_avg"}
			if s.Centered {
				names = append(names, "grad_avg")
			}
			if s.Momentum > 0 {
				names = append(names, "momentum_buffer")
			}
			return names
		},
		numbers: rmspropNumbers, float32: rmsprop[float32], float64: rmsprop[float64],
	},
	"adam": {
		defaults: Settings{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8},
		options:  []string{"betas", "eps", "weight_decay", "amsgrad"},
		states:   adamStates,
		numbers:  adamNumbers, float32: adam[float32], float64: adam[float64],
	},
	"adamw": {
		defaults: Settings{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, WeightDecay: 0.01},
		options:  []string{"betas", "eps", "weight_decay", "amsgrad"},
		states:   adamStates,
		numbers:  adamwNumbers, float32: adam[float32], float64: adam[float64],
	},
}

// NewSGD returns stochastic gradient descent, with [Momentum], [Dampening],
// [Nesterov] and [WeightDecay] as options. It panics if there are no parameters, or if
// a setting is out of its range; so do the other constructors.
func NewSGD(params []tensor.NamedTensor, lr float64, options ...Option) *Optimizer {
	return newOptimizer("sgd", params, lr, options)
}

// NewAdaGrad returns AdaGrad (Duchi et al., 2011) as in PyTorch, with eps outside the
// root.
func NewAdaGrad(params []tensor.NamedTensor, lr float64, options ...Option) *Optimizer {
	return newOptimizer("adagrad", params, lr, options)
}

// NewLectureAdaGrad returns AdaGrad as in the lecture, with eps = 1e-5 inside the
// root.
func NewLectureAdaGrad(params []tensor.NamedTensor, lr float64, options ...Option) *Optimizer {
	return newOptimizer("lecture_adagrad", params, lr, options)
}

// NewRMSProp returns RMSProp, with [Alpha], [Momentum], [Centered] and [WeightDecay]
// as options.
func NewRMSProp(params []tensor.NamedTensor, lr float64, options ...Option) *Optimizer {
	return newOptimizer("rmsprop", params, lr, options)
}

// NewAdam returns Adam (Kingma and Ba, 2014), with [Betas], [Eps], [AMSGrad] and
// [WeightDecay] as options.
func NewAdam(params []tensor.NamedTensor, lr float64, options ...Option) *Optimizer {
	return newOptimizer("adam", params, lr, options)
}

// NewAdamW returns AdamW (Loshchilov and Hutter, 2017): Adam with a weight decay
// of 0.01, unless given, that does not pass through the averages.
func NewAdamW(params []tensor.NamedTensor, lr float64, options ...Option) *Optimizer {
	return newOptimizer("adamw", params, lr, options)
}

// The first step with momentum takes the gradient as it is: momentum 0, rate 1.
func sgdNumbers(s *Settings, step int) (string, *device.Numbers) {
	n := common(s)
	if s.Momentum == 0 {
		return "sgd", n
	}
	n.Momentum, n.Rate = s.Momentum, 1-s.Dampening
	if step == 1 {
		n.Momentum, n.Rate = 0, 1
	}
	if s.Nesterov {
		n.Ahead = s.Momentum
	}
	return "momentum", n
}

// common returns the numbers that all algorithms use.
func common(s *Settings) *device.Numbers {
	n := &device.Numbers{LR: s.LR, Decay: s.WeightDecay, Sign: 1, Eps: s.Eps}
	if s.Maximize {
		n.Sign = -1
	}
	return n
}

func sgd[T float32 | float64](n *device.Numbers) kernel[T] {
	lr, decay, sign, momentum, rate, ahead := T(n.LR), T(n.Decay), T(n.Sign), T(n.Momentum), T(n.Rate), T(n.Ahead)
	vec := vectors[T]()
	return func(p, g []T, state [][]T) {
		var buf []T
		if len(state) > 0 {
			buf = state[0][:len(p)]
		}
		if vec != nil {
			switch {
			case buf == nil:
				vec.Descend(p, g, lr, decay, sign)
			case ahead != 0:
				vec.Nesterov(p, g, buf, lr, decay, sign, momentum, rate, ahead)
			default:
				vec.Momentum(p, g, buf, lr, decay, sign, momentum, rate)
			}
			return
		}
		g = g[:len(p)]
		for i := range p {
			d := sign*g[i] + decay*p[i]
			if buf != nil {
				b := momentum*buf[i] + rate*d
				buf[i] = b
				if ahead != 0 {
					b = d + ahead*b
				}
				d = b
			}
			p[i] -= lr * d
		}
	}
}

func adagradNumbers(s *Settings, step int) (string, *device.Numbers) {
	n := common(s)
	n.LR = s.LR / (1 + float64(step-1)*s.LRDecay)
	return "adagrad", n
}

func adagrad[T float32 | float64](n *device.Numbers) kernel[T] {
	lr, decay, sign, eps := T(n.LR), T(n.Decay), T(n.Sign), T(n.Eps)
	vec := vectors[T]()
	return func(p, g []T, state [][]T) {
		sum := state[0][:len(p)]
		if vec != nil {
			vec.Adagrad(p, g, sum, lr, decay, sign, eps)
			return
		}
		g = g[:len(p)]
		for i := range p {
			d := sign*g[i] + decay*p[i]
			sum[i] += d * d
			p[i] -= lr * d / (sqrt(sum[i]) + eps)
		}
	}
}

func lectureAdagradNumbers(s *Settings, _ int) (string, *device.Numbers) {
	return "lecture_adagrad", common(s)
}

func lectureAdagrad[T float32 | float64](n *device.Numbers) kernel[T] {
	lr, sign, eps := T(n.LR), T(n.Sign), T(n.Eps)
	vec := vectors[T]()
	return func(p, g []T, state [][]T) {
		g2 := state[0][:len(p)]
		if vec != nil {
			vec.AdagradInside(p, g, g2, lr, sign, eps)
			return
		}
		g = g[:len(p)]
		for i := range p {
			d := sign * g[i]
			g2[i] += d * d
			p[i] -= lr * d / sqrt(g2[i]+eps)
		}
	}
}

func rmspropNumbers(s *Settings, _ int) (string, *device.Numbers) {
	n := common(s)
	n.Alpha, n.Rest, n.Momentum = s.Alpha, 1-s.Alpha, s.Momentum
	if s.Centered {
		n.Centered = 1
	}
	return "rmsprop", n
}

func rmsprop[T float32 | float64](n *device.Numbers) kernel[T] {
	lr, decay, sign, eps := T(n.LR), T(n.Decay), T(n.Sign), T(n.Eps)
	alpha, rest, momentum, centered := T(n.Alpha), T(n.Rest), T(n.Momentum), n.Centered != 0
	vec := vectors[T]()
	return func(p, g []T, state [][]T) {
		sq := state[0]
		var avg []T
		if centered {
			avg = state[1]
		}
		var buf []T
		if momentum > 0 {
			buf = state[len(state)-1]
		}
		if vec != nil {
			switch {
			case centered && momentum > 0:
				vec.RmspropCenteredMomentum(p, g, sq, avg, buf, lr, decay, sign, eps, alpha, rest, momentum)
			case centered:
				vec.RmspropCentered(p, g, sq, avg, lr, decay, sign, eps, alpha, rest)
			case momentum > 0:
				vec.RmspropMomentum(p, g, sq, buf, lr, decay, sign, eps, alpha, rest, momentum)
			default:
				vec.Rmsprop(p, g, sq, lr, decay, sign, eps, alpha, rest)
			}
			return
		}
		for i := range p {
			d := sign*g[i] + decay*p[i]
			sq[i] = alpha*sq[i] + rest*d*d
			v := sq[i]
			if avg != nil {
				avg[i] = alpha*avg[i] + rest*d
				v -= avg[i] * avg[i]
			}
			d /= sqrt(v) + eps
			if buf != nil {
				buf[i] = momentum*buf[i] + d
				d = buf[i]
			}
			p[i] -= lr * d
		}
	}
}

func adamStates(s *Settings) []string {
	names := []string{"exp_avg", "exp_avg_sq"}
	if s.AMSGrad {
		names = append(names, "max_exp_avg_sq")
	}
	return names
}

// Adam adds the decay to the gradient: d = sign·g + decay·p.
func adamNumbers(s *Settings, step int) (string, *device.Numbers) {
	return momentNumbers(s, step, s.WeightDecay, 1)
}

// AdamW makes the parameter itself smaller: keep = 1 - lr·decay.
func adamwNumbers(s *Settings, step int) (string, *device.Numbers) {
	return momentNumbers(s, step, 0, 1-s.LR*s.WeightDecay)
}

// momentNumbers gathers the constants of m = β1·m + (1-β1)·d; v = β2·v + (1-β2)·d²;
// p = keep·p - lr·m' / (sqrt(v') + eps), where m' = m/(1-β1^step) and
// v' = v/(1-β2^step) make up for both having started from 0. Rewritten like this, an
// element needs one division:
//
//	p = keep·p - m / ((sqrt(v) + floor)·times)
//
// A rate of 0 would make times infinite, so still then says that only keep counts.
func momentNumbers(s *Settings, step int, decay, keep float64) (string, *device.Numbers) {
	n := common(s)
	correction := math.Sqrt(1 - math.Pow(s.Beta2, float64(step)))
	n.Decay, n.Keep = decay, keep
	n.B1, n.R1, n.B2, n.R2 = s.Beta1, 1-s.Beta1, s.Beta2, 1-s.Beta2
	n.Floor = s.Eps * correction
	if s.AMSGrad {
		n.Amsgrad = 1
	}
	if s.LR == 0 {
		n.Still = 1
	} else {
		n.Times = (1 - math.Pow(s.Beta1, float64(step))) / (correction * s.LR)
	}
	return "adam", n
}

func adam[T float32 | float64](n *device.Numbers) kernel[T] {
	decay, sign, b1, r1, b2, r2 := T(n.Decay), T(n.Sign), T(n.B1), T(n.R1), T(n.B2), T(n.R2)
	keep, floor, times, still := T(n.Keep), T(n.Floor), T(n.Times), n.Still != 0
	vec := vectors[T]()
	return func(p, g []T, state [][]T) {
		m, v := state[0][:len(p)], state[1][:len(p)]
		amsgrad := n.Amsgrad != 0
		g = g[:len(p)]
		if vec != nil && !still {
			if amsgrad {
				vec.Amsgrad(p, g, m, v, state[2], decay, sign, b1, r1, b2, r2, keep, floor, times)
			} else {
				vec.Adam(p, g, m, v, decay, sign, b1, r1, b2, r2, keep, floor, times)
			}
			return
		}
		largest := v
		if amsgrad {
			largest = state[2][:len(p)]
		}
		for i := range p {
			d := sign*g[i] + decay*p[i]
			m[i] = b1*m[i] + r1*d
			v[i] = b2*v[i] + r2*(d*d)
			largest[i] = max(largest[i], v[i])
			if still {
				p[i] *= keep
				continue
			}
			p[i] = keep*p[i] - m[i]/((sqrt(largest[i])+floor)*times)
		}
	}
}

// vectors returns the vector loops of this processor, nil if it has none. They round
// as the loops here do, and give the same numbers.
func vectors[T float32 | float64]() *cpu.Vectors[T] {
	var v any = cpu.Float32s()
	if _, double := any(T(0)).(float64); double {
		v = cpu.Float64s()
	}
	all := v.(*cpu.Vectors[T])
	if all.Descend == nil {
		return nil
	}
	return all
}

// sqrt compiles to one instruction, even for float32: the compiler knows that rounding
// the root of a float32 once more changes nothing.
func sqrt[T float32 | float64](x T) T { return T(math.Sqrt(float64(x))) }
