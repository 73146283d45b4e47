package tensor

// In-place forms of operations on one tensor. They return t and panic as
// described at [Tensor.CopyFrom]; a result of a higher class than t's dtype, such
// as the root of whole numbers, is refused.

// Zero sets every element to 0 and returns t.
func (t *Tensor) Zero() *Tensor { return t.Fill(0) }

// NegInPlace replaces t by -t.
func (t *Tensor) NegInPlace() *Tensor { return t.update(&opNeg, nil) }

// AbsInPlace replaces each element by its magnitude.
func (t *Tensor) AbsInPlace() *Tensor { return t.update(&opAbs, nil) }

// ExpInPlace replaces each element by e to its power.
func (t *Tensor) ExpInPlace() *Tensor { return t.update(&opExp, nil) }

// LogInPlace replaces each element by its natural logarithm.
func (t *Tensor) LogInPlace() *Tensor { return t.update(&opLog, nil) }

// SqrtInPlace replaces each element by its square root.
func (t *Tensor) SqrtInPlace() *Tensor { return t.update(&opSqrt, nil) }

// SquareInPlace replaces each element by its square.
func (t *Tensor) SquareInPlace() *Tensor { return t.update(&opSquare, nil) }

// ReciprocalInPlace replaces each element by 1 over it.
func (t *Tensor) ReciprocalInPlace() *Tensor { return t.update(&opReciprocal, nil) }

// ReLUInPlace replaces negative elements by 0.
func (t *Tensor) ReLUInPlace() *Tensor { return t.update(&opReLU, nil) }

// SigmoidInPlace replaces each element by its sigmoid.
func (t *Tensor) SigmoidInPlace() *Tensor { return t.update(&opSigmoid, nil) }

// TanhInPlace replaces each element by its hyperbolic tangent.
func (t *Tensor) TanhInPlace() *Tensor { return t.update(&opTanh, nil) }

// ClampInPlace limits the elements to [low, high]; see [Tensor.Clamp].
func (t *Tensor) ClampInPlace(low, high float64) *Tensor {
	return t.update(&opClamp, bounds{low, high})
}

// MaskedFillInPlace sets the elements where mask is set to value; see
// [Tensor.MaskedFill].
func (t *Tensor) MaskedFillInPlace(mask *Tensor, value float64) *Tensor {
	return t.update(&opMaskedFill, value, mask)
}

// RemainderInPlace replaces t by t mod other, a tensor or a number.
func (t *Tensor) RemainderInPlace(other any) *Tensor { return t.update(&opRemainder, nil, other) }

// FloorDivInPlace replaces t by t / other rounded down, for a tensor or a number.
func (t *Tensor) FloorDivInPlace(other any) *Tensor { return t.update(&opFloorDiv, nil, other) }
