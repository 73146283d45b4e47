package tensor

import (
	"fmt"
	"math"
	"strconv"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/internal/tabular"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/internal/printed"
)

// Bits is one number as a format stores it, taken apart.
type Bits struct {
	Dtype Dtype
	Code  uint64  // all bits
	Value float64 // the number that they represent

	// Sign, Exponent and Mantissa are the fields of a floating-point code; the widths are
	// theirs, in bits. An integer is all mantissa.
	Sign, Exponent, Mantissa     uint64
	ExponentWidth, MantissaWidth int
}

// Bits returns x as d stores it:
//
//	fmt.Println(tensor.BFloat16.Bits(1e-8)) // 0 01100100 0101100
//
// x is rounded to d as To does.
func (d Dtype) Bits(x float64) Bits { return d.Decode(d.Encode(x)) }

// Encode returns the code of x in d: rounded to nearest, ties to even, and to infinity
// (NaN in E4M3) above the range; for an integer format, x loses its fraction and keeps
// its low bits.
func (d Dtype) Encode(x float64) uint64 { return numbers.Code(device.Type(d), d.Size(), x) }

// EncodeSaturating is Encode, except that numbers outside the range of a float become
// its largest or smallest number. NaN stays NaN.
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

// Round returns the number nearest to x that d can represent.
func (d Dtype) Round(x float64) float64 { return d.Bits(x).Value }

// Decode takes apart a code of d. Bits above the width of d are ignored.
func (d Dtype) Decode(code uint64) Bits {
	f := formats[d]
	width := 8 * f.size
	if width < 64 {
		code &= 1<<width - 1
	}
	b := Bits{Dtype: d, Code: code, Value: numbers.Value(device.Type(d), code), Mantissa: code, MantissaWidth: width}
	if f.class == classFloat {
		b.ExponentWidth, b.MantissaWidth = f.exponent, f.mantissa
		b.Sign = code >> (width - 1)
		b.Exponent = code >> f.mantissa & (1<<f.exponent - 1)
		b.Mantissa = code & (1<<f.mantissa - 1)
	}
	return b
}

// String returns the bits as digits, fields apart: "0 01111 0000000000".
func (b Bits) String() string {
	if b.ExponentWidth == 0 {
		return fmt.Sprintf("%0*b", b.MantissaWidth, b.Mantissa)
	}
	return fmt.Sprintf("%b %0*b %0*b", b.Sign, b.ExponentWidth, b.Exponent, b.MantissaWidth, b.Mantissa)
}

// Formula writes the number as a product of its fields, "(-1)^0 · 1.25 · 2^-27", or as
// a word if the code is no such product.
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

// HTML draws the bits as boxes, with a color each for sign, exponent and mantissa.
func (b Bits) HTML() string {
	fields := []printed.Field{{Name: "sign", Colour: "#f6c1bc", Value: b.Sign, Width: 1}, {Name: "exponent", Colour: "#c3e6c0", Value: b.Exponent, Width: b.ExponentWidth},
		{Name: "mantissa", Colour: "#bfd9f2", Value: b.Mantissa, Width: b.MantissaWidth}}
	if b.ExponentWidth == 0 {
		fields = []printed.Field{{Name: "value", Colour: "#bfd9f2", Value: b.Mantissa, Width: b.MantissaWidth}}
	}
	text := b.Dtype.String() + " " + b.Formula()
	if b.ExponentWidth > 0 && loops.IsFinite(b.Value) {
		text += " = " + printed.Short(b.Value)
	}
	return printed.Boxes(text, fields...)
}

// FloatInfo is the range and precision of a floating-point format.
type FloatInfo struct {
	Name              string
	Bits              int     // of one number; block-scaled formats add its part of the scale
	Exponent          int     // exponent bits
	Mantissa          int     // stored mantissa bits
	Eps               float64 // distance from 1 to the next number
	Resolution        float64 // 10⁻ⁿ for the n decimal digits that are always kept
	SmallestSubnormal float64
	Tiny              float64 // smallest normal number
	Min, Max          float64 // finite ones
}

