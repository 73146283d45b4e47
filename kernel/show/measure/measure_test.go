package measure

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for ns, want := range map[float64]string{0.5: "0.5 ns", 12.34: "12.3 ns", 1234: "1.23 µs", 56.7e6: "56.7 ms", 2e9: "2 s"} {
		if got := duration(ns); got != want {
			t.Errorf("%g ns is written %q, want %q", ns, got, want)
		}
	}
}

func TestTimeCalls(t *testing.T) {
	var clock time.Time
	defer func() { now = time.Now }()
	now = func() time.Time { return clock }
	for took, want := range map[time.Duration]int{
		60 * time.Millisecond: 1 + rounds*2, // one alone ends too early, two are a round
		time.Second:           rounds,
		time.Minute:           3,
	} {
		calls := 0
		Time(func() { calls++; clock = clock.Add(took) })
		if calls != want {
			t.Errorf("what takes %v was called %d times, want %d", took, calls, want)
		}
	}
}
