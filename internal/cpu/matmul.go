package cpu

import (
	"sync"
	"unsafe"
)

// Matrix says where the elements of a matrix lie: element (i, j) is i·Row + j·Col elements after Data. Strides may be
// zero or negative.
type Matrix struct {
	Data     unsafe.Pointer
	Row, Col int
}

// Format says how elements are stored. Those that are neither float32 nor float64 are converted to float32 as they are
// read, and the results are rounded once.
type Format struct {
	Size int // bytes of an element
	// BFloat16 says that the elements are bfloat16, which some processors multiply in pairs and add in float32. These
	// treat subnormal numbers as zero.
	BFloat16 bool
	Load     func(dst []float32, src unsafe.Pointer) // of consecutive elements; nil for float32 and float64
	Store    func(dst unsafe.Pointer, src []float32)
}

// The formats in which products are computed.
var (
	Float32 = &Format{Size: 4}
	Float64 = &Format{Size: 8}
)

// Product is a matrix product C = A·B, or several.
type Product struct {
	M, N, K int     // A is M x K, B is K x N, C is M x N
	A, B, C Matrix  // C must not overlap the others
	Format  *Format // of all three
	Add     bool    // C += A·B
	// Batch counts the products, 0 meaning 1; Offset says how many elements after A.Data, B.Data and C.Data the operands
	// of each begin. It is called from several goroutines.
	Batch  int
	Offset func(i int) (a, b, c int)
}

// parallelWork is the number of multiplications from which a second thread pays.
const parallelWork = 48 * 48 * 48

// Multiply computes a product. Each element of C is Σ A[i][k]·B[k][j] in the order of k, by fused multiply-adds if
// the processor has them, in one or several sums whose lengths depend only on K and the format. Products with a
// vector may have sums of other lengths, or in the lanes of a register.
func Multiply(p *Product) {
	batch := max(p.Batch, 1)
	work := p.M * p.N * p.K
	if batch == 1 && work < parallelWork {
		p.one(0)
		return
	}
	if work == 0 || batch*work < parallelWork || Threads() == 1 {
		for i := range batch {
			p.one(i)
		}
		return
	}
	shared := *p // so that a product that one thread computes need not be allocated
	shared.inParts(batch, work)
}

// inParts shares products out among threads.
func (p *Product) inParts(batch, work int) {
	if work < parallelWork || batch >= 4*Threads() { // whole products to each thread
		each := min(max(1, parallelWork/work), (batch+Threads()-1)/Threads())
		Parallel((batch+each-1)/each, func(piece int) {
			for i := piece * each; i < min((piece+1)*each, batch); i++ {
				p.one(i)
			}
		})
		return
	}
	rows, cols := p.grid(min(Threads(), ceil(work, parallelWork/2)))
	down, across := ceil(p.M, rows), ceil(p.N, cols)
	Parallel(batch*down*across, func(piece int) {
		i, piece := piece/(down*across), piece%(down*across)
		p.block(i, piece/across*rows, piece%across*cols, rows, cols)
	})
}

// grid chooses how to cut C into blocks for a number of threads: whole tiles, of nearly equal work, and blocks as
// square as possible, because a block reads its rows of A and its columns of B. Columns come first among equals.
func (p *Product) grid(threads int) (rows, cols int) {
	t := tileOf(p.Format)
	if p.Format.BFloat16 && tilesAMX() != nil {
		t = &tile{rows: amxSide, vector: amxSide}
	}
	best := 0
	for across := 1; across <= threads; across++ {
		r, c := roundUp(ceil(p.M, ceil(threads, across)), t.rows), roundUp(ceil(p.N, across), t.vector)
		rounds := ceil(ceil(p.M, r)*ceil(p.N, c), threads)
		if cost := rounds * (r*c + 8*r + 8*c); best == 0 || cost <= best {
			best, rows, cols = cost, r, c
		}
	}
	return rows, cols
}

// one computes product i of the batch.
func (p *Product) one(i int) { p.block(i, 0, 0, p.M, p.N) }

