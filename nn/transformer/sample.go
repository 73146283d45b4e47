package transformer

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lectern-go/lectern/tensor"
)

// Sampling says how a token is chosen from logits, and when generation ends. The zero
// value always takes the most likely token and ends when the context is full.
type Sampling struct {
	// Temperature divides the logits: below 1 likely tokens become likelier, above 1 less
	// so. 0 takes the most likely one, without a draw.
	Temperature float64
	TopK        int     // draw from the k most likely tokens; 0: from all
	TopP        float64 // draw from the fewest tokens that have this probability in all (Holtzman et al. 2019, arXiv:1904.09751); 0: from all
	Max         int     // the most tokens to generate; 0: until the context is full
	Stop        []int32 // ids that end the text; they are not part of it
	// Generator draws; nil: the default one. The same seed gives the same text.
	Generator *tensor.Generator
}

func (s Sampling) check() {
	if !(s.Temperature >= 0) || math.IsInf(s.Temperature, 0) || s.TopK < 0 || !(s.TopP >= 0 && s.TopP <= 1) || s.Max < 0 {
		fail(tensor.ErrValue, "sampling", fmt.Sprintf("Temperature is %g, TopK %d, TopP %g and Max %d", s.Temperature, s.TopK, s.TopP, s.Max), "none may be below 0, and TopP is a probability")
	}
}

// Choose returns an id drawn from logits [V]: divided by Temperature, cut to the TopK
// largest, turned into probabilities, and cut to the likeliest that make up TopP. Of
// equal logits, the smaller id counts as the likelier one. It panics if a setting makes
// no sense, or if a logit is not finite; only -Inf is allowed, for an id that can't be
// chosen.
func (s Sampling) Choose(logits *tensor.Tensor) int32 {
	s.check()
	if logits.Dim() != 1 || logits.Len() == 0 {
		fail(tensor.ErrShape, "sampling", fmt.Sprintf("logits have shape %v", logits.Shape()), "give [V], the logits of one position")
	}
	values := logits.Floats()
	best := 0
	for i, x := range values {
		if math.IsNaN(x) || math.IsInf(x, 1) {
			fail(tensor.ErrValue, "sampling", fmt.Sprintf("the logit of id %d is %g", i, x), "the model has diverged, or its weights don't fit")
		}
		if x > values[best] {
			best = i
		}
	}
	if math.IsInf(values[best], -1) {
		fail(tensor.ErrValue, "sampling", "all logits are -Inf", "leave at least one id to choose")
	}
	if s.Temperature == 0 || s.TopK == 1 {
		return int32(best)
	}
	probabilities := make([]float64, len(values))
	for i, x := range values {
		probabilities[i] = math.Exp((x - values[best]) / s.Temperature)
	}
	ids := s.candidates(probabilities)
	g := s.Generator
	if g == nil {
		g = tensor.DefaultGenerator()
	}
	total := 0.0
	for _, id := range ids {
		total += probabilities[id]
	}
	left := g.Float64() * total
	drawn := best
	for _, id := range ids {
		if probabilities[id] == 0 {
			continue
		}
		drawn = id // the last one also gets what rounding may leave over
		if left -= probabilities[id]; left < 0 {
			break
		}
	}
	return int32(drawn)
}

// candidates returns the ids that TopK and TopP leave.
func (s Sampling) candidates(probabilities []float64) []int {
	ids := make([]int, len(probabilities))
	for i := range ids {
		ids[i] = i
	}
	if s.TopK == 0 && (s.TopP == 0 || s.TopP == 1) {
		return ids
	}
	slices.SortFunc(ids, func(a, b int) int {
		return cmp.Or(cmp.Compare(probabilities[b], probabilities[a]), cmp.Compare(a, b))
	})
	if s.TopK > 0 {
		ids = ids[:min(s.TopK, len(ids))]
	}
	if s.TopP == 0 || s.TopP == 1 {
		return ids
	}
	total := 0.0
	for _, id := range ids {
		total += probabilities[id]
	}
	n := 0
	for sum := 0.0; sum < s.TopP*total; n++ {
		sum += probabilities[ids[n]]
	}
	return ids[:n]
}
