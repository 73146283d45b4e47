package loops

import (
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Elements are computed in float32, float64 or int64: small floats and integers are converted on the way
// there and back. Elements that are only moved have no type, just a width. The choice is made here, so that
// operations need not know which Go types there are.

// ComputedIn returns the type that elements of d are computed in.
func ComputedIn(d device.Type) device.Type {
	switch d {
	case device.Float64:
		return device.Float64
	case device.Float32, device.Float16, device.BFloat16, device.Float8E4M3, device.Float8E5M2:
		return device.Float32
	}
	return device.Int64
}

// Map runs a kernel over all elements of x, of the type that those of compute are computed in.
// Both have the same shape.
func (k *UnaryKernels) Map(compute device.Type, out, x Array) {
	if k.Ints != nil && compute == device.Int32 && out.Dtype == device.Int32 && x.Dtype == device.Int32 {
		mapBy(out.as(device.Float32), x.as(device.Float32), k.Ints)
		return
	}
	switch ComputedIn(compute) {
	case device.Float32:
		mapBy(out, x, k.F32)
	case device.Float64:
		mapBy(out, x, k.F64)
	default:
		mapBy(out, x, k.I64)
	}
}

// MapRows runs it over each row along an axis.
func (k *UnaryKernels) MapRows(compute device.Type, out, x Array, axis int) {
	switch ComputedIn(compute) {
	case device.Float32:
		mapRows(out, x, axis, func(dst, src []float32, _ int) { k.F32(dst, src) })
	case device.Float64:
		mapRows(out, x, axis, func(dst, src []float64, _ int) { k.F64(dst, src) })
	default:
		mapRows(out, x, axis, func(dst, src []int64, _ int) { k.I64(dst, src) })
	}
}

// Zip is Map for two operands.
func (k *BinaryKernels) Zip(compute device.Type, out, x, y Array) {
	switch ComputedIn(compute) {
	case device.Float32:
		zip(out, x, y, k.F32, k.By32)
	case device.Float64:
		zip(out, x, y, k.F64, k.By64)
	default:
		zip(out, x, y, k.I64, nil)
	}
}

// RunColumns goes through contiguous x along an axis that is not the last, all columns at a time: a row of out is the
// kernel of the previous row of out and the row of x, beginning with start. float32 is computed in float64.
func (k *BinaryKernels) RunColumns(out, x Array, axis int, start float64) {
	switch out.Dtype {
	case device.Float32, device.Float64:
		runColumns(out, x, axis, start, k.F64)
	default:
		runColumns(out, x, axis, int64(start), k.I64)
	}
}

// Zip is Map for three operands.
func (k *TernaryKernels) Zip(compute device.Type, out, x, y, z Array) {
	switch ComputedIn(compute) {
	case device.Float32:
		zip3(out, x, y, z, k.F32)
	case device.Float64:
		zip3(out, x, y, z, k.F64)
	default:
		zip3(out, x, y, z, k.I64)
	}
}

// Choose writes x where condition is set, else y, in the type of out.
func Choose(out, condition, x, y Array) {
	switch ComputedIn(out.Dtype) {
	case device.Float32:
		choose[float32](out, condition, x, y)
	case device.Float64:
		choose[float64](out, condition, x, y)
	default:
		if out.Dtype == device.Int32 && x.Dtype == device.Int32 && y.Dtype == device.Int32 { // bits are chosen, whatever they mean
			choose[float32](out.as(device.Float32), condition, x.as(device.Float32), y.as(device.Float32))
			return
		}
		choose[int64](out, condition, x, y)
	}
}

// as returns the memory of a as that of another type of the same width.
func (a Array) as(d device.Type) Array {
	a.Dtype = d
	return a
}

// Convert copies x to elements of another dtype or layout. Both have the same shape.
func Convert(out, x Array) {
	switch {
	case out.Dtype == device.Float32 && x.Width <= 4:
		convert[float32](out, x)
	case ComputedIn(x.Dtype) == device.Float32:
		convert[float32](out, x)
	case x.Dtype == device.Float64, out.Dtype == device.Float64 && x.Width <= 4:
		convert[float64](out, x)
	default:
		convert[int64](out, x)
	}
}

// Positions writes, for each row of count elements of x, where its largest, or smallest, element is.
func Positions(out []int64, x Array, count int, largest bool) {
	switch ComputedIn(x.Dtype) {
	case device.Float32:
		positions[float32](out, x, count, largest)
	case device.Float64:
		positions[float64](out, x, count, largest)
	default:
		if v := Vectors32; x.Dtype == device.Int32 && x.IsContiguous() && v.HighestInts != nil {
			intPositions(out, MemoryOf[float32](x)[x.Layout.Offset:], count, largest)
			return
		}
		positions[int64](out, x, count, largest)
	}
}

// Interleave writes the elements of x and y in turn. All are contiguous and have the same dtype.
func Interleave(out, x, y Array) {
	switch x.Width {
	case 1:
		interleave(Stored[uint8](out), Stored[uint8](x), Stored[uint8](y))
	case 2:
		interleave(Stored[uint16](out), Stored[uint16](x), Stored[uint16](y))
	case 4:
		interleave(Stored[uint32](out), Stored[uint32](x), Stored[uint32](y))
	default:
		interleave(Stored[uint64](out), Stored[uint64](x), Stored[uint64](y))
	}
}

// Pick writes the elements of x that a names to out, which is contiguous.
func Pick(out, x Array, a Gathering) {
	switch x.Width {
	case 1:
		pick(Stored[uint8](out), MemoryOf[uint8](x), *x.Layout, a)
	case 2:
		pick(Stored[uint16](out), MemoryOf[uint16](x), *x.Layout, a)
	case 4:
		pick(Stored[uint32](out), MemoryOf[uint32](x), *x.Layout, a)
	default:
		pick(Stored[uint64](out), MemoryOf[uint64](x), *x.Layout, a)
	}
}

// Put writes the elements of x, which is contiguous, to where Pick would take them from, in row-major order. out is
// contiguous and begins at the start of its memory.
func Put(out, x Array, a Gathering) {
	switch x.Width {
	case 1:
		put(Stored[uint8](out), Stored[uint8](x), a, *out.Layout)
	case 2:
		put(Stored[uint16](out), Stored[uint16](x), a, *out.Layout)
	case 4:
		put(Stored[uint32](out), Stored[uint32](x), a, *out.Layout)
	default:
		put(Stored[uint64](out), Stored[uint64](x), a, *out.Layout)
	}
}

// KeepPart writes the part of x, contiguous matrices, that is below or above a diagonal to out, and zeros elsewhere.
func KeepPart(out, x Array, diagonal int, lower bool) {
	shape := x.Layout.Shape
	rows, columns := shape[len(shape)-2], shape[len(shape)-1]
	switch x.Width {
	case 1:
		keepPart(Stored[uint8](out), Stored[uint8](x), rows, columns, diagonal, lower)
	case 2:
		keepPart(Stored[uint16](out), Stored[uint16](x), rows, columns, diagonal, lower)
	case 4:
		keepPart(Stored[uint32](out), Stored[uint32](x), rows, columns, diagonal, lower)
	default:
		keepPart(Stored[uint64](out), Stored[uint64](x), rows, columns, diagonal, lower)
	}
}

// Select writes the positions at of an axis of x to out. Both are contiguous.
func Select(out, x Array, axis int, at []int64) {
	if len(at) == 0 {
		return
	}
	shape := x.Layout.Shape
	outer, size, inner := layout.Product(shape[:axis]), shape[axis], layout.Product(shape[axis+1:])*int(x.Width)
	to, from := bytesOf(out), bytesOf(x)
	switch inner { // words, unless a view begins within one
	case 4:
		if t, f := wordsIn[uint32](to), wordsIn[uint32](from); t != nil && f != nil {
			selectEach(t, f, outer, size, at)
			return
		}
	case 8:
		if t, f := wordsIn[uint64](to), wordsIn[uint64](from); t != nil && f != nil {
			selectEach(t, f, outer, size, at)
			return
		}
	}
	ParallelRows(outer*len(at), ParallelFrom/max(inner, 1), func(start, end int) {
		for i := start; i < end; i++ {
			row, j := i/len(at), i%len(at)
			source := (row*size + int(at[j])) * inner
			copy(to[i*inner:(i+1)*inner], from[source:source+inner])
		}
	})
}

// bytesOf returns the bytes of a contiguous array's elements.
func bytesOf(a Array) []byte {
	n := a.Len() * int(a.Width)
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Add(a.Data, a.Layout.Offset*int(a.Width))), n)
}

