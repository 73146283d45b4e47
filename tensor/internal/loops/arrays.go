// Package loops holds the inner loops of the operations: kernels over plain slices, which know nothing of tensors, and
// the readers and writers that turn elements of any layout and dtype into such slices.
//
// arrays.go runs a kernel over all elements of its operands. blocks.go hands it these elements block by block, and
// panels.go does so where rows don't lie along memory; scratch.go keeps the memory that they need. The kernels
// themselves are in elementwise.go and power.go; fold.go, columns.go, positions.go and spreads.go have those for
// reductions, rows.go those for operations along an axis, and attention.go and sort.go what their names say. If the
// processor has vector instructions, vectors.go replaces kernels with those of package cpu.
package loops

import (
	"math"
	"slices"
	"unsafe"

	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Array is how a loop sees elements in main memory. It is passed by value, and an operation on a few elements takes
// hardly longer than that. So it has at most four words and four fields: the compiler keeps no larger struct in
// registers. BenchmarkSmall in package tensor shows what that gains.
type Array struct {
	Data   unsafe.Pointer // of the storage
	Size   int            // bytes of the storage
	Layout *layout.Layout // not to be changed
	Element
}

// Element describes each element.
type Element struct {
	Dtype device.Type
	Width uint8 // bytes
}

// Len returns the number of elements.
func (a Array) Len() int { return layout.Product(a.Layout.Shape) }

// Dim returns the number of axes.
func (a Array) Dim() int { return len(a.Layout.Shape) }

// IsContiguous reports whether the elements lie in row-major order without gaps.
func (a Array) IsContiguous() bool { return layout.IsRowMajor(a.Layout.Shape, a.Layout.Strides) }

// With returns a view of the same memory with another layout.
func (a Array) With(l layout.Layout) Array {
	a.Layout = &l
	return a
}

// lastAxis returns a with an axis as the last one; a single number is a row of one.
func (a Array) lastAxis(axis int) Array {
	if a.Dim() == 0 {
		return a.With(layout.Layout{Shape: []int{1}, Strides: []int{1}, Offset: a.Layout.Offset})
	}
	l := a.Layout.Copied(0)
	size, stride := l.Shape[axis], l.Strides[axis]
	l.Shape = append(slices.Delete(l.Shape, axis, axis+1), size)
	l.Strides = append(slices.Delete(l.Strides, axis, axis+1), stride)
	return a.With(l)
}

// MemoryOf returns the whole memory as a slice of T.
func MemoryOf[T any](a Array) []T {
	var t T
	return unsafe.Slice((*T)(a.Data), a.Size/int(unsafe.Sizeof(t)))
}

// UnaryKernels holds an operation's loop for each type that is computed in; nil where
// the operation is not defined or not needed.
type UnaryKernels struct {
	F32 func(dst, x []float32)
	F64 func(dst, x []float64)
	I64 func(dst, x []int64)

	Ints func(dst, x []float32) // int32 in the places of float32; nil where there are no such instructions
}

// BinaryKernels is UnaryKernels for two operands.
type BinaryKernels struct {
	F32 func(dst, x, y []float32)
	F64 func(dst, x, y []float64)
	I64 func(dst, x, y []int64)

	// The same for when all elements of one operand are by, in operations whose operands may be swapped; nil where
	// there are no such instructions.
	By32 func(dst, x []float32, by float32)
	By64 func(dst, x []float64, by float64)
}

// mapBy runs a kernel over all elements of x. Both have the same shape.
func mapBy[T numbers.Number](out, x Array, kernel func(dst, x []T)) {
	if IsPlain[T](out) && IsPlain[T](x) {
		to, from := Stored[T](out), Stored[T](x)
		if len(to) < ParallelFrom {
			kernel(to, from)
			return
		}
		Parallel(len(to), ParallelFrom, func(start, end int) {
			inStretches(start, end, func(at, end int) { kernel(to[at:end], from[at:end]) })
		})
		return
	}
	Parallel(out.Len(), ParallelFrom, func(start, end int) {
		r, w := NewReader[T](x), NewWriter[T](out)
		defer r.Done()
		defer w.Done()
		InBlocks(start, end, func(at, n int) {
			kernel(w.Block(at, n), r.Block(at, n))
			w.Flush(at, n)
		})
	})
}

// convert copies x, by way of T, to elements of another dtype or layout. Both have the same shape.
func convert[T numbers.Number](out, x Array) {
	if out.Dtype == x.Dtype && out.IsContiguous() && x.Layout.RepeatsOne() && fill(out, x) {
		return
	}
	Parallel(out.Len(), ParallelFrom, func(start, end int) {
		r, w := NewReader[T](x), NewWriter[T](out)
		defer r.Done()
		defer w.Done()
		InBlocks(start, end, func(at, n int) {
			switch {
			case !w.linear:
				copy(w.Block(at, n), r.Block(at, n))
				w.Flush(at, n)
			case w.native:
				r.Copy(unsafe.Slice((*T)(w.at(at)), n), at)
			default:
				w.store(w.at(at), r.Block(at, n))
			}
		})
	})
}

// fill writes the one element that x repeats to all of out, which has the same dtype, and reports whether it can.
func fill(out, x Array) bool {
	if out.Len() == 0 {
		return true
	}
	from := unsafe.Add(x.Data, x.Layout.Offset*int(x.Width))
	switch out.Width {
	case 1:
		fillAll(Stored[uint8](out), *(*uint8)(from))
	case 2:
		fillAll(Stored[uint16](out), *(*uint16)(from))
	case 4:
		fillAll(Stored[uint32](out), *(*uint32)(from))
	case 8:
		fillAll(Stored[uint64](out), *(*uint64)(from))
	default:
		return false
	}
	return true
}

func fillAll[S uint8 | uint16 | uint32 | uint64](dst []S, value S) {
	Parallel(len(dst), ParallelFrom, func(start, end int) {
		inStretches(start, end, func(at, end int) {
			switch size := unsafe.Sizeof(value); {
			case size == 4 && Vectors32.Fill != nil:
				Vectors32.Fill(sameBits[float32](dst[at:end]), math.Float32frombits(uint32(value)))
			case size == 8 && Vectors64.Fill != nil:
				Vectors64.Fill(sameBits[float64](dst[at:end]), math.Float64frombits(uint64(value)))
			default:
				fillWith(dst[at:end], value)
			}
		})
	})
}

// zip runs a kernel over all elements of x and y. All have the same
// shape.
// by is a loop, which may be nil, for the case that one operand is a repeated number: see
// [BinaryKernels].
func zip[T numbers.Number](out, x, y Array, kernel func(dst, x, y []T), by func(dst, x []T, by T)) {
	if IsPlain[T](out) && IsPlain[T](x) && IsPlain[T](y) {
		to, left, right := Stored[T](out), Stored[T](x), Stored[T](y)
		if len(to) < ParallelFrom { // the least that a call can cost
			kernel(to, left, right)
			return
		}
		Parallel(len(to), ParallelFrom, func(start, end int) {
			inStretches(start, end, func(at, end int) { kernel(to[at:end], left[at:end], right[at:end]) })
		})
		return
	}
	if IsPlain[T](out) && numbers.IsNative[T](x.Dtype) && numbers.IsNative[T](y.Dtype) && (zipOne(out, x, y, kernel, by) || zipRows(out, x, y, kernel, by)) {
		return
	}
	Parallel(out.Len(), ParallelFrom, func(start, end int) {
		rx, ry, w := NewReader[T](x), NewReader[T](y), NewWriter[T](out)
		defer rx.Done()
		defer ry.Done()
		defer w.Done()
		InBlocks(start, end, func(at, n int) {
			kernel(w.Block(at, n), rx.Block(at, n), ry.Block(at, n))
			w.Flush(at, n)
		})
	})
}

// zipOne is Zip for one operand that lies in memory as the result does, and another that is a single number, which is
// repeated once for all blocks. It reports whether that is the case.
func zipOne[T numbers.Number](out, x, y Array, kernel func(dst, x, y []T), by func(dst, x []T, by T)) bool {
	left, right := x.Layout.RepeatsOne(), y.Layout.RepeatsOne()
	if out.Len() == 0 || left == right || !left && !x.IsContiguous() || !right && !y.IsContiguous() {
		return false
	}
	to, one, many := Stored[T](out), y, x
	if left {
		one, many = x, y
	}
	from, value := Stored[T](many), MemoryOf[T](one)[one.Layout.Offset]
	Parallel(len(to), ParallelFrom, func(start, end int) {
		if by != nil {
			inStretches(start, end, func(at, end int) { by(to[at:end], from[at:end], value) })
			return
		}
		room := borrow[T, stretches[T]](&rooms)
		defer giveBack[T](&rooms, room)
		alike := room[0][:min(len(room[0]), end-start)]
		repeat(alike, value)
		for at := start; at < end; at += len(alike) {
			n := min(len(alike), end-at)
			if left {
				kernel(to[at:][:n], alike[:n], from[at:][:n])
			} else {
				kernel(to[at:][:n], from[at:][:n], alike[:n])
			}
		}
	})
	return true
}

// zipRows is Zip for operands whose rows are contiguous in memory, or a single number
// each: they need not be copied to be repeated. It reports whether that is the case.
func zipRows[T numbers.Number](out, x, y Array, kernel func(dst, x, y []T), by func(dst, x []T, by T)) bool {
	last := out.Dim() - 1
	if last < 1 || out.Layout.Shape[last] < 64 {
		return false
	}
	n := out.Layout.Shape[last]
	rowsOf := func(t Array) (at func(row int) int, repeats, ok bool) {
		stride := t.Layout.Strides[last]
		if stride != 1 && stride != 0 {
			return nil, false, false
		}
		outer := layout.Layout{Shape: t.Layout.Shape[:last], Strides: t.Layout.Strides[:last], Offset: t.Layout.Offset}
		if first, step := outer.Offset, outer.Strides[0]; last == 1 { // without a division
			return func(row int) int { return first + row*step }, stride == 0, true
		}
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
	to, left, right := Stored[T](out), MemoryOf[T](x), MemoryOf[T](y)
	ParallelRows(len(to)/n, max(ParallelFrom/n, 1), func(start, end int) {
		room := borrow[T, stretches[T]](&rooms)
		defer giveBack[T](&rooms, room)
		fetch := func(from []T, at int, repeats bool, side, done, n int) []T {
			if !repeats {
				return from[at+done:][:n]
			}
			if done == 0 {
				repeat(room[side][:n], from[at])
			}
			return room[side][:n]
		}
		length := BlockLen // of the part that is done at a time
		if xRepeats || yRepeats {
			length = len(room[0])
		}
		for row := start; row < end; row++ {
			a, b := xAt(row), yAt(row)
			if by != nil && xRepeats != yRepeats {
				other, from, one := left, a, right[b]
				if xRepeats {
					other, from, one = right, b, left[a]
				}
				inStretches(0, n, func(at, end int) { by(to[row*n+at:row*n+end], other[from+at:from+end], one) })
				continue
			}
			for done := 0; done < n; done += length {
				k := min(length, n-done)
				kernel(to[row*n+done:][:k], fetch(left, a, xRepeats, 0, done, k), fetch(right, b, yRepeats, 1, done, k))
			}
		}
	})
	return true
}

// repeat is fillWith for numbers, in vector instructions where there are any.
func repeat[T numbers.Number](dst []T, value T) {
	switch dst := any(dst).(type) {
	case []float32:
		if Vectors32.Fill != nil {
			Vectors32.Fill(dst, float32(value))
			return
		}
	case []float64:
		if Vectors64.Fill != nil {
			Vectors64.Fill(dst, float64(value))
			return
		}
	}
	fillWith(dst, value)
}

// IsPlain reports whether the memory of t is already what a kernel wants: a
// slice of T.
func IsPlain[T numbers.Number](t Array) bool {
	return numbers.IsNative[T](t.Dtype) && t.IsContiguous()
}

// Stored returns the memory of a contiguous array's elements. That of an empty view
// may begin anywhere, even past the end.
func Stored[T any](t Array) []T {
	n := t.Len()
	if n == 0 {
		return nil
	}
	return MemoryOf[T](t)[t.Layout.Offset:][:n:n]
}

// FloatKernels makes loops from a function of package math. float32 is computed
// in float64 and rounded once.
func FloatKernels(f func(float64) float64) UnaryKernels {
	return UnaryKernels{
		F32: func(dst, x []float32) {
			for i := range dst {
				dst[i] = float32(f(float64(x[i])))
			}
		},
		F64: func(dst, x []float64) {
			for i := range dst {
				dst[i] = f(x[i])
			}
		},
	}
}

// FloatKernels2 is FloatKernels for a function of two numbers.
func FloatKernels2(f func(a, b float64) float64) BinaryKernels {
	return BinaryKernels{
		F32: func(dst, x, y []float32) {
			for i := range dst {
				dst[i] = float32(f(float64(x[i]), float64(y[i])))
			}
		},
		F64: func(dst, x, y []float64) {
			for i := range dst {
				dst[i] = f(x[i], y[i])
			}
		},
	}
}

// mapRows calls f for each row of x along an axis; dst goes to the same place in out.
// number is the row's position in row-major order of the other axes.
func mapRows[T numbers.Number](out, x Array, axis int, f func(dst, src []T, number int)) {
	out, x = out.lastAxis(axis), x.lastAxis(axis)
	n := x.Layout.Shape[x.Dim()-1]
	if out.Len() == 0 {
		return
	}
	if IsPlain[T](out) && IsPlain[T](x) {
		to, from := Stored[T](out), Stored[T](x)
		ParallelRows(len(to)/n, ParallelFrom/n, func(start, end int) {
			for row := start; row < end; row++ {
				f(to[row*n:][:n:n], from[row*n:][:n:n], row)
			}
		})
		return
	}
	ParallelRows(x.Len()/n, ParallelFrom/n, func(start, end int) {
		r, w := NewReader[T](x), NewWriter[T](out)
		defer r.Done()
		defer w.Done()
		src, dst := make([]T, n), make([]T, n)
		for row := start; row < end; row++ {
			r.Copy(src, row*n)
			f(dst, src, row)
			w.row(dst, row)
		}
	})
}

// TernaryKernels holds the loops of an operation on three numbers.
type TernaryKernels struct {
	F32 func(dst, x, y, z []float32)
	F64 func(dst, x, y, z []float64)
	I64 func(dst, x, y, z []int64)
}

// zip3 is Zip for three operands.
func zip3[T numbers.Number](out, x, y, z Array, kernel func(dst, x, y, z []T)) {
	if IsPlain[T](out) && IsPlain[T](x) && IsPlain[T](y) && IsPlain[T](z) {
		to, a, b, c := Stored[T](out), Stored[T](x), Stored[T](y), Stored[T](z)
		Parallel(len(to), ParallelFrom, func(start, end int) {
			inStretches(start, end, func(at, end int) { kernel(to[at:end], a[at:end], b[at:end], c[at:end]) })
		})
		return
	}
	Parallel(out.Len(), ParallelFrom, func(start, end int) {
		rx, ry, rz, w := NewReader[T](x), NewReader[T](y), NewReader[T](z), NewWriter[T](out)
		defer rx.Done()
		defer ry.Done()
		defer rz.Done()
		defer w.Done()
		InBlocks(start, end, func(at, n int) {
			kernel(w.Block(at, n), rx.Block(at, n), ry.Block(at, n), rz.Block(at, n))
			w.Flush(at, n)
		})
	})
}

// choose writes x where condition is set, else y.
func choose[T numbers.Number](out, condition, x, y Array) {
	linear, memory, where := condition.IsContiguous(), condition.Data, condition.Layout.Merged()
	Parallel(out.Len(), ParallelFrom, func(start, end int) {
		rx, ry, w := NewReader[T](x), NewReader[T](y), NewWriter[T](out)
		defer rx.Done()
		defer ry.Done()
		defer w.Done()
		var room []uint8
		if !linear {
			room = make([]uint8, min(BlockLen, end-start))
		}
		InBlocks(start, end, func(at, n int) {
			var c []uint8
			if linear {
				c = unsafe.Slice((*uint8)(unsafe.Add(memory, condition.Layout.Offset+at)), n)
			} else {
				c = room[:n]
				gather(unsafe.Pointer(unsafe.SliceData(c)), n, memory, 1, &where, at)
			}
			chosen(w.Block(at, n), rx.Block(at, n), ry.Block(at, n), c)
			w.Flush(at, n)
		})
	})
}
