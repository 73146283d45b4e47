package optim

import (
	"math"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/tensor"
)

// algorithm is all there is to know about one: what it keeps for each parameter
// and how it changes one. A kernel is made for each step, so that what depends on
// the step alone is computed once.
type algorithm struct {
	defaults Settings
	options  []string
	states   func(s *Settings) []string // the names of its state, as PyTorch has them
	float32  func(s *Settings, step int) kernel[float32]
	float64  func(s *Settings, step int) kernel[float64]
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
		float32: sgd[float32], float64: sgd[float64],
	},
	"adagrad": {
		defaults: Settings{Eps: 1e-10},
		options:  []string{"eps", "weight_decay", "lr_decay", "initial_accumulator_value"},
		states:   func(*Settings) []string { return []string{"sum"} },
		float32:  adagrad[float32], float64: adagrad[float64],
	},
	"lecture_adagrad": {
		defaults: Settings{Eps: 1e-5},
		options:  []string{"eps"},
		states:   func(*Settings) []string { return []string{"g2"} },
		float32:  lectureAdagrad[float32], float64: lectureAdagrad[float64],
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
		float32: rmsprop[float32], float64: rmsprop[float64],
	},
	"adam": {
		defaults: Settings{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8},
		options:  []string{"betas", "eps", "weight_decay", "amsgrad"},
		states:   adamStates,
		float32:  adam[float32], float64: adam[float64],
	},
	"adamw": {
		defaults: Settings{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, WeightDecay: 0.01},
		options:  []string{"betas", "eps", "weight_decay", "amsgrad"},
		states:   adamStates,
		float32:  adamw[float32], float64: adamw[float64],
	},
}

// NewSGD returns stochastic gradient descent, with [Momentum], [Dampening],
// [Nesterov] and [WeightDecay] if asked for. It panics if there are no parameters
// or a setting is out of its range; so do the others.
func NewSGD(params []tensor.NamedTensor, lr float64, options ...Option) *Optimizer {
	return newOptimizer("sgd", params, lr, options)
}

// NewAdaGrad returns AdaGrad (Duchi et al., 2011) as PyTorch has it, with eps
// outside the root.
func NewAdaGrad(params []tensor.NamedTensor, lr float64, options ...Option) *Optimizer {
	return newOptimizer("adagrad", params, lr, options)
}

// NewLectureAdaGrad returns AdaGrad as the lecture has it, with eps = 1e-5 inside
// the root.
func NewLectureAdaGrad(params []tensor.NamedTensor, lr float64, options ...Option) *Optimizer {
	return newOptimizer("lecture_adagrad", params, lr, options)
}

// NewRMSProp returns RMSProp, with [Alpha], [Momentum], [Centered] and
// [WeightDecay] if asked for.
func NewRMSProp(params []tensor.NamedTensor, lr float64, options ...Option) *Optimizer {
	return newOptimizer("rmsprop", params, lr, options)
}

// NewAdam returns Adam (Kingma and Ba, 2014), with [Betas], [Eps], [AMSGrad] and
// [WeightDecay] if asked for.
func NewAdam(params []tensor.NamedTensor, lr float64, options ...Option) *Optimizer {
	return newOptimizer("adam", params, lr, options)
}

// NewAdamW returns AdamW (Loshchilov and Hutter, 2017): Adam with a weight decay
// of 0.01, unless given, that does not pass through the averages.
func NewAdamW(params []tensor.NamedTensor, lr float64, options ...Option) *Optimizer {
	return newOptimizer("adamw", params, lr, options)
}

// sgd: g += decay·p; buf = momentum·buf + (1-dampening)·g, the first time buf = g;
// p -= lr·buf, with Nesterov p -= lr·(g + momentum·buf).
func sgd[T float32 | float64](s *Settings, step int) kernel[T] {
	lr, decay, momentum, rate := T(s.LR), T(s.WeightDecay), T(s.Momentum), T(1-s.Dampening)
	sign := direction[T](s)
	if step == 1 {
		momentum, rate = 0, 1
	}
	ahead := T(0)
	if s.Nesterov {
		ahead = T(s.Momentum)
	}
	if s.Momentum == 0 {
		return func(p, g []T, _ [][]T) {
			g = g[:len(p)]
			for i := range p {
				p[i] -= lr * (sign*g[i] + decay*p[i])
			}
		}
	}
	return func(p, g []T, state [][]T) {
		buf := state[0][:len(p)]
		g = g[:len(p)]
		for i := range p {
			d := sign*g[i] + decay*p[i]
			b := momentum*buf[i] + rate*d
			buf[i] = b
			if ahead != 0 {
				b = d + ahead*b
			}
			p[i] -= lr * b
		}
	}
}

// adagrad: g += decay·p; sum += g²; p -= lr/(1+(step-1)·lrdecay)·g/(sqrt(sum)+eps)
func adagrad[T float32 | float64](s *Settings, step int) kernel[T] {
	lr, decay, eps, sign := T(s.LR/(1+float64(step-1)*s.LRDecay)), T(s.WeightDecay), T(s.Eps), direction[T](s)
	return func(p, g []T, state [][]T) {
		sum := state[0][:len(p)]
		g = g[:len(p)]
		for i := range p {
			d := sign*g[i] + decay*p[i]
			sum[i] += d * d
			p[i] -= lr * d / (sqrt(sum[i]) + eps)
		}
	}
}

