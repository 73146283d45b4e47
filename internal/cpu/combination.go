package cpu

import "unsafe"

// A vector times a matrix with contiguous rows is a combination of these rows. A tile would read little of each row at
// a time, which is slow if the matrix is in no near cache. Here a few rows are read from end to end.

const (
	// combineFrom is the number of columns from which that is faster than a tile.
	combineFrom = 256
	// combineAtATime is how many bytes of the result the rows are added to at a time: as many as stay in the nearest
	// cache.
	combineAtATime = 1 << 14
)

// combination computes b in this way, and reports whether b is such a product and the level
// has loops for it. The sums are the same as those of tiles.
func (b *block) combination() bool {
	size := b.format.Size
	switch {
	case b.format.Load != nil:
	case b.m == 1 && b.b.col == size && b.c.col == size && b.n >= combineFrom:
		if b.format == Float64 {
			return combine(b, Float64s())
		}
		return combine(b, Float32s())
	case b.n == 1 && b.a.row == size && b.c.row == size && b.m >= combineFrom: // Cᵀ = Bᵀ·Aᵀ
		turned := *b
		turned.m, turned.n, turned.a, turned.b, turned.c = b.n, b.m, b.b.t(), b.a.t(), b.c.t()
		return turned.combination()
	}
	return false
}

func combine[T float32 | float64](b *block, v *Vectors[T]) bool {
	if v.AddFour == nil {
		return false
	}
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	size := b.format.Size
	depth := depthOf(b.k, size)
	for col, n := 0, 0; col < b.n; col += n {
		n = min(combineAtATime/size, b.n-col)
		to := unsafe.Slice((*T)(b.c.from(0, col).data), n)
		for at := 0; at < b.k; at += depth {
			sums := to
			if b.add || at > 0 {
				sums = unsafe.Slice((*T)(s.c.bytes(n*size)), n)
			}
			clear(sums)
			row := func(k int) []T { return unsafe.Slice((*T)(b.b.from(k, col).data), n) }
			factor := func(k int) T { return *(*T)(b.a.from(0, k).data) }
			k, end := at, min(at+depth, b.k)
			for ; k+4 <= end; k += 4 {
				v.AddFour(sums, row(k), row(k+1), row(k+2), row(k+3), factor(k), factor(k+1), factor(k+2), factor(k+3))
			}
			for ; k < end; k++ {
				v.AddScaled(sums, row(k), factor(k))
			}
			if b.add || at > 0 {
				v.Add(to, to, sums)
			}
		}
	}
	return true
}
