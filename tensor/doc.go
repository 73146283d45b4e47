// Package tensor is an n-dimensional array library that behaves as PyTorch
// does and is small enough to read.
//
// # Where things are
//
// A [Tensor] is a storage (storage.go: aligned bytes, shared by views), a
// [Layout] (package layout: shape, strides and offset; pure index arithmetic) and a
// [Dtype] (dtype.go: one table of formats), plus a node if it takes part in a
// gradient.
//
// Every operation is one record (op.go) of forward, derivative and cost, run by
// one function, apply. Records stand beside the methods that apply them:
// arithmetic.go and divide.go, functions.go, activations.go, compare.go,
// masked.go; reduce.go, extrema.go, statistics.go; softmax.go, cumulative.go,
// sort.go; view.go, arrange.go, index.go, join.go, gather.go, scatter.go, triangle.go;
// matmul.go, products.go.
// Kernels are loops over slices, in internal/loops, which also brings elements of any
// layout and dtype into that form; elementwise.go and rows.go run them over tensors.
//
// Gradients start in gradient.go and run on package autograd; inplace.go says what
// a write does to the graph and recompute.go trades time for memory. graph.go
// exports the graph, trace.go tells observers of all that happens.
//
// A notebook carries tensors from cell to cell, each of which is a process: keep.go
// says what of them, keepgraph.go, keepcall.go and keepend.go what of the graph.
//
// free.go gives memory back before the garbage collector does, passing.go does so
// with the gradients of Backward, and internal/memory hands it out again.
//
// The codes of the small floats, and conversions, are in internal/numbers, block-scaled
// FP4 is in fp4.go, what can be asked about formats in finfo.go and bits.go. Random
// numbers come from philox.go through generator.go to random.go.
//
// # Sharing
//
// Methods return new tensors unless their comment says that the result is a
// view. Views share storage: a write through one shows in all.
//
// # Memory
//
// The collector gives memory back, as always in Go. A loop is faster, and needs less of
// a device, if it frees what it no longer needs: [Tensor.Free], or [FreeAfter] for
// all that a function makes. What was freed can't be used any more; nothing else
// changes.
//
// # Errors
//
// A mistake of the caller - shapes that don't fit, an axis that isn't there, a
// second Backward - panics with an [*Error] that names the operation, the
// operands, the rule and a remedy; [Try] turns it into an error. Methods that can
// fail for reasons outside the program return an error.
//
// # Concurrency
//
// Large operations run on as many threads as the environment variable GOMAXPROCS, or
// [runtime.GOMAXPROCS], allows: all processors unless it is set. Results don't depend
// on their number.
//
// Different goroutines may read the same tensor. Writing, and Backward through a
// shared graph, need the caller's own locking.
package tensor
