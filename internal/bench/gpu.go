package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/gpu"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

//go:embed gpu.py
var gpuPeers string

func init() {
	register("peers", "gpu", "matrix products and operations on a GPU beside PyTorch, and how much of the data sheet's promise is reached", gpuGroup)
	children["gpu"] = gpuChild
}

// gpuCase is one thing to measure; Python knows it by the same name.
type gpuCase struct {
	What   string `json:"what"`  // "matmul" and a precision, "step" and a model, or an operation
	Sizes  []int  `json:"sizes"` // m, k, n of a product; batch and widths of layers; rows and columns
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
		if 12*sizes[0]*sizes[1]*8 > memory { // three sides, and whole numbers to make the operands of
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
	for rows*4096*4*24 > memory { // two sides, and whole numbers to make the operands of
		rows /= 2
	}
	for _, what := range []string{"add", "gelu", "softmax", "sum"} {
		cases = append(cases, gpuCase{What: what, Sizes: []int{8, 8}, Calls: 1000}, gpuCase{What: what, Sizes: []int{rows, 4096}, Calls: 10})
	}
	return cases
}

// gpuServer is a process that holds operands and measures on request.
type gpuServer struct {
	stop    func()
	in      io.WriteCloser
	out     *bufio.Scanner
	version string
}

type gpuAnswer struct {
	Version string    `json:"version"`
	Seconds float64   `json:"seconds"`
	Some    []float64 `json:"some"` // the first numbers of the result
	Error   string    `json:"error"`
}

func startServer(ctx context.Context, env []string, name string, args ...string) (*gpuServer, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &gpuServer{in: in, out: bufio.NewScanner(out), stop: func() { in.Close(); cmd.Wait() }}
	hello, err := s.read()
	if err != nil {
		s.stop()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s.version = hello.Version
	return s, nil
}

func (s *gpuServer) read() (a gpuAnswer, err error) {
	if !s.out.Scan() {
		if err := s.out.Err(); err != nil {
			return a, err
		}
		return a, io.ErrUnexpectedEOF
	}
	if err := json.Unmarshal(s.out.Bytes(), &a); err != nil {
		return a, fmt.Errorf("answer %q: %w", s.out.Text(), err)
	}
	if a.Error != "" {
		err = fmt.Errorf("%s", a.Error)
	}
	return a, err
}

func (s *gpuServer) measure(c gpuCase) (gpuAnswer, error) {
	line, err := json.Marshal(c)
	if err != nil {
		return gpuAnswer{}, err
	}
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		return gpuAnswer{}, err
	}
	return s.read()
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
	promised, err := accounting.LookUp(properties.Name)
	known := err == nil
	if known {
		r.note("promised: %s", promised)
	} else {
		r.note("%v", err)
	}
	servers, names, err := gpuServers(ctx, r)
	for _, s := range servers {
		if s != nil {
			defer s.stop()
		}
	}
	if err != nil {
		return err
	}
	precisions := []accounting.Precision{accounting.FP32, accounting.TF32, accounting.FP16, accounting.BF16, accounting.FP8}
	if properties.Major < 8 {
		precisions = []accounting.Precision{accounting.FP32, accounting.FP16}
	} else if properties.Major*10+properties.Minor < 89 {
		precisions = precisions[:4]
	}
	for _, c := range gpuCases(properties.TotalMemory, precisions) {
		best, err := measureAll(ctx, r, c, servers, names)
		if err != nil {
			return err
		}
		gpuCompare(r, c, best)
		if flops := c.flops(); known && flops > 0 {
			precision := accounting.Precision(strings.Fields(c.What)[1])
			peak, err := promised.Peak(precision)
			if err != nil {
				r.note("%v", err)
				continue
			}
			r.note("%-44s %8.3g of %.4g TFLOP/s promised", c.String()+": MFU", flops/best[0]/peak, peak/1e12)
			if mfu := flops / best[0] / peak; c.mfu > 0 {
				r.compare(c.String()+": MFU", mfu, "limit", c.mfu, "", more, 1)
			}
		}
	}
	return nil
}

// gpuServers starts our side, our side with products measured first, and
// PyTorch, which is nil if it isn't here.
func gpuServers(ctx context.Context, r *report) (servers []*gpuServer, names []string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	for _, tune := range []string{"0", "1"} {
		s, err := startServer(ctx, []string{"LECTERN_AUTOTUNE=" + tune}, self, "-child", "gpu")
		if err != nil {
			return servers, nil, err
		}
		servers = append(servers, s)
	}
	names = []string{"Lectern", "Lectern, tuned", "PyTorch"}
	py, err := python(ctx, "torch==2.10.0", "numpy")
	if err != nil {
		r.absent("PyTorch", err)
		return append(servers, nil), names, nil
	}
	torch, err := startServer(ctx, nil, py, "-c", gpuPeers, "cuda")
	if err != nil {
		r.absent("PyTorch", err)
		return append(servers, nil), names, nil
	}
	r.note("PyTorch %s, with the libraries that it brings", torch.version)
	return append(servers, torch), names, nil
}

// measureAll returns the best seconds of each side, 0 for one that isn't here.
// The sides must agree about the first numbers of the result.
func measureAll(ctx context.Context, r *report, c gpuCase, servers []*gpuServer, names []string) ([]float64, error) {
	best := make([]float64, len(servers))
	answers := make([]gpuAnswer, len(servers))
	for range max(r.rounds, 3) {
		for i, s := range servers {
			if s == nil {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			a, err := s.measure(c)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", c, names[i], err)
			}
			answers[i] = a
			if best[i] == 0 || a.Seconds < best[i] {
				best[i] = a.Seconds
			}
		}
	}
	for i, s := range servers {
		for j, x := range answers[i].Some {
			if s != nil && !(math.Abs(x-answers[0].Some[j]) <= 0.02*(1+math.Abs(x))) {
				return nil, fmt.Errorf("%s: %s and %s give different results: %v and %v", c, names[0], names[i], answers[0].Some, answers[i].Some)
			}
		}
	}
	return best, nil
}

func gpuCompare(r *report, c gpuCase, best []float64) {
	unit, scale, good := "ms", 1e3, less
	value := func(seconds float64) float64 { return seconds * scale }
	if flops := c.flops(); flops > 0 {
		unit, good = "TFLOP/s", more
		value = func(seconds float64) float64 { return flops / seconds / 1e12 }
	}
	torch := best[2]
	if torch == 0 {
		r.note("%-44s %8.4g %s", c, value(best[0]), unit)
		return
	}
	r.compare(c.String(), value(best[0]), "PyTorch", value(torch), unit, good, c.wanted)
	if c.flops() > 0 {
		r.compare(c.String()+", tuned", value(best[1]), "PyTorch", value(torch), unit, good, c.tuned)
	}
}

// gpuChild is our server: it prints a line when it is ready and one for each
// case that it reads.
func gpuChild([]string) error {
	d, err := tensor.FindDevice("cuda:0")
	if err != nil {
		return err
	}
	answer := json.NewEncoder(os.Stdout)
	if err := answer.Encode(gpuAnswer{Version: "here"}); err != nil {
		return err
	}
	var name string
	var call func()
	var some []float64
	var held []*tensor.Tensor
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var c gpuCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return err
		}
		var took time.Duration
		var failed error
		err := tensor.Try(func() {
			if name != c.String() {
				for _, x := range held {
					x.Free()
				}
				name, held = "", nil
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
		err = errors.Join(err, failed)
		a := gpuAnswer{Seconds: took.Seconds() / float64(c.Calls), Some: some}
		if err != nil {
			a = gpuAnswer{Error: err.Error()}
		}
		if err := answer.Encode(a); err != nil {
			return err
		}
	}
	return lines.Err()
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
