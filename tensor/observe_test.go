package tensor

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"

	"github.com/lectern-go/lectern/internal/race"
)

// TestObservingChangesNothing: a step takes the memory that it takes, and gives the
// numbers that it gives, traced or not.
func TestObservingChangesNothing(t *testing.T) {
	const size, layers = 128, 8
	if race.Enabled {
		t.Skip("blocks are not recycled as they are otherwise with the race detector")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // pools of blocks belong to processors
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	g := NewGenerator(1)
	weights := make([]*Tensor, layers)
	for i := range weights {
		weights[i] = With(g).Normal(0, 0.1, size, size).RequireGrad()
	}
	x := With(g).Randn(size, size)
	step := func() (blocks float64, loss float64, grad *Tensor) {
		for _, w := range weights {
			w.ZeroGrad()
		}
		runtime.GC() // twice: unused blocks are dropped then
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		FreeAfter(func(func(*Tensor) *Tensor) {
			h := x
			for _, w := range weights {
				h = h.Matmul(w).Tanh().Mul(2)
			}
			l := h.Square().Mean()
			l.Backward()
			loss = l.Item()
		})
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / (size * size * 4), loss, weights[0].Grad().Clone()
	}
	step() // some memory is made only once
	alone, loss, grad := step()
	var events atomic.Int64
	stop := Trace(func(Event) { events.Add(1) })
	watched, same, sameGrad := step()
	stop()
	if events.Load() == 0 {
		t.Fatal("nobody listened")
	}
	if loss != same || !Equal(grad, sameGrad) {
		t.Errorf("the loss is %v and %v with a listener", loss, same)
	}
	if watched > 1.1*alone+1 {
		t.Errorf("a step takes memory for %.1f tensors, and for %.1f with a listener", alone, watched)
	}
	t.Logf("memory for %.1f tensors, and for %.1f with a listener", alone, watched)
}
