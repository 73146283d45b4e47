package gc

import (
	"runtime"
	"testing"
	"time"
)

var sink []byte

func TestWarmUp(t *testing.T) {
	w := StartWarmUp()
	w.start = w.start.Add(time.Hour) // which this test doesn't take
	if w.Done() {
		t.Error("done at once")
	}
	w.start = w.start.Add(-time.Hour - shortest)
	if !w.Done() || w.Elapsed() < shortest {
		t.Errorf("not done after %v without allocation", w.Elapsed())
	}
	w = StartWarmUp()
	w.start = w.start.Add(-shortest)
	sink = make([]byte, 4*little)
	done := w.Done()
	if runs, _ := read(); runs < w.runs+2 && done { // by then the collector may have run of itself
		t.Error("done although new memory was taken")
	}
	for range 2 {
		runtime.GC()
	}
	if !w.Done() {
		t.Error("not done although the collector has run twice")
	}
}
