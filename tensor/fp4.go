package tensor

import (
	"fmt"
	"slices"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/layout"
)

var fp4Info = floatInfo("fp4 (E2M1)", 4, 2, 1, 1, numbers.FP4Max)

// BlockFormat is a way of scaling blocks of FP4 numbers.
type BlockFormat uint8

const (
	// NVFP4 has blocks of 16 numbers that share an E4M3 scale, and one float32 scale for
	// the whole tensor, which brings the block scales into E4M3's range: 4.5 bits per
	// number.
	NVFP4 BlockFormat = iota
	// MXFP4 has blocks of 32 numbers that share a power of two, stored as its exponent in
	// 8 bits (E8M0): 4.25 bits per number.
	MXFP4
)

// String returns the name: "NVFP4" or "MXFP4".
func (f BlockFormat) String() string { return [...]string{"NVFP4", "MXFP4"}[f] }

// BlockLen returns how many numbers share a scale.
func (f BlockFormat) BlockLen() int { return [...]int{16, 32}[f] }

// BitsPerNumber returns the bits of a number, including its part of the block scale.
func (f BlockFormat) BitsPerNumber() float64 { return 4 + 8/float64(f.BlockLen()) }

// Quantized is a tensor in a block-scaled FP4 format. It can be stored, and turned
// back into a tensor for arithmetic. Blocks lie along the last axis, where the last
// one of a row may be shorter.
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
		fail(ErrDtype, "quantize", t.dtype.String(), "only floating-point tensors can be quantized", "convert with To(tensor.Float32)")
	}
	q := &Quantized{Format: f, Shape: t.Shape(), Global: 1}
	needRoom("quantize", t.layout.Shape, 4*t.Len())
	values := make([]float32, t.Len())
	newReader[float32](t).Copy(values, 0)
	rows, n := q.rows()
	q.Codes = make([]uint8, rows*((n+1)/2))
	q.Scales = make([]uint8, 0, rows*q.blocks(n))
	if f == NVFP4 {
		q.Global = numbers.GlobalScale(values)
	}
	for r := range rows {
		row, codes := values[r*n:(r+1)*n], q.Codes[r*((n+1)/2):]
		for start := 0; start < n; start += f.BlockLen() {
			block := row[start:min(n, start+f.BlockLen())]
			scale, code := q.scale().Of(block)
			q.Scales = append(q.Scales, code)
			for i, x := range block {
				var c uint8
				if scale > 0 { // neither 0 nor NaN
					c = numbers.FP4Code(x / scale)
				}
				codes[(start+i)/2] |= c << ((start + i) % 2 * 4)
			}
		}
	}
	return q
}

func (q *Quantized) scale() numbers.BlockScale {
	return numbers.BlockScale{Powers: q.Format == MXFP4, Global: q.Global}
}

// rows returns the number of rows, and their length, the size of the last axis.
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
	scale := q.scale()
	rows, n := q.rows()
	for r := range rows {
		codes := q.Codes[r*((n+1)/2):]
		scales := q.Scales[r*q.blocks(n):]
		for i := range n {
			code := codes[i/2] >> (i % 2 * 4) & 15
			out[r*n+i] = numbers.FP4Values[code] * scale.Value(scales[i/q.Format.BlockLen()])
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
	return fmt.Sprintf("%s %v: %s of %d, %d bytes", q.Format, slices.Clone(q.Shape), humanize.Count(len(q.Scales), "block"), q.Format.BlockLen(), q.Bytes())
}
