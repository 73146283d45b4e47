package bench

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func init() {
	register("pages", "live", "pages whose cells run, in a headless Chromium with their files at hand", benchLive)
}

// liveGoals are what BenchmarkLive of kernel/e2e measures.
var liveGoals = []struct {
	metric, unit, about string
	goal                float64
}{
	{"first-s", "s", "the first Run of a page, until its output is there", 6},
	{"cell-s", "s", "one changed cell", 0.8},
	{"lesson-s", "s", "a whole lesson", 1.5},
	{"matmul-ms", "ms", "256x256x256 in float32, at best", 5},
	{"training-s", "s", "the whole lesson 19, training and all", 15},
}

// benchLive runs the benchmark of the browser's tests, which have what it takes to steer one. The
// medians of all lessons and rounds count.
func benchLive(ctx context.Context, r *report) error {
	root, err := repository()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkLive$", "-benchtime", "1x", "-count", strconv.Itoa(r.rounds), "-timeout", "60m", ".")
	cmd.Dir = filepath.Join(root, "kernel", "e2e")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	values := map[string][]float64{}
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || !strings.HasPrefix(fields[0], "BenchmarkLive/") {
			said = append(said, lines.Text())
			continue
		}
		// A name, how often, and pairs of a value and its unit, the first of them the time of all.
		line := strings.TrimPrefix(fields[0], "BenchmarkLive/")
		for i := 4; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return fmt.Errorf("%q: %w", lines.Text(), err)
			}
			values[fields[i+1]] = append(values[fields[i+1]], v)
			line += fmt.Sprintf("  %s %s", fields[i], fields[i+1])
		}
		r.note("%s", line)
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("the browser's benchmark: %w\n%s", cmp.Or(ctx.Err(), err), strings.Join(said, "\n"))
	}
	r.note("medians of these:")
	for _, g := range liveGoals {
		v := slices.Sorted(slices.Values(values[g.metric]))
		if len(v) == 0 {
			return errors.New("the browser's benchmark does not tell " + g.metric + "\n" + strings.Join(said, "\n"))
		}
		r.within(g.about, v[len(v)/2], "goal", g.goal, g.goal, g.unit)
	}
	return nil
}
