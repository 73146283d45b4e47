package goroutine

import (
	"runtime"
	"sync"
	"testing"
)

// TestLocal: many goroutines at once each see their own value, through growing
// stacks and collections, and none once they have left.
func TestLocal(t *testing.T) {
	var l Local[int]
	var grow func(n int, f func())
	grow = func(n int, f func()) {
		var frame [512]byte
		if frame[n%len(frame)] = 1; n > 0 {
			grow(n-1, f)
			return
		}
		f()
	}
	check := func(want int) {
		if got, ok := l.Get(); !ok || got != want {
			t.Errorf("%v, %v instead of %v", got, ok, want)
		}
	}
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			l.With(i, func() {
				runtime.Gosched()
				grow(100, func() { check(i) })
				l.With(-i, func() {
					runtime.GC()
					check(-i)
				})
				check(i)
				func() {
					defer func() { recover() }()
					l.With(7, func() { panic("ends With too") })
				}()
				check(i)
			})
			if _, ok := l.Get(); ok {
				t.Error("a value is left")
			}
		})
	}
	all.Wait()
	if n := l.count.Load(); n != 0 {
		t.Errorf("%d goroutines are said to have a value", n)
	}
}

func BenchmarkGet(b *testing.B) {
	var l Local[bool]
	b.Run("nobody", func(b *testing.B) {
		for b.Loop() {
			l.Get()
		}
	})
	b.Run("mine", func(b *testing.B) {
		l.With(true, func() {
			for b.Loop() {
				l.Get()
			}
		})
	})
}
