package cpu

import (
	"math"
	"testing"
)

// state is what one element of an optimizer's state is called in the loops below: the parameter, its gradient, and up to
// three numbers more.
type state[T float] [5]T

func root[T float](x T) T { return T(math.Sqrt(float64(x))) }

// updateLoops are the twins of the steps of optimizers, for one element. Each product is rounded, as a conversion says.
func updateLoops[T float](v *Vectors[T]) map[string]struct {
	run  func(s [5][]T)
	want func(s *state[T])
} {
	const lr, decay, sign, eps = 0.01, 0.25, -1, 1e-6
	const momentum, rate, ahead, alpha, rest = 0.9, 0.75, 0.8, 0.99, 0.01
	const b1, r1, b2, r2, keep, floor, times = 0.9, 0.1, 0.99, 0.01, 0.999, 1e-6, 70
	type pair = struct {
		run  func(s [5][]T)
		want func(s *state[T])
	}
	direction := func(s *state[T]) T { return T(sign*s[1]) + T(decay*s[0]) }
	adam := func(s *state[T], largest bool) {
		d := direction(s)
		s[2] = T(b1*s[2]) + T(r1*d)
		s[3] = T(b2*s[3]) + T(r2*T(d*d))
		v := s[3]
		if largest {
			s[4] = max(s[4], v)
			v = s[4]
		}
		s[0] = T(keep*s[0]) - s[2]/T((root(v)+floor)*times)
	}
	rmsprop := func(centered, withMomentum bool) func(s *state[T]) {
		return func(s *state[T]) {
			d := direction(s)
			s[2] = T(alpha*s[2]) + T(T(rest*d)*d)
			v, last := s[2], 3
			if centered {
				s[3] = T(alpha*s[3]) + T(rest*d)
				v, last = v-T(s[3]*s[3]), 4
			}
			d /= root(v) + eps
			if withMomentum {
				s[last] = T(momentum*s[last]) + d
				d = s[last]
			}
			s[0] -= T(lr * d)
		}
	}
	return map[string]pair{
		"Descend": {func(s [5][]T) { v.Descend(s[0], s[1], lr, decay, sign) }, func(s *state[T]) { s[0] -= T(lr * direction(s)) }},
		"Momentum": {func(s [5][]T) { v.Momentum(s[0], s[1], s[2], lr, decay, sign, momentum, rate) }, func(s *state[T]) {
			s[2] = T(momentum*s[2]) + T(rate*direction(s))
			s[0] -= T(lr * s[2])
		}},
		"Nesterov": {func(s [5][]T) { v.Nesterov(s[0], s[1], s[2], lr, decay, sign, momentum, rate, ahead) }, func(s *state[T]) {
			d := direction(s)
			s[2] = T(momentum*s[2]) + T(rate*d)
			s[0] -= T(lr * (d + T(ahead*s[2])))
		}},
		"Adagrad": {func(s [5][]T) { v.Adagrad(s[0], s[1], s[2], lr, decay, sign, eps) }, func(s *state[T]) {
			d := direction(s)
			s[2] += T(d * d)
			s[0] -= T(lr*d) / (root(s[2]) + eps)
		}},
		"AdagradInside": {func(s [5][]T) { v.AdagradInside(s[0], s[1], s[2], lr, sign, eps) }, func(s *state[T]) {
			d := sign * s[1]
			s[2] += T(d * d)
			s[0] -= T(lr*d) / root(s[2]+eps)
		}},
		"Rmsprop":         {func(s [5][]T) { v.Rmsprop(s[0], s[1], s[2], lr, decay, sign, eps, alpha, rest) }, rmsprop(false, false)},
		"RmspropMomentum": {func(s [5][]T) { v.RmspropMomentum(s[0], s[1], s[2], s[3], lr, decay, sign, eps, alpha, rest, momentum) }, rmsprop(false, true)},
		"RmspropCentered": {func(s [5][]T) { v.RmspropCentered(s[0], s[1], s[2], s[3], lr, decay, sign, eps, alpha, rest) }, rmsprop(true, false)},
		"RmspropCenteredMomentum": {func(s [5][]T) {
			v.RmspropCenteredMomentum(s[0], s[1], s[2], s[3], s[4], lr, decay, sign, eps, alpha, rest, momentum)
		}, rmsprop(true, true)},
		"Adam": {func(s [5][]T) { v.Adam(s[0], s[1], s[2], s[3], decay, sign, b1, r1, b2, r2, keep, floor, times) }, func(s *state[T]) { adam(s, false) }},
		"Amsgrad": {func(s [5][]T) {
			v.Amsgrad(s[0], s[1], s[2], s[3], s[4], decay, sign, b1, r1, b2, r2, keep, floor, times)
		}, func(s *state[T]) { adam(s, true) }},
	}
}

func testUpdates[T float](t *testing.T, v *Vectors[T]) {
	for name, loop := range updateLoops(v) {
		for n := range 110 {
			var got [5][]T
			want := make([]state[T], n)
			for i := range got {
				x := randoms[T](n, uint64(n*5+i))
				if n%4 == 3 {
					x = awkward[T](n, uint64(n*5+i))
				}
				for j := range x {
					if i > 1 && n%4 != 3 { // squares are not negative
						x[j] *= x[j]
					}
					want[j][i] = x[j]
				}
				got[i] = guardedSlice(t, x, n%2 == 0)
			}
			loop.run(got)
			for j := range want {
				before := want[j]
				loop.want(&want[j])
				for i := range got {
					if !same(got[i][j], want[j][i]) {
						t.Fatalf("%s: number %d of element %d of %d, %v before, is %v, want %v", name, i, j, n, before, got[i][j], want[j][i])
					}
				}
			}
		}
	}
}

func TestUpdates(t *testing.T) {
	atVectorLevels(t, func(t *testing.T) {
		testUpdates(t, Float32s())
		testUpdates(t, Float64s())
	})
}

// BenchmarkUpdates reports the time of an element.
func BenchmarkUpdates(b *testing.B) {
	const n = 1 << 14
	if Float32s().Descend == nil {
		b.Skipf("%v has no such loops", level)
	}
	var s [5][]float32
	for i := range s {
		s[i] = randoms[float32](n, uint64(i))
		for j := range s[i] {
			s[i][j] *= s[i][j]
		}
	}
	for name, loop := range updateLoops(Float32s()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				loop.run(s)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
		})
	}
}
