package bench

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lectern-go/lectern/internal/elementwise"
	"github.com/lectern-go/lectern/tensor"
)

//go:embed sweep.py
var sweepPeers string

func init() {
	register("peers", "sweep", "every operation at 4 K and 4 M elements, contiguous, transposed and broadcast, beside PyTorch; the slowest first", sweepGroup)
	children["sweep"] = sweepChild
}

// A sweepRow is one operation on both sides; those of package elementwise are made from its rows. Operands are
// matrices: a and b, c of positive numbers, m a mask, i int64 positions along the last axis, and v a vector.
type sweepRow struct {
	method string // of tensor.Tensor, or a function of package tensor
	python string // of a, b, c, m, i and v
	dtypes string // f: float32, i: int32, l: int64, b: bool
	run    func(in *sweepOperands) *tensor.Tensor
}

type sweepOperands struct {
	a, b, c, m, i, v *tensor.Tensor
	side             int
}

// firstOf is a result of several.
func firstOf(t, _ *tensor.Tensor) *tensor.Tensor { return t }

func sweepRows() []sweepRow {
	type T = *tensor.Tensor
	type in = *sweepOperands
	of := func(f func(a T) T) func(in in) T { return func(x in) T { return f(x.a) } }
	over := func(f func(a T, axes ...int) T, axes ...int) func(in in) T {
		return func(x in) T { return f(x.a, axes...) }
	}
	along := func(f func(a T, axis int) T, axis int) func(in in) T { return func(x in) T { return f(x.a, axis) } }
	var rows []sweepRow
	for i := range elementwise.Table {
		op := &elementwise.Table[i]
		f := elementwise.Func[T](op)
		var last in // what is timed is the operation, and not how its operands are found
		var operands []T
		rows = append(rows, sweepRow{op.Method, op.Torch, op.Timed, func(x in) T {
			if x != last {
				last, operands = x, nil
				for _, name := range op.Operands() {
					operands = append(operands, map[rune]T{'a': x.a, 'b': x.b, 'c': x.c}[name])
				}
			}
			return f(operands)
		}})
	}
	rows = append(rows, []sweepRow{
		{"Add", "a + 2", "fil", func(x in) T { return x.a.Add(2) }}, {"Mul", "a * 3", "fi", func(x in) T { return x.a.Mul(3) }},
		{"Pow", "a ** 3", "f", func(x in) T { return x.a.Pow(3) }}, {"Pow", "c ** 2.5", "f", func(x in) T { return x.c.Pow(2.5) }},
		{"Gt", "a > 1", "fil", func(x in) T { return x.a.Gt(1) }},
		{"LeakyReLU", "F.leaky_relu(a, 0.1)", "f", func(x in) T { return x.a.LeakyReLU(0.1) }}, {"ELU", "F.elu(a, 0.5)", "f", func(x in) T { return x.a.ELU(0.5) }},
		{"NanToNum", "a.nan_to_num(0, 1, -1)", "f", func(x in) T { return x.a.NanToNum(0, 1, -1) }},
		{"IsClose", "torch.isclose(a, b)", "f", func(x in) T { return tensor.IsClose(x.a, x.b, 1e-5, 1e-8) }},
		{"Clamp", "a.clamp(-1, 1)", "fil", func(x in) T { return x.a.Clamp(-1, 1) }}, {"Clone", "a.clone(memory_format=torch.contiguous_format)", "filb", func(x in) T { return x.a.Clone() }}, {"Contiguous", "a.contiguous()", "fb", of(T.Contiguous)},
		{"To", "a.to(torch.float64)", "fi", func(x in) T { return x.a.To(tensor.Float64) }}, {"To", "a.to(torch.int64)", "fib", func(x in) T { return x.a.To(tensor.Int64) }},
		{"To", "a.to(torch.int32)", "fl", func(x in) T { return x.a.To(tensor.Int32) }}, {"To", "a.to(torch.bfloat16)", "f", func(x in) T { return x.a.To(tensor.BFloat16) }},
		{"To", "a.to(torch.float32)", "ilb", func(x in) T { return x.a.To(tensor.Float32) }}, {"To", "a.to(torch.bool)", "fil", func(x in) T { return x.a.To(tensor.Bool) }},
		{"ToSaturating", "a.clamp(-57344, 57344).to(torch.float8_e5m2)", "f", func(x in) T { return x.a.ToSaturating(tensor.Float8E5M2) }},
		{"Lerp", "a.lerp(b, 0.3)", "f", func(x in) T { return x.a.Lerp(x.b, 0.3) }}, {"Lerp", "a.lerp(b, c)", "f", func(x in) T { return x.a.Lerp(x.b, x.c) }},
		{"Addcmul", "a.addcmul(b, c, value=0.5)", "f", func(x in) T { return x.a.Addcmul(x.b, x.c, 0.5) }}, {"Addcdiv", "a.addcdiv(b, c, value=0.5)", "f", func(x in) T { return x.a.Addcdiv(x.b, x.c, 0.5) }},
		{"Where", "torch.where(m, a, b)", "fil", func(x in) T { return tensor.Where(x.m, x.a, x.b) }}, {"MaskedFill", "a.masked_fill(m, 1)", "fil", func(x in) T { return x.a.MaskedFill(x.m, 1) }},
		{"MaskedSelect", "a.masked_select(m)", "f", func(x in) T { return x.a.MaskedSelect(x.m) }}, {"Nonzero", "m.nonzero()", "f", func(x in) T { return x.m.Nonzero() }},
		{"Tril", "a.tril()", "f", func(x in) T { return x.a.Tril(0) }}, {"Triu", "a.triu()", "f", func(x in) T { return x.a.Triu(0) }},
		{"Flip", "a.flip(0)", "fl", func(x in) T { return x.a.Flip(0) }}, {"Flip", "a.flip(1)", "fb", func(x in) T { return x.a.Flip(1) }}, {"Roll", "a.roll(3, 1)", "f", func(x in) T { return x.a.Roll(1, 3) }},
		{"Pad", "F.pad(a, (2, 3))", "f", func(x in) T { return x.a.Pad(1, 2, 3, 0) }}, {"Repeat", "a.repeat(1, 2)", "f", func(x in) T { return x.a.Repeat(1, 2) }},
		{"RepeatInterleave", "a.repeat_interleave(2, 1)", "f", func(x in) T { return x.a.RepeatInterleave(1, 2) }}, {"Diag", "v.diag()", "f", func(x in) T { return x.v.Diag() }},
		{"Trace", "a.trace()", "f", func(x in) T { return x.a.Trace() }}, {"PNorm", "torch.linalg.vector_norm(a, 3)", "f", func(x in) T { return x.a.PNorm(3) }},
		{"Cat", "torch.cat((a, b), 0)", "fl", func(x in) T { return tensor.Cat(0, x.a, x.b) }}, {"Cat", "torch.cat((a, b), 1)", "f", func(x in) T { return tensor.Cat(1, x.a, x.b) }}, {"Stack", "torch.stack((a, b), 2)", "f", func(x in) T { return tensor.Stack(2, x.a, x.b) }},
		{"Outer", "torch.outer(v, v)", "f", func(x in) T { return x.v.Outer(x.v) }}, {"Dot", "v @ v", "f", func(x in) T { return x.v.Dot(x.v) }}, {"Mv", "a @ v", "f", func(x in) T { return x.a.Mv(x.v) }},
		{"Gather", "a.gather(1, i)", "fl", func(x in) T { return x.a.Gather(1, x.i) }}, {"Gather", "a.gather(0, i)", "f", func(x in) T { return x.a.Gather(0, x.i) }},
		{"ScatterAdd", "a.scatter_add(1, i, b)", "f", func(x in) T { return x.a.ScatterAdd(1, x.i, x.b) }}, {"Scatter", "a.scatter(1, i, b)", "f", func(x in) T { return x.a.Scatter(1, x.i, x.b) }},
		{"ScatterReduce", "a.scatter_reduce(1, i, b, 'amax')", "f", func(x in) T { return x.a.ScatterReduce(1, x.i, x.b, tensor.ScatterMax) }},
		{"ScatterReduce", "a.scatter_reduce(1, i, b, 'mean')", "f", func(x in) T { return x.a.ScatterReduce(1, x.i, x.b, tensor.ScatterMean) }},
		{"IndexSelect", "a.index_select(0, i[0])", "fl", func(x in) T { return x.a.IndexSelect(0, x.i.Select(0, 0)) }}, {"IndexSelect", "a.index_select(1, i[0])", "f", func(x in) T { return x.a.IndexSelect(1, x.i.Select(0, 0)) }},
		{"IndexAdd", "a.index_add(0, i[0], b)", "f", func(x in) T { return x.a.IndexAdd(0, x.i.Select(0, 0), x.b) }},
		{"Embedding", "F.embedding(i[0], a)", "f", func(x in) T { return x.a.Embedding(x.i.Select(0, 0)) }}, {"Index", "a[i[0]]", "f", func(x in) T { return x.a.Index(x.i.Select(0, 0)) }},
		{"SetIndex", "a.clone().index_put((i[0],), torch.tensor(1.))", "f", func(x in) T { return x.a.Clone().SetIndex(1., x.i.Select(0, 0)) }},
		{"Searchsorted", "torch.searchsorted(torch.arange(0., len(v)), a)", "f", func(x in) T {
			return tensor.With(tensor.Float32).Arange(0, float64(x.side), 1).Searchsorted(x.a, false)
		}},
		{"Bincount", "i.flatten().bincount()", "f", func(x in) T { return x.i.Bincount(0) }},
		{"Unique", "i.unique(return_inverse=True, return_counts=True)[0]", "f", func(x in) T { u, _, _ := x.i.Unique(); return u }},
		{"Sort", "a.sort(1)[0]", "fi", func(x in) T { return firstOf(x.a.Sort(1, false)) }}, {"Argsort", "a.argsort(0)", "f", func(x in) T { return x.a.Argsort(0, false) }},
		{"TopK", "a.topk(8, 1)[0]", "f", func(x in) T { return firstOf(x.a.TopK(1, 8)) }}, {"BottomK", "a.topk(8, 0, largest=False)[0]", "f", func(x in) T { return firstOf(x.a.BottomK(0, 8)) }},
		{"Median", "a.median(1)[0]", "f", func(x in) T { return firstOf(x.a.Median(1)) }}, {"Quantile", "a.quantile(0.3, 1)", "f", func(x in) T { return x.a.Quantile(1, 0.3) }},
		{"CrossEntropy", "F.cross_entropy(a, i[0])", "f", func(x in) T { return x.a.CrossEntropy(1, x.i.Select(0, 0), -1) }},
		{"LayerNorm", "F.layer_norm(a, (len(v),), v, v)", "f", func(x in) T { return x.a.LayerNorm([]int{x.side}, x.v, x.v, 1e-5) }}, {"RMSNorm", "F.rms_norm(a, (len(v),), v, 1e-5)", "f", func(x in) T { return x.a.RMSNorm(x.v, 1e-5) }},
		{"Rand", "torch.rand(a.shape)", "f", func(x in) T { return tensor.Rand(x.side, x.side) }}, {"Randn", "torch.randn(a.shape)", "f", func(x in) T { return tensor.Randn(x.side, x.side) }},
		{"Randint", "torch.randint(0, 9, a.shape)", "f", func(x in) T { return tensor.Randint(0, 9, x.side, x.side) }}, {"Bernoulli", "torch.empty(a.shape).bernoulli_(0.3)", "f", func(x in) T { return tensor.Bernoulli(0.3, x.side, x.side) }},
		{"Randperm", "torch.randperm(a.numel())", "f", func(x in) T { return tensor.Randperm(x.side * x.side) }}, {"Arange", "torch.arange(0., a.numel())", "f", func(x in) T { return tensor.With(tensor.Float32).Arange(0, float64(x.side*x.side), 1) }},
		{"Full", "torch.full(a.shape, 2.)", "f", func(x in) T { return tensor.Full(2, x.side, x.side) }}, {"Zeros", "torch.zeros(a.shape)", "f", func(x in) T { return tensor.Zeros(x.side, x.side) }},
		{"OneHot", "F.one_hot(i[0], len(v))", "f", func(x in) T { return tensor.OneHot(x.i.Select(0, 0), x.side) }},
		{"Multinomial", "c.multinomial(4, replacement=True)", "f", func(x in) T { return x.c.Multinomial(4, true, nil) }},
	}...)
	for axis, name := range []string{"0", "1"} {
		rows = append(rows,
			sweepRow{"Cumsum", "a.cumsum(" + name + ")", "fil", along(T.Cumsum, axis)}, sweepRow{"Cumprod", "a.cumprod(" + name + ")", "f", along(T.Cumprod, axis)},
			sweepRow{"Softmax", "a.softmax(" + name + ")", "f", along(T.Softmax, axis)}, sweepRow{"LogSoftmax", "a.log_softmax(" + name + ")", "f", along(T.LogSoftmax, axis)},
			sweepRow{"Argmax", "a.argmax(" + name + ")", "fil", over(T.Argmax, axis)}, sweepRow{"Argmin", "a.argmin(" + name + ")", "f", over(T.Argmin, axis)},
			sweepRow{"MaxAt", "a.max(" + name + ")[0]", "f", func(x in) T { return firstOf(x.a.MaxAt(axis)) }}, sweepRow{"MinAt", "a.min(" + name + ")[0]", "f", func(x in) T { return firstOf(x.a.MinAt(axis)) }},
		)
	}
	for _, axes := range [][]int{{}, {0}, {1}} {
		name := "(" + strings.Trim(fmt.Sprint(axes), "[]") + ")"
		dims := name
		if len(axes) > 0 {
			dims = "(dim=" + name[1:]
		}
		rows = append(rows,
			sweepRow{"Sum", "a.sum" + name, "filbus", over(T.Sum, axes...)}, sweepRow{"Mean", "a.mean" + name, "f", over(T.Mean, axes...)}, sweepRow{"Prod", "a.prod" + name, "fl", over(T.Prod, axes...)},
			sweepRow{"Max", "a.amax" + name, "filus", over(T.Max, axes...)}, sweepRow{"Min", "a.amin" + name, "fus", over(T.Min, axes...)},
			sweepRow{"All", "a.all" + name, "fbu", over(T.All, axes...)}, sweepRow{"Any", "a.any" + name, "fbu", over(T.Any, axes...)},
			sweepRow{"Var", "a.var" + name, "f", over(T.Var, axes...)}, sweepRow{"Std", "a.std" + name, "f", over(T.Std, axes...)}, sweepRow{"Norm", "a.norm" + dims, "f", over(T.Norm, axes...)},
		)
		if len(axes) > 0 {
			rows = append(rows, sweepRow{"LogSumExp", "a.logsumexp" + name, "f", over(T.LogSumExp, axes...)})
		}
	}
	return rows
}