// lectureAdagrad: g2 += g²; p -= lr·g/sqrt(g2+eps)
func lectureAdagrad[T float32 | float64](s *Settings, _ int) kernel[T] {
	lr, eps, sign := T(s.LR), T(s.Eps), direction[T](s)
	return func(p, g []T, state [][]T) {
		g2 := state[0][:len(p)]
		g = g[:len(p)]
		for i := range p {
			d := sign * g[i]
			g2[i] += d * d
			p[i] -= lr * d / sqrt(g2[i]+eps)
		}
	}
}

// rmsprop: g += decay·p; sq = alpha·sq + (1-alpha)·g²; d = sqrt(sq)+eps, centered
// sqrt(sq-avg²)+eps with avg = alpha·avg + (1-alpha)·g; p -= lr·g/d, with momentum
// buf = momentum·buf + g/d; p -= lr·buf.
func rmsprop[T float32 | float64](s *Settings, _ int) kernel[T] {
	lr, decay, alpha, eps, momentum, sign := T(s.LR), T(s.WeightDecay), T(s.Alpha), T(s.Eps), T(s.Momentum), direction[T](s)
	rest := T(1 - s.Alpha)
	centered := s.Centered
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

// adam: g += decay·p, and then as adamMoments.
func adam[T float32 | float64](s *Settings, step int) kernel[T] {
	return adamMoments[T](s, step, T(s.WeightDecay), 1)
}

// adamw: p *= 1 - lr·decay, and then as adamMoments.
func adamw[T float32 | float64](s *Settings, step int) kernel[T] {
	return adamMoments[T](s, step, 0, T(1-s.LR*s.WeightDecay))
}

// adamMoments: m = β1·m + (1-β1)·g; v = β2·v + (1-β2)·g²;
// p = keep·p - lr·m' / (sqrt(v') + eps), where m' = m/(1-β1^step) and
// v' = v/(1-β2^step) make up for both having started from 0. The constants are
// gathered so that an element needs one division:
//
//	p = keep·p - m / ((sqrt(v) + floor)·times)
func adamMoments[T float32 | float64](s *Settings, step int, decay, keep T) kernel[T] {
	b1, b2, r1, r2 := T(s.Beta1), T(s.Beta2), T(1-s.Beta1), T(1-s.Beta2)
	correction := math.Sqrt(1 - math.Pow(s.Beta2, float64(step)))
	floor := T(s.Eps * correction)
	times := T((1 - math.Pow(s.Beta1, float64(step))) / (correction * s.LR))
	sign, amsgrad, still := direction[T](s), s.AMSGrad, s.LR == 0
	vec := vectors[T]()
	return func(p, g []T, state [][]T) {
		m, v := state[0][:len(p)], state[1][:len(p)]
		g = g[:len(p)]
		if vec != nil && !amsgrad && !still {
			var t, u [tile]T
			for start := 0; start < len(p); start += tile {
				end := min(start+tile, len(p))
				p, g, m, v, t, u := p[start:end], g[start:end], m[start:end], v[start:end], t[:end-start], u[:end-start]
				if decay != 0 || sign != 1 {
					vec.Scale(t, g, sign)
					vec.Scale(u, p, decay)
					vec.Add(u, t, u)
					g = u
				}
				vec.Scale(m, m, b1)
				vec.Scale(t, g, r1)
				vec.Add(m, m, t)
				vec.Scale(v, v, b2)
				vec.Square(t, g)
				vec.Scale(t, t, r2)
				vec.Add(v, v, t)
				vec.Sqrt(t, v)
				vec.Affine(t, t, -floor, times)
				vec.Div(t, m, t)
				if keep != 1 {
					vec.Scale(p, p, keep)
				}
				vec.Sub(p, p, t)
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

// tile is how many elements go through a chain of vector loops at a time: five
// slices of them stay in the first-level cache.
const tile = 1024

// vectors returns the vector loops of this processor, nil if it has none.
func vectors[T float32 | float64]() *cpu.Vectors[T] {
	var v any = cpu.Float32s()
	if _, double := any(T(0)).(float64); double {
		v = cpu.Float64s()
	}
	all := v.(*cpu.Vectors[T])
	if all == nil || all.Scale == nil || all.Add == nil || all.Sub == nil || all.Div == nil || all.Square == nil || all.Sqrt == nil || all.Affine == nil {
		return nil
	}
	return all
}

// direction is what the gradient is multiplied by.
func direction[T float32 | float64](s *Settings) T {
	if s.Maximize {
		return -1
	}
	return 1
}

// sqrt compiles to one instruction; for float32 too, as the compiler knows that
// rounding the root of a float32 once more changes nothing.
func sqrt[T float32 | float64](x T) T { return T(math.Sqrt(float64(x))) }
