// Package peak runs a processor's floating-point units as fast as possible, on
// registers alone: no computation that uses memory can be faster.
package peak

import (
	"bytes"
	"math"
	"runtime"
	"sync"
	"time"
)

// A Loop is one way to compute as fast as possible.
type Loop struct {
	Name  string // the instructions: "AVX-512 FMA"
	Dtype string // of the operands: "float32", "float64" or "bfloat16"
	Lanes int    // multiply-adds that one port starts in a cycle
	// FLOPs is the number for one iteration.
	FLOPs int
	// Run does n iterations, n > 0. It can't be preempted: keep n below a few
	// milliseconds.
	Run func(n int)
}

// Loops returns the loops that this processor can run, the portable ones last.
func Loops() []Loop {
	return append(nativeLoops(),
		Loop{"Go", "float32", 1, 2 * 8, portable[float32]},
		Loop{"Go", "float64", 1, 2 * 8, portable[float64]})
}

// portable multiplies and adds in eight independent sums.
func portable[T float32 | float64](n int) {
	var a, b, c, d, e, f, g, h T
	x, y := factor[T](), factor[T]()
	for range n {
		a = a*x + y
		b = b*x + y
		c = c*x + y
		d = d*x + y
		e = e*x + y
		f = f*x + y
		g = g*x + y
		h = h*x + y
	}
	keep(a + b + c + d + e + f + g + h)
}

//go:noinline
func factor[T float32 | float64]() T { return 0.5 }

//go:noinline
func keep[T float32 | float64](T) {}

// call is how long one call to Run should take: long compared with the clock's resolution, short compared with the
// scheduler's time slices. In browsers, whose clocks are coarse on purpose, it has to be longer.
const (
	call  = 500 * time.Microsecond
	ticks = 100 // of the clock, at least
)

// Tick returns the smallest step of a clock.
func Tick(now func() time.Time) time.Duration {
	least := time.Second
	for range 3 {
		start := now()
		for {
			if d := now().Sub(start); d > 0 {
				least = min(least, d)
				break
			}
		}
	}
	return least
}

// iterations returns how many iterations take about as long as a call should.
func (l Loop) iterations(now func() time.Time) int {
	wanted := max(call, ticks*Tick(now))
	for n := 1000; ; n *= 2 {
		took := time.Duration(math.MaxInt64)
		for range 3 { // the first one warms up, and another may be disturbed
			start := now()
			l.Run(n)
			took = min(took, now().Sub(start))
		}
		if took >= wanted/2 || n >= 1<<30 {
			return int(float64(n) * min(float64(wanted)/float64(max(took, 1)), 2))
		}
	}
}

// PerSecond returns the FLOP/s that the given number of threads reach together, each
// on its own processor if the system lets us choose. All run for the given time; the
// fastest call of each thread counts, since any disturbance only makes calls slower.
func (l Loop) PerSecond(threads int, within time.Duration) float64 {
	n := l.iterations(time.Now)
	fastest := make([]time.Duration, threads)
	var ready, done sync.WaitGroup
	begin := make(chan struct{})
	for i := range threads {
		ready.Add(1)
		done.Go(func() {
			// The thread ends with the goroutine, and so does its pinning.
			runtime.LockOSThread()
			pin(i)
			ready.Done()
			<-begin
			for start, round := time.Now(), 0; round < 3 || time.Since(start) < within; round++ {
				before := time.Now()
				l.Run(n)
				if took := time.Since(before); round == 0 || took < fastest[i] {
					fastest[i] = took
				}
			}
		})
	}
	ready.Wait()
	close(begin)
	done.Wait()
	sum := 0.
	for _, took := range fastest {
		sum += float64(n) * float64(l.FLOPs) / took.Seconds()
	}
	return sum
}

// GHz measures the clock of one core: it counts steps of a chain whose latency
// in cycles is known. It returns 0 if there is no such chain.
func GHz() float64 {
	chain, cycles := clockChain()
	if chain == nil {
		return 0
	}
	best := 0.
	chain(100000)
	for range 20 {
		start := time.Now()
		chain(100000)
		best = max(best, 100000*float64(cycles)/float64(time.Since(start).Nanoseconds()))
	}
	return best
}

// BeyondCaches returns how many bytes a computation must go through so that none of
// them is still in a cache when it returns to them: four times what the caches of this
// computer hold, as far as that is known, and at most a gigabyte.
func BeyondCaches() int { return min(max(96<<20, 4*lastCaches()), 1<<30) }

// BytesPerSecond returns the memory traffic that the given number of threads reach
// together in memory that fits into no cache, when they copy it or when they only read
// it, whichever is more: bytes read plus bytes written.
func BytesPerSecond(threads int, within time.Duration) float64 {
	type pair struct{ from, to []byte }
	pairs := make([]pair, threads)
	var wait sync.WaitGroup
	each := func(f func(p *pair)) time.Duration {
		start := time.Now()
		for i := range pairs {
			wait.Go(func() { f(&pairs[i]) })
		}
		wait.Wait()
		return time.Since(start)
	}
	size := BeyondCaches() / 2 / threads &^ 4095
	each(func(p *pair) {
		p.from, p.to = make([]byte, size), make([]byte, size)
		for i := 0; i < size; i += 4096 { // touch every page: otherwise all of them are the one page of zeros
			p.from[i], p.to[i] = 1, 1
		}
	})
	best := 0.
	for begin, round := time.Now(), 0; round < 3 || time.Since(begin) < within; round++ {
		for _, f := range []func(p *pair){
			func(p *pair) { copy(p.to, p.from) },
			func(p *pair) { // searching for a byte that isn't there is the fastest way to read
				if bytes.IndexByte(p.from, 2) >= 0 || bytes.IndexByte(p.to, 2) >= 0 {
					panic("peak: a byte that nobody wrote")
				}
			},
		} {
			best = max(best, 2*float64(size*threads)/each(f).Seconds())
		}
	}
	return best
}