// notSwept are the methods that return a tensor and have no row, and the records that none of
// the rows runs, with the reason.
var notSwept = map[string]string{
	"Detach Expand Flatten Movedim Narrow Permute Reshape Select Slice Squeeze T Transpose Unflatten Unfold Unsqueeze View Diagonal": "makes a view",
	"transpose permute view expand squeeze unsqueeze select slice diagonal unfold":                                                   "makes a view",
	"Bmm Matmul MatmulAs MatmulT matmul as matmul transposed":                                                                        "products have the group cpu",
	"attention RotatePairs rotate pairs":                                                                                             "parts of a transformer, which has the groups cpu and train",
	"BorrowGrad Grad PinMemory Prefetch RequireGrad RetainGrad SetData SetRole StopGrad":                                             "computes nothing",
	"CopyFrom Fill Zero": "is what Clone, Full and Zeros do, in place",
	"relu gradient silu gradient attention gradient cross entropy gradient layer norm gradient rms norm gradient spread view backward pick backward": "is run by Backward: the group train",
	"custom straight through recompute": "runs what its caller gives it",
}

const sweepElements = 2048

// sweepCase is a row at a size, a layout and a dtype.
type sweepCase struct {
	row          int
	dtype        byte
	side         int
	layout, name string
}

func sweepCases(rows []sweepRow) (all []sweepCase) {
	for _, side := range []int{64, sweepElements} {
		for _, layout := range []string{"contiguous", "transposed", "broadcast"} {
			for i, row := range rows {
				for _, d := range []byte(row.dtypes) {
					all = append(all, sweepCase{i, d, side, layout, fmt.Sprintf("%s, %s, %s, %d²", row.python, map[byte]string{'f': "float32", 'i': "int32", 'l': "int64", 'b': "bool", 'u': "uint8", 's': "int16"}[d], layout, side)})
				}
			}
		}
	}
	return all
}

