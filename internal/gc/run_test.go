package gc

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// All cleanups have been run when Run returns, also those of other blocks of the
// queue: 2000 are more than one block.
func TestRunWaitsForCleanups(t *testing.T) {
	const n = 2000
	var ran atomic.Int32
	for range n {
		runtime.AddCleanup(new([64]byte), func(ran *atomic.Int32) {
			for start := time.Now(); time.Since(start) < 5*time.Microsecond; {
			}
			ran.Add(1)
		}, &ran)
	}
	if !Run(time.Minute) || ran.Load() < n-1 { // a register may still hold the last
		t.Errorf("%d of %d cleanups have been run", ran.Load(), n)
	}
}

// A cleanup that doesn't end holds nothing up for longer than asked.
func TestRunDoesNotWaitForever(t *testing.T) {
	end := make(chan struct{})
	for range 10 { // a register may still hold the last
		runtime.AddCleanup(new([64]byte), func(end chan struct{}) { <-end }, end)
	}
	if Run(20 * time.Millisecond) {
		t.Error("a cleanup that hangs was not waited for")
	}
	close(end)
	if !Run(time.Minute) {
		t.Error("cleanups have not been run")
	}
}
