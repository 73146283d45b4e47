package optim

import (
	"math"
	"slices"
	"testing"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/internal/formula"
)

// The loops in Go and those with vector instructions compute the formulas that a device gets by name.
func TestStepsAreTheirFormulas(t *testing.T) {
	for name, settings := range map[string][]Settings{
		"sgd":             {{}, {WeightDecay: 0.25, Maximize: true}, {Momentum: 0.9, Dampening: 0.25}, {Momentum: 0.9, Nesterov: true, WeightDecay: 0.1}},
		"adagrad":         {{}, {LRDecay: 0.1, WeightDecay: 0.25, Maximize: true}},
		"lecture_adagrad": {{}, {Maximize: true}},
		"rmsprop":         {{}, {WeightDecay: 0.25}, {Centered: true}, {Momentum: 0.9}, {Centered: true, Momentum: 0.9, Maximize: true}},
		"adam":            {{}, {WeightDecay: 0.25}, {AMSGrad: true, Maximize: true}, {LR: -1}, {LR: -1, AMSGrad: true}},
		"adamw":           {{}, {WeightDecay: 0.25}, {AMSGrad: true}},
	} {
		a := algorithms[name]
		for _, s := range settings {
			s.LR += 0.125 // 0 or 0.125, and for Adam what it does with a rate of 0
			s.LR = max(s.LR, 0)
			s.Eps, s.Alpha, s.Beta1, s.Beta2 = a.defaults.Eps, a.defaults.Alpha, a.defaults.Beta1, a.defaults.Beta2
			testFormula(t, name, &s, a.numbers, a.float32, len(a.states(&s)), 1e-6)
			testFormula(t, name, &s, a.numbers, a.float64, len(a.states(&s)), 1e-14)
		}
	}
}

func testFormula[T float32 | float64](t *testing.T, name string, s *Settings, numbers func(*Settings, int) (string, *device.Numbers),
	make func(*device.Numbers) kernel[T], states int, tolerance float64) {
	t.Helper()
	const n = 37 // some vectors, and a rest
	got := [5][]T{}
	for i := range got {
		for j := range n {
			x := T(math.Sin(float64(1 + i*n + j)))
			if i > 1 {
				x = []T{9, 1, 2}[i-2] + x/2 // means of squares, and one whose square is less than the first
			}
			got[i] = append(got[i], x)
		}
	}
	want := [5][]T{}
	for i := range got {
		want[i] = slices.Clone(got[i])
	}
	for step := 1; step <= 3; step++ {
		update, c := numbers(s, step)
		one := formula.Step[T](t, update, c)
		make(c)(got[0], got[1], got[2:2+states])
		for j := range n {
			var x [5]T
			for i := range x {
				x[i] = want[i][j]
			}
			one(x[:])
			for i := range x {
				want[i][j] = x[i]
				if d := math.Abs(float64(got[i][j] - x[i])); !(d <= tolerance*(1+math.Abs(float64(x[i])))) /* compilers may fuse a product and a sum */ {
					t.Fatalf("%s %+v, step %d: number %d of element %d is %v, the formula gives %v", name, *s, step, i, j, got[i][j], x[i])
				}
			}
		}
	}
}