func (c sweepCase) operands() *sweepOperands {
	g := tensor.NewGenerator(1)
	n := c.side
	matrix := func(low, high int) *tensor.Tensor {
		shape := []int{n, n}
		if c.layout == "broadcast" {
			shape[0] = 1
		}
		var t *tensor.Tensor
		switch c.dtype {
		case 'f':
			t = tensor.With(g).Uniform(float64(low), float64(high), shape...)
		case 'i':
			t = tensor.With(g, tensor.Int32).Randint(low, high+1, shape...)
		case 'l':
			t = tensor.With(g).Randint(low, high+1, shape...)
		case 'u':
			t = tensor.With(g, tensor.Uint8).Randint(0, high-low+1, shape...)
		case 's':
			t = tensor.With(g, tensor.Int16).Randint(low, high+1, shape...)
		default:
			t = tensor.With(g).Rand(shape...).Gt(0.5)
		}
		return t
	}
	arranged := func(t *tensor.Tensor) *tensor.Tensor {
		if c.layout == "transposed" {
			return t.T()
		}
		return t.Expand(n, n)
	}
	square := func(t *tensor.Tensor) *tensor.Tensor { return arranged(t.Expand(n, n).Contiguous()) }
	in := &sweepOperands{side: n, a: square(matrix(-3, 3)), b: arranged(matrix(-3, 3)), c: arranged(matrix(1, 4)),
		m: square(tensor.With(g).Rand(n, n).Gt(0.5)), i: square(tensor.With(g).Randint(0, n, n, n)), v: tensor.With(g).Rand(n)}
	return in
}

