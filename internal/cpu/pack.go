package cpu

import "unsafe"

// element is the type in which a block is computed, and how to read it.
type element struct {
	*tile
	size   int // bytes of a number in a panel
	stored int // bytes of an element in memory
	unit   int // elements in a number: 2 if it is a pair of bfloat16
	load   func(dst []float32, src unsafe.Pointer)
}

func elementOf(f *Format) element {
	switch {
	case f.BFloat16 && dotsBFloat16():
		return element{&tilePairs, 4, 2, 2, nil}
	case f.Load != nil:
		return element{tileOf(f), 4, f.Size, 1, f.Load}
	}
	return element{tileOf(f), f.Size, f.Size, 1, nil}
}

// pack copies lines, which are rows of A or columns of B, into a panel: number k of line i goes to position
// k·stride + i. In src a line is a row. Lines that lie beside each other and need no conversion are packed by
// packPanels.
func (e *element) pack(dst unsafe.Pointer, stride int, src operand, lines, k int, s *scratch) {
	if e.load != nil {
		e.packConverted(dst, stride, src, lines, k, s)
		return
	}
	switch {
	case e.unit == 2:
		packPairs(dst, stride, src, lines, k)
	case lines == 1 && src.col != e.size:
		packRows(dst, stride*e.size, src.data, src.col, k, lines*e.size)
	case src.col == e.size:
		transpose(dst, stride, src.data, src.row, lines, k, e.size)
	case e.size == 4:
		packStrided[uint32](dst, stride, src, lines, k)
	default:
		packStrided[uint64](dst, stride, src, lines, k)
	}
}

// panelGap is how many bytes of room a panel has at its end for each of its lines. Whole vectors are written, so the
// last one may reach beyond the panel, but must not reach the next. And panels that are a power of two apart would fall
// on the same few lines of a cache.
const panelGap = 8

// pitch is how many bytes of packed memory a line of k numbers takes: if line i begins a panel, the panel is at
// i·pitch.
func (e *element) pitch(k int) int { return k*e.size + panelGap }

// packPanels packs lines into panels, one after the other. next returns how many lines the next panel has, given how
// many are left; a panel is a whole number of units wide.
func (e *element) packPanels(dst unsafe.Pointer, src operand, lines, terms int, next func(left int) int, unit int, s *scratch) {
	pitch := e.pitch(ceil(terms, e.unit))
	for i, n := 0, 0; i < lines; i += n {
		n = next(lines - i)
		width := roundUp(n, unit)
		panel := unsafe.Add(dst, i*pitch)
		if e.load != nil || e.unit > 1 || src.row != e.size {
			e.pack(panel, width, src.from(i, 0), n, terms, s)
			continue
		}
		// Lines that lie beside each other share cache lines and pages: one term of all panels of the same width is copied at
		// once.
		count := 1
		for next(lines-i-count*n) == n {
			count++
		}
		for p := range terms {
			packRows(unsafe.Add(panel, p*width*e.size), width*pitch, src.from(i, p).data, n*e.size, count, n*e.size)
		}
		n *= count
	}
}

func (e *element) packConverted(dst unsafe.Pointer, stride int, src operand, lines, k int, s *scratch) {
	switch {
	case src.row == e.stored:
		for p := range k {
			e.load(unsafe.Slice((*float32)(unsafe.Add(dst, 4*p*stride)), lines), unsafe.Add(src.data, p*src.col))
		}
	case src.col == e.stored:
		line := s.stage.float32s(lines * k)
		for i := range lines {
			e.load(line[i*k:][:k], unsafe.Add(src.data, i*src.row))
		}
		transpose(dst, stride, unsafe.Pointer(unsafe.SliceData(line)), 4*k, lines, k, 4)
	default:
		for i := range lines {
			for p := range k {
				e.load(unsafe.Slice((*float32)(unsafe.Add(dst, 4*(p*stride+i))), 1), unsafe.Add(src.data, i*src.row+p*src.col))
			}
		}
	}
}

// packPairs is pack for pairs of bfloat16. The last one of an odd number has a zero.
func packPairs(dst unsafe.Pointer, stride int, src operand, lines, k int) {
	done := 0 // pairs
	switch {
	case k < 2:
	case src.row == 2:
		done = k / 2
		pairRows(dst, uintptr(4*stride), src.data, uintptr(src.col), done, 1<<lines-1)
	case src.col == 2:
		done = k / 2
		transpose(dst, stride, src.data, src.row, lines, done, 4)
	}
	to := unsafe.Slice((*[2]uint16)(dst), ceil(k, 2)*stride)
	for p := done; 2*p < k; p++ {
		for i := range lines {
			pair := [2]uint16{*(*uint16)(src.from(i, 2*p).data)}
			if 2*p+1 < k {
				pair[1] = *(*uint16)(src.from(i, 2*p+1).data)
			}
			to[p*stride+i] = pair
		}
	}
}

