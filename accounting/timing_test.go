package accounting

import (
	"testing"
	"time"
)

// A browser's clock may not move at all during a call, which then seems to take no time.
func TestOften(t *testing.T) {
	for _, step := range []time.Duration{time.Nanosecond, 100 * time.Microsecond, time.Millisecond} {
		for _, each := range []time.Duration{2 * time.Nanosecond, 7 * time.Microsecond, 900 * time.Microsecond, 30 * time.Millisecond} {
			var now time.Duration
			run := func(calls int) time.Duration {
				start := now
				now += time.Duration(calls) * each
				return now.Truncate(step) - start.Truncate(step)
			}
			took := time.Duration(often(run, step)) * each
			if least := max(shortest, steps*step, each); took < least*9/10 || took > least*3/2+each {
				t.Errorf("with steps of %v and calls of %v a measurement takes %v, want %v", step, each, took, least)
			}
			if most := 6*max(shortest, steps*step) + 2*each; now > most {
				t.Errorf("with steps of %v and calls of %v finding that out takes %v, more than %v", step, each, now, most)
			}
		}
	}
}
