package einops

import "github.com/lectern-go/lectern/tensor"

// Repeat repeats elements along the axes that are on the right of the pattern
// but not on the left, whose lengths are given or written as numbers, and
// rearranges the others as [Rearrange] does.
//
//	einops.Repeat(x, "h w -> h w c", einops.Axis("c", 3))
//	einops.Repeat(x, "h w -> (h 2) (w 2)") // each element becomes a block of 2x2
//
// If no new axis is composed with others, the result is a view of x that repeats
// without copying (its new axes have stride 0): use Contiguous before writing to it.
// Otherwise it is a copy. It panics with an [*Error] if the pattern is not well formed
// or does not fit, or if a length is missing.
func Repeat[X Input](x X, pattern string, axes ...Size) *tensor.Tensor {
	t := input(repeating, pattern, x)
	return planFor(repeating, pattern, t).run(t, nil, axes)
}
