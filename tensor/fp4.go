package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/layout"
)

// FP4 is E2M1: 1 sign bit, 2 exponent bits (bias 1), 1 mantissa bit. Its
// numbers are 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives: far too few for a
// tensor, enough for a short block of one that has a scale of its own.

var fp4Values = [16]float32{0, 0.5, 1, 1.5, 2, 3, 4, 6, float32(math.Copysign(0, -1)), -0.5, -1, -1.5, -2, -3, -4, -6}

const fp4Max = 6

var fp4Info = floatInfo("fp4 (E2M1)", 4, 2, 1, 1, fp4Max)

// fp4Code returns the code nearest to x, ties to even, saturating; x is no NaN.
func fp4Code(x float32) uint8 {
	var sign uint8
	if math.Signbit(float64(x)) {
		sign, x = 8, -x
	}
	// Each bound lies half-way between two numbers, and belongs to the even code.
	switch {
	case x <= 0.25:
		return sign
	case x < 0.75:
		return sign | 1
	case x <= 1.25:
		return sign | 2
	case x < 1.75:
		return sign | 3
	case x <= 2.5:
		return sign | 4
	case x < 3.5:
		return sign | 5
	case x <= 5:
		return sign | 6
	}
	return sign | 7
}

// BlockFormat is a way of scaling blocks of FP4 numbers.
type BlockFormat uint8

const (
	// NVFP4 has blocks of 16 numbers that share an E4M3 scale, and one float32
	// scale for the whole tensor, which brings the block scales into E4M3's
	// range: 4.5 bits a number.
	NVFP4 BlockFormat = iota
	// MXFP4 has blocks of 32 numbers that share a power of two, stored as its
	// exponent in 8 bits (E8M0): 4.25 bits a number.
	MXFP4
)

// String returns the name: "NVFP4" or "MXFP4".
func (f BlockFormat) String() string { return [...]string{"NVFP4", "MXFP4"}[f] }

// BlockLen returns how many numbers share a scale.
func (f BlockFormat) BlockLen() int { return [...]int{16, 32}[f] }

// BitsPerNumber returns the bits of a number with its share of the block scale.
func (f BlockFormat) BitsPerNumber() float64 { return 4 + 8/float64(f.BlockLen()) }

// Quantized is a tensor in a block-scaled FP4 format. It can be stored and
// turned back into a tensor; arithmetic happens on that. Blocks lie along the
// last axis, where the last one of a row may be shorter.
type Quantized struct {
	Format BlockFormat
	Shape  []int
	Codes  []uint8 // two numbers in each byte, the first in the low half; rows start at a byte
	Scales []uint8 // one for each block: E4M3 codes (NVFP4) or biased exponents (MXFP4)
	Global float32 // scale of the whole tensor; 1 in MXFP4
}

// Quantize returns t in a block-scaled FP4 format: each block is divided by a
// scale that brings its largest magnitude to about 6, and rounded to nearest,
// ties to even. A block that holds NaN or an infinity becomes NaN as a whole. It
// panics unless t is floating point.
func (t *Tensor) Quantize(f BlockFormat) *Quantized {
	t.exist("quantize")
	t.mustBeHere("quantize")
	if !t.dtype.IsFloat() {
		fail(ErrDtype, "quantize", t.dtype.String(), "only floating-point tensors can be quantised", "convert with To(tensor.Float32)")
	}
	q := &Quantized{Format: f, Shape: t.Shape(), Global: 1}
	needRoom("quantize", t.layout.Shape, 4*t.Len())
	values := make([]float32, t.Len())
	newReader[float32](t).Copy(values, 0)
	rows, n := q.rows()
	q.Codes = make([]uint8, rows*((n+1)/2))
	q.Scales = make([]uint8, 0, rows*q.blocks(n))
	if f == NVFP4 {
		if largest, finite := magnitude(values); largest > 0 && finite {
			q.Global = largest / (fp4Max * 448)
			if q.Global == 0 || math.IsInf(float64(1/q.Global), 0) { // too small to divide by
				q.Global = 0x1p-126
			}
		}
	}
	for r := range rows {
		row, codes := values[r*n:(r+1)*n], q.Codes[r*((n+1)/2):]
		for start := 0; start < n; start += f.BlockLen() {
			block := row[start:min(n, start+f.BlockLen())]
			scale, code := q.blockScale(block)
			q.Scales = append(q.Scales, code)
			for i, x := range block {
				var c uint8
				if scale > 0 { // neither 0 nor NaN
					c = fp4Code(x / scale)
				}
				codes[(start+i)/2] |= c << ((start + i) % 2 * 4)
			}
		}
	}
	return q
}

// magnitude returns the largest absolute value among the finite ones, and
// whether all are finite.
func magnitude(values []float32) (largest float32, finite bool) {
	finite = true
	for _, x := range values {
		x = float32(math.Abs(float64(x)))
		if x <= math.MaxFloat32 {
			largest = max(largest, x)
		} else {
			finite = false
		}
	}
	return largest, finite
}

// blockScale chooses the scale of a block: what to divide by, and its code.
func (q *Quantized) blockScale(block []float32) (scale float32, code uint8) {
	largest, finite := magnitude(block)
	if q.Format == NVFP4 {
		code = numbers.E4M3Code(largest/fp4Max/q.Global, true)
		if !finite {
			code = numbers.E4M3NaN
		}
		return numbers.E4M3Values[code] * q.Global, code
	}
	if !finite {
		return float32(math.NaN()), mxNaN
	}
	exponent := -mxBias
	if largest > 0 {
		_, e := math.Frexp(float64(largest)) // largest = m·2ᵉ with m in [0.5, 1)
		exponent = max(e-1-2, -mxBias)       // 6 = 1.5·2²
	}
	return float32(math.Ldexp(1, exponent)), uint8(exponent + mxBias)
}

const mxBias, mxNaN = 127, 0xff

func (q *Quantized) scale(code uint8) float32 {
	switch {
	case q.Format == NVFP4:
		return numbers.E4M3Values[code] * q.Global
	case code == mxNaN:
		return float32(math.NaN())
	}
	return float32(math.Ldexp(1, int(code)-mxBias))
}

// rows returns the number of rows, and their length, which is the last axis.
func (q *Quantized) rows() (rows, n int) {
	if len(q.Shape) == 0 {
		return 1, 1
	}
	last := len(q.Shape) - 1
	return layout.Product(q.Shape[:last]), q.Shape[last]
}

func (q *Quantized) blocks(n int) int { return (n + q.Format.BlockLen() - 1) / q.Format.BlockLen() }

// Tensor returns the numbers as a new float32 tensor.
func (q *Quantized) Tensor() *Tensor {
	t := newTensor(Float32, q.Shape, false)
	out := plain[float32](t)
	rows, n := q.rows()
	for r := range rows {
		codes := q.Codes[r*((n+1)/2):]
		scales := q.Scales[r*q.blocks(n):]
		for i := range n {
			code := codes[i/2] >> (i % 2 * 4) & 15
			out[r*n+i] = fp4Values[code] * q.scale(scales[i/q.Format.BlockLen()])
		}
	}
	return t
}

// Bytes returns the memory of codes and scales.
func (q *Quantized) Bytes() int {
	n := len(q.Codes) + len(q.Scales)
	if q.Format == NVFP4 {
		n += 4
	}
	return n
}

// String describes the tensor: format, shape and memory.
func (q *Quantized) String() string {
	return fmt.Sprintf("%s %v: %d blocks of %d, %d bytes", q.Format, slices.Clone(q.Shape), len(q.Scales), q.Format.BlockLen(), q.Bytes())
}