func sweepGroup(ctx context.Context, r *report) error {
	py, err := python(ctx, "torch==2.10.0", "numpy")
	if err != nil {
		r.absent("PyTorch", err)
		return nil
	}
	rows := sweepRows()
	cases := slices.DeleteFunc(sweepCases(rows), func(c sweepCase) bool { return !r.only.MatchString(c.name) })
	type pair struct {
		name string
		best [2]float64
	}
	results := map[string]*pair{}
	const together = 200 // cases that both sides run by turns: a peer takes longer to start than to run a few
	for round := range r.rounds {
		for some := range slices.Chunk(cases, together) {
			var names, ask []string
			for _, c := range some {
				names = append(names, c.name)
				ask = append(ask, fmt.Sprintf("%s|%c|%d|%s", rows[c.row].python, c.dtype, c.side, c.layout))
			}
			for side := range 2 {
				var seconds []float64
				if side == 0 {
					err = runChild(ctx, &seconds, r.threads, "sweep", names...)
				} else {
					err = runJSON(ctx, &seconds, nil, pythonBest+sweepPeers, py, append([]string{"-", strconv.Itoa(r.threads)}, ask...)...)
				}
				if err != nil {
					return err
				}
				for i, name := range names {
					p := results[name]
					if p == nil {
						p = &pair{name: name}
						results[name] = p
					}
					if round == 0 || seconds[i] < p.best[side] {
						p.best[side] = seconds[i]
					}
				}
			}
		}
	}
	sorted := make([]*pair, 0, len(results))
	for _, p := range results {
		sorted = append(sorted, p)
	}
	slices.SortFunc(sorted, func(a, b *pair) int { return cmp.Compare(a.best[1]/a.best[0], b.best[1]/b.best[0]) })
	for _, p := range sorted {
		r.compare(p.name, p.best[0]*1e6, "PyTorch", p.best[1]*1e6, "µs", less, 0.7)
	}
	return nil
}

// sweepChild times cases. Results are freed before the next call, as Python does by counting references.
func sweepChild(names []string) error {
	rows := sweepRows()
	byName := map[string]sweepCase{}
	for _, c := range sweepCases(rows) {
		byName[c.name] = c
	}
	var seconds []float64
	for _, name := range names {
		c := byName[name]
		in := c.operands()
		f := func() {
			if out := rows[c.row].run(in); !tensor.SameStorage(out, in.a) {
				out.Free()
			}
		}
		start := time.Now()
		f()
		once := max(time.Since(start).Seconds(), 1e-6)
		calls := max(1, int(0.002/once))
		best := time.Duration(1 << 62)
		for range 6 {
			start := time.Now()
			for range calls {
				f()
			}
			best = min(best, time.Since(start)/time.Duration(calls))
		}
		seconds = append(seconds, best.Seconds())
	}
	return json.NewEncoder(os.Stdout).Encode(seconds)
}
