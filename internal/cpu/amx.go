package cpu

import "unsafe"

// Products of bfloat16 with AMX. Its registers are tiles, here of 16 rows of 16 numbers, and the kernel computes 2x2 of
// them, 32x32 elements of C. What it reads of A are rows of pairs, of B a panel as for VDPBF16PS; both have zeros up to a
// multiple of 16 pairs.
const (
	amxSide  = 32
	amxDepth = 16 // pairs
)

// amxRows is how many rows of A are packed at a time.
const amxRows = 256

// multiplyTiles is multiply by way of AMX. C is float32 whose rows lie together.
func (b *block) multiplyTiles(s *scratch, kernel func(args *tileArgs)) {
	depth := roundUp(depthOf(ceil(b.k, 2), 4), amxDepth)
	args := &s.args
	for col := 0; col < b.n; col += cacheCols {
		n := min(cacheCols, b.n-col)
		for at := 0; at < b.k; at += 2 * depth {
			terms := min(2*depth, b.k-at)
			pairs := ceil(terms, 2)
			k := roundUp(pairs, amxDepth)
			panel := 4 * k * amxSide // bytes
			packedB := s.b.bytes(ceil(n, amxSide) * panel)
			for j := 0; j < n; j += amxSide {
				to := unsafe.Add(packedB, j/amxSide*panel)
				packPairs(to, amxSide, b.b.from(at, col+j).t(), min(amxSide, n-j), terms)
				clear(unsafe.Slice((*uint32)(unsafe.Add(to, 4*pairs*amxSide)), (k-pairs)*amxSide))
			}
			direct := b.a.col == 2 && terms == 2*k
			for row := 0; row < b.m; row += amxRows {
				m := min(amxRows, b.m-row)
				packedA := s.a.bytes(ceil(m, amxSide) * panel)
				for i := 0; i < m; i += amxSide {
					if rows := min(amxSide, m-i); !direct || rows < amxSide {
						packRowsOfPairs(unsafe.Add(packedA, i/amxSide*panel), k, b.a.from(row+i, at), rows, terms, s)
					}
				}
				for j := 0; j < n; j += amxSide {
					for i := 0; i < m; i += amxSide {
						*args = tileArgs{a: unsafe.Add(packedA, i/amxSide*panel), aRow: uintptr(4 * k), b: unsafe.Add(packedB, j/amxSide*panel), k: k / amxDepth}
						rows, cols := min(amxSide, m-i), min(amxSide, n-j)
						if direct && rows == amxSide {
							args.a, args.aRow = b.a.from(row+i, at).data, uintptr(b.a.row)
						}
						if b.add || at > 0 {
							args.add = 1
						}
						b.tile(s, kernel, b.c.from(row+i, col+j), rows, cols)
					}
				}
			}
		}
	}
	*args = tileArgs{} // keep no operand alive
}

// tile runs the kernel for one tile of C. One at an edge is computed elsewhere and copied.
func (b *block) tile(s *scratch, kernel func(args *tileArgs), c operand, rows, cols int) {
	args := &s.args
	if rows == amxSide && cols == amxSide {
		args.c, args.cStride = c.data, uintptr(c.row)
		kernel(args)
		return
	}
	whole := operand{s.edge.bytes(4 * amxSide * amxSide), 4 * amxSide, 4}
	args.c, args.cStride = whole.data, uintptr(whole.row)
	if args.add != 0 {
		packRows(whole.data, whole.row, c.data, c.row, rows, 4*cols)
	}
	kernel(args)
	packRowsGo(c.data, c.row, whole.data, whole.row, rows, 4*cols)
}

// packRowsOfPairs copies rows, of which each has room for k pairs, with zeros behind the terms. Rows that are missing to
// a whole tile keep what was there: they are multiplied, but not stored.
func packRowsOfPairs(dst unsafe.Pointer, k int, src operand, rows, terms int, s *scratch) {
	pairs := ceil(terms, 2)
	if src.col != 2 { // by way of a panel in which a pair of all rows lies together
		panel := s.stage.bytes(4 * pairs * amxSide)
		packPairs(panel, amxSide, src, rows, terms)
		transpose(dst, k, panel, 4*amxSide, pairs, rows, 4)
	}
	for i := range rows {
		to := unsafe.Slice((*uint16)(unsafe.Add(dst, 4*i*k)), 2*k)
		if src.col == 2 {
			copy(to, unsafe.Slice((*uint16)(src.from(i, 0).data), terms))
		}
		clear(to[terms:])
	}
}