// Finfo returns the range and precision of a floating-point dtype. It panics
// for any other.
func Finfo(d Dtype) FloatInfo {
	f := formats[d]
	if f.class != classFloat {
		fail(ErrDtype, "finfo", d.String(), "not a floating-point format", "use Iinfo for integers")
	}
	bias := 1<<(f.exponent-1) - 1
	return floatInfo(f.name, 8*f.size, f.exponent, f.mantissa, bias, f.max)
}

func floatInfo(name string, bits, exponent, mantissa, bias int, largest float64) FloatInfo {
	return FloatInfo{
		Name: name, Bits: bits, Exponent: exponent, Mantissa: mantissa,
		Eps:               math.Ldexp(1, -mantissa),
		Resolution:        powerOfTen(-int(float64(mantissa) * math.Log10(2))),
		SmallestSubnormal: math.Ldexp(1, 1-bias-mantissa),
		Tiny:              math.Ldexp(1, 1-bias),
		Min:               -largest, Max: largest,
	}
}

// powerOfTen returns the float64 nearest to 10ⁿ.
func powerOfTen(n int) float64 {
	x, _ := strconv.ParseFloat("1e"+strconv.Itoa(n), 64)
	return x
}

// IntInfo is the range of an integer format.
type IntInfo struct {
	Name     string
	Bits     int
	Min, Max int64
}

// Iinfo returns the range of an integer dtype. It panics for floating point and bool.
func Iinfo(d Dtype) IntInfo {
	f := formats[d]
	if f.class != classInt {
		fail(ErrDtype, "iinfo", d.String(), "not an integer format", "use Finfo for floating point")
	}
	bits := 8 * f.size
	info := IntInfo{f.name, bits, -1 << (bits - 1), 1<<(bits-1) - 1}
	if d == Uint8 {
		info.Min, info.Max = 0, math.MaxUint8
	}
	return info
}

// FormatTable lists floating-point formats side by side. It prints as text and,
// in a notebook, as a table.
type FormatTable []FloatInfo

// Formats returns the table of the given dtypes, or of all floating-point formats, FP4
// included, if none is given.
func Formats(dtypes ...Dtype) FormatTable {
	var table FormatTable
	for _, d := range dtypes {
		table = append(table, Finfo(d))
	}
	if len(dtypes) == 0 {
		for _, d := range []Dtype{Float64, Float32, Float16, BFloat16, Float8E4M3, Float8E5M2} {
			table = append(table, Finfo(d))
		}
		table = append(table, fp4Info)
	}
	return table
}

var formatHeads = []string{"format", "bits", "exponent", "mantissa", "eps", "resolution", "smallest subnormal", "tiny", "min", "max"}

func (f FloatInfo) cells() []string {
	return []string{f.Name, strconv.Itoa(f.Bits), strconv.Itoa(f.Exponent), strconv.Itoa(f.Mantissa),
		printed.Short(f.Eps), printed.Short(f.Resolution), printed.Short(f.SmallestSubnormal), printed.Short(f.Tiny), printed.Short(f.Min), printed.Short(f.Max)}
}

// String returns the values one below the other, as PyTorch shows them.
func (f FloatInfo) String() string {
	return fmt.Sprintf("%s: %d bits (1+%d+%d), eps %s, resolution %s, smallest subnormal %s, tiny %s, min %s, max %s",
		f.Name, f.Bits, f.Exponent, f.Mantissa, printed.Short(f.Eps), printed.Short(f.Resolution), printed.Short(f.SmallestSubnormal), printed.Short(f.Tiny), printed.Short(f.Min), printed.Short(f.Max))
}

// String returns the name and range.
func (i IntInfo) String() string {
	return fmt.Sprintf("%s: %d bits, min %d, max %d", i.Name, i.Bits, i.Min, i.Max)
}

func (t FormatTable) table() tabular.Table {
	table := tabular.Table{Header: formatHeads}
	for _, f := range t {
		table.Add(f.cells()...)
	}
	return table
}

// String returns the table as aligned text.
func (t FormatTable) String() string { return t.table().String() }

// HTML returns the table for a notebook.
func (t FormatTable) HTML() string { return t.table().HTML() }
