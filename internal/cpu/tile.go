package cpu

import (
	"math/bits"
	"unsafe"
)

// tile describes the kernel that computes one tile of a product.
type tile struct {
	rows, cols int
	vector     int // columns in a register: B is read in whole registers
	compute    func(args *tileArgs, rows int)
}

// width is how many columns the next tile computes if n are left. A tile of a single vector loads as many numbers as it
// multiplies, so that the last columns are shared out evenly.
func (t *tile) width(n int) int {
	if n > t.cols && n <= t.cols+t.vector && t.cols > 2*t.vector {
		return t.cols - t.vector
	}
	return min(n, t.cols)
}

// height is how many rows the next tile computes if n are left.
func (t *tile) height(n int) int { return min(n, t.rows) }

// unreadable returns from which of n columns on tiles can't read B itself: from the first or, if B can be read, from
// those of the last tile that are not whole vectors.
func (t *tile) unreadable(n int, readable bool) int {
	if !readable {
		return 0
	}
	if n%t.vector == 0 {
		return n
	}
	from := 0
	for n-from > t.width(n-from) {
		from += t.width(n - from)
	}
	return from
}

// rowsAtATime is how many rows of A are worked on at a time: whole tiles.
func (t *tile) rowsAtATime() int { return max(1, cacheRows/t.rows) * t.rows }

func tileOf(f *Format) *tile {
	if f.Size == 8 && f.Load == nil {
		return &tiles64[level]
	}
	return &tiles32[level]
}

// tileGo is the kernel in Go: two rows by four columns of sums, which the compiler keeps in registers. A conversion
// around each product forces rounding: otherwise some processors would fuse it with the addition, in one place but not
// in another.
func tileGo[T float32 | float64](x *tileArgs, rows int) {
	if cols := bits.OnesCount64(x.mask); rows < 2 || cols < 4 {
		tilePart[T](x, rows, cols)
		return
	}
	var s00, s01, s02, s03, s10, s11, s12, s13 T
	// Offsets rather than pointers walk along k, since a pointer must not leave its operand. What doesn't change is
	// read once, and four terms are added at a time, one after the other: in WebAssembly the jump back to the head
	// of a loop costs as much as they do.
	left, right, next, aCol, bStride := x.a, x.b, x.aRow, x.aCol, x.bStride
	var a, b uintptr
	k := x.k
	for ; k >= 4; k -= 4 {
		r0 := (*[4]T)(unsafe.Add(right, b))
		p0, q0 := *(*T)(unsafe.Add(left, a)), *(*T)(unsafe.Add(left, next))
		s00 += T(p0 * r0[0])
		s01 += T(p0 * r0[1])
		s02 += T(p0 * r0[2])
		s03 += T(p0 * r0[3])
		s10 += T(q0 * r0[0])
		s11 += T(q0 * r0[1])
		s12 += T(q0 * r0[2])
		s13 += T(q0 * r0[3])
		a, next, b = a+aCol, next+aCol, b+bStride
		r1 := (*[4]T)(unsafe.Add(right, b))
		p1, q1 := *(*T)(unsafe.Add(left, a)), *(*T)(unsafe.Add(left, next))
		s00 += T(p1 * r1[0])
		s01 += T(p1 * r1[1])
		s02 += T(p1 * r1[2])
		s03 += T(p1 * r1[3])
		s10 += T(q1 * r1[0])
		s11 += T(q1 * r1[1])
		s12 += T(q1 * r1[2])
		s13 += T(q1 * r1[3])
		a, next, b = a+aCol, next+aCol, b+bStride
		r2 := (*[4]T)(unsafe.Add(right, b))
		p2, q2 := *(*T)(unsafe.Add(left, a)), *(*T)(unsafe.Add(left, next))
		s00 += T(p2 * r2[0])
		s01 += T(p2 * r2[1])
		s02 += T(p2 * r2[2])
		s03 += T(p2 * r2[3])
		s10 += T(q2 * r2[0])
		s11 += T(q2 * r2[1])
		s12 += T(q2 * r2[2])
		s13 += T(q2 * r2[3])
		a, next, b = a+aCol, next+aCol, b+bStride
		r3 := (*[4]T)(unsafe.Add(right, b))
		p3, q3 := *(*T)(unsafe.Add(left, a)), *(*T)(unsafe.Add(left, next))
		s00 += T(p3 * r3[0])
		s01 += T(p3 * r3[1])
		s02 += T(p3 * r3[2])
		s03 += T(p3 * r3[3])
		s10 += T(q3 * r3[0])
		s11 += T(q3 * r3[1])
		s12 += T(q3 * r3[2])
		s13 += T(q3 * r3[3])
		a, next, b = a+aCol, next+aCol, b+bStride
	}
	for range k {
		r := (*[4]T)(unsafe.Add(right, b))
		p, q := *(*T)(unsafe.Add(left, a)), *(*T)(unsafe.Add(left, next))
		s00 += T(p * r[0])
		s01 += T(p * r[1])
		s02 += T(p * r[2])
		s03 += T(p * r[3])
		s10 += T(q * r[0])
		s11 += T(q * r[1])
		s12 += T(q * r[2])
		s13 += T(q * r[3])
		a, next, b = a+aCol, next+aCol, b+bStride
	}
	c0, c1 := (*[4]T)(x.c), (*[4]T)(unsafe.Add(x.c, x.cStride))
	if x.add != 0 {
		s00, s01, s02, s03 = s00+c0[0], s01+c0[1], s02+c0[2], s03+c0[3]
		s10, s11, s12, s13 = s10+c1[0], s11+c1[1], s12+c1[2], s13+c1[3]
	}
	*c0, *c1 = [4]T{s00, s01, s02, s03}, [4]T{s10, s11, s12, s13}
}

// tilePart computes the tiles at the edges, which are smaller.
func tilePart[T float32 | float64](x *tileArgs, rows, cols int) {
	for i := range rows {
		for j := range cols {
			var sum T
			for k := range x.k {
				a := *(*T)(unsafe.Add(x.a, uintptr(i)*x.aRow+uintptr(k)*x.aCol))
				sum += T(a * (*[4]T)(unsafe.Add(x.b, uintptr(k)*x.bStride))[j])
			}
			c := (*T)(unsafe.Add(x.c, uintptr(i)*x.cStride+uintptr(j)*unsafe.Sizeof(sum)))
			if x.add != 0 {
				sum += *c
			}
			*c = sum
		}
	}
}
