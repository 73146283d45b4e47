package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/lectern-go/lectern/tensor"
)

func init() {
	register("self", "hooks", "what tracing and accounting cost while nobody listens: the ordinary build beside one without their hooks", hooksGroup)
	children["hooks"] = hooksCall
}

// hooksCases are from the operation that computes least, where a hook weighs
// most, to a step of training.
var hooksCases = map[string]func() func(){
	"add of 4 numbers": func() func() {
		x, y := tensor.Ones(4), tensor.Ones(4)
		return func() { x.Add(y) }
	},
	"view": func() func() {
		x := tensor.Ones(4, 8)
		return func() { x.T() }
	},
	"recorded product of 8×8": func() func() {
		x, w := tensor.Ones(8, 8), tensor.Ones(8, 8).RequireGrad()
		return func() { x.Matmul(w) }
	},
	"training step of two layers": func() func() {
		x, w1, w2 := tensor.Ones(32, 64), tensor.Full(0.01, 64, 64).RequireGrad(), tensor.Full(0.01, 64, 8).RequireGrad()
		return func() {
			x.Matmul(w1).ReLU().Matmul(w2).Pow(2).Mean().Backward()
			tensor.NoGrad(func() {
				for _, w := range []*tensor.Tensor{w1, w2} {
					w.SubInPlace(w.Grad().Mul(0.01))
					w.ZeroGrad()
				}
			})
		}
	},
}

var hooksOrder = []string{"add of 4 numbers", "view", "recorded product of 8×8", "training step of two layers"}

// hooksGroup measures each case by turns in both builds. Two programs differ in
// where the linker puts their code as well, which alone is worth a percent or
// two; the fastest of many short runs is compared.
func hooksGroup(ctx context.Context, r *report) error {
	dir, err := os.MkdirTemp("", "lectern-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	with, without := filepath.Join(dir, "with"), filepath.Join(dir, "without")
	overlay, err := withoutHooks(ctx, dir)
	if err != nil {
		return err
	}
	for program, flag := range map[string]string{with: "-overlay=", without: "-overlay=" + overlay} {
		build := exec.CommandContext(ctx, "go", "build", flag, "-o", program, "github.com/lectern-go/lectern/internal/bench")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build: %w: %s", err, lastLines(string(out), 5))
		}
	}
	const turns = 12
	for _, name := range hooksOrder {
		best := map[string]float64{}
		for range turns * r.rounds / 3 {
			for _, program := range []string{with, without} {
				var took float64
				if err := runJSON(ctx, &took, nil, "", program, "-child", "hooks", name); err != nil {
					return err
				}
				if best[program] == 0 || took < best[program] {
					best[program] = took
				}
			}
		}
		r.compare(name, best[with], "without hooks", best[without], "ns", less, 0.98) // at most 1.02 of the time
	}
	return nil
}

// withoutHooks writes an overlay for the go command in which nobody can ever listen, so that the compiler leaves out
// what is said to listeners.
func withoutHooks(ctx context.Context, dir string) (overlay string, err error) {
	where, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", "github.com/lectern-go/lectern/tensor").Output()
	if err != nil {
		return "", fmt.Errorf("list: %w", err)
	}
	file := filepath.Join(strings.TrimSpace(string(where)), "trace.go")
	source, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	const asks = "func observed() bool { return observers.Load() != nil }"
	if !bytes.Contains(source, []byte(asks)) {
		return "", fmt.Errorf("%s has no %q any more", file, asks)
	}
	deaf := filepath.Join(dir, "trace.go")
	if err := os.WriteFile(deaf, bytes.Replace(source, []byte(asks), []byte("func observed() bool { return false }"), 1), 0o666); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{file: deaf}})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, list, 0o666)
}

// hooksCall prints the nanoseconds of one run of a case, the best of several
// short runs on one thread.
func hooksCall(args []string) error {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1) // collect between the runs, not during some of them
	call := hooksCases[args[0]]()
	n := 1
	run := func() time.Duration {
		runtime.GC()
		start := time.Now()
		for range n {
			call()
		}
		return time.Since(start)
	}
	for run() < 5*time.Millisecond {
		n *= 2
	}
	best := run()
	for range 30 {
		best = min(best, run())
	}
	return json.NewEncoder(os.Stdout).Encode(float64(best) / float64(n))
}
