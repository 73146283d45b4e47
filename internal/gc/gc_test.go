package gc

import (
	"runtime"
	"testing"
	"time"
)

var sink []byte

func TestWarmUp(t *testing.T) {
	w := StartWarmUp()
	if w.Done() {
		t.Error("done at once")
	}
	time.Sleep(shortest)
	if !w.Done() || w.Elapsed() < shortest {
		t.Errorf("not done after %v without allocation", w.Elapsed())
	}
	w = StartWarmUp()
	sink = make([]byte, 4*little)
	time.Sleep(shortest)
	if runs, _ := read(); runs < w.runs+2 && w.Done() {
		t.Error("done although new memory was taken")
	}
	for range 2 {
		runtime.GC()
	}
	if !w.Done() {
		t.Error("not done although the collector has run twice")
	}
}
