package transformer

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/lectern-go/lectern/tensor"
)

// naiveProbabilities is what Choose must draw from, computed by its definition.
func naiveProbabilities(logits []float64, s Sampling) []float64 {
	type candidate struct {
		id int
		p  float64
	}
	var all []candidate
	for id, x := range logits {
		all = append(all, candidate{id, math.Exp(x / s.Temperature)})
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.p, a.p) })
	normalize := func() {
		sum := 0.0
		for _, c := range all {
			sum += c.p
		}
		for i := range all {
			all[i].p /= sum
		}
	}
	if s.TopK > 0 && s.TopK < len(all) {
		all = all[:s.TopK]
	}
	normalize()
	if s.TopP > 0 {
		before := 0.0
		for i, c := range all {
			if before >= s.TopP {
				all = all[:i]
				break
			}
			before += c.p
		}
		normalize()
	}
	p := make([]float64, len(logits))
	for _, c := range all {
		p[c.id] = c.p
	}
	return p
}

func TestChooseDrawsAsDefined(t *testing.T) {
	logits := []float64{0.3, 2, -1, 2, 0.9, math.Inf(-1), 1.5, -4}
	x := tensor.Of(logits)
	const draws = 8_000
	for _, s := range []Sampling{
		{Temperature: 1}, {Temperature: 0.5}, {Temperature: 3, TopK: 3}, {Temperature: 1, TopP: 0.6},
		{Temperature: 1, TopP: 0.9, TopK: 5}, {Temperature: 1, TopP: 1}, {Temperature: 2, TopK: 100}, {Temperature: 1, TopP: 1e-9},
	} {
		s.Generator = tensor.NewGenerator(1)
		counts := make([]float64, len(logits))
		for range draws {
			counts[s.Choose(x)]++
		}
		for id, p := range naiveProbabilities(logits, s) {
			if off, std := counts[id]-draws*p, math.Sqrt(draws*p*(1-p)); math.Abs(off) > 5*std {
				t.Errorf("%+v: id %d was drawn %.0f times, want %.0f ± %.0f", s, id, counts[id], draws*p, 5*std)
			}
		}
	}
}

func TestChooseTheLikeliest(t *testing.T) {
	x := tensor.Of([]float64{1, 3, 3, 2})
	for _, s := range []Sampling{{}, {TopK: 1, Temperature: 5}, {Temperature: 1, TopP: 1e-12}, {Temperature: 1e-3, TopK: 1}} {
		if got := s.Choose(x); got != 1 {
			t.Errorf("%+v chose %d, want the first of the largest, 1", s, got)
		}
	}
}

func TestChooseMistakes(t *testing.T) {
	good := tensor.Of([]float64{1, 2})
	for name, f := range map[string]func(){
		"temperature":  func() { Sampling{Temperature: -1}.Choose(good) },
		"nan":          func() { Sampling{}.Choose(tensor.Of([]float64{1, math.NaN()})) },
		"infinity":     func() { Sampling{}.Choose(tensor.Of([]float64{1, math.Inf(1)})) },
		"nothing left": func() { Sampling{}.Choose(tensor.Of([]float64{math.Inf(-1), math.Inf(-1)})) },
		"top p":        func() { Sampling{TopP: math.NaN()}.Choose(good) },
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := tensor.Try(func() { Sampling{}.Choose(tensor.Ones(2, 2)) }); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("two axes: %v", err)
	}
}
