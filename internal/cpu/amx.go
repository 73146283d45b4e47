package cpu

import "unsafe"

// Products of bfloat16 with AMX. Its registers are tiles, here of 16 rows of 64 bytes, and the kernel computes 2x2 of
// them at a time, 32x32 elements of C in float32, while it walks along k in steps of 16 pairs. A step of B is packed,
// 16 rows of 32 pairs; one of A is 32 rows of 16 pairs, read in place if its rows lie along k and are complete. Both
// have zeros after the last term.
//
// Some steps of A stay in the nearest cache while all of the packed B streams past them.
const (
	amxSide     = 32
	amxTerms    = 32           // of a step
	amxStep     = 64 * amxSide // bytes of a step of either panel
	amxNear     = 16           // steps of A that stay in the nearest cache
	amxDeep     = 64           // steps that are packed at a time
	amxPacked   = 1 << 20      // bytes of B that are packed at a time, at most
	amxTogether = 16           // tiles of C that a call computes: a goroutine can't be interrupted in it
	amxRows     = 1024         // of C that are kept in float32, if their sums have several parts
)

// amxArgs are the arguments of the kernel. The generator knows this layout.
type amxArgs struct {
	a     unsafe.Pointer
	aRow  uintptr        // bytes from row to row of A
	aStep uintptr        // and from step to step
	b     unsafe.Pointer // the panel of the first tile, followed by those of the others
	c     unsafe.Pointer // float32, the tiles beside each other
	cRow  uintptr        // bytes
	k     int            // steps, > 0
	tiles int            // > 0
	add   int            // 1: add to C
}

// multiplyTiles computes a block of bfloat16 with AMX.
func (b *block) multiplyTiles(s *scratch, kernel func(args *amxArgs)) {
	steps := ceil(b.k, amxTerms)
	deep := min(steps, amxDeep)
	parts := ceil(steps, deep)
	keep := amxSide // rows of C in float32
	if parts > 1 {
		keep = roundUp(min(b.m, amxRows), amxSide)
	}
	cols := min(roundUp(b.n, amxSide), max(amxSide, amxPacked/(amxStep*deep)*amxSide))
	for col := 0; col < b.n; col += cols {
		n := min(cols, b.n-col)
		across := ceil(n, amxSide)
		sums := s.c.float32s(keep * across * amxSide)
		packedB := s.b.bytes(across * deep * amxStep)
		for row := 0; row < b.m; row += amxRows {
			m := min(amxRows, b.m-row)
			for part := range parts {
				at := part * deep
				terms := min(deep*amxTerms, b.k-at*amxTerms)
				if row == 0 || parts > 1 {
					packColumns(packedB, b.b.from(at*amxTerms, col), n, terms)
				}
				for i := 0; i < m; i += amxSide {
					rows := min(amxSide, m-i)
					to := b.c.from(row+i, col)
					c := sums[i%keep*across*amxSide:]
					if part == 0 && b.add {
						b.load(c, across*amxSide, to, rows, n)
					}
					s.sumTiles(kernel, b.a.from(row+i, at*amxTerms), rows, terms, packedB, c, across, b.add || part > 0)
					if part == parts-1 {
						b.roundTiles(to, c, rows, n)
					}
				}
			}
		}
	}
	s.amx = amxArgs{} // keep no operand alive
}

// sumTiles computes up to 32 rows of C in float32, in a number of tiles beside each other: sums of some
// terms, added to what c holds if add is set.
func (s *scratch) sumTiles(kernel func(args *amxArgs), a operand, rows, terms int, packedB unsafe.Pointer, c []float32, across int, add bool) {
	k := ceil(terms, amxTerms)
	x := &s.amx
	*x = amxArgs{cRow: uintptr(4 * across * amxSide)}
	if a.col == 2 && rows == amxSide && terms == k*amxTerms {
		x.aRow, x.aStep = uintptr(a.row), 2*amxTerms
	} else {
		packed := s.a.bytes(k * amxStep)
		packTileRows(packed, a, rows, terms, s)
		a.data, x.aRow, x.aStep = packed, 2*amxTerms, amxStep
	}
	if add {
		x.add = 1
	}
	for near := 0; near < k; near += amxNear {
		x.k = min(amxNear, k-near)
		x.a = unsafe.Add(a.data, near*int(x.aStep))
		for j := 0; j < across; j += amxTogether {
			x.tiles = min(amxTogether, across-j)
			x.b = unsafe.Add(packedB, (near*across+j*x.k)*amxStep)
			x.c = unsafe.Pointer(&c[j*amxSide])
			kernel(x)
		}
		x.add = 1
	}
}

// roundTiles stores sums that lie in whole tiles beside each other.
func (b *block) roundTiles(to operand, sums []float32, rows, n int) {
	row := roundUp(n, amxSide)
	whole := 0
	if to.col == 2 && dotsBFloat16() { // else this is a test
		if whole = n / amxSide; whole > 0 {
			roundRows(to.data, uintptr(to.row), unsafe.Pointer(&sums[0]), uintptr(4*row), rows, whole)
		}
	}
	if whole *= amxSide; whole < n {
		for i := range rows {
			b.storeRow(to.from(i, whole), sums[i*row+whole:][:n-whole])
		}
	}
}

// packColumns packs n columns of B. The panels for the steps that stay in the nearest cache lie beside each other.
func packColumns(dst unsafe.Pointer, src operand, n, terms int) {
	k, across := ceil(terms, amxTerms), ceil(n, amxSide)
	pack := func(step, panel int) {
		first := step / amxNear * amxNear
		near := min(amxNear, k-first)
		to := unsafe.Add(dst, (first*across+panel*near+step-first)*amxStep)
		packPairStep(to, src.from(step*amxTerms, panel*amxSide).t(), min(amxSide, n-panel*amxSide), min(amxTerms, terms-step*amxTerms))
	}
	if src.col == 2 { // panels share rows
		for step := range k {
			for panel := range across {
				pack(step, panel)
			}
		}
		return
	}
	for panel := range across {
		for step := range k {
			pack(step, panel)
		}
	}
}

// packPairStep packs a step of up to 32 lines, side by side.
func packPairStep(dst unsafe.Pointer, src operand, lines, terms int) {
	if terms < amxTerms {
		clear(unsafe.Slice((*uint32)(dst), amxStep/4))
	}
	packPairs(dst, amxSide, src, lines, terms)
}

// packTileRows packs up to 32 rows of A. Missing rows keep what was there: they are
// multiplied, but not stored.
func packTileRows(dst unsafe.Pointer, src operand, rows, terms int, s *scratch) {
	if src.col == 2 {
		whole := terms / amxTerms
		for i := range rows {
			if whole > 0 {
				packRows(unsafe.Add(dst, 64*i), amxStep, src.from(i, 0).data, 64, whole, 64)
			}
			if whole*amxTerms < terms {
				to := unsafe.Slice((*uint16)(unsafe.Add(dst, whole*amxStep+64*i)), amxTerms)
				n := copy(to, unsafe.Slice((*uint16)(src.from(i, whole*amxTerms).data), terms-whole*amxTerms))
				clear(to[n:])
			}
		}
		return
	}
	stage := s.stage.bytes(amxStep) // pairs of all rows beside each other
	for step := range ceil(terms, amxTerms) {
		packPairStep(stage, src.from(0, step*amxTerms), rows, min(amxTerms, terms-step*amxTerms))
		transpose(unsafe.Add(dst, step*amxStep), amxTerms/2, stage, 4*amxSide, amxTerms/2, amxSide, 4)
	}
}
