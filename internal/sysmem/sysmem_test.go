package sysmem

import (
	"math"
	"strings"
	"testing"
)

func TestRefusal(t *testing.T) {
	for _, n := range []int{0, 1, askFrom, 100 << 20} {
		if why := Refusal(n); why != "" {
			t.Errorf("%d bytes: %s", n, why)
		}
	}
	for _, n := range []int{1 << 47, 1 << 60, math.MaxInt, -1, total() + 1} {
		if why := Refusal(n); !strings.Contains(why, "takes") {
			t.Errorf("%d bytes: %q, want a reason", n, why)
		}
	}
}
