package tensor_test

import (
	"strings"
	"testing"

	. "github.com/lectern-go/lectern/tensor"
	"github.com/lectern-go/lectern/tensor/gradcheck"
)

// TestDerivatives compares the gradients of every operation with differences, and those of the gradients where they
// have any. Where there is no gradient, the differences must be 0, too.
func TestDerivatives(t *testing.T) {
	for _, c := range OpTable() {
		if strings.HasPrefix(c.Name(), "matmul as") {
			continue // it is what gradients of products in 8 bits are made of, and has none itself
		}
		if err := gradcheck.First(c.Run, c.Inputs(Float64, 3)...); err != nil {
			t.Errorf("%s: %v", c.Name(), err)
		}
		if c.Twice() {
			if err := gradcheck.Second(c.Run, c.Inputs(Float64, 3)...); err != nil {
				t.Errorf("%s: second derivative: %v", c.Name(), err)
			}
		}
	}
}
