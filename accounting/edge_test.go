package accounting_test

import (
	"runtime"
	"testing"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/tensor"
)

// TestPeaksToTheByte: one more small tensor is a higher peak, and none before it was missed.
func TestPeaksToTheByte(t *testing.T) {
	l := accounting.Track()
	defer l.Stop()
	var held []*tensor.Tensor
	total := 0
	for _, n := range []int{4096, 1, 255, 3, 1024} {
		held = append(held, tensor.Zeros(n))
		total += 4 * n
		if r := l.Report(); r.Peak.Total() != total || r.Highest[accounting.Temporary] != total {
			t.Errorf("with %d bytes held the peak is %d, and the highest of temporary %d", total, r.Peak.Total(), r.Highest[accounting.Temporary])
		}
	}
	runtime.KeepAlive(held)
}
