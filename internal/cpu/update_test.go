package cpu

import (
	"testing"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/internal/formula"
)

// updateNumbers are those of the steps below, but for what chooses between them.
var updateNumbers = device.Numbers{LR: 0.01, Decay: 0.25, Sign: -1, Momentum: 0.9, Rate: 0.75, Eps: 1e-6, Alpha: 0.99, Rest: 0.01,
	B1: 0.9, R1: 0.1, B2: 0.99, R2: 0.01, Keep: 0.999, Floor: 1e-6, Times: 70}

// An updateLoop is a loop, and the update whose formula it computes.
type updateLoop[T float] struct {
	run    func(s [5][]T)
	update string
	choice func(n *device.Numbers) // what else than updateNumbers leads to this loop
}

func updateLoops[T float](v *Vectors[T]) map[string]updateLoop[T] {
	const lr, decay, sign, eps = 0.01, 0.25, -1, 1e-6
	const momentum, rate, ahead, alpha, rest = 0.9, 0.75, 0.8, 0.99, 0.01
	const b1, r1, b2, r2, keep, floor, times = 0.9, 0.1, 0.99, 0.01, 0.999, 1e-6, 70
	return map[string]updateLoop[T]{
		"Descend":       {func(s [5][]T) { v.Descend(s[0], s[1], lr, decay, sign) }, "sgd", nil},
		"Momentum":      {func(s [5][]T) { v.Momentum(s[0], s[1], s[2], lr, decay, sign, momentum, rate) }, "momentum", nil},
		"Nesterov":      {func(s [5][]T) { v.Nesterov(s[0], s[1], s[2], lr, decay, sign, momentum, rate, ahead) }, "momentum", func(n *device.Numbers) { n.Ahead = ahead }},
		"Adagrad":       {func(s [5][]T) { v.Adagrad(s[0], s[1], s[2], lr, decay, sign, eps) }, "adagrad", nil},
		"AdagradInside": {func(s [5][]T) { v.AdagradInside(s[0], s[1], s[2], lr, sign, eps) }, "lecture_adagrad", nil},
		"Rmsprop":       {func(s [5][]T) { v.Rmsprop(s[0], s[1], s[2], lr, decay, sign, eps, alpha, rest) }, "rmsprop", func(n *device.Numbers) { n.Momentum = 0 }},
		"RmspropMomentum": {func(s [5][]T) { v.RmspropMomentum(s[0], s[1], s[2], s[3], lr, decay, sign, eps, alpha, rest, momentum) },
			"rmsprop", nil},
		"RmspropCentered": {func(s [5][]T) { v.RmspropCentered(s[0], s[1], s[2], s[3], lr, decay, sign, eps, alpha, rest) },
			"rmsprop", func(n *device.Numbers) { n.Centered, n.Momentum = 1, 0 }},
		"RmspropCenteredMomentum": {func(s [5][]T) {
			v.RmspropCenteredMomentum(s[0], s[1], s[2], s[3], s[4], lr, decay, sign, eps, alpha, rest, momentum)
		}, "rmsprop", func(n *device.Numbers) { n.Centered = 1 }},
		"Adam": {func(s [5][]T) { v.Adam(s[0], s[1], s[2], s[3], decay, sign, b1, r1, b2, r2, keep, floor, times) }, "adam", nil},
		"Amsgrad": {func(s [5][]T) {
			v.Amsgrad(s[0], s[1], s[2], s[3], s[4], decay, sign, b1, r1, b2, r2, keep, floor, times)
		}, "adam", func(n *device.Numbers) { n.Amsgrad = 1 }},
	}
}

func testUpdates[T float](t *testing.T, v *Vectors[T]) {
	for name, loop := range updateLoops(v) {
		numbers := updateNumbers
		if loop.choice != nil {
			loop.choice(&numbers)
		}
		step := formula.Step[T](t, loop.update, &numbers)
		for n := range 110 {
			var got [5][]T
			want := make([][5]T, n)
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
				step(want[j][:])
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