// block computes up to rows x cols elements of product i from (row, col) on.
func (p *Product) block(i, row, col, rows, cols int) {
	size := p.Format.Size
	b := block{
		m: min(rows, p.M-row), n: min(cols, p.N-col), k: p.K,
		a:      operand{p.A.Data, p.A.Row * size, p.A.Col * size},
		b:      operand{p.B.Data, p.B.Row * size, p.B.Col * size},
		c:      operand{p.C.Data, p.C.Row * size, p.C.Col * size},
		format: p.Format, add: p.Add,
	}
	if p.Offset != nil {
		oa, ob, oc := p.Offset(i)
		if b.k > 0 { // otherwise A and B have no elements, and so no place after the first product's
			b.a.data, b.b.data = unsafe.Add(b.a.data, oa*size), unsafe.Add(b.b.data, ob*size)
		}
		b.c.data = unsafe.Add(b.c.data, oc*size)
	}
	b.a = b.a.from(row, 0)
	b.b = b.b.from(0, col)
	b.c = b.c.from(row, col)
	b.run()
}

// operand is a matrix whose strides are in bytes.
type operand struct {
	data     unsafe.Pointer
	row, col int
}

func (o operand) from(i, j int) operand {
	o.data = unsafe.Add(o.data, i*o.row+j*o.col)
	return o
}

func (o operand) t() operand { return operand{o.data, o.col, o.row} }

// block is a product that one thread computes.
type block struct {
	m, n, k int
	a, b, c operand
	format  *Format
	add     bool

	// done, if it isn't nil, is told that m rows from row on have been computed, at the beginning of C, which the next
	// rows then reuse. Sums must have only one part.
	done func(row, m int)
}

// Sizes of the parts that are worked on at a time, so that they stay in a cache: cacheRows x depth of A and cacheCols x
// depth of B.
const (
	cacheRows = 252
	cacheCols = 2048
	maxDepth  = 2048 // bytes of depth numbers
)

// depthOf returns how many terms of a sum are added up before the sum is added to C. It must depend only on k and
// the size of a number, because the result depends on it.
func depthOf(k, size int) int {
	most := maxDepth / size
	if k <= most+most/2 {
		return k
	}
	return roundUp(ceil(k, ceil(k, most)), 8)
}

func (b *block) run() {
	size := b.format.Size
	if b.dots() || b.combination() {
		return
	}
	if b.format.Load != nil {
		whole := *b // functions hold on to these, while b need not be allocated
		whole.converted()
		return
	}
	if b.k == 0 {
		if !b.add {
			b.clear()
		}
		return
	}
	// The stride of an axis with one element says nothing.
	if b.m == 1 {
		b.a.row, b.c.row = b.k*size, b.n*size
	}
	if b.n == 1 {
		b.b.col, b.c.col = size, size
	}
	if b.c.col != size || b.n == 1 && b.m > 1 {
		if b.c.row == size { // Cᵀ = Bᵀ·Aᵀ, which for a column also fills the kernel's vectors
			b.m, b.n, b.a, b.b, b.c = b.n, b.m, b.b.t(), b.a.t(), b.c.t()
		} else if b.n > 1 {
			b.scattered()
			return
		}
	}
	s := scratches.Get().(*scratch)
	b.multiply(s)
	scratches.Put(s)
}

