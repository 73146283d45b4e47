package accounting

import (
	"sync"
	"testing"

	"github.com/lectern-go/lectern/tensor"
)

// TestConcurrentWork asks all that counts, from several goroutines, while others compute, give memory back and call
// Backward: under the race detector none may read what another writes, and each report is of a whole program.
func TestConcurrentWork(t *testing.T) {
	const workers, size = 3, 20
	step := func() {
		tensor.FreeAfter(func(func(*tensor.Tensor) *tensor.Tensor) {
			w := tensor.Randn(size, size).RequireGrad()
			x := tensor.Randn(size, size).SetRole(tensor.Input)
			tensor.Scope("step", func() { w.Matmul(x).ReLU().Matmul(w).Sum().Backward() })
			w.ZeroGrad()
		})
	}
	l := Track()
	defer l.Stop()
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			if r := Memory(step); r.Highest[Parameters] < 4*size*size {
				t.Errorf("a ledger saw %d bytes of parameters, want %d at least", r.Highest[Parameters], 4*size*size)
			}
		})
		all.Go(func() {
			if r := Count(step); r.Forward.MatmulFLOPs() < 2*2*size*size*(size-1) {
				t.Errorf("%d FLOPs were counted of a step's products", r.Forward.MatmulFLOPs())
			}
		})
		all.Go(func() {
			for range 3 {
				step()
			}
		})
		all.Go(func() {
			for _, name := range l.Devices() {
				l.Device(name)
			}
		})
	}
	all.Wait()
	if r := l.Report(); r.Highest[Gradients] < 4*size*size || r.Highest[Activations] == 0 {
		t.Errorf("of all goroutines' work the ledger saw %v", r)
	}
}
