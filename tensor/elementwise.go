package tensor

import (
	"slices"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Elementwise operations: one number in, or two, one number out, for each
// position. Operands are broadcast to a common shape, the result is a new
// contiguous tensor of the promoted dtype.

// unaryKernels and binaryKernels hold an operation's loop for each type that
// is computed in; nil where the operation is not defined or not needed.
type unaryKernels struct {
	f32 func(dst, x []float32)
	f64 func(dst, x []float64)
	i64 func(dst, x []int64)
}

type binaryKernels struct {
	f32 func(dst, x, y []float32)
	f64 func(dst, x, y []float64)
	i64 func(dst, x, y []int64)
}

// onePerElement counts one FLOP for each element of the result.
func onePerElement(_ *call, out *Tensor) int { return out.Len() }

// perElement counts n FLOPs for each element of the result. Each call of a
// function such as exp counts as one, unless the operation's comment says
// otherwise.
func perElement(n int) func(c *call, out *Tensor) int {
	return func(_ *call, out *Tensor) int { return n * out.Len() }
}

// dtypeRule chooses the dtype that an operation computes in, and that of its
// result, from the promoted dtype of its operands.
type dtypeRule func(promoted Dtype) (compute, result Dtype)

func sameDtype(d Dtype) (compute, result Dtype) { return d, d }
func boolDtype(d Dtype) (compute, result Dtype) { return d, Bool }

// floatDtype turns whole numbers into float32.
func floatDtype(d Dtype) (compute, result Dtype) {
	if !d.IsFloat() {
		d = Float32
	}
	return d, d
}

// unary returns the forward of an operation with one operand.
// A device other than the processor knows the operation by its name, and gets
// params.
func unary(k unaryKernels, rule dtypeRule, params ...float64) func(c *call) *Tensor {
	return func(c *call) *Tensor {
		x := c.in[0]
		compute, result := rule(x.dtype)
		out := c.result(result, x.layout.Shape, false)
		if c.device != nil {
			mapOn(c.op.name, compute, out, x, params...)
			return out
		}
		switch formats[compute].arithmetic {
		case inFloat32:
			mapBlocks(out, x, k.f32)
		case inFloat64:
			mapBlocks(out, x, k.f64)
		default:
			mapBlocks(out, x, k.i64)
		}
		return out
	}
}

// binary returns the forward of an operation with two operands. ints computes int32 in the
// places of float32, if it is there.
func binary(k binaryKernels, rule dtypeRule, ints ...func(dst, x, y []float32)) func(c *call) *Tensor {
	return func(c *call) *Tensor {
		x, y := c.in[0], c.in[1]
		compute, result := rule(resultDtype(c.op.name, x, y))
		x, y, shape := broadcast(c.op.name, x, y)
		out := c.into
		if out == nil || out.dtype != result || !slices.Equal(out.layout.Shape, shape) {
			out = c.result(result, shape, false)
		}
		if len(ints) > 0 && ints[0] != nil && compute == Int32 && c.device == nil && asFloats(out, x, y) {
			zipBlocks(out.as(Float32), x.inInt32().as(Float32), y.inInt32().as(Float32), ints[0])
			return out
		}
		zipAs(c.op.name, compute, out, x, y, k)
		return out
	}
}

// broadcast returns views of both operands in their common shape.
func broadcast(op string, x, y *Tensor) (bx, by *Tensor, shape []int) {
	if slices.Equal(x.layout.Shape, y.layout.Shape) {
		return x, y, x.layout.Shape
	}
	shape, err := layout.Broadcast(x.layout.Shape, y.layout.Shape)
	if err != nil {
		e := err.(*layout.Error)
		fail(e.Kind, op, describe(x, y), e.Reason, e.Hint)
	}
	return x.expanded(shape), y.expanded(shape), shape
}

// expanded returns a view in a shape that layout.Broadcast found, outside the
// graph.
func (t *Tensor) expanded(shape []int) *Tensor {
	if slices.Equal(t.layout.Shape, shape) {
		return t
	}
	l, err := t.layout.Expand(shape...)
	t.must("expand", err)
	return t.alias(l)
}

// zipAs computes out = f(x, y) in the arithmetic of a dtype. Another device knows
// f by its name, and gets params.
func zipAs(name string, compute Dtype, out, x, y *Tensor, k binaryKernels, params ...float64) {
	if out.storage.device != nil {
		zipOn(name, compute, out, x, y, params...)
		return
	}
	switch formats[compute].arithmetic {
	case inFloat32:
		zipBlocks(out, x, y, k.f32)
	case inFloat64:
		zipBlocks(out, x, y, k.f64)
	default:
		zipBlocks(out, x, y, k.i64)
	}
}

// asFloats reports whether int32 operands can be handed on as if they were float32.
func asFloats(out *Tensor, in ...*Tensor) bool {
	if !out.IsContiguous() {
		return false
	}
	for _, x := range in {
		if !x.layout.RepeatsOne() && (x.dtype != Int32 || !x.IsContiguous()) {
			return false
		}
	}
	return true
}

// as returns the memory of t as that of another dtype of the same size.
func (t *Tensor) as(d Dtype) *Tensor {
	view := t.alias(t.layout)
	view.dtype = d
	return view
}

// inInt32 returns t, or the one element that it repeats, as int32.
func (t *Tensor) inInt32() *Tensor {
	if t.dtype == Int32 {
		return t
	}
	var value [1]int64
	newReader[int64](t.alias(Layout{Offset: t.layout.Offset})).copy(value[:], 0)
	few := []int32{int32(value[0])}
	one := &Tensor{storage: &storage{data: unsafe.Pointer(&few[0]), size: 4}, dtype: Int32}
	return one.expanded(t.layout.Shape)
}

// mapBlocks runs a kernel over all elements of x. Both have the same shape.
func mapBlocks[T numbers.Number](out, x *Tensor, kernel func(dst, x []T)) {
	if isPlain[T](out) && isPlain[T](x) {
		to, from := plain[T](out), plain[T](x)
		if len(to) < parallelFrom {
			kernel(to, from)
			return
		}
		parallel(len(to), parallelFrom, func(start, end int) {
			inStretches(start, end, func(at, end int) { kernel(to[at:end], from[at:end]) })
		})
		return
	}
	parallel(out.Len(), parallelFrom, func(start, end int) {
		r, w := newReader[T](x), newWriter[T](out)
		inBlocks(start, end, func(at, n int) {
			kernel(w.block(at, n), r.block(at, n))
			w.flush(at, n)
		})
	})
}

// zipBlocks runs a kernel over all elements of x and y. All have the same
// shape.
func zipBlocks[T numbers.Number](out, x, y *Tensor, kernel func(dst, x, y []T)) {
	if isPlain[T](out) && isPlain[T](x) && isPlain[T](y) {
		to, left, right := plain[T](out), plain[T](x), plain[T](y)
		if len(to) < parallelFrom { // the least that a call can cost
			kernel(to, left, right)
			return
		}
		parallel(len(to), parallelFrom, func(start, end int) {
			inStretches(start, end, func(at, end int) { kernel(to[at:end], left[at:end], right[at:end]) })
		})
		return
	}
	if isPlain[T](out) && numbers.IsNative[T](device.Type(x.dtype)) && numbers.IsNative[T](device.Type(y.dtype)) && zipRows(out, x, y, kernel) {
		return
	}
	parallel(out.Len(), parallelFrom, func(start, end int) {
		rx, ry, w := newReader[T](x), newReader[T](y), newWriter[T](out)
		inBlocks(start, end, func(at, n int) {
			kernel(w.block(at, n), rx.block(at, n), ry.block(at, n))
			w.flush(at, n)
		})
	})
}

// zipRows is zipBlocks for operands whose rows are whole in memory, or one number each:
// they need not be copied to be repeated. It reports whether they are.
func zipRows[T numbers.Number](out, x, y *Tensor, kernel func(dst, x, y []T)) bool {
	last := out.Dim() - 1
	if last < 1 || out.layout.Shape[last] < 64 {
		return false
	}
	n := out.layout.Shape[last]
	rowsOf := func(t *Tensor) (at func(row int) int, repeats, ok bool) {
		stride := t.layout.Strides[last]
		if stride != 1 && stride != 0 {
			return nil, false, false
		}
		outer := Layout{Shape: t.layout.Shape[:last], Strides: t.layout.Strides[:last], Offset: t.layout.Offset}
		return outer.Place, stride == 0, true
	}
	xAt, xRepeats, ok := rowsOf(x)
	if !ok {
		return false
	}
	yAt, yRepeats, ok := rowsOf(y)
	if !ok {
		return false
	}
	to, left, right := plain[T](out), elements[T](x.storage), elements[T](y.storage)
	parallelRows(len(to)/n, max(parallelFrom/n, 1), func(start, end int) {
		var few [2][blockLen]T
		fetch := func(from []T, at int, repeats bool, room []T, done, n int) []T {
			if !repeats {
				return from[at+done:][:n]
			}
			if done == 0 {
				fillWith(room[:n], from[at])
			}
			return room[:n]
		}
		for row := start; row < end; row++ {
			a, b := xAt(row), yAt(row)
			for done := 0; done < n; done += blockLen {
				k := min(blockLen, n-done)
				kernel(to[row*n+done:][:k], fetch(left, a, xRepeats, few[0][:], done, k), fetch(right, b, yRepeats, few[1][:], done, k))
			}
		}
	})
	return true
}

// isPlain reports whether the memory of t is already what a kernel wants: a
// slice of T.
func isPlain[T numbers.Number](t *Tensor) bool {
	return numbers.IsNative[T](device.Type(t.dtype)) && t.IsContiguous()
}

func plain[T numbers.Number](t *Tensor) []T { return stored[T](t) }

// stored returns the memory of a contiguous tensor's elements. That of an empty
// view may begin anywhere, even behind the end.
func stored[T any](t *Tensor) []T {
	n := t.layout.Len()
	if n == 0 {
		return nil
	}
	return elements[T](t.storage)[t.layout.Offset:][:n:n]
}

// floatKernels makes loops from a function of package math. float32 is computed
// in float64 and rounded once.
func floatKernels(f func(float64) float64) unaryKernels {
	return unaryKernels{
		f32: func(dst, x []float32) {
			for i := range dst {
				dst[i] = float32(f(float64(x[i])))
			}
		},
		f64: func(dst, x []float64) {
			for i := range dst {
				dst[i] = f(x[i])
			}
		},
	}
}
