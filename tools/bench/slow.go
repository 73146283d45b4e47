package bench

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/lectern-go/lectern/tensor"
)

//go:embed slow.py
var slowPeers string

func init() {
	register("peers", "slow", "operations on a million numbers that were once slow, beside PyTorch, with one thread and with -threads", slowGroup)
	children["slow"] = slowChild
}

// slowCases are the calls by name. Python has the same names.
func slowCases() (names []string, calls map[string]func() []*tensor.Tensor) {
	type T = *tensor.Tensor
	calls = map[string]func() []*tensor.Tensor{}
	add := func(name string, f func() T) {
		names = append(names, name)
		calls[name] = func() []T { return []T{f()} }
	}
	pair := func(name string, f func() (a, b T)) {
		names = append(names, name)
		calls[name] = func() []T { a, b := f(); return []T{a, b} }
	}
	const n = 1 << 20
	g := tensor.NewGenerator(1)
	on := tensor.With(g)
	x, y, long := on.Rand(1024, 1024).Add(0.5), on.Rand(1024, 1024).Add(0.5), on.Rand(128, 8192)
	cube := x.View(64, 256, 64)
	a32, b32 := tensor.With(g, tensor.Int32).Randint(1, 1000, n), tensor.With(g, tensor.Int32).Randint(1, 1000, n)
	rows, at := on.Randint(0, 1024, 1024), on.Randint(0, 1024, 1024, 1024)
	mask := x.Gt(1)
	row, column := y.Select(0, 0).Clone(), y.Narrow(1, 0, 1).Clone()

	add("pow 3", func() T { return x.Pow(3) })
	add("pow -1", func() T { return x.Pow(-1) })
	add("pow 1.5", func() T { return x.Pow(1.5) })
	add("pow of tensors", func() T { return x.Pow(y) })
	pair("topk 50 of 8192", func() (T, T) { return long.TopK(-1, 50) })
	add("fmod", func() T { return x.Fmod(y) })
	add("remainder", func() T { return x.Remainder(y) })
	add("randn", func() T { return on.Randn(n) })
	add("rand", func() T { return on.Rand(n) })
	add("int32 add", func() T { return a32.Add(b32) })
	add("int32 mul", func() T { return a32.Mul(b32) })
	add("int32 sum", func() T { return a32.Sum() })
	add("int32 less", func() T { return a32.Lt(b32) })
	pair("sort rows", func() (T, T) { return long.Sort(-1, false) })
	pair("sort columns", func() (T, T) { return x.Sort(0, false) })
	add("contiguous of a transpose", func() T { return x.T().Contiguous() })
	add("contiguous of a cube", func() T { return cube.Transpose(0, 2).Contiguous() })
	add("add of a transpose", func() T { return x.Add(y.T()) })
	add("exp of a transpose", func() T { return x.T().Exp() })
	add("softmax 0", func() T { return x.Softmax(0) })
	add("softmax 1", func() T { return x.Softmax(1) })
	add("log softmax 0", func() T { return x.LogSoftmax(0) })
	add("sum 0", func() T { return x.Sum(0) })
	add("sum 1", func() T { return x.Sum(1) })
	add("sum in the middle", func() T { return cube.Sum(1) })
	add("max 0", func() T { return x.Max(0) })
	add("max 1", func() T { return x.Max(1) })
	add("var 0", func() T { return x.Var(0) })
	add("norm 0", func() T { return x.Norm(0) })
	add("prod 1", func() T { return x.Prod(1) })
	add("logsumexp 0", func() T { return x.LogSumExp(0) })
	add("argmax 0", func() T { return x.Argmax(0) })
	add("argmax 1", func() T { return x.Argmax(1) })
	add("tril", func() T { return x.Tril(0) })
	add("triu", func() T { return x.Triu(1) })
	add("index select rows", func() T { return x.IndexSelect(0, rows) })
	add("index select columns", func() T { return x.IndexSelect(1, rows) })
	add("mul by a row", func() T { return x.Mul(row) })
	add("mul by a column", func() T { return x.Mul(column) })
	add("row by column", func() T { return row.Mul(column) })
	add("cumsum 0", func() T { return x.Cumsum(0) })
	add("cumsum 1", func() T { return x.Cumsum(1) })
	add("where", func() T { return tensor.Where(mask, x, y) })
	add("masked fill", func() T { return x.MaskedFill(mask, 0) })
	add("gather 1", func() T { return x.Gather(1, at) })
	add("gather 0", func() T { return x.Gather(0, at) })
	add("scatter add 1", func() T { return x.ScatterAdd(1, at, y) })
	add("index add", func() T { return x.IndexAdd(0, rows, y) })
	add("flip 1", func() T { return x.Flip(1) })
	add("cat 1", func() T { return tensor.Cat(1, x, y) })
	add("lerp", func() T { return x.Lerp(y, 0.3) })
	add("addcmul", func() T { return x.Addcmul(x, y, 0.5) })
	add("logaddexp", func() T { return x.Logaddexp(y) })
	add("clamp", func() T { return x.Clamp(0.7, 1.2) })
	add("maximum", func() T { return x.Maximum(y) })
	add("sign", func() T { return x.Sign() })
	add("less", func() T { return x.Lt(y) })
	add("isnan", func() T { return x.IsNaN() })
	add("not", func() T { return mask.Not() })
	add("to int32", func() T { return x.To(tensor.Int32) })
	add("to bfloat16", func() T { return x.To(tensor.BFloat16) })
	add("leaky relu", func() T { return x.LeakyReLU(0.01) })
	add("elu", func() T { return x.ELU(1) })
	pair("median 1", func() (T, T) { return long.Median(1) })
	add("roll", func() T { return x.Roll(1, 3) })
	return names, calls
}

func slowGroup(ctx context.Context, r *report) error {
	py, err := python(ctx, "torch==2.10.0", "numpy")
	if err != nil {
		r.absent("PyTorch", err)
		return nil
	}
	all, _ := slowCases()
	names := slices.DeleteFunc(all, func(name string) bool { return !r.only.MatchString(name) })
	for _, threads := range slices.Compact([]int{1, r.threads}) {
		var best [2][]float64
		for range r.rounds {
			for side := range best {
				var seconds []float64
				if side == 0 {
					err = runChild(ctx, &seconds, threads, "slow", names...)
				} else {
					err = runJSON(ctx, &seconds, nil, pythonBest+slowPeers, py, append([]string{"-", strconv.Itoa(threads)}, names...)...)
				}
				if err != nil {
					return err
				}
				if best[side] == nil {
					best[side] = seconds
				}
				for i, s := range seconds {
					best[side][i] = min(best[side][i], s)
				}
			}
		}
		for i, name := range names {
			wanted := 1.
			r.compare(fmt.Sprintf("%s, %d threads", name, threads), best[0][i]*1e6, "PyTorch", best[1][i]*1e6, "µs", less, wanted)
		}
	}
	return nil
}

// slowChild times cases. Results are freed before the next call, as Python does by counting references.
func slowChild(names []string) error {
	_, calls := slowCases()
	var seconds []float64
	for _, name := range names {
		f := func() {
			for _, t := range calls[name]() {
				t.Free()
			}
		}
		start := time.Now()
		f()
		once := max(time.Since(start).Seconds(), 1e-6)
		seconds = append(seconds, bestOf(max(1, int(0.004/once)), f))
	}
	return json.NewEncoder(os.Stdout).Encode(seconds)
}
