//go:build linux && cgo

package gpu_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/gpu"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/nn/transformer"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

// Steps of a language model: what they take, and what is left when one of them fails.

// trained is a model in training, small on the fake driver.
type trained struct {
	d     tensor.Device
	model *transformer.LM
	o     *optim.Optimizer
	x, y  *tensor.Tensor
}

// onFake reports whether a test runs on the fake driver.
func onFake(t *testing.T) bool { return strings.HasSuffix(t.Name(), "/fake") }

func newTrained(t *testing.T, d tensor.Device) *trained {
	c := transformer.Config{Vocabulary: 4096, Context: 256, Layers: 4, Width: 512, Heads: 8}
	batch := 8
	if onFake(t) {
		c, batch = transformer.Config{Vocabulary: 256, Context: 64, Layers: 2, Width: 64, Heads: 2, Hidden: 128}, 2
	}
	m := nn.To(transformer.New(c, tensor.NewGenerator(1)), d)
	ids := tensor.With(tensor.NewGenerator(2)).Randint(0, c.Vocabulary, batch, c.Context+1)
	return &trained{d, m, optim.NewAdamW(nn.Parameters(m), 1e-3),
		ids.Narrow(1, 0, c.Context).Contiguous().To(d), ids.Narrow(1, 1, c.Context).Contiguous().To(d)}
}

// step trains on the whole batch.
func (r *trained) step() (loss float64) {
	tensor.FreeAfter(func(func(*tensor.Tensor) *tensor.Tensor) {
		r.o.ZeroGrad(true)
		var l *tensor.Tensor
		tensor.Autocast(tensor.BFloat16, func() { l = r.model.Loss(r.x, r.y) })
		l.Backward()
		r.o.Step()
		loss = l.Item()
	})
	return loss
}

// parameters brings all parameters here, as one tensor each.
func (r *trained) parameters() (list []*tensor.Tensor) {
	for _, p := range nn.Parameters(r.model) {
		list = append(list, p.Tensor.Detach().To(tensor.CPU).Clone())
	}
	return list
}

func sameParameters(t *testing.T, what string, got, want []*tensor.Tensor) {
	t.Helper()
	for i := range want {
		if !tensor.Equal(got[i], want[i]) {
			t.Errorf("%s: parameter %d is another", what, i)
			return
		}
	}
}

// tensors are all that outlives a step.
func (r *trained) tensors() []*tensor.Tensor {
	list := append(nn.StateDict(r.model).Tensors(), r.x, r.y)
	for _, p := range nn.Parameters(r.model) {
		list = append(list, r.o.State(p.Tensor, "exp_avg"), r.o.State(p.Tensor, "exp_avg_sq"))
	}
	return list
}

// TestRealGPUPeak: what accounting says that a step holds at most is what the device says, within 5 %: as it happens,
// and before, of the same step on the processor.
func TestRealGPUPeak(t *testing.T) {
	onDevices(t, func(t *testing.T, d tensor.Device) {
		r := newTrained(t, d)
		for range 2 { // plans are made, and the optimizer's state
			r.step()
		}
		r.o.ZeroGrad(true)
		gpu.ResetMaxMemoryAllocated(0)
		ledger := accounting.Track(r.tensors()...)
		r.step()
		ledger.Stop()
		peak, report := gpu.MaxMemoryAllocated(0), ledger.Device(d.String())
		within := func(what string, said int) {
			if ratio := float64(peak) / float64(said); ratio > 1.05 || ratio < 0.95 {
				t.Errorf("a step takes %d bytes at its peak, and accounting says %s that it is %d:\n%v", peak, what, said, report)
			}
		}
		within("as it happens", report.Peak.Total())
		c := newTrained(t, tensor.CPU)
		c.step()
		c.o.ZeroGrad(true)
		ledger = accounting.Track(c.tensors()...)
		c.step()
		ledger.Stop()
		within("on the processor", ledger.Report().Peak.Total())
	})
}

