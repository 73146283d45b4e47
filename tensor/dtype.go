package tensor

import (
	"fmt"
	"math"
)

// Dtype is the type of a tensor's elements.
type Dtype uint8

// The element types. Small floats are stored small, computed in float32 and
// rounded once, to nearest, ties to even.
const (
	Float32    Dtype = iota // IEEE 754 binary32: 1 sign, 8 exponent, 23 mantissa bits; the default
	Float64                 // IEEE 754 binary64: 1 + 11 + 52
	Float16                 // IEEE 754 binary16: 1 + 5 + 10
	BFloat16                // the upper half of a float32: 1 + 8 + 7
	Float8E4M3              // OCP FP8 E4M3 ("FN"): 1 + 4 + 3, no infinity, largest value 448
	Float8E5M2              // OCP FP8 E5M2: 1 + 5 + 2, largest value 57344
	Int64                   // signed, 8 bytes; the default of integers
	Int32                   // signed, 4 bytes
	Int16                   // signed, 2 bytes
	Int8                    // signed, 1 byte
	Uint8                   // unsigned, 1 byte
	Bool                    // one byte, 0 or 1

	numDtypes
)

// class orders dtypes for promotion: a higher class wins.
type class uint8

const (
	classBool class = iota
	classInt
	classFloat
)

// format is everything there is to know about a dtype, in one row of one table.
type format struct {
	name        string // as PyTorch spells it, without "torch."
	safetensors string // name in a safetensors header
	size        int    // bytes per element
	class       class
	exponent    int // exponent bits, floats only
	mantissa    int // stored mantissa bits, floats only
	max         float64
	infinite    bool // the format has infinities
}

var formats = [numDtypes]format{
	Float32:    {"float32", "F32", 4, classFloat, 8, 23, math.MaxFloat32, true},
	Float64:    {"float64", "F64", 8, classFloat, 11, 52, math.MaxFloat64, true},
	Float16:    {"float16", "F16", 2, classFloat, 5, 10, 65504, true},
	BFloat16:   {"bfloat16", "BF16", 2, classFloat, 8, 7, 0x1.fep127, true},
	Float8E4M3: {"float8_e4m3fn", "F8_E4M3", 1, classFloat, 4, 3, 448, false},
	Float8E5M2: {"float8_e5m2", "F8_E5M2", 1, classFloat, 5, 2, 57344, true},
	Int64:      {"int64", "I64", 8, classInt, 0, 0, math.MaxInt64, false},
	Int32:      {"int32", "I32", 4, classInt, 0, 0, math.MaxInt32, false},
	Int16:      {"int16", "I16", 2, classInt, 0, 0, math.MaxInt16, false},
	Int8:       {"int8", "I8", 1, classInt, 0, 0, math.MaxInt8, false},
	Uint8:      {"uint8", "U8", 1, classInt, 0, 0, math.MaxUint8, false},
	Bool:       {"bool", "BOOL", 1, classBool, 0, 0, 1, false},
}

// String returns the name as PyTorch spells it, such as "float32".
func (d Dtype) String() string { return formats[d].name }

// Size returns how many bytes one element takes.
func (d Dtype) Size() int { return formats[d].size }

// IsFloat reports whether d is a floating-point format.
func (d Dtype) IsFloat() bool { return formats[d].class == classFloat }

// SafetensorsName returns the name of d in the header of a safetensors file.
func (d Dtype) SafetensorsName() string { return formats[d].safetensors }

// Dtypes returns all element types, in the order of their constants.
func Dtypes() []Dtype {
	all := make([]Dtype, numDtypes)
	for i := range all {
		all[i] = Dtype(i)
	}
	return all
}

// Promote returns the common dtype of two dtypes: floating point wins over integers, and integers over bool; within a
// class, the wider one wins; float16 and bfloat16 give float32, int8 and uint8 give int16. The 8-bit floats have no
// common dtype with any other (ok is false): convert explicitly.
func Promote(a, b Dtype) (d Dtype, ok bool) {
	switch ca, cb := formats[a].class, formats[b].class; {
	case a == b:
		return a, true
	case ca > cb:
		return a, !isFloat8(a)
	case ca < cb:
		return b, !isFloat8(b)
	case ca == classFloat:
		if isFloat8(a) || isFloat8(b) {
			return 0, false
		}
		if a.Size() == b.Size() { // float16 and bfloat16
			return Float32, true
		}
	case a.Size() == b.Size(): // int8 and uint8
		return Int16, true
	}
	if a.Size() > b.Size() {
		return a, true
	}
	return b, true
}

func isFloat8(d Dtype) bool { return d == Float8E4M3 || d == Float8E5M2 }

// resultDtype is PyTorch's rule for the dtype of a result. Tensors with axes
// count first, then single-number tensors, then Go numbers; a lower group matters only
// if its class (bool, integer, floating point) is higher.
func resultDtype(op string, in ...*Tensor) Dtype {
	const none = numDtypes
	groups := [3]Dtype{none, none, none}
	for _, x := range in {
		g, d := 0, x.dtype
		switch {
		case x.number:
			g = 2
			if d == Float64 {
				d = Float32 // a Go float has the default dtype
			}
		case len(x.layout.Shape) == 0:
			g = 1
		}
		if groups[g] != none {
			met, ok := Promote(groups[g], d)
			if !ok {
				fail(ErrDtype, op, fmt.Sprintf("%s x %s", groups[g], d), "8-bit floats have no common dtype with others", "convert one with To")
			}
			d = met
		}
		groups[g] = d
	}
	result := Dtype(none)
	for _, d := range groups {
		switch {
		case d == none:
		case result == none:
			result = d
		case formats[d].class > formats[result].class:
			met, ok := Promote(result, d)
			if !ok {
				fail(ErrDtype, op, fmt.Sprintf("%s x %s", result, d), "8-bit floats have no common dtype with others", "convert one with To")
			}
			result = met
		}
	}
	return result
}
