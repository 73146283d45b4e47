//go:build linux && cgo

package gpu

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor"
)

// A kernel that fails does so after its launch has returned, so a later call says
// so, with a hint at what was launched last.
func TestKernelThatFails(t *testing.T) {
	if !inChild(t, "FAKECUDA_FAULT=kernel:2:700") {
		return
	}
	c, err := open(0)
	mustNot(t, err)
	x := lying(t, c, device.Float32, []int{4}, []int{0}, 0, 0)
	out := result(t, c, device.Float32, 4)
	for range 3 {
		mustNot(t, c.Map("abs", device.Float32, out, x.View))
	}
	err = c.Download(make([]byte, 16), out.Memory, 0)
	if !errors.Is(err, ErrLost) {
		t.Errorf("%v is no ErrLost", err)
	}
	wantError(t, err, "gpu: copy from the device on cuda:0: CUDA_ERROR_ILLEGAL_ADDRESS (CUDA 700)", "may be that of an earlier operation (the last one was map", "LECTERN_CUDA_BLOCKING=1")
	if err := c.Map("abs", device.Float32, out, x.View); !errors.Is(err, ErrLost) {
		t.Errorf("%v is no ErrLost", err)
	}
	if err := c.Matmul(x.View, x.View, x.View); !errors.Is(err, ErrLost) {
		t.Errorf("%v is no ErrLost", err)
	}
}

func TestLost(t *testing.T) {
	if !inChild(t, "FAKECUDA_FAULT=kernel:2:719") {
		return
	}
	c, err := open(0)
	mustNot(t, err)
	checkLost(t, c, func() { tensor.With(GetDevice(0)).Ones(3).Neg() })
}

// checkLost checks what is left when fail has lost a device: all that asks for it says so on every goroutine, at once
// and with the first reason, and the processor goes on.
func checkLost(t *testing.T, c *card, fail func()) {
	d := GetDevice(0)
	x, here := tensor.With(d).Ones(4, 4), tensor.Ones(4, 4)
	mustNot(t, c.Synchronize())
	fail()
	first := c.Synchronize()
	if !errors.Is(first, ErrLost) {
		t.Fatalf("%v is no ErrLost", first)
	}
	wantError(t, first, "start it again")
	for name, do := range map[string]func(){
		"add": func() { x.Add(x) }, "matmul": func() { x.Matmul(x) }, "sum": func() { x.Sum() }, "make": func() { tensor.With(d).Zeros(3) },
		"bring back": func() { x.To(tensor.CPU) }, "bring there": func() { here.To(d) }, "fused": func() { x.Softmax(1) },
		"backward": func() { x.RequireGrad().Mul(2).Sum().Backward() },
	} {
		failed := make(chan error)
		go func() { failed <- tensor.Try(do) }()
		if err := <-failed; !errors.Is(err, ErrLost) {
			t.Errorf("%s: %v is no ErrLost", name, err)
		}
	}
	x.Free()
	tensor.FreeAfter(func(func(*tensor.Tensor) *tensor.Tensor) { here.Add(1) })
	mustNot(t, tensor.Try(func() { here.Matmul(here) }))
}

// When blocking, the operation that failed says so itself.
func TestBlame(t *testing.T) {
	if !inChild(t, "FAKECUDA_FAULT=kernel:2:700", "LECTERN_CUDA_BLOCKING=1") {
		return
	}
	c, err := open(0)
	mustNot(t, err)
	x := lying(t, c, device.Float32, []int{4}, []int{0}, 0, 0)
	out := result(t, c, device.Float32, 4)
	mustNot(t, c.Map("abs", device.Float32, out, x.View))
	err = c.Map("abs", device.Float32, out, x.View)
	if !errors.Is(err, ErrLost) {
		t.Errorf("%v is no ErrLost", err)
	}
	wantError(t, err, "gpu: map", "CUDA_ERROR_ILLEGAL_ADDRESS")
	if strings.Contains(err.Error(), "earlier operation") {
		t.Errorf("%v blames another one", err)
	}
}

