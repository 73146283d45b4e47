package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/tensor"
)

//go:embed cpu.py
var cpuPeers string

func init() {
	register("peers", "cpu", "matrix products and elementwise operations beside NumPy on OpenBLAS, and PyTorch where LECTERN_PYTHON has it", cpuGroup)
	children["cpu"] = cpuChild
}

// cpuCase is one operation, timed from call to call.
type cpuCase struct {
	What   string  `json:"what"` // xy, xyT, xTy, or the name of an elementwise operation
	Dtype  string  `json:"dtype"`
	Sizes  []int   `json:"sizes"`  // m, k, n of a product; elements
	Budget float64 `json:"budget"` // seconds to spend on it in a round
	wanted float64 // the least good ratio
}

func (c cpuCase) String() string {
	return strings.TrimSuffix(fmt.Sprintf("%s %s %s", c.What, strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Sizes), " ", "x"), "[]"), c.Dtype), " float32")
}

func cpuCases() []cpuCase {
	var cases []cpuCase
	product := func(what, dtype string, m, k, n int, wanted float64) {
		budget := 0.06
		if m*k*n > 300*300*300 {
			budget = 0.25
		}
		cases = append(cases, cpuCase{what, dtype, []int{m, k, n}, budget, wanted})
	}
	for _, what := range []string{"xy", "xyT", "xTy"} {
		product(what, "float32", 8, 64, 64, 2)
		product(what, "float32", 64, 64, 64, 2)
		for _, n := range []int{128, 256, 512, 1024} {
			wanted := 1.1
			if n > 512 || what != "xy" {
				wanted = 1
			}
			product(what, "float32", n, n, n, wanted)
		}
		product(what, "float32", 1024, 256, 64, 1.1)
	}
	product("xy", "float64", 512, 512, 512, 1)
	for _, what := range []string{"xy", "xyT", "xTy"} {
		product(what, "bfloat16", 256, 256, 256, 1)
		product(what, "bfloat16", 1024, 1024, 1024, 1)
	}
	for _, what := range []string{"add", "mul", "exp", "tanh", "gelu", "sum", "softmax"} {
		cases = append(cases, cpuCase{what, "float32", []int{1 << 12}, 0.04, 1.5}, cpuCase{what, "float32", []int{1 << 20}, 0.08, 1})
	}
	return cases
}

type cpuAnswer struct {
	Version string    `json:"version"`
	Seconds []float64 `json:"seconds"`
}

// cpuGroup times all sides alternately; the best round of each counts.
func cpuGroup(ctx context.Context, r *report) error {
	py, err := python(ctx, "numpy")
	if err != nil {
		r.absent("NumPy", err)
		return nil
	}
	cases := cpuCases()
	var products []cpuCase
	for _, c := range cases {
		if len(c.Sizes) == 3 && c.Dtype != "bfloat16" {
			c.wanted = 0.95
			products = append(products, c)
		}
	}
	best := cpu.Supported()[len(cpu.Supported())-1]
	for _, threads := range []int{1, 2} {
		if threads > r.threads {
			break
		}
		if err := cpuCompare(ctx, r, py, cases, threads, best, nil); err != nil {
			return err
		}
		if best == cpu.AVX512 { // AVX2 against OpenBLAS held to the same instructions
			if err := cpuCompare(ctx, r, py, products, threads, cpu.AVX2, []string{"OPENBLAS_CORETYPE=Haswell"}); err != nil {
				return err
			}
		}
	}
	return nil
}

