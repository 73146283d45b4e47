package optim

import (
	"fmt"
	"iter"
	"math"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/internal/rawtensor"
	"github.com/lectern-go/lectern/tensor"
)

// ClipGradNorm scales down all gradients by the same factor if their joint norm is
// above limit: the factor is limit/(norm + 1e-6), as in PyTorch. It returns the norm
// before clipping. kind is the power p of the norm (Σ|g|^p)^(1/p), 2 if not given;
// math.Inf(1) is the largest magnitude. If the norm is not finite, the gradients stay
// as they are. Parameters that are nil or have no gradient are skipped.
func ClipGradNorm(params []tensor.NamedTensor, limit float64, kind ...float64) float64 {
	p := 2.
	if len(kind) > 0 {
		p = kind[0]
	}
	if !(limit >= 0) || !(p > 0) || len(kind) > 1 {
		fail(tensor.ErrValue, "clip grad norm", fmt.Sprintf("limit %g and norms %v", limit, kind), "give a limit that is not negative and at most one norm above 0")
	}
	total := 0.
	for g := range gradients(params) {
		if part := powers(g, p); math.IsInf(p, 1) {
			total = math.Max(total, part)
		} else {
			total += part
		}
	}
	if !math.IsInf(p, 1) {
		total = math.Pow(total, 1/p)
	}
	if factor := limit / (total + 1e-6); factor < 1 && !math.IsInf(total, 0) {
		scaleGrads(params, factor)
	}
	return total
}

// ClipGradValue limits each component of the gradients to [-limit, limit]. It
// panics if limit is negative.
func ClipGradValue(params []tensor.NamedTensor, limit float64) {
	if !(limit >= 0) {
		fail(tensor.ErrValue, "clip grad value", fmt.Sprintf("the limit is %g", limit), "")
	}
	tensor.NoGrad(func() {
		for g := range gradients(params) {
			g.Detach().ClampInPlace(-limit, limit)
		}
	})
}

func scaleGrads(params []tensor.NamedTensor, factor float64) {
	tensor.NoGrad(func() {
		for g := range gradients(params) {
			g.Detach().MulInPlace(factor)
		}
	})
}

// gradients skips parameters that have none, and those that are nil.
func gradients(params []tensor.NamedTensor) iter.Seq[*tensor.Tensor] {
	return func(yield func(*tensor.Tensor) bool) {
		for _, p := range params {
			if p.Tensor == nil {
				continue
			}
			if g := raw.Grad(p.Tensor); g != nil && !yield(g) {
				return
			}
		}
	}
}

// powers returns Σ|x|^p, or the largest |x| for infinite p, in float64. It adds up
// pieces of a fixed length in order, so that the sum does not depend on the number of
// threads.
func powers(t *tensor.Tensor, p float64) float64 {
	t = t.Detach().Contiguous()
	if !t.Device().IsCPU() {
		return powersOn(t.Abs().To(tensor.Float64), p)
	}
	if t.Dtype() == tensor.Float64 {
		return powersOf(rawtensor.Elements[float64](raw, t), p)
	}
	return powersOf(rawtensor.Elements[float32](raw, t.To(tensor.Float32)), p)
}

// powersOn is powersOf for magnitudes on another device, which sums them itself.
func powersOn(x *tensor.Tensor, p float64) float64 {
	switch {
	case x.Len() == 0:
		return 0
	case p == 2:
		return x.Square().Sum().Item()
	case math.IsInf(p, 1):
		return x.Max().Item()
	}
	return x.Pow(p).Sum().Item()
}

func powersOf[T float32 | float64](x []T, p float64) float64 {
	parts := make([]float64, (len(x)+pieceLen-1)/pieceLen)
	cpu.Parallel(len(parts), func(piece int) {
		part := x[piece*pieceLen : min((piece+1)*pieceLen, len(x))]
		sum := 0.
		switch {
		case p == 2:
			sum = squares(part)
		case math.IsInf(p, 1):
			for _, v := range part {
				sum = math.Max(sum, math.Abs(float64(v)))
			}
		default:
			for _, v := range part {
				sum += math.Pow(math.Abs(float64(v)), p)
			}
		}
		parts[piece] = sum
	})
	total := 0.
	for _, part := range parts {
		if math.IsInf(p, 1) {
			total = math.Max(total, part)
		} else {
			total += part
		}
	}
	return total
}

// squares returns Σx² in float64. It keeps four sums side by side, because each
// addition has to wait for the previous one.
func squares[T float32 | float64](x []T) float64 {
	var a, b, c, d float64
	for ; len(x) >= 4; x = x[4:] {
		v, w, y, z := float64(x[0]), float64(x[1]), float64(x[2]), float64(x[3])
		a += v * v
		b += w * w
		c += y * y
		d += z * z
	}
	for _, v := range x {
		a += float64(v) * float64(v)
	}
	return (a + b) + (c + d)
}
