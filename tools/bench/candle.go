package bench

import (
	"context"
	"fmt"
	"path/filepath"
)

func init() {
	register("peers", "candle", "operations and a training step beside candle, in Rust, with one thread and with -threads", func(ctx context.Context, r *report) error {
		return opsGroup(ctx, r, candle)
	})
}

// candle is built for this processor, and multiplies with the crate gemm, as it does by default.
var candle = opsPeer{name: "candle", start: func(ctx context.Context, threads int) (measurer, error) {
	root, err := repository()
	if err != nil {
		return measurer{}, err
	}
	target := filepath.Join(root, ".lectern", "candle-peer")
	manifest := filepath.Join(root, "tools", "bench", "candle", "Cargo.toml")
	err = build(ctx, []string{"RUSTFLAGS=-C target-cpu=native"}, "cargo", "build", "--quiet", "--release", "--manifest-path", manifest, "--target-dir", target)
	if err != nil {
		return measurer{}, err
	}
	return startTelling(ctx, "candle", []string{fmt.Sprintf("RAYON_NUM_THREADS=%d", threads)}, filepath.Join(target, "release", "lectern-candle"))
}}
