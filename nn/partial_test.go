package nn_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/tensor"
)

// TestLoadingAPart: what is missing or unknown is told, and nothing else changes.
func TestLoadingAPart(t *testing.T) {
	type pair struct{ A, B *tensor.Tensor }
	m := &pair{tensor.Of(1., 2), tensor.Of(3.)}
	state := map[string]*tensor.Tensor{"a": tensor.Of(7., 8), "c": tensor.Of(9.)}
	if err := nn.LoadStateDict(m, state); !errors.Is(err, nn.ErrState) || m.A.At(0) != 1 {
		t.Errorf("without Partial: %v, and A is %v", err, m.A)
	}
	told := ""
	if err := nn.LoadStateDict(m, state, nn.Partial(func(missing, unexpected []string) { told = fmt.Sprint(missing, unexpected) })); err != nil {
		t.Fatal(err)
	}
	if told != "[b] [c]" || m.A.At(1) != 8 || m.B.Item() != 3 {
		t.Errorf("told %q, loaded %v and %v", told, m.A, m.B)
	}
	state["b"] = tensor.Of(1., 2, 3)
	if err := nn.LoadStateDict(m, state, nn.Partial(nil)); err == nil || !strings.Contains(err.Error(), "b is [3] and the model's is [1]") {
		t.Errorf("another shape: %v", err)
	}

	// One tensor under two names takes one value.
	tied := &pair{A: tensor.Of(1., 2)}
	tied.B = tied.A
	state = map[string]*tensor.Tensor{"a": tensor.Of(7., 8), "b": tensor.Of(7., 9)}
	for _, options := range [][]nn.LoadOption{nil, {nn.Partial(nil)}} {
		if err := nn.LoadStateDict(tied, state, options...); !errors.Is(err, nn.ErrState) || !strings.Contains(err.Error(), "a and b are the same tensor in the model, but differ here") || tied.A.At(0) != 1 {
			t.Errorf("names that conflict: %v, and A is %v", err, tied.A)
		}
	}
	state["b"] = state["a"].Clone()
	if err := nn.LoadStateDict(tied, state); err != nil || tied.B.At(1) != 8 {
		t.Errorf("names that agree: %v, %v", err, tied.B)
	}
}
