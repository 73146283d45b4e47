package bench

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/gpu"
	"github.com/lectern-go/lectern/internal/approx"
	"github.com/lectern-go/lectern/internal/gc"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

//go:embed gpu.py
var gpuPeers string

func init() {
	register("peers", "gpu", "matrix products and operations on a GPU beside PyTorch, and how much of the data sheet's peak is reached", gpuGroup)
	children["gpu"] = gpuChild
}

// gpuCase is one thing to measure; Python knows it by the same name.
type gpuCase struct {
	What   string `json:"what"`  // "matmul" and a precision, "step" and a model, "lm" and what it does, or an operation
	Sizes  []int  `json:"sizes"` // m, k, n of a product; batch and widths of layers; rows and columns; see gpuModels for others
	Calls  int    `json:"calls"` // in one measurement
	wanted float64
	tuned  float64 // the least good ratio when products are measured first
	mfu    float64
}

func (c gpuCase) String() string {
	return c.What + " " + strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Sizes), " ", "x"), "[]")
}

// flops returns the FLOPs of a product, 0 for anything else.
func (c gpuCase) flops() float64 {
	if !strings.HasPrefix(c.What, "matmul ") {
		return 0
	}
	return 2 * float64(c.Sizes[0]) * float64(c.Sizes[1]) * float64(c.Sizes[2])
}

// gpuCases are the lecture's product and smaller ones, as far as a device has
// room for them on all sides, and operations that memory bounds.
func gpuCases(memory int, precisions []accounting.Precision) []gpuCase {
	var cases []gpuCase
	for _, sizes := range [][]int{{256, 256, 256}, {4096, 4096, 4096}, {16384, 32768, 8192}} {
		if 12*sizes[0]*sizes[1]*8 > memory { // three sides, and integers to make the operands of
			continue
		}
		for _, p := range precisions {
			c := gpuCase{What: "matmul " + string(p), Sizes: sizes, Calls: 10}
			if sizes[0] == 16384 {
				c.wanted, c.tuned, c.Calls = 0.98, 1, 3
				if p == accounting.BF16 {
					c.mfu = 0.75
				}
			}
			cases = append(cases, c)
			if p == accounting.FP8 { // with sums of fewer bits
				c.What += " fast"
				cases = append(cases, c)
			}
		}
	}
	cases = append(cases,
		gpuCase{What: "step Cruncher", Sizes: []int{64, 64, 64, 64, 64, 1}, Calls: 100, wanted: 1.5},
		gpuCase{What: "step MLP", Sizes: []int{64, 256, 256, 256, 10}, Calls: 100, wanted: 1.5})
	if memory >= 8<<30 {
		cases = append(cases, gpuCase{What: "step Cruncher", Sizes: []int{4096, 4096, 4096, 4096, 1}, Calls: 10})
	}
	rows := 1 << 16
	for rows*4096*4*24 > memory { // two sides, and integers to make the operands of
		rows /= 2
	}
	for _, what := range []string{"add", "gelu", "softmax", "sum"} {
		cases = append(cases, gpuCase{What: what, Sizes: []int{8, 8}, Calls: 1000}, gpuCase{What: what, Sizes: []int{rows, 4096}, Calls: 10})
	}
	if len(precisions) > 2 { // there is bfloat16
		cases = append(cases, gpuModels(memory)...)
	}
	return cases
}

// gpuGroup measures all sides alternately; the best round of each counts.
func gpuGroup(ctx context.Context, r *report) error {
	if err := gpu.Why(); err != nil {
		r.absent("The GPU", err)
		return nil
	}
	properties, err := gpu.Properties(0)
	if err != nil {
		return err
	}
	r.note("%s", properties)
	for line := range strings.Lines(gpu.Libraries()) {
		r.note("%s", strings.TrimSpace(line))
	}
	r.card, r.driver = properties.Name, fmt.Sprintf("CUDA %d.%d", properties.DriverMajor, properties.DriverMinor)
	if version, err := exec.CommandContext(ctx, "nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "--id=0").Output(); err == nil {
		r.driver = strings.TrimSpace(string(version)) + ", " + r.driver
	}
	sheet, err := accounting.LookUp(properties.Name)
	known := err == nil
	if known {
		r.note("data sheet: %s", sheet)
	} else {
		r.note("%v", err)
	}
	all, err := gpuSides(ctx, r)
	defer closeAll(all)
	if err != nil {
		return err
	}
	if len(all) > 2 {
		r.peer = all[2].name
	}
	precisions := []accounting.Precision{accounting.FP32, accounting.TF32, accounting.FP16, accounting.BF16, accounting.FP8}
	if properties.Major < 8 {
		precisions = []accounting.Precision{accounting.FP32, accounting.FP16}
	} else if properties.Major*10+properties.Minor < 89 {
		precisions = precisions[:4]
	}
	for _, c := range gpuCases(properties.TotalMemory, precisions) {
		if !r.only.MatchString(c.String()) {
			continue
		}
		sides := all
		if c.flops() == 0 { // products are measured first for the sake of products
			sides = slices.Delete(slices.Clone(all), 1, 2)
		}
		best, peak, last, err := alternate(r, on(c, sides, 0)...)
		if err == nil {
			err = sameNumbers(c, sides, last)
		}
		if err != nil {
			return err
		}
		torch := len(best) - 1
		if len(all) < 3 {
			torch = 0
		}
		gpuCompare(r, c, best, torch)
		if peak[torch] > 0 && torch > 0 {
			r.compare(c.String()+", peak memory", float64(peak[0])/1e9, "PyTorch", float64(peak[torch])/1e9, "GB", less, 0)
		}
		if flops := c.flops(); known && flops > 0 {
			precision := accounting.Precision(strings.Fields(c.What)[1])
			peak, err := sheet.Peak(precision)
			if err != nil {
				r.note("%v", err)
				continue
			}
			r.note("%-44s %8.3g of %.4g TFLOP/s at the peak", c.String()+": MFU", flops/best[0]/peak, peak/1e12)
			if mfu := flops / best[0] / peak; c.mfu > 0 {
				r.compare(c.String()+": MFU", mfu, "limit", c.mfu, "", more, 1)
			}
		}
	}
	return nil
}

