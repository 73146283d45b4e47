package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
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

// BenchmarkProductsAfterPause multiplies after the workers have fallen asleep: where they wake decides.
func BenchmarkProductsAfterPause(b *testing.B) {
	const n, products = 512, 10
	x, y, c := randoms[float32](n*n, 1), randoms[float32](n*n, 2), make([]float32, n*n)
	matrix := func(m []float32) Matrix { return Matrix{unsafe.Pointer(&m[0]), n, 1} }
	p := &Product{M: n, N: n, K: n, Format: Float32, A: matrix(x), B: matrix(y), C: matrix(c)}
	var computing time.Duration
	for b.Loop() {
		time.Sleep(2 * time.Millisecond)
		start := time.Now()
		for range products {
			Multiply(p)
		}
		computing += time.Since(start)
	}
	b.ReportMetric(float64(computing.Microseconds())/float64(products*b.N), "µs/product")
}

func BenchmarkParallel(b *testing.B) {
	for b.Loop() {
		Parallel(2, func(int) {})
	}
}
