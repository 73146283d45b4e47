package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestParallelRunsEachPieceOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for round := range 300 {
		n := round % 23
		count := make([]atomic.Int32, n)
		Parallel(n, func(i int) { count[i].Add(1) })
		for i := range count {
			if c := count[i].Load(); c != 1 {
				t.Fatalf("piece %d of %d ran %d times", i, n, c)
			}
		}
		if round%50 == 49 {
			time.Sleep(2 * spinFor) // the workers fall asleep
		}
	}
}

func TestParallelFromSeveralGoroutinesAndNested(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	var total atomic.Int64
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 50 {
				Parallel(5, func(i int) {
					Parallel(3, func(int) { total.Add(1) })
				})
			}
		})
	}
	wait.Wait()
	if got := total.Load(); got != 8*50*15 {
		t.Fatalf("%d calls, want %d", got, 8*50*15)
	}
}

func BenchmarkParallel(b *testing.B) {
	for b.Loop() {
		Parallel(2, func(int) {})
	}
}