// gpuSides starts our side, our side with products measured first, and PyTorch, if it is here.
func gpuSides(ctx context.Context, r *report) (all []measurer, err error) {
	for tune, name := range []string{"Lectern", "Lectern, tuned"} {
		s, err := startOurs(ctx, name, "gpu", fmt.Sprintf("LECTERN_AUTOTUNE=%d", tune))
		if err != nil {
			return all, err
		}
		all = append(all, s)
	}
	py, err := python(ctx, "torch==2.10.0", "numpy")
	if err != nil {
		r.absent("PyTorch", err)
		return all, nil
	}
	torch, err := startPeer(ctx, "PyTorch", py, gpuPeers, nil, "cuda")
	if err != nil {
		r.absent("PyTorch", err)
		return all, nil
	}
	r.note("%s, with the libraries that it brings", torch.name)
	return append(all, torch), nil
}

// sameNumbers compares the first numbers of the results of all sides.
func sameNumbers(c gpuCase, all []measurer, answers []measured) error {
	first := answers[0].Some
	for i, a := range answers {
		same := func(x, y float64) bool { return approx.Equal(y, x, 0, 0.02*(1+math.Abs(x))) }
		if !slices.EqualFunc(a.Some, first, same) {
			return fmt.Errorf("%s: %s and %s give different results: %v and %v", c, all[0].name, all[i].name, first, a.Some)
		}
	}
	return nil
}

// gpuCompare compares with PyTorch, whose time has the given place; 0 if it is not here.
func gpuCompare(r *report, c gpuCase, best []float64, torch int) {
	unit, scale, good := "ms", 1e3, less
	value := func(seconds float64) float64 { return seconds * scale }
	if flops := c.flops(); flops > 0 {
		unit, good = "TFLOP/s", more
		value = func(seconds float64) float64 { return flops / seconds / 1e12 }
	}
	if torch == 0 {
		r.note("%-44s %8.4g %s", c, value(best[0]), unit)
		r.rows = append(r.rows, recordedRow{What: c.String(), Here: value(best[0]), Unit: unit})
		return
	}
	r.compare(c.String(), value(best[0]), "PyTorch", value(best[torch]), unit, good, c.wanted)
	if c.flops() > 0 {
		r.compare(c.String()+", tuned", value(best[1]), "PyTorch", value(best[torch]), unit, good, c.tuned)
	}
}

// gpuChild measures our side. It keeps the operands of a case until another one is asked for.
func gpuChild([]string) error {
	d, err := tensor.FindDevice("cuda:0")
	if err != nil {
		return err
	}
	var name string
	var call func()
	var some []float64
	var held []*tensor.Tensor
	return answer(func(c gpuCase) (measured, error) {
		var took time.Duration
		var failed error
		err := tensor.Try(func() {
			if name != c.String() {
				for _, x := range held {
					x.Free()
				}
				name, held = "", nil
				for range 2 { // the model of the case before, and what hangs on it
					gc.Run(time.Second)
				}
				gpu.ResetMaxMemoryAllocated(0)
				call, some, held = c.onGPU(d)
				name = c.String()
			}
			took, failed = gpu.Time(0, func() error {
				for range c.Calls {
					call()
				}
				return nil
			})
		})
		m := measured{Seconds: took.Seconds() / float64(c.Calls), Some: some}
		if strings.HasPrefix(c.What, "lm ") {
			m.Peak = int64(gpu.MaxMemoryAllocated(0))
		}
		return m, errors.Join(err, failed)
	})
}

func firstNumbers(t *tensor.Tensor) []float64 {
	flat := t.Detach().Reshape(-1)
	flat = flat.Slice(0, 0, min(8, flat.Len()), 1).To(tensor.CPU).To(tensor.Float64)
	return append([]float64(nil), tensor.Data[float64](flat.Contiguous())...)
}

