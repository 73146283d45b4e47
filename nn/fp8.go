package nn

import (
	"math"

	"github.com/lectern-go/lectern/tensor"
)

// FP8Linear is [Linear] with 8-bit products (Micikevicius et al., 2022): input and
// weight are rounded to E4M3 and the gradient that comes back to E5M2, each multiplied
// by its own scale, which moves it into the format's range; sums are float32. The
// weight itself stays float32, and is what the optimizer changes.
//
// The products are those of the rounded values: a device with 8-bit tensor cores
// multiplies them as they are, and the processor converts them back first. Scales are
// powers of two, so that they add no rounding. If a device rounds sums in the middle
// of a long product, the last digits differ. The values kept for the gradient have 8
// bits, too.
type FP8Linear struct {
	Mode
	Weight *tensor.Tensor // [out in]
	Bias   *tensor.Tensor // [out]; nil if there is none

	Input  *FP8Scale // E4M3
	Matrix *FP8Scale // E4M3, of the weight
	Grad   *FP8Scale // E5M2
}

// FP8History is how many steps back a scale looks for the largest value.
const FP8History = 16

// NewFP8Linear returns a layer from in to out features with the initial values of
// [NewLinear]. Options are those of [tensor.With].
func NewFP8Linear(in, out int, bias BiasOption, options ...tensor.Option) *FP8Linear {
	l := NewLinear(in, out, bias, options...)
	return &FP8Linear{Weight: l.Weight, Bias: l.Bias,
		Input: NewFP8Scale(tensor.Float8E4M3), Matrix: NewFP8Scale(tensor.Float8E4M3), Grad: NewFP8Scale(tensor.Float8E5M2)}
}

// Forward takes x [... in] to [... out] in the dtype of x.
func (l *FP8Linear) Forward(x *tensor.Tensor) *tensor.Tensor {
	var y *tensor.Tensor
	tensor.Autocast(tensor.Float32, func() {
		y = tensor.Apply(l, x.To(tensor.Float32), l.Weight.To(tensor.Float32))
		if l.Bias != nil {
			y = y.Add(l.Bias.To(tensor.Float32))
		}
	})
	return y.To(x.Dtype())
}

// Function returns the product x·Wᵀ in 8 bits, for [tensor.Apply]. For G = dL/dy,
// rounded as well:
//
//	dL/dx = G·W    dL/dW = Gᵀ·x
func (l *FP8Linear) Function() tensor.Function {
	return tensor.Function{
		Name: "8-bit linear",
		Forward: func(in []*tensor.Tensor) (*tensor.Tensor, []*tensor.Tensor) {
			x, inputScale := l.Input.round(in[0], !l.Evaluating)
			w, matrixScale := l.Matrix.round(in[1], !l.Evaluating)
			y := x.MatmulAs(tensor.Float32, w.T())
			scales := tensor.With(tensor.Float64).Of(inputScale, matrixScale)
			return y.Mul(1 / (inputScale * matrixScale)), []*tensor.Tensor{x, w, scales}
		},
		Gradient: func(saved []*tensor.Tensor, g *tensor.Tensor) []*tensor.Tensor {
			x, w, inputScale, matrixScale := saved[0], saved[1], saved[2].At(0), saved[2].At(1)
			g, scale := l.Grad.round(g, true)
			rows := func(t *tensor.Tensor) *tensor.Tensor { return t.Unsqueeze(0).Flatten(0, -2) }
			return []*tensor.Tensor{
				g.MatmulAs(tensor.Float32, w).Mul(1 / (scale * matrixScale)),
				rows(g).T().MatmulAs(tensor.Float32, rows(x)).Mul(1 / (scale * inputScale)),
			}
		},
	}
}

// FP8Scale rounds values to an 8-bit format after multiplying them by a scale that
// makes good use of its range. The scale is delayed: it follows from the largest
// magnitudes of the last steps, not from the current values, which a GPU would have to
// read once more to find it. Values beyond the range saturate.
type FP8Scale struct {
	Format tensor.Dtype
	// History has the largest magnitudes of the last steps, in a ring.
	History *tensor.Tensor `nn:",buffer"`
	// Steps is how many there were, as a tensor with a single number.
	Steps *tensor.Tensor `nn:",buffer"`
}

// NewFP8Scale returns a scale for a format that has seen no values yet; for the first
// ones it uses their own magnitude.
func NewFP8Scale(format tensor.Dtype) *FP8Scale {
	return &FP8Scale{format, tensor.Zeros(FP8History), tensor.With(tensor.Int64).Zeros()}
}

// Scale returns the current scale: the largest power of two that keeps the largest
// magnitude in the history within the format; 1 if there is none.
func (s *FP8Scale) Scale() float64 { return scaleFor(s.Format, s.History.Max().Item()) }

func scaleFor(format tensor.Dtype, largest float64) float64 {
	if !(largest > 0) || math.IsInf(largest, 0) {
		return 1
	}
	fraction, exponent := math.Frexp(tensor.Finfo(format).Max / largest)
	if fraction == 0 {
		return 1
	}
	// Scales beyond these would make float32 values over- or underflow.
	return math.Ldexp(1, min(max(exponent-1, -100), 100))
}

// round returns x, a float32 tensor, times a scale and rounded to the format, and
// the scale. If note is set, the magnitude of x goes into the history.
func (s *FP8Scale) round(x *tensor.Tensor, note bool) (rounded *tensor.Tensor, scale float64) {
	// What is recomputed for the gradient has the scale that it had the first time.
	scale = tensor.Once(func() float64 { return s.adapt(x, note) })
	return x.Detach().Mul(scale).ToSaturating(s.Format), scale
}

// adapt returns the scale for x and, if note is set, adds the magnitude of x to the
// history.
func (s *FP8Scale) adapt(x *tensor.Tensor, note bool) float64 {
	scale, first := s.Scale(), s.Steps.Item() == 0
	if !note && !first {
		return scale
	}
	largest := 0.
	if x.Len() > 0 {
		largest = x.Detach().Abs().Max().Item()
	}
	if first {
		scale = scaleFor(s.Format, largest)
	}
	if note && !math.IsNaN(largest) && !math.IsInf(largest, 0) { // a step with those is skipped anyway
		tensor.NoGrad(func() {
			s.History.SetAt(largest, int(s.Steps.Item())%s.History.Len())
			s.Steps.AddInPlace(1)
		})
	}
	return scale
}
