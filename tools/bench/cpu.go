package bench

import (
	"context"
	_ "embed"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/lectern-go/lectern/accounting"
	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/internal/gc"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/tensor"
)

//go:embed cpu.py
var cpuPeers string

func init() {
	register("peers", "cpu", "matrix products and elementwise operations beside NumPy on OpenBLAS, and PyTorch where LECTERN_PYTHON has it", cpuGroup)
	children["cpu"] = cpuChild
}

// cpuCase is one operation, timed from call to call. The result of a call is freed before the next one, as Python does
// by counting references.
type cpuCase struct {
	What      string  `json:"what"` // xy, xyT, xTy, or the name of an elementwise operation
	Dtype     string  `json:"dtype"`
	Sizes     []int   `json:"sizes"`     // m, k, n of a product; elements
	Budget    float64 `json:"budget"`    // seconds to spend on it in a round
	Collected bool    `json:"collected"` // our result is left to the collector
	wanted    float64 // the least good ratio
}

func (c cpuCase) String() string {
	name := strings.TrimSuffix(fmt.Sprintf("%s %s %s", c.What, strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Sizes), " ", "x"), "[]"), c.Dtype), " float32")
	if c.Collected {
		name += ", collected"
	}
	return name
}

// work is what a call does, in billions, and what that is called for each second.
func (c cpuCase) work() (amount float64, unit string) {
	if c.product() {
		return 2e-9 * float64(c.Sizes[0]*c.Sizes[1]*c.Sizes[2]), "GFLOP/s"
	}
	return 1e-9 * float64(c.Sizes[0]), "G/s" // elements
}

func (c cpuCase) product() bool { return len(c.Sizes) == 3 }

func cpuCases() []cpuCase {
	var cases []cpuCase
	product := func(what, dtype string, m, k, n int, wanted float64) {
		budget := 0.06
		if work := m * k * n; work > 1500*1500*1500 {
			budget = 0.6
		} else if work > 300*300*300 {
			budget = 0.2
		}
		cases = append(cases, cpuCase{What: what, Dtype: dtype, Sizes: []int{m, k, n}, Budget: budget, wanted: wanted})
	}
	for _, what := range []string{"xy", "xyT", "xTy"} {
		product(what, "float32", 8, 64, 64, 2)
		for _, n := range []int{16, 32, 64} {
			product(what, "float32", n, n, n, 2)
		}
		for _, n := range []int{128, 256, 512, 1024, 2048} {
			wanted := 1.1
			if n > 512 || what != "xy" {
				wanted = 1
			}
			product(what, "float32", n, n, n, wanted)
		}
		product(what, "float32", 1024, 256, 64, 1.1)
	}
	product("xy", "float32", 1, 1<<20, 1, 1) // with vectors
	product("xy", "float32", 1024, 1024, 1, 1)
	product("xy", "float32", 1, 1024, 1024, 1)
	product("xyT", "float32", 1, 4096, 4096, 1)
	product("xy", "float64", 512, 512, 512, 1)
	for _, what := range []string{"xy", "xyT", "xTy"} {
		for _, n := range []int{256, 512, 1024} {
			product(what, "bfloat16", n, n, n, 1)
		}
	}
	for _, what := range []string{"add", "mul", "exp", "tanh", "gelu", "sum", "softmax", "layernorm"} {
		small, large := elementwiseCase(what, 1<<12, 0.06), elementwiseCase(what, 1<<20, 0.12)
		small.wanted, large.wanted = 1.5, 1
		cases = append(cases, small, large)
	}
	for _, c := range []cpuCase{elementwiseCase("add", 1<<12, 0.06), elementwiseCase("add", 1<<20, 0.12)} {
		c.Collected = true
		cases = append(cases, c)
	}
	return cases
}

func elementwiseCase(what string, n int, budget float64) cpuCase {
	return cpuCase{What: what, Dtype: "float32", Sizes: []int{n}, Budget: budget}
}

