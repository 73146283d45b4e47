package loops

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Gathering says which elements of a tensor are picked: for each position of Index,
// which is int64 and contiguous, the element at the same position, except along one
// axis, where Index gives the position.
type Gathering struct {
	Axis  int
	Index Array
	Size  int // of the axis in the tensor that is picked from
}

// pick walks the positions of the index in row-major order.
func pick[S any](out, from []S, l layout.Layout, a Gathering) {
	if outer, count, inner, ok := a.inRows(l); ok {
		at, size := Stored[int64](a.Index), a.Size
		from = from[l.Offset:]
		if inner == 1 {
			ParallelRows(outer, ParallelFrom/count, func(start, end int) {
				for o := start; o < end; o++ {
					part, dst := from[o*size:][:size], out[o*count:][:count]
					for j, p := range at[o*count:][:count] {
						dst[j] = part[p]
					}
				}
			})
			return
		}
		ParallelRows(outer*count, ParallelFrom/inner, func(start, end int) {
			for row := start; row < end; row++ {
				part, dst := from[row/count*size*inner:][:size*inner], out[row*inner:][:inner]
				for k, p := range at[row*inner:][:inner] {
					dst[k] = part[int(p)*inner+k]
				}
			}
		})
		return
	}
	if a.Index.Len() == 0 {
		return
	}
	rest, stride := a.withoutAxis(l), l.Strides[a.Axis]
	at := Stored[int64](a.Index)
	Parallel(len(at), ParallelFrom, func(start, end int) {
		Walk(&rest, start, end-start, func(done, first, run, step int) {
			dst, places := out[start+done:][:run], at[start+done:][:run]
			for i, p := range places {
				dst[i] = from[first+i*step+int(p)*stride]
			}
		})
	})
}

// withoutAxis is the layout of the index's positions in a tensor of layout l, before the step along the axis.
func (a Gathering) withoutAxis(l layout.Layout) layout.Layout {
	rest := layout.Layout{Shape: slices.Clone(a.Index.Layout.Shape), Strides: slices.Clone(l.Strides), Offset: l.Offset}
	rest.Strides[a.Axis] = 0
	return rest
}

// put writes the elements of x, in row-major order, to where Pick would take them from.
func put[S any](out, x []S, a Gathering, l layout.Layout) {
	if outer, count, inner, ok := a.inRows(l); ok {
		at, size := Stored[int64](a.Index), a.Size
		byColumns(outer, inner, count, func(o, first, n int) {
			part, places, values := out[o*size*inner:][:size*inner], at[o*count*inner:][:count*inner], x[o*count*inner:][:count*inner]
			if inner == 1 {
				for j, v := range values {
					part[places[j]] = v
				}
				return
			}
			for j := range count {
				row := j*inner + first
				places := places[row:][:n]
				for k, v := range values[row:][:n] {
					part[int(places[k])*inner+first+k] = v
				}
			}
		})
		return
	}
	a.Each(l, func(i, at int) { out[at] = x[i] })
}

// scatterAdd adds the elements of x to where Pick would take them from.
func scatterAdd[T numbers.Number](sum []T, l layout.Layout, x Array, a Gathering) {
	if outer, count, inner, ok := a.inRows(l); ok { // each target gets its values in the same order
		at, size := Stored[int64](a.Index), a.Size
		sum = sum[l.Offset:]
		if inner == 1 {
			ParallelRows(outer, ParallelFrom/count, func(start, end int) {
				r := NewReader[T](x)
				defer r.Done()
				for o := start; o < end; o++ {
					part := sum[o*size:][:size]
					InBlocks(o*count, (o+1)*count, func(start, n int) {
						places := at[start:][:n]
						for j, v := range r.Block(start, n) {
							part[places[j]] += v
						}
					})
				}
			})
			return
		}
		byColumns(outer, inner, count, func(o, first, n int) {
			r := NewReader[T](x)
			defer r.Done()
			part, places := sum[o*size*inner:][:size*inner], at[o*count*inner:][:count*inner]
			for j := range count {
				row := j*inner + first
				places := places[row:][:n]
				for k, v := range r.Block(o*count*inner+row, n) {
					part[int(places[k])*inner+first+k] += v
				}
			}
		})
		return
	}
	values := make([]T, x.Len())
	NewReader[T](x).Copy(values, 0)
	a.Each(l, func(i, at int) { sum[at] += values[i] })
}

// scatterFold folds the elements of x, in row-major order, into where Pick would take them from.
func scatterFold[T numbers.Number](out []T, l layout.Layout, x Array, a Gathering, f func(a, b T) T) {
	values := make([]T, x.Len())
	NewReader[T](x).Copy(values, 0)
	a.Each(l, func(i, at int) { out[at] = f(out[at], values[i]) })
}

// byColumns shares out a tensor of outer rows and inner columns so that each column of a row belongs to one thread,
// which is given n columns of row o, from first on. A column takes work steps.
func byColumns(outer, inner, work int, f func(o, first, n int)) {
	if inner == 0 {
		return
	}
	const least, most = 64, 1024 // columns: some cache lines, and what stays in a cache
	width := min(inner, most)
	if threads := cpu.Threads(); outer < threads {
		width = min(width, max(least, (inner+threads-1)/threads))
	}
	pieces := (inner + width - 1) / width
	ParallelRows(outer*pieces, ParallelFrom/max(1, work*width), func(start, end int) {
		for piece := start; piece < end; piece++ {
			first := piece % pieces * width
			f(piece/pieces, first, min(width, inner-first))
		}
	})
}

// inRows reports whether a tensor of layout l is contiguous and the positions cover all
// of its other axes: outer before the axis, count along it and inner after it.
func (a Gathering) inRows(l layout.Layout) (outer, count, inner int, ok bool) {
	if a.Index.Len() == 0 || !l.IsContiguous() {
		return 0, 0, 0, false
	}
	outer, inner = 1, 1
	for i, size := range a.Index.Layout.Shape {
		switch {
		case i == a.Axis:
			count = size
			continue
		case size != l.Shape[i]:
			return 0, 0, 0, false
		case i < a.Axis:
			outer *= size
		default:
			inner *= size
		}
	}
	return outer, count, inner, true
}

// Each calls f with the number of each position of the index and the storage
// index that it leads to in a tensor of layout l.
func (a Gathering) Each(l layout.Layout, f func(i, at int)) {
	if a.Index.Len() == 0 {
		return
	}
	base := a.withoutAxis(l)
	stride := l.Strides[a.Axis]
	at := Stored[int64](a.Index)
	Walk(&base, 0, len(at), func(done, first, run, step int) {
		for i := range run {
			f(done+i, first+i*step+int(at[done+i])*stride)
		}
	})
}

// AllBelow reports whether positions are all at least 0 and below size.
func AllBelow(at []int64, size int) bool {
	var found atomic.Uint64
	Parallel(len(at), ParallelFrom, func(start, end int) {
		outside, last := uint64(0), int64(size)-1
		if Vectors64.Outside != nil {
			found.Or(math.Float64bits(Vectors64.Outside(sameBits[float64](at[start:end]), math.Float64frombits(uint64(last)))))
			return
		}
		for _, p := range at[start:end] {
			outside |= uint64(p) | uint64(last-p)
		}
		found.Or(outside)
	})
	return found.Load()>>63 == 0
}