// multiply computes a block with contiguous rows of C. s holds the packed operands.
func (b *block) multiply(s *scratch) {
	e := elementOf(b.format)
	t := e.tile
	cacheRows := t.rowsAtATime()
	// Packing costs one pass over the operand; it pays if the packed operand is read often enough, or if a kernel can't
	// read the matrix itself. Rows that are a multiple of 4096 bytes apart fall on the same few lines of a cache.
	depth := depthOf(ceil(b.k, e.unit), e.size)
	directA := e.load == nil && (e.unit == 1 || b.a.col == e.stored && b.k%e.unit == 0)
	switch passes := ceil(b.n, t.cols); {
	case !directA:
	case b.a.col*e.unit == e.size: // its rows lie along k
		directA = b.n*e.size <= 256 || depth*b.m <= 1<<18 && !(t.rows > 8 && b.a.row%4096 == 0)
	case b.a.row == e.size: // its columns do
		directA = passes <= 8 && b.m*b.k*e.size <= 1<<18 || b.n*e.size <= 256 && !(b.a.col%4096 == 0 && b.k > 64)
	default:
		directA = b.n*e.size <= 256
	}
	directB := e.load == nil && e.unit == 1 && b.b.col == e.size && (b.m <= 4*t.rows || b.n*b.k*e.size <= 1<<15)
	args := &s.args
	*args = tileArgs{cStride: uintptr(b.c.row)}
	for col := 0; col < b.n; col += cacheCols {
		n := min(cacheCols, b.n-col)
		for at := 0; at < b.k; at += depth * e.unit {
			terms := min(depth*e.unit, b.k-at)
			k := ceil(terms, e.unit)
			pitch := e.pitch(k)
			args.k = k
			args.add = 0
			if b.add || at > 0 {
				args.add = 1
			}
			packedB := unsafe.Pointer(nil)
			if from := t.unreadable(n, directB); from < n {
				packedB = s.b.bytes(roundUp(n, t.vector) * pitch)
				e.packPanels(unsafe.Add(packedB, from*pitch), b.b.from(at, col+from).t(), n-from, terms, t.width, t.vector, s)
			}
			for row := 0; row < b.m; row += cacheRows {
				m := min(cacheRows, b.m-row)
				packedA := unsafe.Pointer(nil)
				if !directA {
					packedA = s.a.bytes(m * pitch)
					e.packPanels(packedA, b.a.from(row, at), m, terms, t.height, 1, s)
				}
				first := row // in C
				if b.done != nil {
					first = 0
				}
				for j, width := 0, 0; j < n; j += width {
					width = t.width(n - j)
					args.mask = 1<<width - 1
					if directB && width%t.vector == 0 {
						args.b, args.bStride = b.b.from(at, col+j).data, uintptr(b.b.row)
					} else {
						args.b, args.bStride = unsafe.Add(packedB, j*pitch), uintptr(roundUp(width, t.vector)*e.size)
					}
					for i := 0; i < m; i += t.rows {
						if directA {
							args.a, args.aRow, args.aCol = b.a.from(row+i, at).data, uintptr(b.a.row), uintptr(b.a.col*e.unit)
						} else {
							args.a = unsafe.Add(packedA, i*pitch)
							args.aRow, args.aCol = uintptr(e.size), uintptr(min(t.rows, m-i)*e.size)
						}
						args.c = b.c.from(first+i, col+j).data
						t.compute(args, min(t.rows, m-i))
					}
				}
				if b.done != nil {
					b.done(row, m)
				}
			}
		}
	}
	*args = tileArgs{} // keep no operand alive
}

// tileArgs are the arguments of a kernel that computes one tile. The generator knows this layout.
type tileArgs struct {
	a          unsafe.Pointer
	aRow, aCol uintptr // bytes from one row of A, and one term of the sums, to the next
	b          unsafe.Pointer
	bStride    uintptr
	c          unsafe.Pointer
	cStride    uintptr
	k          int    // > 0
	add        int    // 1: add to C
	mask       uint64 // a bit for each column
}

// scratch is the memory of one thread for packed operands.
type scratch struct {
	args           tileArgs
	amx            amxArgs
	a, b, c, stage buffer
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// buffer is memory that grows and is reused.
type buffer struct{ words []uint64 }

// bytes returns n bytes, aligned to a cache line, with room for half a line after them; their content is undefined.
func (b *buffer) bytes(n int) unsafe.Pointer {
	if len(b.words) < n/8+13 {
		b.words = make([]uint64, n/8+13)
		AdviseHuge(unsafe.Pointer(unsafe.SliceData(b.words)), n)
	}
	p := unsafe.Pointer(unsafe.SliceData(b.words))
	return unsafe.Add(p, -uintptr(p)&63)
}

func (b *buffer) float32s(n int) []float32 { return unsafe.Slice((*float32)(b.bytes(4*n)), n) }

func ceil(a, b int) int    { return (a + b - 1) / b }
func roundUp(a, b int) int { return ceil(a, b) * b }
