// Package tensor is an n-dimensional array library that behaves as PyTorch does and is small enough to read.
//
// # Where to begin
//
// These files, in this order, carry the idea: fewer than 4000 lines.
//
//	tensor.go         what a tensor is
//	layout/layout.go  shape, strides and offset, and what views do to them
//	dtype.go          the element types, and the result of combining two
//	op.go             what an operation is, and the one function that runs it
//	elementwise.go    how a kernel, a loop over slices, meets tensors
//	arithmetic.go     sums, products, quotients and powers, each with its derivative and cost
//	reduce.go         sums and means over axes
//	softmax.go        operations along an axis
//	view.go           other layouts of the same memory
//	matmul.go         products of matrices
//	gradient.go       Backward, on package autograd
//	errors.go         messages about mistakes
//
// # Where the rest is
//
// Every operation is one record of forward, derivative and cost. Records stand beside the methods that apply them:
// functions.go, trigonometry.go, activations.go, blend.go, compare.go, masked.go; extrema.go, statistics.go, norm.go,
// sort.go; arrange.go, index.go, gather.go, scatter.go; attention.go, crossentropy.go; copy.go. custom.go is for
// operations of your own. create.go makes tensors of numbers, random.go of random ones.
//
// inplace.go says what a write does to the graph, and recompute.go trades time for memory. graph.go exports the
// graph, trace.go tells observers and the notebooks' stepper everything that happens, and autocast.go chooses small
// floats.
//
// Packages below this one know nothing of tensors: internal/loops has the kernels, internal/numbers the codes of the
// small floats, internal/memory the storage that views share, and how it is freed, internal/random makes random bits,
// and internal/printed writes values as text and as HTML, which format.go asks for. Block-scaled FP4 is in fp4.go, and
// formats.go answers questions about formats.
//
// device.go is the bridge to devices such as that of package gpu, and fused.go to their kernels for whole operations.
// memory.go wraps memory from elsewhere, and frees memory before the garbage collector does.
//
// A notebook carries tensors from cell to cell, each of which is a process: keep.go has the state that is
// kept of them, and keepgraph.go that of the graph.
//
// # Sharing
//
// Methods return new tensors unless their comment says that the result is a view. Views share
// storage: a write through one shows in all of them.
//
// # Memory
//
// The garbage collector frees memory, as always in Go. A loop is faster, and needs less of a device's memory,
// if it frees what it no longer needs: with [Tensor.Free], or with [FreeAfter] for everything that a function
// makes. Freed tensors can't be used any more; nothing else changes.
//
// # Errors
//
// A mistake of the caller - shapes that don't fit, an axis that isn't there, a second Backward - panics with an
// [*Error] that names the operation, the operands, the rule and a remedy; [Try] turns it into an error. Methods that
// can fail for reasons outside the program return an error.
//
// # Concurrency
//
// Large operations run on as many threads as the environment variable GOMAXPROCS, or [runtime.GOMAXPROCS], allows: all
// processors unless it is set. Results don't depend on their number.
//
// Different goroutines may read the same tensor. Writing, and Backward through a shared graph,
// need the caller's own locking.
package tensor
