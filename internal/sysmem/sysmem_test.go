package sysmem

import (
	"math"
	"strings"
	"testing"
)

func TestShort(t *testing.T) {
	for _, n := range []int{0, 1, askFrom, 100 << 20} {
		if why := Short(n); why != "" {
			t.Errorf("%d bytes: %s", n, why)
		}
	}
	for _, n := range []int{1 << 47, 1 << 60, math.MaxInt, -1, total() + 1} {
		if why := Short(n); !strings.Contains(why, "takes") {
			t.Errorf("%d bytes: %q, want a reason", n, why)
		}
	}
	for n, want := range map[int]string{12: "12 bytes", 1 << 47: "128 TiB", 3 << 29: "1.5 GiB", math.MaxInt: "8 EiB"} {
		if got := Text(n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
}
