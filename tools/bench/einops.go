package bench

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lectern-go/lectern/einops"
	"github.com/lectern-go/lectern/tensor"
)

//go:embed einops.py
var einopsPeers string

// The attention scores of 8 sequences of 512 tokens with 12 heads of 64.
const scoresB, scoresH, scoresT, scoresD = 8, 12, 512, 64

func init() {
	register("peers", "einops", "a view by a known pattern, and attention scores, beside Python's einops on PyTorch", einopsGroup)
	children["einops-rearrange"] = einopsRearrange
	children["einops-scores"] = einopsScores
}

func einopsGroup(ctx context.Context, r *report) error {
	py, err := python(ctx, "torch==2.10.0", "einops==0.8.2", "numpy")
	if err != nil {
		r.absent("einops", err)
		return nil
	}
	compare := func(what, kind string, threads int, args ...string) ([]float64, error) {
		best, _, last, err := alternate(r,
			ours(ctx, threads, "einops-"+kind, args...),
			theirs(ctx, py, einopsPeers, nil, append([]string{kind, fmt.Sprint(threads)}, args...)...))
		if err == nil && last[0].Sum != last[1].Sum {
			err = fmt.Errorf("%s: the two sides give different results, %s and %s", what, last[0].Sum, last[1].Sum)
		}
		return best, err
	}
	for _, pattern := range []string{"... (h d) -> ... h d", "b s (h d) -> b h s d"} {
		best, err := compare(pattern, "rearrange", 1, pattern)
		if err != nil {
			return err
		}
		r.compare(pattern, best[0]*1e9, "einops", best[1]*1e9, "ns", less, 5)
	}
	for _, c := range []struct {
		what, pattern string
		shape         []int
		wanted        float64
	}{
		{"scores of heads that are batches", "b h q d, b h k d -> b h q k", []int{scoresB, scoresH, scoresT, scoresD}, 1},
		{"scores of heads side by side", "b q h d, b k h d -> b h q k", []int{scoresB, scoresT, scoresH, scoresD}, 0},
	} {
		args := append([]string{c.pattern}, strings.Fields(strings.Trim(fmt.Sprint(c.shape), "[]"))...)
		best, err := compare(c.what, "scores", r.threads, args...)
		if err != nil {
			return err
		}
		const flops = 2. * scoresB * scoresH * scoresT * scoresT * scoresD
		r.compare(fmt.Sprintf("%s, %d threads", c.what, r.threads), flops/best[0]/1e9, "einops", flops/best[1]/1e9, "GF/s", more, c.wanted)
	}
	return nil
}

// bestOf returns the seconds of one call, the best of some rounds, after one to
// warm up.
func bestOf(calls int, f func()) float64 {
	best := 0.
	for round := range 8 {
		start := time.Now()
		for range calls {
			f()
		}
		if s := time.Since(start).Seconds() / float64(calls); round == 1 || round > 1 && s < best {
			best = s
		}
	}
	return best
}

func einopsRearrange(args []string) error {
	x := tensor.Zeros(8, 512, 768)
	pattern := args[0]
	y := einops.Rearrange(x, pattern, einops.Axis("h", 12))
	answer := measured{Sum: pythonList(y.Shape())}
	answer.Seconds = bestOf(5000, func() { einops.Rearrange(x, pattern, einops.Axis("h", 12)) })
	return answer.print()
}

// einopsScores multiplies small multiples of 1/8, so that every order of
// additions gives the same sum.
func einopsScores(args []string) error {
	var shape []int
	n := 1
	for _, word := range args[1:] {
		var size int
		if _, err := fmt.Sscan(word, &size); err != nil {
			return err
		}
		shape = append(shape, size)
		n *= size
	}
	if n == 1 {
		return errors.New("no shape is given")
	}
	numbers := func(factor, period int) *tensor.Tensor {
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(i*factor%period-period/2) / 8
		}
		return tensor.Of(values).Reshape(shape...)
	}
	q, k := numbers(7, 13), numbers(5, 11)
	var y *tensor.Tensor
	seconds := bestOf(3, func() { y = einops.Einsum(args[0], q, k) })
	total := 0.
	for i, v := range y.Floats() {
		total += v * float64(i%17)
	}
	return measured{Seconds: seconds, Sum: fmt.Sprintf("%s %.3f", pythonList(y.Shape()), total)}.print()
}

// pythonList writes sizes as Python does: "[2, 3]".
func pythonList(sizes []int) string {
	return strings.ReplaceAll(fmt.Sprint(sizes), " ", ", ")
}
