package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lectern-go/lectern/kernel/jupyter"
)

func init() {
	register("kernel", "remember", "what remembering costs: bare cells in our kernel, the same work in GoNB with our settings but no server of ours", benchRemember)
}

// rememberCells are pairs of cells that do the same work. %d is another number in each round.
var rememberCells = []struct {
	name  string
	ours  string
	plain string
	fails bool
	most  float64 // ms that ours may take longer; 0 for a cell that is judged by its time alone
	limit float64 // ms that ours may take
}{
	{name: "hello", ours: "fmt.Println(\"hello\", %d)", plain: "%%%%\nfmt.Println(\"hello\", %d)", most: 5},
	{name: "define", ours: "x := %d", plain: "%%%%\nx := %d; _ = x", most: 25},
	{name: "restore and show", ours: "x + %d", plain: "%%%%\nfmt.Println(1 + %d)", most: 25},
	{name: "restore, change, show", ours: "x += %d\nx", plain: "%%%%\nfmt.Println(2 + %d)", most: 25},
	{name: "type error", ours: "var s%d string = 1", plain: "%%%%\nvar s%d string = 1", fails: true, limit: 10},
	// A definition may cost 25 ms, keeping 10M numbers 30 and mapping them back 2.
	{name: "10M float32 defined", ours: "big%d := make([]float32, 10_000_000)", plain: "%%%%\n_ = make([]float32, 10_000_000)[%d]", most: 55},
	{name: "10M float32 restored", ours: "big[%d] = 1", plain: "%%%%\n_ = make([]float32, 10_000_000)[%d]", most: 27},
}

// settle is how long the kernel is left alone before it is measured: completion is warmed meanwhile.
const settle = 15 * time.Second

func benchRemember(ctx context.Context, r *report) error {
	root, list, err := kernelReady(ctx)
	if err != nil {
		return err
	}
	var kernels []*jupyter.Kernel
	for _, c := range []contender{list[0], list[len(list)-1]} {
		k, _, err := startKernel(ctx, root, c)
		if err != nil {
			return err
		}
		defer k.Shutdown(5 * time.Second)
		kernels = append(kernels, k)
	}
	ours, plain := kernels[0], kernels[1]
	if _, err := timeStatus(ctx, ours, "big := make([]float32, 10_000_000)", false); err != nil {
		return err
	}
	select {
	case <-time.After(settle):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	rounds := r.rounds * kernelRounds
	r.note("medians of %d rounds, the kernels in turns", rounds)
	serial := 100
	for _, c := range rememberCells {
		var a, b []time.Duration
		for round := range rounds + 1 {
			serial++
			x, err := timeStatus(ctx, ours, fmt.Sprintf(c.ours, serial), c.fails)
			if err != nil {
				return err
			}
			y, err := timeStatus(ctx, plain, fmt.Sprintf(c.plain, serial), c.fails)
			if err != nil {
				return err
			}
			if round > 0 {
				a, b = append(a, x), append(b, y)
			}
		}
		if c.limit > 0 {
			r.within(c.name, middle(a), "tuned GoNB", middle(b), c.limit, "ms")
		} else {
			r.within(c.name, middle(a), "tuned GoNB", middle(b), middle(b)+c.most, "ms")
		}
	}
	return nil
}

// timeStatus executes a cell that must end well, or must fail.
func timeStatus(ctx context.Context, k *jupyter.Kernel, code string, fails bool) (time.Duration, error) {
	began := time.Now()
	r, err := k.Execute(ctx, code, jupyter.ExecuteOptions{Timeout: time.Minute})
	took := time.Since(began)
	if err != nil {
		return 0, err
	}
	if (r.Status == "error") != fails {
		return 0, fmt.Errorf("the cell\n%s\nended with %s\n%s", code, r.Status, strings.Join(r.Traceback, "\n"))
	}
	return took, nil
}