// wordsIn returns bytes as words, or nil if there are none or they aren't aligned as words.
func wordsIn[S uint32 | uint64](b []byte) []S {
	var word S
	size := int(unsafe.Sizeof(word))
	p := unsafe.Pointer(unsafe.SliceData(b))
	if len(b) == 0 || uintptr(p)%uintptr(size) != 0 {
		return nil
	}
	return unsafe.Slice((*S)(p), len(b)/size)
}

// AddRows adds the rows of x along an axis to those of sum, which is contiguous and has size of
// them, at the positions at.
func AddRows(sum, x Array, axis, size int, at []int64) {
	switch sum.Dtype {
	case device.Float32:
		addRows(Stored[float32](sum), x, axis, size, at)
	case device.Float64:
		addRows(Stored[float64](sum), x, axis, size, at)
	default:
		addRows(Stored[int64](sum), x, axis, size, at)
	}
}

// ScatterAdd adds the elements of x to where Pick would take them from in sum, which is contiguous.
func ScatterAdd(sum, x Array, a Gathering) {
	switch sum.Dtype {
	case device.Float32:
		scatterAdd(Stored[float32](sum), *sum.Layout, x, a)
	case device.Float64:
		scatterAdd(Stored[float64](sum), *sum.Layout, x, a)
	default:
		scatterAdd(Stored[int64](sum), *sum.Layout, x, a)
	}
}