func cpuCompare(ctx context.Context, r *report, py string, cases []cpuCase, threads int, level cpu.Level, peerEnv []string) error {
	encoded, err := json.Marshal(cases)
	if err != nil {
		return err
	}
	list := string(encoded)
	peers := []string{"numpy", "torch"}
	if peerEnv != nil {
		peers = peers[:1] // the variable is OpenBLAS's
	}
	best := map[string]*cpuAnswer{}
	keep := func(who string, a cpuAnswer) {
		if best[who] == nil {
			best[who] = &a
			return
		}
		for i, s := range a.Seconds {
			best[who].Seconds[i] = min(best[who].Seconds[i], s)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for range r.rounds {
		var ours cpuAnswer
		env := []string{fmt.Sprintf("GOMAXPROCS=%d", threads), cpu.Override + "=" + level.String()}
		if err := runJSON(ctx, &ours, env, "", self, "-child", "cpu", list); err != nil {
			return err
		}
		keep("ours", ours)
		for i := 0; i < len(peers); i++ {
			var a cpuAnswer
			env := append(peerEnv, fmt.Sprintf("OPENBLAS_NUM_THREADS=%d", threads), fmt.Sprintf("OMP_NUM_THREADS=%d", threads))
			if err := runJSON(ctx, &a, env, cpuPeers, py, "-", peers[i], fmt.Sprint(threads), list); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				r.absent(peers[i], err)
				peers = append(peers[:i:i], peers[i+1:]...)
				i--
				continue
			}
			keep(peers[i], a)
		}
	}
	r.note("%s, threads: %d", level, threads)
	if peerEnv == nil {
		if err := compareWithPromise(r, cases, best["ours"], threads); err != nil {
			return err
		}
	}
	for i, c := range cases {
		for _, peer := range peers {
			theirs := best[peer].Seconds[i]
			if theirs == 0 {
				continue // it has no such operation
			}
			wanted := c.wanted
			if peer == "numpy" && (len(c.Sizes) == 1 || c.Sizes[1] <= 64) {
				wanted = 0 // these are measured against PyTorch, whose calls cost more
			}
			work, unit := float64(c.Sizes[0])*1e-9, "G/s" // elements
			if len(c.Sizes) == 3 {
				work, unit = 2e-9*float64(c.Sizes[0]*c.Sizes[1]*c.Sizes[2]), "GFLOP/s"
			}
			r.compare(fmt.Sprintf("%v, %s, %d threads", c, level, threads), work/best["ours"].Seconds[i], peer+" "+best[peer].Version, work/theirs, unit, more, wanted)
		}
	}
	return nil
}

// compareWithPromise shows how much of what the processor can do large products reach, and that bfloat16 is worth its
// while where the processor has instructions for it.
func compareWithPromise(r *report, cases []cpuCase, ours *cpuAnswer, threads int) error {
	rate := map[string]float64{}
	for i, c := range cases {
		if c.What == "xy" && c.Sizes[0] == 1024 && c.Sizes[2] == 1024 { // one of each dtype
			rate[c.Dtype] = 2e-9 * (1 << 30) / ours.Seconds[i]
		}
	}
	single, err := accounting.CPUPromise(tensor.Float32, threads)
	if err != nil {
		return err
	}
	half, err := accounting.CPUPromise(tensor.BFloat16, threads)
	if err != nil {
		return err
	}
	r.compare(fmt.Sprintf("xy 1024x1024x1024, %d threads", threads), rate["float32"], "promise", single.PerSecond*1e-9, "GFLOP/s", more, 0.85)
	r.compare(fmt.Sprintf("xy 1024x1024x1024 bfloat16, %d threads", threads), rate["bfloat16"], "promise", half.PerSecond*1e-9, "GFLOP/s", more, 0)
	wanted := 0.0
	if half.PerSecond > 1.5*single.PerSecond {
		wanted = 1.5
	}
	r.compare(fmt.Sprintf("bfloat16 1024x1024x1024, %d threads", threads), rate["bfloat16"], "our float32", rate["float32"], "GFLOP/s", more, wanted)
	return nil
}

// cpuChild times our side and prints a cpuAnswer.
func cpuChild(args []string) error {
	var cases []cpuCase
	if err := json.Unmarshal([]byte(args[0]), &cases); err != nil {
		return err
	}
	var a cpuAnswer
	g := tensor.NewGenerator(1)
	for _, c := range cases {
		call, err := c.call(g)
		if err != nil {
			return err
		}
		a.Seconds = append(a.Seconds, fastest(call, time.Duration(c.Budget*1e9)))
		time.Sleep(20 * time.Millisecond)
	}
	return json.NewEncoder(os.Stdout).Encode(a)
}

// call prepares the operands of a case.
func (c cpuCase) call(g *tensor.Generator) (func(), error) {
	dtype := map[string]tensor.Dtype{"float32": tensor.Float32, "float64": tensor.Float64, "bfloat16": tensor.BFloat16}[c.Dtype]
	random := func(shape ...int) *tensor.Tensor { return tensor.With(g).Randn(shape...).To(dtype) }
	if len(c.Sizes) == 3 {
		m, k, n := c.Sizes[0], c.Sizes[1], c.Sizes[2]
		x, y := random(m, k), random(k, n)
		switch c.What {
		case "xTy":
			x = random(k, m).T()
		case "xyT":
			y = random(n, k).T()
		}
		return func() { x.Matmul(y) }, nil
	}
	x, y := random(c.Sizes[0]), random(c.Sizes[0])
	rows := x.View(-1, 1024)
	call, ok := map[string]func(){
		"add": func() { x.Add(y) }, "mul": func() { x.Mul(y) }, "exp": func() { x.Exp() }, "tanh": func() { x.Tanh() },
		"gelu": func() { x.GELU() }, "sum": func() { x.Sum() }, "softmax": func() { rows.Softmax(-1) },
	}[c.What]
	if !ok {
		return nil, fmt.Errorf("no operation %q", c.What)
	}
	return call, nil
}

// fastest returns the seconds of a call: the least mean of short series within a budget, which a busy machine disturbs
// least.
func fastest(call func(), budget time.Duration) float64 {
	call()
	best, reps := 1e9, 1
	for end := time.Now().Add(budget); time.Now().Before(end); {
		start := time.Now()
		for range reps {
			call()
		}
		took := time.Since(start).Seconds()
		best = min(best, took/float64(reps))
		if took < 2e-4 {
			reps *= 2
		}
	}
	return best
}
