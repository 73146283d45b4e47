package cpu

import "unsafe"

// Products with a vector, where the numbers of each sum lie beside each other: the inner products of rows with that
// vector. Each number is read once, so memory sets the pace. A tile would use only one of its rows or columns, and
// its terms would wait for each other.

// dotKernel computes the inner products of count rows of k > 0 numbers with x. Strides are in bytes.
type dotKernel func(rows unsafe.Pointer, stride, count int, x unsafe.Pointer, k int, to unsafe.Pointer, toStride int)

const (
	// dotFrom is the number of terms from which an inner product is faster than a tile.
	dotFrom = 16
	// dotPiece is how many terms a sum has. A longer inner product consists of several sums, which are then added in
	// order: the error grows more slowly, and threads can share the work.
	dotPiece = 1 << 14
	// dotStretch is the most numbers that a kernel reads in one call, which the garbage collector can't interrupt.
	dotStretch = 1 << 17
)

// dots computes b as inner products, and reports whether b is such a product and the level has a kernel for it.
func (b *block) dots() bool {
	size := b.format.Size
	switch {
	case b.k < dotFrom:
		return false
	case b.n == 1 && b.a.col == size:
	case b.m == 1 && b.b.row == size:
		turned := *b // Cᵀ = Bᵀ·Aᵀ
		turned.m, turned.n, turned.a, turned.b, turned.c = b.n, b.m, b.b.t(), b.a.t(), b.c.t()
		return turned.dots()
	default:
		return false
	}
	kernel32, kernel64 := dotKernels()
	switch {
	case kernel32 == nil:
		return false
	case b.format == Float64:
		dots[float64](b, kernel64)
	default:
		dots[float32](b, kernel32)
	}
	return true
}

// dots computes a block of one column, whose rows of A lie along k.
func dots[T float32 | float64](b *block, kernel dotKernel) {
	var number T
	size := int(unsafe.Sizeof(number))
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	x := numbers(b.format, b.b.t(), b.k, size, &s.b)
	if b.format.Load != nil || b.k > dotPiece {
		for i := range b.m {
			row := numbers(b.format, b.a.from(i, 0), b.k, size, &s.a)
			put(b.format, b.c.from(i, 0).data, dot[T](row, x, b.k, kernel, s, b.m == 1), b.add)
		}
		return
	}
	for i, n := 0, 0; i < b.m; i += n {
		n = min(max(1, dotStretch/b.k), b.m-i)
		rows, to := b.a.from(i, 0), b.c.from(i, 0)
		if !b.add {
			kernel(rows.data, rows.row, n, x, b.k, to.data, to.row)
			continue
		}
		sums := unsafe.Slice((*T)(s.c.bytes(n*size)), n)
		kernel(rows.data, rows.row, n, x, b.k, unsafe.Pointer(&sums[0]), size)
		for j, sum := range sums {
			put(b.format, to.from(j, 0).data, sum, true)
		}
	}
}

// dot returns one inner product of k numbers, on several threads if shared is set.
func dot[T float32 | float64](row, x unsafe.Pointer, k int, kernel dotKernel, s *scratch, shared bool) (sum T) {
	size := int(unsafe.Sizeof(sum))
	pieces := ceil(k, dotPiece)
	sums := unsafe.Slice((*T)(s.c.bytes(pieces*size)), pieces)
	piece := func(i int) {
		at := i * dotPiece
		kernel(unsafe.Add(row, at*size), 0, 1, unsafe.Add(x, at*size), min(dotPiece, k-at), unsafe.Pointer(&sums[i]), size)
	}
	if shared {
		Parallel(pieces, piece)
	} else {
		for i := range pieces {
			piece(i)
		}
	}
	for _, part := range sums {
		sum += part
	}
	return sum
}

// numbers returns where the first k elements of a row of m lie beside each other as numbers of
// size bytes: in the matrix, or in a copy.
func numbers(f *Format, m operand, k, size int, to *buffer) unsafe.Pointer {
	if f.Load == nil && m.col == size {
		return m.data
	}
	copied := to.bytes(k * size)
	switch {
	case f.Load == nil:
		move(operand{copied, 0, size}, m, 1, k, size)
	case m.col == f.Size:
		f.Load(unsafe.Slice((*float32)(copied), k), m.data)
	default:
		for i := range k {
			f.Load(unsafe.Slice((*float32)(unsafe.Add(copied, 4*i)), 1), m.from(0, i).data)
		}
	}
	return copied
}

// put stores a sum as an element, or adds it to the one that is there.
func put[T float32 | float64](f *Format, to unsafe.Pointer, sum T, add bool) {
	if f.Load == nil {
		if add {
			sum += *(*T)(to)
		}
		*(*T)(to) = sum
		return
	}
	total, before := [1]float32{float32(sum)}, [1]float32{}
	if add {
		f.Load(before[:], to)
		total[0] += before[0]
	}
	f.Store(to, total[:])
}
