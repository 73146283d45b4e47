package peak

import (
	"testing"
	"time"
)

func TestLoopsRun(t *testing.T) {
	var portable, fastest float64
	for _, l := range Loops() {
		l.Run(10)
		speed := l.PerSecond(1, 8*time.Millisecond)
		t.Logf("%s %s: %.1f GFLOP/s", l.Name, l.Dtype, speed/1e9)
		if l.Dtype != "float32" {
			continue
		}
		fastest = max(fastest, speed)
		if l.Name == "Go" {
			portable = speed
		}
	}
	// Scalar code does at most two multiply-adds in each cycle.
	if portable < 1e8 || fastest < portable {
		t.Errorf("portable loop %.3g FLOP/s, fastest %.3g", portable, fastest)
	}
	if chain, _ := clockChain(); chain != nil {
		if ghz := GHz(); ghz < 0.3 || ghz > 10 {
			t.Errorf("the clock runs at %.2f GHz", ghz)
		} else {
			t.Logf("%.2f GHz", ghz)
		}
	}
}
