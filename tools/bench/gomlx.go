package bench

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
)

func init() {
	register("peers", "gomlx", "operations and a training step beside GoMLX on its backend in Go, with one thread and with -threads", func(ctx context.Context, r *report) error {
		return opsGroup(ctx, r, gomlx)
	})
}

// gomlx is GoMLX 0.26 with its backend simplego, which has neither vector instructions nor fused attention. Its
// successor, the module gomlx/compute, could not be had from the module proxy when this was written.
var gomlx = opsPeer{name: "GoMLX", start: func(ctx context.Context, threads int) (measurer, error) {
	root, err := repository()
	if err != nil {
		return measurer{}, err
	}
	program := filepath.Join(root, ".lectern", "gomlx-peer")
	if err := build(ctx, nil, "go", "-C", filepath.Join(root, "tools", "bench", "gomlx"), "build", "-o", program, "."); err != nil {
		return measurer{}, err
	}
	return startTelling(ctx, "GoMLX", []string{fmt.Sprintf("GOMAXPROCS=%d", threads)}, program)
}}

// build runs the tool that builds a peer. What it built before it builds again only where something has changed.
func build(ctx context.Context, env []string, tool string, args ...string) error {
	path, err := exec.LookPath(tool)
	if err != nil {
		return errors.New("no " + tool + " on this machine")
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(cmd.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", tool, err, lastLines(string(out), 3))
	}
	return nil
}
