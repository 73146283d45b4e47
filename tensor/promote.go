package tensor

import "fmt"

// Promote returns the dtype in which two dtypes meet: floating point wins over
// whole numbers and those over bool; within a class the wider wins; float16 and
// bfloat16 meet in float32, int8 and uint8 in int16. The 8-bit floats meet with no other dtype (ok is
// false): convert explicitly.
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
// count first, then single-number tensors, then Go numbers; a lower group
// matters only if its class (bool, whole, floating) is higher.
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
