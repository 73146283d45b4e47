package collector

import (
	"runtime"
	"testing"
)

func TestRuns(t *testing.T) {
	before := Runs()
	runtime.GC()
	if after := Runs(); after <= before {
		t.Errorf("%d runs before one, %d after it", before, after)
	}
}
