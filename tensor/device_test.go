//go:build linux && cgo

package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lectern-go/lectern/gpu"
	"github.com/lectern-go/lectern/internal/fakecuda"
	"github.com/lectern-go/lectern/internal/gc"
	"github.com/lectern-go/lectern/kernel/persist"
	"github.com/lectern-go/lectern/kernel/persist/celltest"
	"github.com/lectern-go/lectern/tensor"
)

// fakeDevice returns a card of the fake driver, which runs the kernels that are
// shipped.
// standIn is set once the stand-in for a GPU's driver is in use, which stays loaded.
var standIn bool

func fakeDevice(t *testing.T) tensor.Device {
	fakecuda.Use(t)
	standIn = true
	return device(t)
}

func device(t *testing.T) tensor.Device {
	d, err := tensor.FindDevice("cuda:0")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestEveryOperationOnADevice: a device gives the results and the gradients of the
// processor, whatever the layout.
func TestEveryOperationOnADevice(t *testing.T) { everyOperationOn(t, fakeDevice(t)) }

func TestRealGPUEveryOperation(t *testing.T) {
	if err := gpu.Why(); err != nil {
		t.Skip(err)
	}
	if standIn {
		t.Skip("this process uses the stand-in for a GPU: go test ./tensor -run RealGPU runs without it")
	}
	everyOperationOn(t, device(t))
}

func everyOperationOn(t *testing.T, d tensor.Device) {
	for _, c := range tensor.OpTable() {
		t.Run(c.Name(), func(t *testing.T) {
			dtypes, layouts := c.Dtypes(), 5
			if testing.Short() {
				dtypes, layouts = dtypes[:1], 2
			}
			for _, dtype := range dtypes {
				for layout := range layouts {
					here, there := c.Inputs(dtype, 5), c.Inputs(dtype, 5)
					for i := range here {
						here[i] = inLayout(here[i], layout)
						there[i] = inLayout(there[i].To(d), layout)
					}
					compareOn(t, d, c, dtype, here, there)
				}
			}
		})
	}
}

// inLayout returns x in one of the layouts that programs meet.
func inLayout(x *tensor.Tensor, layout int) *tensor.Tensor {
	r := rand.New(rand.NewPCG(1, uint64(layout)))
	return tensor.Relaid(x, func(n int, what string) int {
		if what == "layout" {
			return layout % n
		}
		return r.IntN(n)
	}).Detach()
}

func compareOn(t *testing.T, d tensor.Device, c tensor.OpCase, dtype tensor.Dtype, here, there []*tensor.Tensor) {
	t.Helper()
	if dtype.IsFloat() {
		for i := range here {
			here[i].RequireGrad()
			there[i].RequireGrad()
		}
	}
	var want, got *tensor.Tensor
	costHere := counted(func() { want = c.Run(here) })
	costThere := counted(func() {
		if err := tensor.Try(func() { got = c.Run(there) }); err != nil {
			t.Fatalf("%s: %v; has gpu/kernels/map.cu a CASE for it?", dtype, err)
		}
	})
	if !slices.Equal(costThere, costHere) {
		t.Fatalf("%s: the device is told to run %v, the processor %v", dtype, costThere, costHere)
	}
	if got.Device() != d {
		t.Fatalf("%s: the result is on %s", dtype, got.Device())
	}
	close := func(what string, got, want *tensor.Tensor, scale float64) {
		t.Helper()
		tolerance := 0.
		if want.Dtype().IsFloat() {
			tolerance = 4*tensor.Finfo(want.Dtype()).Eps + 1e-12
		}
		if got.Dtype() != want.Dtype() || !tensor.AllClose(got, want, tolerance, tolerance*scale) {
			t.Fatalf("%s %v: %s is\n%v, that of the processor\n%v", dtype, here[0].Strides(), what, got, want)
		}
	}
	close("the result", got, want, 1)
	if !want.RequiresGrad() {
		return
	}
	weights := tensor.With(tensor.NewGenerator(6)).Uniform(0.5, 1.5, want.Shape()...).To(want.Dtype())
	lossHere, lossThere := want.Mul(weights).Sum(), got.Mul(weights.To(d)).Sum()
	costHere, costThere = counted(func() { lossHere.Backward() }), counted(func() { lossThere.Backward() })
	if !slices.Equal(costThere, costHere) {
		t.Fatalf("%s: backward of the device is %v, that of the processor %v", dtype, costThere, costHere)
	}
	for i := range here {
		if (here[i].Grad() == nil) != (there[i].Grad() == nil) {
			t.Fatalf("%s: gradients of input %d are %v and %v", dtype, i, there[i].Grad(), here[i].Grad())
		}
		if here[i].Grad() != nil {
			// Where the terms of a sum cancel, the error of the largest stays.
			scale := 1.
			if largest := here[i].Grad().Abs().Max().Item(); largest < math.Inf(1) {
				scale = max(1, 2*largest)
			}
			close(fmt.Sprintf("the gradient of input %d", i), there[i].Grad(), here[i].Grad(), scale)
			if there[i].Grad().Device() != d {
				t.Fatalf("the gradient is on %s", there[i].Grad().Device())
			}
		}
	}
}

// counted lists the operations that f runs, with their FLOPs. Views and copies, of
// which devices may need others, have none.
func counted(f func()) (all []string) {
	stop := tensor.Trace(func(e tensor.Event) {
		if e.Kind == tensor.Ran && e.FLOPs > 0 {
			all = append(all, fmt.Sprintf("%s: %d", e.Op, e.FLOPs))
		}
	})
	defer stop()
	f()
	return all
}

// TestOperandsOfTwoDevices: nothing is copied in silence.
func TestOperandsOfTwoDevices(t *testing.T) {
	d := fakeDevice(t)
	x, y := tensor.Ones(2, 3), tensor.With(d).Ones(2, 3)
	err := tensor.Try(func() { x.Add(y) })
	if !errors.Is(err, tensor.ErrDevice) || !strings.Contains(err.Error(), "add: [2 3] on cpu x [2 3] on cuda:0") {
		t.Errorf("adding across devices: %v", err)
	}
	err = tensor.Try(func() { tensor.Data[float32](y) })
	if !errors.Is(err, tensor.ErrDevice) || !strings.Contains(err.Error(), "data: [2 3] float32: the elements lie on cuda:0") {
		t.Errorf("Data of a device: %v", err)
	}
	if got := y.Add(1).Mul(tensor.Scalar(2)).Sum().Item(); got != 24 {
		t.Errorf("numbers go with any device: %v", got)
	}
	w := tensor.Ones(3).RequireGrad()
	y.Mul(w.To(d)).Sum().Backward()
	if g := w.Grad(); g == nil || !g.Device().IsCPU() || !tensor.Equal(g, tensor.Of(2., 2, 2)) {
		t.Errorf("the gradient of what was brought to a device is %v", g)
	}
}

// TestTransfers: elements arrive as they were sent, in every dtype and layout.
func TestTransfers(t *testing.T) {
	d := fakeDevice(t)
	for _, dtype := range tensor.Dtypes() {
		x := tensor.Arange(24).Remainder(2).To(dtype).View(4, 6)
		for _, v := range []*tensor.Tensor{x, x.T(), x.Slice(1, 1, 6, 2), x.Select(0, 2), x.Select(0, 1).Expand(3, 6)} {
			there := v.To(d)
			if there.Dtype() != dtype || !tensor.Equal(there.To(tensor.CPU), v) {
				t.Errorf("%s with strides %v came back as %v", dtype, v.Strides(), there)
			}
		}
	}
	x := tensor.Randn(3, 5)
	if y := x.To(d, tensor.BFloat16); y.Dtype() != tensor.BFloat16 || !tensor.Equal(y.To(tensor.CPU), x.To(tensor.BFloat16)) {
		t.Errorf("converted on the way: %v", y)
	}
	if y := x.To(d).To(tensor.CPU, tensor.Float64); !tensor.Equal(y, x.To(tensor.Float64)) {
		t.Errorf("converted on the way back: %v", y)
	}
	if y := x.To(d); y.To(d) != y || x.To(tensor.CPU) != x {
		t.Error("To the same place is a copy")
	}
}

// TestDeviceMemory: the two tensors of the lecture take exactly 8192 bytes, and
// give them back.
func TestDeviceMemory(t *testing.T) {
	d := fakeDevice(t)
	gc.Run(10 * time.Second) // what earlier tests left must not go while this one counts
	before := d.Allocated()
	x := tensor.Zeros(32, 32)
	y, z := x.To(d), tensor.With(d).Zeros(32, 32)
	if got := d.Allocated() - before; got != 8192 {
		t.Errorf("%d bytes, want 8192", got)
	}
	if y.Add(z).Sum().Item() != 0 {
		t.Error("zeros add up to something")
	}
}

// TestRandomOnADevice: one seed gives one sequence, wherever it is made.
func TestRandomOnADevice(t *testing.T) {
	d := fakeDevice(t)
	for name, draw := range map[string]func(m tensor.Maker) *tensor.Tensor{
		"rand":         func(m tensor.Maker) *tensor.Tensor { return m.Rand(33, 7) },
		"uniform":      func(m tensor.Maker) *tensor.Tensor { return m.Uniform(-3, 5, 100) },
		"randn":        func(m tensor.Maker) *tensor.Tensor { return m.Randn(101) },
		"trunc normal": func(m tensor.Maker) *tensor.Tensor { return m.TruncNormal(0, 1, -2, 2, 50) },
		"bernoulli":    func(m tensor.Maker) *tensor.Tensor { return m.Bernoulli(0.3, 64) },
	} {
		for _, dtype := range []tensor.Dtype{tensor.Float32, tensor.Float64, tensor.BFloat16} {
			g, h := tensor.NewGenerator(7), tensor.NewGenerator(7)
			draw(tensor.With(g))
			draw(tensor.With(h, d))
			here, there := draw(tensor.With(g, dtype)), draw(tensor.With(h, d, dtype))
			if !tensor.AllClose(there, here, 2*tensor.Finfo(dtype).Eps, 1e-12) {
				t.Errorf("%s of %s: %v there, %v here", name, dtype, there, here)
			}
		}
	}
	g, h := tensor.NewGenerator(7), tensor.NewGenerator(7)
	if here, there := tensor.With(g).Randint(-5, 1000, 77), tensor.With(h, d).Randint(-5, 1000, 77); !tensor.Equal(there.To(tensor.CPU), here) {
		t.Errorf("randint: %v there, %v here", there, here)
	}
}

// TestInPlaceOnADevice: writes show in all views, and in gradients.
func TestInPlaceOnADevice(t *testing.T) {
	d := fakeDevice(t)
	on := func(d tensor.Device) []float64 {
		x := tensor.With(d).Arange(0, 12, 1).To(tensor.Float32).View(3, 4)
		x.T().Select(0, 1).Fill(7)
		x.Narrow(0, 1, 2).MulInPlace(2)
		x.SetAt(100, 0, 0)
		x.SetIndex(-1, tensor.Of(0, 2), tensor.All)
		w := tensor.With(d).Ones(3, 4).RequireGrad()
		y := w.Mul(2)
		y.Select(1, 2).CopyFrom(x.Select(1, 0))
		y.AddInPlace(x).MulInPlace(3)
		y.Sum().Backward()
		return slices.Concat(x.Floats(), y.Floats(), w.Grad().Floats())
	}
	if here, there := on(tensor.CPU), on(d); !slices.Equal(here, there) {
		t.Errorf("on the device\n%v, here\n%v", there, here)
	}
}

// TestFreeAfter: what a step made is given back, what outlives it stays.
func TestFreeAfter(t *testing.T) {
	d := fakeDevice(t)
	w := tensor.With(d).Ones(4).RequireGrad()
	before := d.Allocated()
	var lost, kept *tensor.Tensor
	tensor.FreeAfter(func(keep func(*tensor.Tensor) *tensor.Tensor) {
		lost = w.Mul(3)
		kept = keep(lost.Sum().Detach())
		lost.Sum().Backward()
	})
	if got := d.Allocated() - before; got != 2*512 { // kept, and the gradient
		t.Errorf("%d bytes are left", got)
	}
	if kept.Item() != 12 || !tensor.Equal(w.Grad().To(tensor.CPU), tensor.Of(3., 3, 3, 3)) {
		t.Errorf("kept %v, gradient %v", kept, w.Grad())
	}
	err := tensor.Try(func() { lost.Add(1) })
	if !errors.Is(err, tensor.ErrFreed) || !strings.Contains(err.Error(), "freed by") {
		t.Errorf("after its end: %v", err)
	}
	if err := tensor.Try(func() { lost.Floats() }); !errors.Is(err, tensor.ErrFreed) {
		t.Errorf("read after its end: %v", err)
	}
}

// TestKeptOnADevice: a tensor is on its device again in the next cell, and so is
// what a graph saved; what did not change is not fetched twice.
func TestKeptOnADevice(t *testing.T) {
	fakecuda.Build(t)
	make := func(d tensor.Device) (x, w, loss *tensor.Tensor) {
		x = tensor.With(d).Arange(0, 6, 1).To(tensor.Float32).View(2, 3).T()
		w = tensor.With(d).Ones(2, 3).RequireGrad()
		h := w.Matmul(x).Tanh().Mul(w.Sum(1, tensor.KeepDim)).Add(tensor.With(d).Arange(0, 2, 1).To(tensor.Float32))
		host := tensor.Of(1., 2).RequireGrad()
		return x, w, h.Max(1).Mul(host.To(d)).LogSoftmax(-1).Sum().To(tensor.CPU)
	}
	celltest.Run(t, func(t *testing.T) {
		defer celltest.Begin()()
		x, w, loss := make(fakeDevice(t))
		persist.Def("x", &x, "w", &w, "loss", &loss)
	}, func(t *testing.T) {
		d := fakeDevice(t)
		var x, w, loss *tensor.Tensor
		defer celltest.Begin("x", &x, "w", &w, "loss", &loss)()
		x2, w2, loss2 := make(d)
		if x.Device() != d || !tensor.Equal(x, x2) || !slices.Equal(x.Strides(), x2.Strides()) {
			t.Errorf("%+v, want %+v", x, x2)
		}
		loss.Backward(tensor.CreateGraph())
		loss2.Backward(tensor.CreateGraph())
		sameBits(t, "the gradient", w.Grad(), w2.Grad())
		if w.Grad().Device() != d {
			t.Errorf("the gradient is on %v", w.Grad().Device())
		}
	}, func(t *testing.T) {
		d := fakeDevice(t)
		var x, w, loss *tensor.Tensor
		defer celltest.Begin("x", &x, "w", &w, "loss", &loss)()
		x2, w2, loss2 := make(d)
		loss2.Backward(tensor.CreateGraph())
		for _, g := range []*tensor.Tensor{w.Grad(), w2.Grad()} {
			g.Square().Sum().Backward(tensor.Retain())
		}
		sameBits(t, "the second derivative", w.Grad(), w2.Grad())
		_ = x2
		x.AddInPlace(1)
	}, func(t *testing.T) {
		d := fakeDevice(t)
		var x, w, loss *tensor.Tensor
		defer celltest.Begin("x", &x, "w", &w, "loss", &loss)()
		x2, _, _ := make(d)
		sameBits(t, "what was written", x, x2.Add(1))
		if err := tensor.Try(func() { loss.Backward() }); !errors.Is(err, tensor.ErrGrad) || !strings.Contains(err.Error(), "was changed in place") {
			t.Errorf("backward through what was changed: %v", err)
		}
	})
}
