package tensor

import (
	"slices"

	"github.com/lectern-go/lectern/internal/goroutine"
)

// Autocast runs f in mixed precision: operations that gain from small floats get
// their operands converted to dtype, BFloat16 or Float16; those that need the range
// and digits of float32 get them converted to that; all others take operands as they
// are, the wider of two winning. [AutocastTable] says which are which. Parameters
// stay float32: conversions are part of the graph, so their gradients arrive in
// float32. float64 and whole numbers are never converted, and neither are in-place
// operations.
//
// It holds for the goroutine that calls it, and not for Backward, whose operations
// have the dtypes of those of the forward pass. Float32 as dtype switches an
// Autocast around it off. It panics for other dtypes.
func Autocast(dtype Dtype, f func()) {
	if dtype != BFloat16 && dtype != Float16 && dtype != Float32 {
		fail(ErrDtype, "autocast", dtype.String(), "operands are converted to bfloat16 or float16; float32 switches autocast off", "")
	}
	autocasts.With(dtype, f)
}

// AutocastDtype returns the dtype that Autocast converts to on this goroutine, and
// whether it is on.
func AutocastDtype() (dtype Dtype, on bool) {
	dtype, on = autocasts.Get()
	if !on || dtype == Float32 {
		return Float32, false
	}
	return dtype, true
}

// autocasts is the dtype that the innermost Autocast of a goroutine converts to.
var autocasts goroutine.Local[Dtype]

// suspendAutocast switches autocast off until restore is called.
func suspendAutocast() (restore func()) {
	if _, on := AutocastDtype(); !on {
		return func() {}
	}
	return autocasts.Set(Float32)
}

// cast is what Autocast does with the operands of an operation.
type cast uint8

const (
	castNothing cast = iota // they are taken as they are
	castSmall               // bound by arithmetic, accumulated in float32 whatever the operands
	castWide                // a function that overflows or loses digits, or a sum of many terms
)

// AutocastTable returns the names of the operations whose operands Autocast
// converts to the small dtype, and of those whose operands it converts to float32.
func AutocastTable() (small, wide []string) {
	for _, o := range ops {
		switch o.cast {
		case castSmall:
			small = append(small, o.name)
		case castWide:
			wide = append(wide, o.name)
		}
	}
	slices.Sort(small)
	slices.Sort(wide)
	return small, wide
}

// autocast converts the operands of an operation as its rule wants them.
func (c *call) autocast() {
	if c.op.cast == castNothing {
		return
	}
	dtype, on := AutocastDtype()
	if !on {
		return
	}
	if c.op.cast == castWide {
		dtype = Float32
	}
	for i, x := range c.in {
		if x.dtype.IsFloat() && x.dtype != Float64 {
			c.in[i] = x.To(dtype)
		}
	}
}
