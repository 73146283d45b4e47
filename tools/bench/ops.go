package bench

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/lectern-go/lectern/internal/approx"
	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

func init() { children["ops"] = opsChild }

// opsCase is a piece of work that libraries in other languages do as well: groups gomlx, candle and ggml. Each side is
// a process of its own that reads cases, makes the operands as opsNumbers does, and answers with the seconds of a call
// and a digest of the result, by which the sides prove that they have done the same work. A side that lacks an
// operation answers with 0 seconds.
type opsCase struct {
	What   string  `json:"what"`
	Sizes  []int   `json:"sizes"`
	Budget float64 `json:"budget"` // seconds to spend on it in a round
}

func (c opsCase) String() string {
	return fmt.Sprintf("%s %s", c.What, strings.Trim(strings.ReplaceAll(fmt.Sprint(c.Sizes), " ", "x"), "[]"))
}

// opsCases are the cases with what their sizes mean.
func opsCases() []opsCase {
	var all []opsCase
	add := func(what string, budget float64, sizes ...int) { all = append(all, opsCase{what, sizes, budget}) }
	for _, what := range []string{"matmul", "matmul transposed"} { // m, k, n; the right operand is [k n], or [n k] and read as its transpose
		add(what, 0.06, 128, 128, 128)
		add(what, 0.1, 512, 512, 512)
		add(what, 0.2, 1024, 1024, 1024)
		add(what, 0.06, 1024, 256, 64)
	}
	for _, n := range []int{1 << 12, 1 << 20} {
		add("add", 0.06, n)
		add("gelu", 0.1, n)
	}
	add("gelu tanh", 0.1, 1<<20)
	add("sum", 0.06, 1<<20)
	add("softmax", 0.1, 1024, 1024) // of rows, as the norms are
	add("layer norm", 0.1, 1024, 1024)
	add("rms norm", 0.1, 1024, 1024)
	add("transpose", 0.1, 1024, 1024)       // a copy
	add("embedding", 0.06, 8192, 512, 1024) // rows of the table, their size, ids
	add("attention", 0.2, 8, 512, 64)       // heads, tokens, size of a head
	add("causal attention", 0.2, 8, 512, 64)
	add("training step", 0.2, 128, 784, 512, 10) // batch, inputs, hidden, classes: two layers, ReLU, cross-entropy, SGD
	return all
}

// opsPeer is a library of another language, and how it is measured.
type opsPeer struct {
	name  string
	start func(ctx context.Context, threads int) (measurer, error)
	loose map[string]float64 // by operation: the tolerance where it computes less exactly than others
}

// opsTolerance is how far results of two sides may be apart, relative to their root mean square.
const opsTolerance = 1e-4

// opsGroup compares us with a peer in all cases.
func opsGroup(ctx context.Context, r *report, peer opsPeer) error {
	for _, threads := range slices.Compact([]int{1, r.threads}) {
		theirs, err := peer.start(ctx, threads)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.absent(peer.name, err)
			return nil
		}
		mine, err := startOurs(ctx, "ours", "ops", fmt.Sprintf("GOMAXPROCS=%d", threads))
		if err != nil {
			theirs.close()
			return err
		}
		err = opsCompare(r, []measurer{mine, theirs}, opsCases(), threads, peer.loose)
		closeAll([]measurer{mine, theirs})
		if err != nil {
			return err
		}
	}
	return nil
}

func opsCompare(r *report, sides []measurer, cases []opsCase, threads int, loose map[string]float64) error {
	// Threads of other libraries look for work for a while after a call, and would take time from whose turn is next.
	pause := time.Duration(0)
	if threads > 1 {
		pause = 130 * time.Millisecond
	}
	for _, c := range cases {
		if !r.only.MatchString(c.String()) {
			continue
		}
		best, last, err := patient(r, 1, on(c, sides, pause)...)
		if err != nil {
			return err
		}
		if best[1] == 0 {
			continue // it has no such operation
		}
		if err := sameDigest(last[0].Some, last[1].Some, max(opsTolerance, loose[c.What])); err != nil {
			return fmt.Errorf("%v: %s and %s: %w", c, sides[0].name, sides[1].name, err)
		}
		r.compare(fmt.Sprintf("%v, %d threads", c, threads), best[0]*1e6, sides[1].name, best[1]*1e6, "µs", less, 1)
	}
	return nil
}

// opsNumbers makes numbers that all sides can make and that look random: of standard deviation scale and mean shift.
// Each operand of a case has another seed.
func opsNumbers(seed int, scale, shift float64, shape ...int) *tensor.Tensor {
	n := 1
	for _, size := range shape {
		n *= size
	}
	values := make([]float32, n)
	for i := range values {
		j := i + 7919*seed
		values[i] = float32(float64((31*j*j+17*j)%1009-504)*(scale/291) + shift)
	}
	return tensor.Of(values).View(shape...)
}

// digestSamples is how many numbers of a result are compared one by one.
const digestSamples = 61

// opsDigest says what a result is: its size, mean and root mean square, and numbers at even distances.
func opsDigest(t *tensor.Tensor) []float64 {
	all := t.Floats()
	var sum, squares float64
	for _, v := range all {
		sum += v
		squares += v * v
	}
	n := float64(len(all))
	digest := []float64{n, sum / n, math.Sqrt(squares / n)}
	for i := range digestSamples {
		digest = append(digest, all[i*(len(all)-1)/(digestSamples-1)])
	}
	return digest
}

