package tensor

import (
	"fmt"
	"math"
	"strconv"

	"github.com/lectern-go/lectern/internal/tabular"
	"github.com/lectern-go/lectern/tensor/internal/printed"
)

// FloatInfo is the range and precision of a floating-point format.
type FloatInfo struct {
	Name              string
	Bits              int     // of one number; block-scaled formats add a share of their scale
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
		fail(ErrDtype, "finfo", d.String(), "not a floating-point format", "use Iinfo for whole numbers")
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

// IntInfo is the range of a whole-number format.
type IntInfo struct {
	Name     string
	Bits     int
	Min, Max int64
}

// Iinfo returns the range of a whole-number dtype. It panics for floating point
// and bool.
func Iinfo(d Dtype) IntInfo {
	f := formats[d]
	if f.class != classInt {
		fail(ErrDtype, "iinfo", d.String(), "not a whole-number format", "use Finfo for floating point")
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

// Formats returns the table of the dtypes given, or of all floating-point
// formats, FP4 included, if none is.
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