// TestRealGPUTwoGoroutines: models that are trained side by side go the way they go alone.
func TestRealGPUTwoGoroutines(t *testing.T) {
	onDevices(t, func(t *testing.T, d tensor.Device) {
		steps := 50
		if onFake(t) {
			steps = 3
		}
		alone := newTrained(t, d)
		for range steps {
			alone.step()
		}
		runs := []*trained{newTrained(t, d), newTrained(t, d)}
		var all sync.WaitGroup
		for _, r := range runs {
			all.Go(func() {
				for range steps {
					r.step()
				}
			})
		}
		all.Wait()
		for _, r := range runs {
			sameParameters(t, "side by side", r.parameters(), alone.parameters())
		}
	})
}

// TestRealGPUOutOfMemoryInAStep: wherever in the first step, which makes the optimizer's state, or a later one memory
// runs out, the error says so, all that the step has made is given back, and the next step that fits does what it would
// have done.
func TestRealGPUOutOfMemoryInAStep(t *testing.T) {
	t.Setenv("FAKECUDA_MEMORY", "67108864")
	onDevices(t, func(t *testing.T, d tensor.Device) {
		want, r := newTrained(t, d), newTrained(t, d)
		state := 0 // that the first step leaves, whether it ends or not
		for _, p := range nn.Parameters(r.model) {
			state += 2 * max(p.Tensor.Bytes(), 512)
		}
		for step := range 2 {
			gpu.ResetMaxMemoryAllocated(0)
			need := -gpu.MemoryAllocated(0)
			want.step()
			need += gpu.MaxMemoryAllocated(0)
			before, failed := r.parameters(), 0
			for part := 0; ; part++ {
				if err := gpu.EmptyCache(0); err != nil {
					t.Fatal(err)
				}
				free, _, err := gpu.MemoryInfo(0)
				if err != nil {
					t.Fatal(err)
				}
				ballast, held := tensor.With(d, tensor.Uint8).Empty(free-need*part/8), gpu.MemoryAllocated(0)
				err = tensor.Try(func() { r.step() })
				what := fmt.Sprintf("step %d with %d/8 of its memory", step, part)
				if err != nil {
					failed++
					r.o.ZeroGrad(true)
					if now := gpu.MemoryAllocated(0); now > held+state {
						t.Errorf("%s: %d bytes are held after it, %d before", what, now, held)
					}
				}
				ballast.Free()
				if err == nil {
					break
				}
				if !errors.Is(err, gpu.ErrOutOfMemory) || !strings.Contains(err.Error(), "requested") || !strings.Contains(err.Error(), "use smaller batches") {
					t.Errorf("%s: %v", what, err)
				}
				sameParameters(t, what, r.parameters(), before)
			}
			if failed < 5 {
				t.Errorf("step %d fits into %d/8 of its memory", step, failed)
			}
			sameParameters(t, fmt.Sprint("step ", step, " after it had failed"), r.parameters(), want.parameters())
			state = 0 // it is there now
		}
	})
}

// TestRealGPUStepsDoNotGrow: a thousand steps need what a few do.
func TestRealGPUStepsDoNotGrow(t *testing.T) {
	onDevices(t, func(t *testing.T, d tensor.Device) {
		steps := 1000
		if onFake(t) {
			steps = 12
		}
		r := newTrained(t, d)
		var held, peak int
		for step := range steps {
			if step == 5 {
				gpu.ResetMaxMemoryAllocated(0)
			}
			r.step()
			if step == 8 {
				held, peak = gpu.MemoryAllocated(0), gpu.MaxMemoryAllocated(0)
			}
		}
		if now, most := gpu.MemoryAllocated(0), gpu.MaxMemoryAllocated(0); now > held || float64(most) > 1.01*float64(peak) {
			t.Errorf("after %d steps %d bytes are held and %d at the peak, after 8 it was %d and %d", steps, now, most, held, peak)
		}
	})
}