// gpuNumbers are the numbers that Python's side makes too.
func gpuNumbers(d tensor.Device, rows, columns, factor int) *tensor.Tensor {
	var x *tensor.Tensor
	tensor.FreeAfter(func(keep func(*tensor.Tensor) *tensor.Tensor) {
		n := tensor.With(d, tensor.Int64).Arange(0, float64(rows*columns), 1)
		x = n.Mul(factor).Remainder(1<<24).To(tensor.Float32).View(rows, columns)
		x = keep(x.Div(1 << 23).Sub(1))
	})
	return x
}

var gpuDtypes = map[string]tensor.Dtype{"fp32": tensor.Float32, "tf32": tensor.Float32, "fp16": tensor.Float16, "bf16": tensor.BFloat16, "fp8": tensor.Float8E4M3}

// onGPU makes the operands of a case, which are held, and returns what computes
// it, and the first numbers of the result.
func (c gpuCase) onGPU(d tensor.Device) (call func(), some []float64, held []*tensor.Tensor) {
	var f func() *tensor.Tensor
	words := strings.Fields(c.What)
	switch words[0] {
	case "lm":
		return c.languageModel(d, words[1])
	case "attention", "norm", "loss", "swiglu":
		return c.operation(d, words[0], gpuDtypes[words[1]])
	case "step":
		step := c.step(d, words[1])
		return func() { tensor.FreeAfter(func(func(*tensor.Tensor) *tensor.Tensor) { step() }) }, firstNumbers(step()), nil
	case "matmul":
		f, held = c.product(d, words[1])
		gpu.AllowTF32(words[1] == "tf32")
		gpu.AllowFastFloat8(len(words) > 2)
	default:
		x := gpuNumbers(d, c.Sizes[0], c.Sizes[1], 10368889)
		held = []*tensor.Tensor{x}
		f = map[string]func() *tensor.Tensor{
			"add":     func() *tensor.Tensor { return x.Add(x) },
			"gelu":    func() *tensor.Tensor { return x.GELU() },
			"softmax": func() *tensor.Tensor { return x.Softmax(1) },
			"sum":     func() *tensor.Tensor { return x.Sum(1) },
		}[c.What]
	}
	out := f() // warms up as well
	some = firstNumbers(out)
	out.Free()
	return func() { f().Free() }, some, held
}

// product makes the operands of a product. That of 8 bits gives bfloat16 and
// reads the transpose as it lies, as on PyTorch's side.
func (c gpuCase) product(d tensor.Device, precision string) (f func() *tensor.Tensor, held []*tensor.Tensor) {
	x := gpuNumbers(d, c.Sizes[0], c.Sizes[1], 10368889).To(gpuDtypes[precision])
	y := gpuNumbers(d, c.Sizes[2], c.Sizes[1], 7368787).To(gpuDtypes[precision])
	if precision == "fp8" {
		return func() *tensor.Tensor { return x.MatmulAs(tensor.BFloat16, y.T()) }, []*tensor.Tensor{x, y}
	}
	z := y.T().Contiguous()
	y.Free()
	return func() *tensor.Tensor { return x.Matmul(z) }, []*tensor.Tensor{x, z}
}

// step makes a model and returns what trains it for a step and returns the loss:
// the lecture's stack of linear layers under SGD, or layers with ReLU between
// them that classify, under AdamW.
func (c gpuCase) step(d tensor.Device, model string) func() *tensor.Tensor {
	batch, widths := c.Sizes[0], c.Sizes[1:]
	x := pattern(1, batch, widths[0]).To(d)
	var loss func() *tensor.Tensor
	var opt *optim.Optimizer
	gpu.AllowTF32(false)
	if model == "Cruncher" {
		m := nn.To(nn.NewCruncher(widths[0], len(widths)-2), d)
		for _, p := range nn.Parameters(m) {
			fill(p.Tensor, p.Tensor.Size(0))
		}
		y := pattern(1, batch).To(d)
		opt = optim.NewSGD(nn.Parameters(m), 1e-3)
		loss = func() *tensor.Tensor { return nn.MSE(m.Forward(x), y) }
	} else {
		m := nn.To(nn.NewMLP(widths, nil), d)
		for _, l := range m.Layers {
			fill(l.Weight, l.Weight.Size(1))
		}
		y := tensor.Arange(float64(batch)).Remainder(widths[len(widths)-1]).To(tensor.Int64).To(d)
		opt = optim.NewAdamW(nn.Parameters(m), 1e-3)
		loss = func() *tensor.Tensor { return nn.CrossEntropy(m.Forward(x), y) }
	}
	return func() *tensor.Tensor {
		l := loss()
		l.Backward()
		opt.Step()
		opt.ZeroGrad(true)
		return l
	}
}

// fill gives weights the numbers that Python's side has.
func fill(w *tensor.Tensor, in int) {
	tensor.NoGrad(func() { w.CopyFrom(pattern(1/math.Sqrt(float64(in)), w.Shape()...).To(w.Device())) })
}