// A launch that the driver refuses does not lose the device.
func TestLaunchThatIsRefused(t *testing.T) {
	c := fakeCard(t)
	x := lying(t, c, device.Float32, []int{4}, []int{0}, 0, 0)
	out := result(t, c, device.Float32, 4)
	t.Setenv("FAKECUDA_FAULT", "cuLaunchKernel:1:701")
	err := c.Map("abs", device.Float32, out, x.View)
	wantError(t, err, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (CUDA 701)")
	if errors.Is(err, ErrLost) {
		t.Errorf("%v loses the device", err)
	}
	mustNot(t, c.Map("abs", device.Float32, out, x.View))
	mustNot(t, c.Synchronize())
}

func TestUnknownKernel(t *testing.T) {
	c := fakeCard(t)
	err := c.launch("no such kernel", 1, 1, 0, unsafe.Pointer(new(int)), 8)
	wantError(t, err, `gpu: there is no kernel "no such kernel"`)
}

// A step of training is thousands of operations, so each must cost little here.
func TestOperationsAllocateLittle(t *testing.T) {
	c := fakeCard(t)
	x := lying(t, c, device.Float32, []int{16, 16}, []int{0, 1}, 0, 0)
	out := result(t, c, device.Float32, 16, 16)
	for name, row := range map[string]struct {
		most float64
		call func() error
	}{
		"map":      {8, func() error { return c.Map("abs", device.Float32, out, x.View) }},
		"matmul":   {4, func() error { return c.Matmul(out, x.View, x.View) }},
		"allocate": {5, func() error { b, err := c.Allocate(1000, false); b.Free(); return err }},
	} {
		mustNot(t, row.call())
		if n := testing.AllocsPerRun(50, func() { mustNot(t, row.call()) }); n > row.most {
			t.Errorf("%s makes %v allocations, at most %v are expected", name, n, row.most)
		}
	}
}

func BenchmarkOperation(b *testing.B) {
	c := fakeCard(b)
	m, err := c.Allocate(1024, true)
	mustNot(b, err)
	v := device.View{Memory: m, Type: device.Float32, Shape: []int{2, 2}, Strides: []int{2, 1}}
	for name, call := range map[string]func() error{
		"map":      func() error { return c.Map("abs", device.Float32, v, v) },
		"matmul":   func() error { return c.Matmul(v, v, v) },
		"allocate": func() error { m, err := c.Allocate(1000, false); m.Free(); return err },
	} {
		b.Run(name, func(b *testing.B) {
			mustNot(b, call())
			b.ReportAllocs()
			for b.Loop() {
				mustNot(b, call())
			}
		})
	}
}

// Operations come from any goroutine, each on a thread of its own here, also
// while others run the collector.
func TestOperationsOnManyThreads(t *testing.T) {
	c := fakeCard(t)
	var all sync.WaitGroup
	for g := range 6 {
		a := lying(t, c, device.Float32, []int{3 + g, 4}, []int{0, 1}, 0, 0)
		b := lying(t, c, device.Float32, []int{4, 5}, []int{1, 0}, 0, 0)
		want := productOf(a, b)
		all.Go(func() {
			runtime.LockOSThread()
			for range 10 {
				product, err := c.scratch([]int{3 + g, 5}, device.Float32)
				if err != nil {
					t.Error(err)
					return
				}
				negative, err := c.scratch([]int{3 + g, 5}, device.Float32)
				if err == nil {
					err = errors.Join(c.Matmul(product, a.View, b.View), c.Map("neg", device.Float32, negative, product))
				}
				if err != nil {
					t.Error(err)
					return
				}
				for i, x := range values(t, c, negative) {
					if x != -want[i] {
						t.Errorf("goroutine %d: element %d is %v, want %v", g, i, x, -want[i])
						return
					}
				}
				if g == 0 {
					runtime.GC()
				}
			}
		})
	}
	all.Wait()
}

// Steps that give their memory back need no more of it, however many there are.
func TestMemoryDoesNotGrow(t *testing.T) {
	checkMemoryOfSteps(t, fakeCard(t, "FAKECUDA_MEMORY=67108864"), 3000)
}

func checkMemoryOfSteps(t *testing.T, c *card, steps int) {
	x := lying(t, c, device.Float32, []int{16, 16}, []int{0, 1}, 0, 0)
	step := func() {
		var made []device.Memory
		for _, size := range []int{16, 16, 700} { // small blocks, and one that goes back to the driver
			v, err := c.scratch([]int{size, size}, device.Float32)
			mustNot(t, err)
			made = append(made, v.Memory)
			if size == 16 {
				mustNot(t, c.Matmul(v, x.View, x.View))
				mustNot(t, c.Map("abs", device.Float32, v, v))
			}
		}
		for _, m := range made {
			m.Free()
		}
	}
	for range 10 {
		step()
	}
	mustNot(t, c.Synchronize())
	held, reserved := c.Allocated(), c.reserved()
	for range steps {
		step()
	}
	mustNot(t, c.Synchronize())
	defer runtime.KeepAlive(x.Memory) // or the collector gives it back before it is counted
	if c.Allocated() != held || c.reserved() > reserved {
		t.Errorf("after %d steps %d bytes are held and %d reserved, %d and %d before", steps, c.Allocated(), c.reserved(), held, reserved)
	}
}
