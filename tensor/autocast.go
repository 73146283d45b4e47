package tensor

import (
	"slices"

	"github.com/lectern-go/lectern/internal/goroutine"
	"github.com/lectern-go/lectern/tensor/internal/memory"
)

// Autocast runs f in mixed precision: operations that gain from small floats have
// their operands converted to dtype, BFloat16 or Float16; those that need the range
// and digits of float32 have theirs converted to float32; all others take operands as
// they are, in the wider of two dtypes. [AutocastTable] says which are which.
// Parameters stay float32: conversions are part of the graph, so their gradients
// arrive in float32. float64 and integers are never converted, and neither are
// in-place operations. A parameter is converted when it is first used, and again only
// after it has changed: the copy stays until the outermost Autocast ends.
//
// It applies to the goroutine that calls it, and not to Backward, whose operations
// have the dtypes of the forward pass. Float32 as dtype switches off an Autocast
// around it. It panics for other dtypes.
func Autocast(dtype Dtype, f func()) {
	if dtype != BFloat16 && dtype != Float16 && dtype != Float32 {
		fail(ErrDtype, "autocast", dtype.String(), "operands are converted to bfloat16 or float16; float32 switches autocast off", "")
	}
	now, _ := autocasts.Get()
	if now.copies == nil {
		now.copies = &copies{parameters: map[*memory.Storage]operandCopy{}}
	}
	now.dtype = dtype
	autocasts.With(now, f)
}

// AutocastDtype returns the dtype that Autocast converts to on this goroutine, and
// whether it is on.
func AutocastDtype() (dtype Dtype, on bool) {
	now, on := autocasts.Get()
	if !on || now.dtype == Float32 {
		return Float32, false
	}
	return now.dtype, true
}

// autocasts is the innermost Autocast of each goroutine that is inside one.
var autocasts goroutine.Local[autocast]

// autocast is the dtype that operands are converted to, with the copies made so far.
type autocast struct {
	dtype  Dtype
	copies *copies
}

// copies are the converted operands. Converting an operand anew for each use would
// keep as many copies for Backward: three of the input of queries, keys and values.
type copies struct {
	parameters map[*memory.Storage]operandCopy
	last       operandCopy // of all others
}

// operandCopy is an operand with its copy.
type operandCopy struct {
	of      *memory.Storage
	layout  Layout
	version uint64
	copy    *Tensor // outside any graph
}

// convert returns x in a small dtype.
func (c *copies) convert(x *Tensor, dtype Dtype) *Tensor {
	s := x.storage
	if x.dtype == dtype || s.Freed() || !s.Ours() { // others may write there unnoticed
		return x.To(dtype)
	}
	parameter := Role(s.Role.Load()) == Parameter
	known := c.last
	if parameter {
		known = c.parameters[s]
	}
	if known.shows(x) && known.copy.dtype == dtype {
		return x.convertedAs(known.copy)
	}
	known = operandCopy{of: s, layout: x.layout, version: s.Version.Load()}
	out := x.To(dtype)
	known.copy = out.alias(out.layout)
	if parameter {
		c.parameters[s] = known
	} else {
		c.last = known
	}
	return out
}

// shows reports whether the copy still has the elements of x.
func (c operandCopy) shows(x *Tensor) bool {
	return c.of == x.storage && c.version == x.storage.Version.Load() && !c.copy.storage.Freed() &&
		c.layout.Offset == x.layout.Offset && slices.Equal(c.layout.Shape, x.layout.Shape) && slices.Equal(c.layout.Strides, x.layout.Strides)
}

// convertedAs returns a conversion of t with its own place in the graph, so that
// gradients are added in the dtype of t, but with the elements of an earlier
// conversion.
func (t *Tensor) convertedAs(copy *Tensor) *Tensor {
	c := &call{op: &opTo.op, attr: placement{copy.dtype, t.Device()}}
	c.in = append(c.few[:0], t)
	if observed() {
		a, _ := activities.Get()
		c.scope = a.scope
	}
	return c.linked(copy.alias(copy.layout))
}

// suspendAutocast switches autocast off until restore is called.
func suspendAutocast() (restore func()) {
	now, on := autocasts.Get()
	if !on || now.dtype == Float32 {
		return func() {}
	}
	now.dtype = Float32
	return autocasts.Set(now)
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

// autocast converts the operands of an operation as its rule says.
func (c *call) autocast() {
	if c.op.cast == castNothing {
		return
	}
	now, on := autocasts.Get()
	if !on || now.dtype == Float32 {
		return
	}
	for i, x := range c.in {
		switch {
		case !x.dtype.IsFloat() || x.dtype == Float64:
		case c.op.cast == castWide:
			c.in[i] = x.To(Float32)
		default:
			c.in[i] = now.copies.convert(x, now.dtype)
		}
	}
}
