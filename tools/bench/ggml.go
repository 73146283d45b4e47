package bench

import (
	"context"
	_ "embed"
	"fmt"
)

//go:embed ggml.py
var ggmlPeer string

func init() {
	register("peers", "ggml", "operations and a training step beside ggml, in C, with one thread and with -threads", func(ctx context.Context, r *report) error {
		return opsGroup(ctx, r, ggml)
	})
}

// ggml comes in the Python package ggml-python, which compiles its sources (0.15, of 2026) for this processor and gives
// all of its functions by name: of what registries have, Debian has none, other packages bring llama.cpp without the
// tensor library's own functions, and crates are either years old or need Clang to be built. Graphs are made
// beforehand, so that Python takes no part in what is measured but one call for a graph.
//
// ggml takes products from llamafile's kernels, the fastest that it brings itself. It could take them from OpenBLAS as
// well, which the group cpu compares us with. Its GELU by tanh is a table of 16-bit floats.
var ggml = opsPeer{name: "ggml", loose: map[string]float64{"gelu tanh": 2e-3}, start: func(ctx context.Context, threads int) (measurer, error) {
	py, err := python(ctx, "ggml-python==0.0.45")
	if err != nil {
		return measurer{}, err
	}
	return startPeer(ctx, "ggml", py, ggmlPeer, nil, fmt.Sprint(threads))
}}
