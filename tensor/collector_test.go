package tensor

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/lectern-go/lectern/tensor/internal/memory"
)

// TestCollectorRunsRarely: results of 16 KB must not make the garbage collector
// run each hundredth time, as it would in a small heap.
func TestCollectorRunsRarely(t *testing.T) {
	if os.Getenv("GOGC") != "" {
		t.Log("GOGC is set: the collector's pace is not ours")
		return
	}
	x, y := Ones(4096), Ones(4096)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const calls = 2000
	for range calls {
		x.Add(y)
	}
	runtime.ReadMemStats(&after)
	if runs := after.NumGC - before.NumGC; runs > calls/250 {
		t.Errorf("the collector ran %d times in %d calls of Add, want at most %d", runs, calls, calls/250)
	}
}

// TestGarbageStaysSmall: what a loop leaves to the collector is a quarter of what lives,
// not as much as that. Where all results are given back, it is what operations take to
// work in: no result is ever new then.
func TestGarbageStaysSmall(t *testing.T) {
	if os.Getenv("GOGC") != "" {
		t.Skip("GOGC is set: the collector's pace is not ours")
	}
	defer func(least int64) { memory.LeastGarbage = least }(memory.LeastGarbage)
	memory.LeastGarbage = 4 << 20
	lives := Zeros(32 << 20)                  // 128 MB
	for name, run := range map[string]func(){ // of 1 MB
		"results":              func() { Empty(256 << 10) },
		"beside results":       func() { Empty(256 << 10).Free(); room = make([]byte, 1<<20) },
		"in FreeAfter":         func() { FreeAfter(func(func(*Tensor) *Tensor) { Empty(256 << 10); room = make([]byte, 1<<20) }) },
		"while it should rest": func() { memory.Resting.Store(math.MaxInt64); Empty(256 << 10) },
	} {
		t.Run(name, func(t *testing.T) {
			defer memory.Resting.Store(0)
			runtime.GC()
			memory.Enough.Store(0)
			memory.Handed.Store(0)
			alive := heapNow()
			most := uint64(0)
			for range 300 {
				memory.Resting.Store(0) // a slow machine must not fail
				run()
				most = max(most, heapNow())
			}
			if garbage := int64(most) - int64(alive); garbage > 96<<20 {
				t.Errorf("beside %d MB that live %d MB of garbage were held", alive>>20, garbage>>20)
			}
		})
	}
	runtime.KeepAlive(lives)
}

// room stands for what an operation takes to work in.
var room []byte

func heapNow() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// BenchmarkResultMemory shows what the memory of a result costs.
func BenchmarkResultMemory(b *testing.B) {
	for _, n := range []int{4096, 65536, 1 << 20} {
		x, y, sum := Ones(n), Ones(n), Zeros(n)
		for _, c := range []struct {
			name string
			run  func()
		}{
			{"add into memory that is there", func() { sum.AddInPlace(y) }},
			{"add into memory that was given back", func() { x.Add(y).Free() }},
			{"add into a new result", func() { x.Add(y) }},
			{"empty result", func() { Empty(n) }},
		} {
			b.Run(fmt.Sprintf("%d/%s", n, c.name), func(b *testing.B) {
				for b.Loop() {
					c.run()
				}
			})
		}
	}
}