// Fold2 combines two numbers into one.
type Fold2 struct {
	F64 func(a, b float64) float64
	I64 func(a, b int64) int64
}

// Scatter folds the elements of x into where Pick would take them from in out, which is contiguous and float64 or
// int64.
func (f Fold2) Scatter(out, x Array, a Gathering) {
	if out.Dtype == device.Float64 {
		scatterFold(Stored[float64](out), *out.Layout, x, a, f.F64)
	} else {
		scatterFold(Stored[int64](out), *out.Layout, x, a, f.I64)
	}
}

// NormKernels compute one row of a normalization, or of its gradient, from the same row of each input.
type NormKernels struct {
	F32 func(dst []float32, in *[3][]float32, scratch *[2][]float32, eps float64)
	F64 func(dst []float64, in *[3][]float64, scratch *[2][]float64, eps float64)
}

// Rows runs the kernel over rows of count elements; an input with a single row serves all.
func (k *NormKernels) Rows(out Array, in []Array, count int, eps float64) {
	if out.Dtype == device.Float64 {
		normRows(out, in, count, eps, k.F64)
	} else {
		normRows(out, in, count, eps, k.F32)
	}
}

// RotateRows turns the pairs of neighbors of x by the angles whose cosines and sines are given; way -1 turns back.
func RotateRows(out, x, cos, sin Array, way int) {
	if x.Dtype == device.Float64 {
		rotateRows[float64](out, x, cos, sin, way)
	} else {
		rotateRows[float32](out, x, cos, sin, way)
	}
}

// Attend computes an attention, and the logarithm of the sum of exponentials of each row; in
// holds queries, keys and values.
func Attend(h *Attention, in []Array, mask, out, sums Array) {
	if out.Dtype == device.Float64 {
		attend[float64](h, in, mask, out, sums)
	} else {
		attend[float32](h, in, mask, out, sums)
	}
}

// AttendBackward computes the gradients of queries, keys and values, which are in[1:4]; in[0] is the gradient of
// the result, and in[4:] are the result and the logarithms.
func AttendBackward(h *Attention, in []Array, mask Array, grads []Array) {
	if in[1].Dtype == device.Float64 {
		attendBackward[float64](h, in, mask, grads)
	} else {
		attendBackward[float32](h, in, mask, grads)
	}
}

// LogSumExps writes ln Σexp of each row of count elements of x to out, float32 or float64.
func LogSumExps(out, x Array, count int) {
	if out.Dtype == device.Float64 {
		logSumExps(Stored[float64](out), x, count)
	} else {
		logSumExps(Stored[float32](out), x, count)
	}
}

// Spreads applies finish to the variance of each row of count elements of x and writes the results to out, float32 or
// float64.
func Spreads(out, x Array, count, divisor int, finish func(float64) float64) {
	if out.Dtype == device.Float64 {
		spreads(Stored[float64](out), x, count, divisor, finish)
	} else {
		spreads(Stored[float32](out), x, count, divisor, finish)
	}
}

// Saturate clamps contiguous float32 or float64 to [-largest, largest]; NaN stays.
func Saturate(x Array, largest float64) {
	if x.Dtype == device.Float64 {
		mapBy(x, x, func(dst, x []float64) { ClampFloat(dst, x, -largest, largest, Vectors64.Clamp) })
	} else {
		most := float32(largest)
		mapBy(x, x, func(dst, x []float32) { ClampFloat(dst, x, -most, most, Vectors32.Clamp) })
	}
}

// CrossEntropies writes -ln softmax of one element of each row of count elements of x to out, float32 or float64: the
// element at the position in at, or 0 if that is negative.
func CrossEntropies(out, x Array, count int, at []int64) {
	if out.Dtype == device.Float64 {
		crossEntropies(Stored[float64](out), x, count, at)
	} else {
		crossEntropies(Stored[float32](out), x, count, at)
	}
}

// CrossEntropyGradients writes the gradients with respect to rows of x along an axis to out,
// given those of the results.
func CrossEntropyGradients(out, g, x Array, axis int, at []int64) {
	if ComputedIn(x.Dtype) == device.Float64 {
		crossEntropyGradients[float64](out, g, x, axis, at)
	} else {
		crossEntropyGradients[float32](out, g, x, axis, at)
	}
}
