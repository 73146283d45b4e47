package tensor

import "math"

// Division with rounding. For whole numbers a zero divisor is an error; floats
// follow IEEE 754.

var opFloorDiv, opTruncDiv op

func init() {
	define(&opFloorDiv, op{
		name: "floor divide",
		forward: wholeDivision(binaryKernels{floorDiv[float32], floorDiv[float64], func(dst, x, y []int64) {
			for i := range dst {
				dst[i] = x[i] / y[i]
				if x[i]%y[i] != 0 && (x[i] < 0) != (y[i] < 0) {
					dst[i]--
				}
			}
		}}),
		flops: perElement(2),
	})
	define(&opTruncDiv, op{
		name: "truncating divide",
		forward: wholeDivision(binaryKernels{
			f32: func(dst, x, y []float32) {
				for i := range dst {
					dst[i] = float32(math.Trunc(float64(x[i] / y[i])))
				}
			},
			f64: func(dst, x, y []float64) {
				for i := range dst {
					dst[i] = math.Trunc(x[i] / y[i])
				}
			},
			i64: func(dst, x, y []int64) {
				for i := range dst {
					dst[i] = x[i] / y[i]
				}
			},
		}),
		flops: perElement(2),
	})
}

// FloorDiv returns t / other rounded down, as // does in Python; whole numbers
// stay whole. It takes no part in gradients. It panics if the shapes can't be
// broadcast, or if a whole number is divided by 0.
func (t *Tensor) FloorDiv(other any) *Tensor {
	return apply(&opFloorDiv, nil, t, operand("floor divide", other))
}

// TruncDiv returns t / other rounded towards 0, as / does with Go's whole
// numbers; see [Tensor.FloorDiv].
func (t *Tensor) TruncDiv(other any) *Tensor {
	return apply(&opTruncDiv, nil, t, operand("truncating divide", other))
}

// floorDiv subtracts the remainder first, so that the quotient is exact when it
// is rounded.
func floorDiv[T float32 | float64](dst, x, y []T) {
	for i := range dst {
		a, b := float64(x[i]), float64(y[i])
		if b == 0 {
			dst[i] = T(a / b)
			continue
		}
		rest := mod(a, b)
		quotient := (a - rest) / b
		if rest != 0 && (rest < 0) != (b < 0) {
			quotient--
		}
		dst[i] = T(math.Round(quotient))
	}
}

// wholeDivision refuses zero divisors of whole numbers.
func wholeDivision(k binaryKernels) func(c *call) *Tensor {
	forward := notBool(binary(k, sameDtype), "convert with To(tensor.Int64)")
	return func(c *call) *Tensor {
		x, y := c.left(), c.right()
		if !x.dtype.IsFloat() && !y.dtype.IsFloat() && contains(y, func(n int64) bool { return n == 0 }) {
			fail(ErrValue, c.op.name, describe(x, y), "a whole number is divided by 0", "convert with To(tensor.Float32) to get an infinity instead")
		}
		return forward(c)
	}
}

// d(a mod b)/da = 1, d(a mod b)/db = -⌊a/b⌋; fmod cuts instead of rounding down
var opRemainder, opFmod op

func init() {
	rounded := func(quotient func(a, b *Tensor) *Tensor) []gradient {
		return []gradient{
			{readsNothing, func(_ *call, g *Tensor, _ int) *Tensor { return g }},
			{readsLeft | readsRight, func(c *call, g *Tensor, _ int) *Tensor {
				return g.Mul(quotient(c.left(), c.right())).Neg()
			}},
		}
	}
	define(&opRemainder, op{
		name: "remainder",
		forward: wholeDivision(binaryKernels{
			f32: nearAndFar(vectors32.RemainderNear, pythonMod),
			f64: func(dst, x, y []float64) {
				for i := range dst {
					dst[i] = pythonMod(x[i], y[i])
				}
			},
			i64: func(dst, x, y []int64) {
				for i := range dst {
					dst[i] = x[i] % y[i]
					if dst[i] != 0 && (dst[i] < 0) != (y[i] < 0) {
						dst[i] += y[i]
					}
				}
			},
		}),
		gradients:  rounded((*Tensor).floorDivide),
		broadcasts: true,
		flops:      onePerElement,
	})
	define(&opFmod, op{
		name: "fmod",
		forward: wholeDivision(binaryKernels{
			f32: nearAndFar(vectors32.FmodNear, mod),
			f64: func(dst, x, y []float64) {
				for i := range dst {
					dst[i] = mod(x[i], y[i])
				}
			},
			i64: func(dst, x, y []int64) {
				for i := range dst {
					dst[i] = x[i] % y[i]
				}
			},
		}),
		gradients:  rounded((*Tensor).truncDivide),
		broadcasts: true,
		flops:      onePerElement,
	})
}

// nearAndFar computes remainders in vector instructions, where there are any, and by far
// what those leave as NaN.
func nearAndFar(near func(dst, x, y []float32), far func(a, b float64) float64) func(dst, x, y []float32) {
	return func(dst, x, y []float32) {
		if near == nil {
			for i := range dst {
				dst[i] = float32(far(float64(x[i]), float64(y[i])))
			}
			return
		}
		var room [256]float32 // dst may be an operand
		for len(x) > 0 {
			n := min(len(x), len(room))
			rest := room[:n]
			near(rest, x[:n], y[:n])
			if s := vectors32.Sum(rest); s != s {
				for i, v := range rest {
					if v != v {
						rest[i] = float32(far(float64(x[i]), float64(y[i])))
					}
				}
			}
			copy(dst, rest)
			dst, x, y = dst[n:], x[n:], y[n:]
		}
	}
}

func (t *Tensor) floorDivide(other *Tensor) *Tensor { return t.FloorDiv(other) }
func (t *Tensor) truncDivide(other *Tensor) *Tensor { return t.TruncDiv(other) }

// Remainder returns t mod other with the sign of other, as % does in Python. It
// panics if the shapes can't be broadcast, or if a whole number is divided by 0.
func (t *Tensor) Remainder(other any) *Tensor {
	return apply(&opRemainder, nil, t, operand("remainder", other))
}

// Fmod returns t mod other with the sign of t, as % does in Go. It panics if the
// shapes can't be broadcast, or if a whole number is divided by 0.
func (t *Tensor) Fmod(other any) *Tensor { return apply(&opFmod, nil, t, operand("fmod", other)) }

// pythonMod is a mod b with the sign of b.
func pythonMod(a, b float64) float64 {
	m := mod(a, b)
	if m != 0 && (m < 0) != (b < 0) {
		m += b
	}
	return m
}

// mod is math.Mod, exact as that is, in a division and a fused multiply-add where the quotient has no more than 52 bits: rounding can only make it one
// too large, and a - q·b is a float64 in either case.
func mod(a, b float64) float64 {
	q := math.Trunc(a / b)
	if !(math.Abs(q) < 1<<52) || math.Abs(b) > math.MaxFloat64 || b == 0 {
		return math.Mod(a, b)
	}
	rest := math.FMA(-q, b, a)
	if rest != 0 && (rest < 0) != (a < 0) {
		rest += math.Copysign(b, a)
	}
	return math.Copysign(rest, a)
}
