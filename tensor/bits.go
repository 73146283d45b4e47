package tensor

import (
	"fmt"
	"math"
	"strings"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/x448/float16"
)

// Bits is one number as a format stores it, taken apart.
type Bits struct {
	Dtype Dtype
	Code  uint64  // all bits
	Value float64 // the number that they stand for

	// Sign, Exponent and Mantissa are the fields of a floating-point code; the
	// widths are theirs in bits. A whole number is all mantissa.
	Sign, Exponent, Mantissa     uint64
	ExponentWidth, MantissaWidth int
}

// Bits returns x as d stores it:
//
//	fmt.Println(tensor.BFloat16.Bits(1e-8)) // 0 01100100 0101100
//
// x is rounded to d as To does.
func (d Dtype) Bits(x float64) Bits { return d.Decode(d.Encode(x)) }

// Encode returns the code of x in d: rounded to nearest, ties to even, to
// infinity (NaN in E4M3) above the range; a whole number loses its fraction and
// keeps its low bits.
func (d Dtype) Encode(x float64) uint64 {
	switch d {
	case Float64:
		return math.Float64bits(x)
	case Float32:
		return uint64(math.Float32bits(float32(x)))
	case Float16:
		return uint64(float16.Fromfloat32(float32(x)).Bits())
	}
	var code [8]byte
	numbers.Storer[float64](device.Type(d))(unsafe.Pointer(&code), []float64{x})
	return d.fromMemory(unsafe.Pointer(&code))
}

// EncodeSaturating is Encode except that what lies outside the range of a float
// becomes its largest or smallest number. NaN stays NaN.
func (d Dtype) EncodeSaturating(x float64) uint64 {
	if d.IsFloat() {
		if largest := formats[d].max; x > largest {
			x = largest
		} else if x < -largest {
			x = -largest
		}
	}
	return d.Encode(x)
}

// Round returns the number nearest to x that d has.
func (d Dtype) Round(x float64) float64 { return d.Bits(x).Value }

// Decode takes a code of d apart. Bits above the width of d are ignored.
func (d Dtype) Decode(code uint64) Bits {
	f := formats[d]
	width := 8 * f.size
	if width < 64 {
		code &= 1<<width - 1
	}
	b := Bits{Dtype: d, Code: code, Value: d.value(code), Mantissa: code, MantissaWidth: width}
	if f.class == classFloat {
		b.ExponentWidth, b.MantissaWidth = f.exponent, f.mantissa
		b.Sign = code >> (width - 1)
		b.Exponent = code >> f.mantissa & (1<<f.exponent - 1)
		b.Mantissa = code & (1<<f.mantissa - 1)
	}
	return b
}

// value returns the number behind a code.
func (d Dtype) value(code uint64) float64 {
	switch d {
	case Float64:
		return math.Float64frombits(code)
	case Float32:
		return float64(math.Float32frombits(uint32(code)))
	case Float16:
		return float64(float16.Frombits(uint16(code)).Float32())
	case BFloat16:
		return float64(numbers.BFloat16Value(uint16(code)))
	case Float8E4M3:
		return float64(numbers.E4M3Values[code])
	case Float8E5M2:
		return float64(numbers.E5M2Values[code])
	case Int64:
		return float64(int64(code))
	case Int32:
		return float64(int32(code))
	case Int16:
		return float64(int16(code))
	case Int8:
		return float64(int8(code))
	}
	return float64(uint8(code))
}

// fromMemory reads one code as it lies in memory.
func (d Dtype) fromMemory(p unsafe.Pointer) uint64 {
	switch d.Size() {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

// String returns the bits as digits, fields apart: "0 01111 0000000000".
func (b Bits) String() string {
	if b.ExponentWidth == 0 {
		return fmt.Sprintf("%0*b", b.MantissaWidth, b.Mantissa)
	}
	return fmt.Sprintf("%b %0*b %0*b", b.Sign, b.ExponentWidth, b.Exponent, b.MantissaWidth, b.Mantissa)
}

// Formula writes the number out as its fields make it: "(-1)^0 · 1.25 · 2^-27",
// or the word for a code that is no such product.
func (b Bits) Formula() string {
	switch {
	case b.ExponentWidth == 0:
		return fmt.Sprintf("%g", b.Value)
	case math.IsNaN(b.Value):
		return "NaN"
	case math.IsInf(b.Value, 0):
		return "infinity"
	}
	bias := 1<<(b.ExponentWidth-1) - 1
	fraction := math.Ldexp(float64(b.Mantissa), -b.MantissaWidth)
	if b.Exponent == 0 {
		return fmt.Sprintf("(-1)^%d · %v · 2^%d", b.Sign, fraction, 1-bias)
	}
	return fmt.Sprintf("(-1)^%d · %v · 2^%d", b.Sign, 1+fraction, int(b.Exponent)-bias)
}

// HTML draws the bits as boxes: sign, exponent and mantissa in a colour each.
func (b Bits) HTML() string {
	var s strings.Builder
	s.WriteString(`<div class="lectern-bits" style="font-family:monospace;line-height:1.8">`)
	field := func(name, colour string, value uint64, width int) {
		for i := width - 1; i >= 0; i-- {
			fmt.Fprintf(&s, `<span title="%s" style="display:inline-block;width:1.3em;text-align:center;`+
				`border:1px solid #777;color:#000;background:%s">%d</span>`, name, colour, value>>i&1)
		}
	}
	if b.ExponentWidth > 0 {
		field("sign", "#f6c1bc", b.Sign, 1)
		field("exponent", "#c3e6c0", b.Exponent, b.ExponentWidth)
		field("mantissa", "#bfd9f2", b.Mantissa, b.MantissaWidth)
	} else {
		field("value", "#bfd9f2", b.Mantissa, b.MantissaWidth)
	}
	fmt.Fprintf(&s, " %s %s", b.Dtype, b.Formula())
	if b.ExponentWidth > 0 && loops.IsFinite(b.Value) {
		s.WriteString(" = " + short(b.Value))
	}
	s.WriteString("</div>")
	return s.String()
}
