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

// A browser's clock moves in steps of a tenth of a millisecond, and the first call may take long: neither makes a
// call so short that it seems to take no time.
func TestCoarseClock(t *testing.T) {
	for _, step := range []time.Duration{time.Nanosecond, 5 * time.Microsecond, 100 * time.Microsecond} {
		var now, first time.Duration
		first = 30 * time.Millisecond
		clock := func() time.Time {
			now += 20 * time.Nanosecond
			return time.Unix(0, 0).Add(now.Truncate(step))
		}
		const each = 3 * time.Nanosecond
		l := Loop{Run: func(n int) {
			now += time.Duration(n)*each + first
			first = 0
		}}
		took := time.Duration(l.iterations(clock)) * each
		if least := max(call, ticks*step); took < least/2 || took > 3*least {
			t.Errorf("a clock with steps of %v: a call takes %v, want about %v", step, took, least)
		}
	}
}
