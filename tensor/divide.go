package tensor

import (
	"github.com/lectern-go/lectern/tensor/internal/loops"
)

// Division with rounding. For whole numbers a zero divisor is an error; floats
// follow IEEE 754.

var opFloorDiv, opTruncDiv op

func init() {
	define(&opFloorDiv, op{
		name:    "floor divide",
		forward: wholeDivision(loops.BinaryKernels{F32: loops.NearAndFar(loops.NearFloorDiv, loops.OneFloorDiv), F64: loops.FloorDiv[float64], I64: loops.FloorWhole}, loops.Vectors32.FloorInts),
		flops:   perElement(2),
	})
	define(&opTruncDiv, op{
		name: "truncating divide",
		forward: wholeDivision(loops.BinaryKernels{
			F32: loops.TruncDiv[float32],
			F64: loops.TruncDiv[float64],
			I64: loops.TruncWhole,
		}, loops.Vectors32.QuotientInts),
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

// wholeDivision refuses zero divisors of whole numbers. ints is as in binary.
func wholeDivision(k loops.BinaryKernels, ints func(dst, x, y []float32)) func(c *call) *Tensor {
	forward := notBool(binary(k, sameDtype, ints), "convert with To(tensor.Int64)")
	return func(c *call) *Tensor {
		x, y := c.left(), c.right()
		if !x.dtype.IsFloat() && !y.dtype.IsFloat() && y.hasZero() {
			fail(ErrValue, c.op.name, describe(x, y), "a whole number is divided by 0", "convert with To(tensor.Float32) to get an infinity instead")
		}
		return forward(c)
	}
}

// hasZero reports whether a whole number is 0.
func (t *Tensor) hasZero() bool {
	l := t.layout.Copied(0)
	for i, stride := range l.Strides { // each number once
		if stride == 0 {
			l.Shape[i] = min(l.Shape[i], 1)
		}
	}
	return loops.AnyZero(t.alias(l).onHost().array())
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
		forward: wholeDivision(loops.BinaryKernels{
			F32: loops.NearAndFar(loops.Vectors32.RemainderNear, loops.PythonMod),
			F64: func(dst, x, y []float64) {
				for i := range dst {
					dst[i] = loops.PythonMod(x[i], y[i])
				}
			},
			I64: loops.ModWhole,
		}, loops.Vectors32.ModInts),
		gradients:  rounded((*Tensor).floorDivide),
		broadcasts: true,
		flops:      onePerElement,
	})
	define(&opFmod, op{
		name: "fmod",
		forward: wholeDivision(loops.BinaryKernels{
			F32: loops.NearAndFar(loops.Vectors32.FmodNear, loops.Mod),
			F64: func(dst, x, y []float64) {
				for i := range dst {
					dst[i] = loops.Mod(x[i], y[i])
				}
			},
			I64: loops.FmodWhole,
		}, loops.Vectors32.RestInts),
		gradients:  rounded((*Tensor).truncDivide),
		broadcasts: true,
		flops:      onePerElement,
	})
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
