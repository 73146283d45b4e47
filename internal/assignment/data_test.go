package assignment

import (
	"math"
	"testing"

	"github.com/lectern-go/lectern/data"
	"github.com/lectern-go/lectern/tensor"
)

func TestGetBatch(t *testing.T) {
	const context, batch, rounds = 7, 32, 1000
	ids := make([]int32, 100)
	for i := range ids {
		ids[i] = int32(i)
	}
	tokens := data.TokensOf(ids)
	g := tensor.NewGenerator(0)
	possible := len(ids) - context
	counts := make([]int, len(ids))
	for range rounds {
		x, y, err := tokens.GetPair(batch, context, g)
		if err != nil {
			t.Fatal(err)
		}
		allClose(t, x.Add(1), y, 0, 0)
		if x.Size(0) != batch || x.Size(1) != context {
			t.Fatalf("x is %v, want [%d %d]", x.Shape(), batch, context)
		}
		for b := range batch {
			counts[x.AtInt(b, 0)]++
		}
	}
	p := 1 / float64(possible)
	mean, std := rounds*batch*p, math.Sqrt(rounds*batch*p*(1-p))
	for start, n := range counts {
		switch {
		case start >= possible && n > 0:
			t.Errorf("position %d was a start, %d times: the last that has %d ids and one more behind it is %d", start, n, context, possible-1)
		case start < possible && math.Abs(float64(n)-mean) > 5*std:
			t.Errorf("position %d was a start %d times, want %.0f ± %.0f", start, n, mean, 5*std)
		}
	}
	if _, err := tensor.FindDevice("cuda:99"); err == nil {
		t.Error("there is a device cuda:99")
	}
}
