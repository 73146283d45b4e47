// Package einops names the axes of tensors. A pattern says what the axes are and what becomes of them, so that code
// needs no comments about shapes and no counting of axes:
//
//	scores := einops.Einsum("batch seq1 hidden, batch seq2 hidden -> batch seq1 seq2", x, y)
//	x = einops.Rearrange(x, "... (heads hidden) -> ... heads hidden", einops.Axis("heads", 2))
//	total := einops.Reduce(x, "... hidden -> ...", einops.Sum)
//
// The patterns are those of the Python package einops, and so are the results and the errors; dimensions
// are strings of words, separated by spaces. [Check] and [Scope] verify annotations such as "batch seq
// heads hidden" while the program runs.
//
// # Where things are
//
// parse.go reads patterns. plan.go works out what a pattern does to the axes of tensors of one rank, solve.go their
// sizes, and cache.go keeps the plans of patterns in use; rearrange.go, reduce.go and repeat.go are the three calls
// that run plans. einsum.go reads and checks the patterns of products, contract.go turns them into matrix products, in
// the order that order.go finds. pack.go, shape.go, check.go and explain.go each deal with one subject.
//
// All results are made by operations of package tensor, so gradients, FLOP counts and devices work as they do there.
//
// # Errors
//
// A pattern that can't be read or does not fit causes a panic with an [*Error] that shows the pattern, with a mark
// under the place; [tensor.Try] turns it into an error.
package einops