// sameDigest compares digests, whose numbers may be apart by the root mean square times tolerance.
func sameDigest(ours, theirs []float64, tolerance float64) error {
	if len(ours) < 3 || len(ours) != len(theirs) || ours[0] != theirs[0] {
		return fmt.Errorf("results of different size: digests of %d and %d numbers, %.6g and %.6g", len(ours), len(theirs), ours[:min(1, len(ours))], theirs[:min(1, len(theirs))])
	}
	for i := range ours {
		if !approx.Equal(ours[i], theirs[i], 0, tolerance*math.Abs(ours[2])) {
			return fmt.Errorf("different results: number %d of the digest is %.7g and %.7g, and their root mean square %.4g", i, ours[i], theirs[i], ours[2])
		}
	}
	return nil
}

// opsChild measures our side. Results are freed before the next call, as a language does that counts references.
func opsChild([]string) error {
	return answer(func(c opsCase) (measured, error) {
		f, err := c.call()
		if err != nil {
			return measured{}, err
		}
		first := f()
		some := opsDigest(first)
		if c.What == "training step" {
			return measured{Seconds: typical(func() { f() }, time.Duration(c.Budget*1e9)), Some: some}, nil
		}
		first.Free()
		runtime.GC() // what the case before has left is not this one's to clear away
		return measured{Seconds: typical(func() { f().Free() }, time.Duration(c.Budget*1e9)), Some: some}, nil
	})
}

// call prepares the operands of a case.
func (c opsCase) call() (func() *tensor.Tensor, error) {
	type T = *tensor.Tensor
	sizes := slices.Concat(c.Sizes, []int{1, 1, 1}) // those that a case lacks
	a, b, d := sizes[0], sizes[1], sizes[2]
	switch c.What {
	case "matmul":
		x, y := opsNumbers(0, 1, 0, a, b), opsNumbers(1, 1, 0, b, d)
		return func() T { return x.Matmul(y) }, nil
	case "matmul transposed":
		x, y := opsNumbers(0, 1, 0, a, b), opsNumbers(1, 1, 0, d, b)
		return func() T { return x.Matmul(y.T()) }, nil
	case "add":
		x, y := opsNumbers(0, 1, 0, a), opsNumbers(1, 1, 0, a)
		return func() T { return x.Add(y) }, nil
	case "gelu", "gelu tanh":
		x := opsNumbers(0, 1, 0, a)
		if c.What == "gelu" {
			return func() T { return x.GELU() }, nil
		}
		return func() T { return x.GELUTanh() }, nil
	case "sum":
		x := opsNumbers(0, 1, 1, a)
		return func() T { return x.Sum() }, nil
	case "softmax":
		x := opsNumbers(0, 1, 0, a, b)
		return func() T { return x.Softmax(-1) }, nil
	case "layer norm", "rms norm":
		x, weight, bias := opsNumbers(0, 1, 0, a, b), opsNumbers(1, 0.1, 1, b), opsNumbers(2, 0.1, 0, b)
		if c.What == "layer norm" {
			return func() T { return x.LayerNorm([]int{b}, weight, bias, 1e-5) }, nil
		}
		return func() T { return x.RMSNorm(weight, 1e-5) }, nil
	case "transpose":
		x := opsNumbers(0, 1, 0, a, b)
		return func() T { return x.T().Contiguous() }, nil
	case "embedding":
		table, ids := opsNumbers(0, 1, 0, a, b), make([]int64, d)
		for i := range ids {
			ids[i] = int64(7919 * i % a)
		}
		at := tensor.Of(ids)
		return func() T { return table.Embedding(at) }, nil
	case "attention", "causal attention":
		q, k, v := opsNumbers(0, 1, 0, a, b, d), opsNumbers(1, 1, 0, a, b, d), opsNumbers(2, 1, 0, a, b, d)
		settings := tensor.AttentionSettings{Causal: c.What == "causal attention"}
		return func() T { return tensor.Attention(q, k, v, settings) }, nil
	case "training step":
		return c.steps(), nil
	}
	return nil, fmt.Errorf("no operation %q", c.What)
}

// steps makes a model, trains it for five steps and then returns what trains it for one more. Its first result
// are the losses of those five.
func (c opsCase) steps() func() *tensor.Tensor {
	batch, widths := c.Sizes[0], c.Sizes[1:]
	model := nn.NewMLP(widths, nil)
	for i, l := range model.Layers {
		tensor.NoGrad(func() {
			l.Weight.CopyFrom(opsNumbers(i+1, 1/math.Sqrt(float64(widths[i])), 0, l.Weight.Shape()...))
			l.Bias.Zero()
		})
	}
	x := opsNumbers(0, 1, 0, batch, widths[0])
	y := tensor.Arange(float64(batch)).Remainder(widths[len(widths)-1]).To(tensor.Int64)
	opt := optim.NewSGD(nn.Parameters(model), 0.1)
	step := func() (loss *tensor.Tensor) {
		tensor.FreeAfter(func(keep func(*tensor.Tensor) *tensor.Tensor) {
			loss = nn.CrossEntropy(model.Forward(x), y)
			loss.Backward()
			opt.Step()
			opt.ZeroGrad(true)
			loss = keep(loss.Detach())
		})
		return loss
	}
	var losses *tensor.Tensor
	return func() *tensor.Tensor {
		if losses != nil {
			return step()
		}
		var five []*tensor.Tensor
		for range 5 {
			five = append(five, step())
		}
		losses = tensor.Stack(0, five...)
		return losses
	}
}