// cpuGroup times all sides of a case alternately, several times; the best time of each counts.
func cpuGroup(ctx context.Context, r *report) error {
	py, err := python(ctx, "numpy")
	if err != nil {
		r.absent("NumPy", err)
		return nil
	}
	cases := cpuCases()
	var avx2 []cpuCase
	for _, c := range cases {
		if c.Dtype == "bfloat16" || c.Collected {
			continue
		}
		c.wanted = 0
		if c.product() {
			c.wanted = 0.95
		}
		avx2 = append(avx2, c)
	}
	best := cpu.Supported()[len(cpu.Supported())-1]
	for _, threads := range []int{1, 2} {
		if threads > r.threads {
			break
		}
		if err := cpuCompare(ctx, r, py, cases, threads, best, nil); err != nil {
			return err
		}
		if best == cpu.AVX512 { // AVX2 against others held to the same instructions
			if err := cpuCompare(ctx, r, py, avx2, threads, cpu.AVX2, peersOnAVX2); err != nil {
				return err
			}
		}
	}
	return nil
}

// peersOnAVX2 holds OpenBLAS, and what PyTorch consists of, to AVX2.
var peersOnAVX2 = []string{"OPENBLAS_CORETYPE=Haswell", "ATEN_CPU_CAPABILITY=avx2", "ONEDNN_MAX_CPU_ISA=AVX2", "MKL_ENABLE_INSTRUCTIONS=AVX2"}

func cpuCompare(ctx context.Context, r *report, py string, cases []cpuCase, threads int, level cpu.Level, peerEnv []string) error {
	r.note("%s, threads: %d", level, threads)
	env := []string{fmt.Sprintf("GOMAXPROCS=%d", threads), cpu.Override + "=" + level.String()}
	if peerEnv == nil { // the best of all, with what is no level: AMX
		env[1] = cpu.Override + "="
	}
	mine, err := startOurs(ctx, "ours", "cpu", env...)
	if err != nil {
		return err
	}
	all := []measurer{mine}
	defer func() { closeAll(all) }()
	env = slices.Clone(peerEnv)
	for _, name := range []string{"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"} {
		env = append(env, fmt.Sprintf("%s=%d", name, threads))
	}
	for _, library := range []string{"numpy", "torch"} {
		peer, err := startPeer(ctx, library, py, cpuPeers, env, library, fmt.Sprint(threads))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.absent(library, err)
			continue
		}
		all = append(all, peer)
	}
	// Threads of other libraries look for work for a while after a call, and would take time from whose turn is next.
	pause := time.Duration(0)
	if threads > 1 {
		pause = 130 * time.Millisecond
	}
	rate := map[string]float64{} // ours, by case
	for _, c := range cases {
		if !r.only.MatchString(c.String()) {
			continue
		}
		best, _, _, err := alternate(r, on(c, all, pause)...)
		if err != nil {
			return err
		}
		work, unit := c.work()
		ours := work / best[0]
		rate[c.String()] = ours
		for i, peer := range all[1:] {
			seconds := best[i+1]
			if seconds == 0 {
				continue // it has no such operation
			}
			wanted, numpy := c.wanted, strings.HasPrefix(peer.name, "numpy")
			switch {
			case numpy && !c.product() && peerEnv != nil:
				continue // NumPy's own loops are held to nothing
			case numpy && (!c.product() || c.Sizes[1] <= 64):
				wanted = 0 // these are measured against PyTorch, whose calls cost more
			case !numpy && peerEnv != nil:
				wanted = 0 // shown, as MKL does as it likes on processors of others
			}
			r.compare(fmt.Sprintf("%v, %s, %d threads", c, level, threads), ours, peer.name, work/seconds, unit, more, wanted)
			if c.product() && ours/(work/seconds) < wanted {
				if p := peak(c.Dtype, threads); p/(work/seconds) < wanted {
					r.note("  the peak of the processor, %.4g GFLOP/s, is no more than %.3gx of that", p, p/(work/seconds))
				}
			}
		}
	}
	if peerEnv == nil {
		compareWithPeak(r, rate, threads)
	}
	return nil
}

