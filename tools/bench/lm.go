package bench

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"strings"

	"github.com/lectern-go/lectern/nn"
	"github.com/lectern-go/lectern/nn/transformer"
	"github.com/lectern-go/lectern/optim"
	"github.com/lectern-go/lectern/tensor"
)

//go:embed lm.py
var lmPeers string

func init() {
	register("peers", "lm", "a Transformer language model beside PyTorch with its fused attention: training, its memory, prefill and decode", lmGroup)
	children["lm"] = lmChild
}

func lmGroup(ctx context.Context, r *report) error {
	py, err := python(ctx, "torch==2.15.0", "numpy")
	if err != nil {
		r.absent("PyTorch", err)
		return nil
	}
	for _, c := range []struct {
		kind, dtype string
		sizes       string // D, layers, heads, T, B
		wanted      float64
	}{
		{"step", "float32", "256 4 8 256 8", 1.25},
		{"step", "bf16", "256 4 8 256 8", 1.25},
		{"step", "float32", "512 8 8 512 4", 1.15},
		{"step", "bf16", "512 8 8 512 4", 1.15},
		{"prefill", "float32", "512 8 8 512 1", 1.2},
		{"decode", "float32", "512 8 8 512 1", 2},
	} {
		for _, threads := range []int{1, r.threads} {
			what := fmt.Sprintf("%s D L H T B = %s %s, %d threads", c.kind, c.sizes, c.dtype, threads)
			if !r.only.MatchString(what) {
				continue
			}
			sizes := strings.Fields(c.sizes)
			sides := []side{
				ours(ctx, threads, "lm", append([]string{c.kind, c.dtype}, sizes...)...),
				theirs(ctx, py, lmPeers, nil, append([]string{c.kind, fmt.Sprint(threads), c.dtype}, sizes...)...),
			}
			if c.kind == "step" {
				sides = append(sides, ours(ctx, threads, "lm", append([]string{"held", c.dtype}, sizes...)...))
			}
			best, peak, last, err := alternate(r, sides...)
			if err != nil {
				return err
			}
			if err := agreeWithin(last, map[string]float64{"float32": 1e-3, "bf16": 2e-2}[c.dtype]); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			r.compare(what, best[0]*1e3, "PyTorch", best[1]*1e3, "ms", less, c.wanted)
			if c.kind == "step" {
				r.compare(what+", peak memory", float64(peak[0])/1e6, "PyTorch", float64(peak[1])/1e6, "MB", less, 1/0.8)
				r.compare(what+", peak memory without FreeAfter", float64(peak[2])/1e6, "PyTorch", float64(peak[1])/1e6, "MB", less, 1/0.8)
				r.compare(what+", without FreeAfter", best[2]*1e3, "PyTorch", best[1]*1e3, "ms", less, 0)
			}
		}
	}
	return nil
}

// lmChild runs one case: its kind, dtype, and sizes.
func lmChild(args []string) error {
	kind, dtype := args[0], args[1]
	n, err := numbers(args[2:])
	if err != nil {
		return err
	}
	D, layers, heads, T, B := n[0], n[1], n[2], n[3], n[4]
	const V = 10000
	m := transformer.New(transformer.Config{Vocabulary: V, Context: 1024, Layers: layers, Width: D, Heads: heads})
	tensor.NoGrad(func() {
		for _, p := range nn.Parameters(m) {
			switch w := p.Tensor; {
			case w.Dim() == 1: // normalizations
			case w == m.TokenEmbeddings.Weight:
				w.CopyFrom(pattern(1, V, D))
			default:
				w.CopyFrom(pattern(math.Sqrt(2/float64(w.Size(0)+w.Size(1))), w.Shape()...))
			}
		}
	})
	count := B * T
	if kind == "step" || kind == "held" {
		count = B * (T + 1)
	}
	ids := make([]int, count)
	for i := range ids {
		ids[i] = i * 7919 % V
	}
	all := tensor.Of(ids).View(B, -1)
	switch kind {
	case "step", "held":
		return lmStep(m, all, dtype == "bf16", kind == "step")
	default:
		return lmInference(m, all, kind == "decode")
	}
}

// lmStep measures a training step, whose memory is given back when it ends if free is set.
func lmStep(m *transformer.LM, ids *tensor.Tensor, bf16, free bool) error {
	T := ids.Size(1) - 1
	x, y := ids.Narrow(1, 0, T).Contiguous(), ids.Narrow(1, 1, T).Contiguous()
	opt := optim.NewAdamW(nn.Parameters(m), 1e-4, optim.WeightDecay(0.01))
	dtype := tensor.Float32
	if bf16 {
		dtype = tensor.BFloat16
	}
	last := 0.0
	step := func() {
		var loss *tensor.Tensor
		tensor.Autocast(dtype, func() { loss = m.Loss(x, y) })
		loss.Backward()
		opt.Step()
		opt.ZeroGrad(true)
		last = loss.Item()
	}
	run := step
	if free {
		run = func() { tensor.FreeAfter(func(func(*tensor.Tensor) *tensor.Tensor) { step() }) }
	}
	for range 2 {
		run()
	}
	answer := measured{Sum: fmt.Sprint(last)}
	answer.Seconds = bestOf(1, run)
	answer.Peak = peakBytes()
	return answer.print()
}

func lmInference(m *transformer.LM, ids *tensor.Tensor, decode bool) error {
	T := ids.Size(1)
	cache := m.NewCache(ids.Size(0), T+129)
	var first *tensor.Tensor
	prefill := func() {
		cache.Length = 0
		tensor.FreeAfter(func(keep func(*tensor.Tensor) *tensor.Tensor) { first = keep(m.Next(ids, cache)) })
	}
	prefill()
	answer := measured{Sum: fmt.Sprint(first.Abs().Sum().Item())}
	if !decode {
		answer.Seconds = bestOf(1, prefill)
		return answer.print()
	}
	answer.Seconds = bestOf(1, func() {
		cache.Length = T
		x := first.Argmax(-1).View(-1, 1)
		for range 128 {
			tensor.FreeAfter(func(keep func(*tensor.Tensor) *tensor.Tensor) {
				x = keep(m.Next(x, cache).Argmax(-1).View(-1, 1))
			})
		}
	}) / 128
	return answer.print()
}
