package loops

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Gathering says which elements of a tensor are picked: at each position of Index, which
// is int64 and contiguous, that at the same position but for one axis, where it is the
// one that Index names.
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
		ParallelRows(outer, ParallelFrom/(count*inner), func(start, end int) {
			for o := start; o < end; o++ {
				part := from[o*size*inner:][:size*inner]
				if inner == 1 {
					dst, places := out[o*count:][:count], at[o*count:][:count]
					for j, p := range places {
						dst[j] = part[p]
					}
					continue
				}
				for j := range count {
					first := (o*count + j) * inner
					dst, places := out[first:][:inner], at[first:][:inner]
					for k, p := range places {
						dst[k] = part[int(p)*inner+k]
					}
				}
			}
		})
		return
	}
	a.Each(l, func(i, at int) { out[i] = from[at] })
}

// put writes the elements of x, in row-major order, to where Pick would take them from, in that order.
func put[S any](out, x []S, a Gathering, l layout.Layout) {
	if outer, count, inner, ok := a.inRows(l); ok {
		at, size := Stored[int64](a.Index), a.Size
		ParallelRows(outer, ParallelFrom/(count*inner), func(start, end int) {
			for o := start; o < end; o++ {
				part := out[o*size*inner:][:size*inner]
				if inner == 1 {
					places := at[o*count:][:count]
					for j, v := range x[o*count:][:count] {
						part[places[j]] = v
					}
					continue
				}
				for j := range count {
					first := (o*count + j) * inner
					places := at[first:][:inner]
					for k, v := range x[first:][:inner] {
						part[int(places[k])*inner+k] = v
					}
				}
			}
		})
		return
	}
	a.Each(l, func(i, at int) { out[at] = x[i] })
}

// scatterAdd adds the elements of x to where Pick would take them from.
func scatterAdd[T numbers.Number](sum []T, l layout.Layout, x Array, a Gathering) {
	var values []T
	if IsPlain[T](x) {
		values = Stored[T](x)
	} else {
		values = make([]T, x.Len())
		NewReader[T](x).Copy(values, 0)
	}
	if outer, count, inner, ok := a.inRows(l); ok { // each target gets its values in the same order
		at, size := Stored[int64](a.Index), a.Size
		sum = sum[l.Offset:]
		ParallelRows(outer, ParallelFrom/(count*inner), func(start, end int) {
			for o := start; o < end; o++ {
				part := sum[o*size*inner:][:size*inner]
				if inner == 1 {
					places := at[o*count:][:count]
					for j, v := range values[o*count:][:count] {
						part[places[j]] += v
					}
					continue
				}
				for j := range count {
					first := (o*count + j) * inner
					places := at[first:][:inner]
					for k, v := range values[first:][:inner] {
						part[int(places[k])*inner+k] += v
					}
				}
			}
		})
		return
	}
	a.Each(l, func(i, at int) { sum[at] += values[i] })
}

// inRows reports whether a tensor of layout l is contiguous and the positions are for all
// of its other axes: outer before the axis, count along it and inner behind.
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
	base := layout.Layout{Shape: slices.Clone(a.Index.Layout.Shape), Strides: slices.Clone(l.Strides), Offset: l.Offset}
	base.Strides[a.Axis] = 0
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