// peak returns the GFLOP/s that the processor can do; 0 if that is not known. It is asked for when products have run:
// where processors are virtual, two that were idle may share a core for the first second or two.
func peak(dtype string, threads int) float64 {
	p, err := accounting.CPUPeak(dtypesByName[dtype], threads)
	if err != nil {
		return 0
	}
	return p.PerSecond * 1e-9
}

// compareWithPeak shows how much of what the processor can do large products reach, and that bfloat16 is worth its
// while where the processor has instructions for it.
func compareWithPeak(r *report, rate map[string]float64, threads int) {
	const large, largeHalf = "xy 1024x1024x1024", "xy 1024x1024x1024 bfloat16"
	if rate[large] == 0 || rate[largeHalf] == 0 {
		return // not measured
	}
	plain, half := peak("float32", threads), peak("bfloat16", threads)
	r.compare(fmt.Sprintf("%s, %d threads", large, threads), rate[large], "peak", plain, "GFLOP/s", more, 0.85)
	r.compare(fmt.Sprintf("%s, %d threads", largeHalf, threads), rate[largeHalf], "peak", half, "GFLOP/s", more, 0)
	wanted := 0.0
	if half > 1.5*plain {
		wanted = 1.5
	}
	r.compare(fmt.Sprintf("bfloat16 1024x1024x1024, %d threads", threads), rate[largeHalf], "our float32", rate[large], "GFLOP/s", more, wanted)
}

// cpuChild times our side: it answers each case with its seconds.
func cpuChild([]string) error {
	g := tensor.NewGenerator(1)
	return answer(func(c cpuCase) (measured, error) {
		f, err := c.call(g)
		if err != nil {
			return measured{}, err
		}
		call := func() { f().Free() }
		if c.Collected {
			call = func() { f() }
		}
		runtime.GC() // what the case before has left is not this one's to clear away
		return measured{Seconds: typical(call, time.Duration(c.Budget*1e9))}, nil
	})
}

var dtypesByName = map[string]tensor.Dtype{"float32": tensor.Float32, "float64": tensor.Float64, "bfloat16": tensor.BFloat16}

// call prepares the operands of a case.
func (c cpuCase) call(g *tensor.Generator) (func() *tensor.Tensor, error) {
	dtype := dtypesByName[c.Dtype]
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
		return func() *tensor.Tensor { return x.Matmul(y) }, nil
	}
	x, y := random(c.Sizes[0]), random(c.Sizes[0])
	rows, ones, zeros := x.View(-1, 1024), tensor.Ones(1024), tensor.Zeros(1024)
	call, ok := map[string]func() *tensor.Tensor{
		"add":       func() *tensor.Tensor { return x.Add(y) },
		"mul":       func() *tensor.Tensor { return x.Mul(y) },
		"exp":       func() *tensor.Tensor { return x.Exp() },
		"tanh":      func() *tensor.Tensor { return x.Tanh() },
		"gelu":      func() *tensor.Tensor { return x.GELU() },
		"sum":       func() *tensor.Tensor { return x.Sum() },
		"softmax":   func() *tensor.Tensor { return rows.Softmax(-1) },
		"layernorm": func() *tensor.Tensor { return nn.Standardize(rows, []int{1024}, ones, zeros, 1e-5) },
	}[c.What]
	if !ok {
		return nil, fmt.Errorf("no operation %q", c.What)
	}
	return call, nil
}

// typical returns the seconds of a call: the median of series that are long enough to hold what a call leaves to be
// cleared away later, within a budget. To warm up it calls until results lie in memory that was used before.
func typical(call func(), budget time.Duration) float64 {
	const series = 2 * time.Millisecond
	reps, memory := 0, gc.StartWarmUp()
	for !memory.Done() && memory.Elapsed() < 300*time.Millisecond {
		call()
		reps++
	}
	reps = max(1, int(float64(reps)*float64(series)/float64(memory.Elapsed())))
	var times []float64
	for end := time.Now().Add(budget); time.Now().Before(end) || len(times) < 3; {
		start := time.Now()
		for range reps {
			call()
		}
		times = append(times, time.Since(start).Seconds()/float64(reps))
	}
	slices.Sort(times)
	return times[len(times)/2]
}