func packStrided[T uint32 | uint64](dst unsafe.Pointer, stride int, src operand, lines, k int) {
	var number T
	step := stride * int(unsafe.Sizeof(number))
	for i := range lines {
		to, from := unsafe.Add(dst, i*int(unsafe.Sizeof(number))), unsafe.Add(src.data, i*src.row)
		for p, out, in := 0, 0, 0; p < k; p, out, in = p+1, out+step, in+src.col {
			*(*T)(unsafe.Add(to, out)) = *(*T)(unsafe.Add(from, in))
		}
	}
}

// converted computes a block of a format that must be converted: into float32, a part at a
// time, which is then rounded.
func (b *block) converted() {
	const most = 1 << 20 // elements of a part
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	if b.format.BFloat16 && b.k > 0 {
		if kernel := tilesAMX(); kernel != nil {
			b.multiplyTiles(s, kernel)
			return
		}
	}
	cols := min(b.n, cacheCols)
	if e := elementOf(b.format); b.k > 0 && !b.add && ceil(b.k, e.unit) <= depthOf(ceil(b.k, e.unit), e.size) {
		// Each sum is computed in one go, so that results can be rounded while they are in a near cache.
		rows := min(b.m, e.rowsAtATime())
		c := s.c.float32s(rows * cols)
		for col := 0; col < b.n; col += cols {
			part := *b
			part.n = min(cols, b.n-col)
			part.b = b.b.from(0, col)
			part.c = operand{unsafe.Pointer(unsafe.SliceData(c)), 4 * part.n, 4}
			part.done = func(row, m int) {
				for i := range m {
					b.storeRow(b.c.from(row+i, col), c[i*part.n:][:part.n])
				}
			}
			part.multiply(s)
		}
		return
	}
	rows := min(b.m, roundUp(max(cacheRows, most/cols), cacheRows))
	for col := 0; col < b.n; col += cols {
		n := min(cols, b.n-col)
		for row := 0; row < b.m; row += rows {
			part := *b
			part.m, part.n = min(rows, b.m-row), n
			part.a, part.b = b.a.from(row, 0), b.b.from(0, col)
			to := b.c.from(row, col)
			c := s.c.float32s(part.m * n)
			part.c = operand{unsafe.Pointer(unsafe.SliceData(c)), 4 * n, 4}
			if part.add {
				b.load(c, n, to, part.m, n)
			}
			if b.k > 0 {
				part.multiply(s)
			} else if !part.add {
				clear(c)
			}
			for i := range part.m {
				b.storeRow(to.from(i, 0), c[i*n:][:n])
			}
		}
	}
}

func (b *block) storeRow(to operand, row []float32) {
	if to.col == b.format.Size {
		b.format.Store(to.data, row)
		return
	}
	for j := range row {
		b.format.Store(to.from(0, j).data, row[j:j+1])
	}
}

// load converts a matrix to float32, with a given number of numbers from one row to the next.
func (b *block) load(dst []float32, stride int, from operand, m, n int) {
	for i := range m {
		if from.col == b.format.Size {
			b.format.Load(dst[i*stride:][:n], from.from(i, 0).data)
			continue
		}
		for j := range n {
			b.format.Load(dst[i*stride+j:][:1], from.from(i, j).data)
		}
	}
}

// scattered computes a block of C whose neighbors lie together neither in rows nor in columns, through a block whose
// neighbors do.
func (b *block) scattered() {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	to, size := b.c, b.format.Size
	part := *b
	rows := max(1, min(b.m, 1<<20/b.n))
	for row := 0; row < b.m; row += rows {
		part.m = min(rows, b.m-row)
		part.a = b.a.from(row, 0)
		part.c = operand{s.c.bytes(rows * b.n * size), b.n * size, size}
		from := to.from(row, 0)
		if b.add {
			move(part.c, from, part.m, b.n, size)
		}
		part.multiply(s)
		move(from, part.c, part.m, b.n, size)
	}
}

// move copies a matrix element by element.
func move(to, from operand, m, n, size int) {
	for i := range m {
		for j := range n {
			if size == 4 {
				*(*uint32)(to.from(i, j).data) = *(*uint32)(from.from(i, j).data)
			} else {
				*(*uint64)(to.from(i, j).data) = *(*uint64)(from.from(i, j).data)
			}
		}
	}
}

// clear sets C to zero.
func (b *block) clear() {
	for i := range b.m {
		for j := range b.n {
			if b.format.Size == 4 {
				*(*uint32)(b.c.from(i, j).data) = 0
			} else {
				*(*uint64)(b.c.from(i, j).data) = 0
			}
		}
	}
}

func packRowsGo(dst unsafe.Pointer, dstStride int, src unsafe.Pointer, srcStride, rows, bytes int) {
	for i := range rows {
		copy(unsafe.Slice((*byte)(unsafe.Add(dst, i*dstStride)), bytes), unsafe.Slice((*byte)(unsafe.Add(src, i*srcStride)), bytes))
	}
}

func transposeGo(dst unsafe.Pointer, stride int, src unsafe.Pointer, srcStride, lines, k, size int) {
	if from := (operand{src, srcStride, size}); size == 4 {
		packStrided[uint32](dst, stride, from, lines, k)
	} else {
		packStrided[uint64](dst, stride, from, lines, k)
	}
}
