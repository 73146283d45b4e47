package cpu

import (
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	if got := choose(""); got != supported[len(supported)-1] {
		t.Errorf("without a name: %v, want the last of %v", got, supported)
	}
	for _, l := range supported {
		if got := choose(strings.ToUpper(l.String())); got != l {
			t.Errorf("choose(%q) = %v", l, got)
		}
	}
	defer func() {
		if message, ok := recover().(string); !ok || !strings.Contains(message, "LECTERN_CPU=sse9") {
			t.Errorf("panic %v, want one that names LECTERN_CPU=sse9", message)
		}
	}()
	choose("sse9")
}
