package main

import "fmt"

// Packing copies a strip of a matrix into a panel, in the order in which a matmul kernel reads it: for each k, the
// numbers of one column of A or one row of B beside each other. If those lie beside each other in the matrix, too, a
// panel is a copy of short rows; if the numbers along k do, it is a transpose, done in registers. Both read only what
// belongs to the matrix. Both write whole vectors: if a panel is narrower, the next row overwrites the excess, and
// there must be room for it after the last one.

// panelVectors are the most vectors of 32 bytes in a row of a panel.
const panelVectors = 6

func packKernels(a *asm) {
	a.data("·lanes", 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
		0, 0, 0, 0, 0, 0, 0, 0)
	copyRows(a)
	pairRows(a)
	for _, e := range []element{float32s, float64s} {
		transposeEntry(a, e)
		for rows := 1; rows <= 32/e.size; rows++ {
			transpose(a, e, rows)
		}
	}
}

// copyRows writes the kernel that copies count rows of up to 48 words.
func copyRows(a *asm) {
	a.function("copyRows", "copies count > 0 rows of 1 to 48 words of 4 bytes. Strides are in bytes. Whole vectors of 8 words are written.",
		arg{"dst", "unsafe.Pointer"}, arg{"dstStride", "uintptr"}, arg{"src", "unsafe.Pointer"}, arg{"srcStride", "uintptr"}, arg{"count", "int"}, arg{"words", "int"})
	a.op("MOVQ", "dst+0(FP)", "DI")
	a.op("MOVQ", "dstStride+8(FP)", "R8")
	a.op("MOVQ", "src+16(FP)", "SI")
	a.op("MOVQ", "srcStride+24(FP)", "R9")
	a.op("MOVQ", "count+32(FP)", "CX")
	a.op("MOVQ", "words+40(FP)", "DX")
	// The last vector of a row is loaded under a mask of ((words-1) mod 8)+1 lanes.
	a.op("DECQ", "DX")
	a.op("MOVQ", "DX", "BX")
	a.op("ANDQ", 7, "BX")
	a.op("NEGQ", "BX")
	a.op("LEAQ", "·lanes<>+28(SB)", "AX")
	a.op("VMOVDQU", mem(0, "AX", "BX", 4), "Y15")
	a.op("SHRQ", 3, "DX")
	for n := panelVectors; n >= 1; n-- {
		if n > 1 {
			a.op("CMPQ", "DX", n-1)
			a.op("JNE", fmt.Sprintf("less%d", n))
		}
		a.label(fmt.Sprintf("loop%d", n), false)
		for i := range n {
			if i < n-1 {
				a.op("VMOVDQU", mem(32*i, "SI"), vector(32, i))
			} else {
				a.op("VPMASKMOVD", mem(32*i, "SI"), "Y15", vector(32, i))
			}
		}
		for i := range n {
			a.op("VMOVDQU", vector(32, i), mem(32*i, "DI"))
		}
		a.op("ADDQ", "R9", "SI")
		a.op("ADDQ", "R8", "DI")
		a.op("DECQ", "CX")
		a.op("JNZ", fmt.Sprintf("loop%d", n))
		a.op("VZEROUPPER")
		a.op("RET")
		if n > 1 {
			a.label(fmt.Sprintf("less%d", n), false)
		}
	}
}

// pairParts are the most vectors of 16 pairs in a row of a panel.
const pairParts = 3

// pairRows writes the kernel that packs pairs of bfloat16 from two rows, a row of 16 columns
// or fewer at a time.
func pairRows(a *asm) {
	a.function("pairRows", "joins rows 2i and 2i+1 of src, of 1 to 48 numbers of 2 bytes, to row i of pairs in dst, for count > 0 pairs of rows. Strides are in bytes.",
		arg{"dst", "unsafe.Pointer"}, arg{"dstStride", "uintptr"}, arg{"src", "unsafe.Pointer"}, arg{"srcStride", "uintptr"}, arg{"count", "int"}, arg{"mask", "uint64"})
	a.op("MOVQ", "dst+0(FP)", "DI")
	a.op("MOVQ", "dstStride+8(FP)", "R8")
	a.op("MOVQ", "src+16(FP)", "SI")
	a.op("MOVQ", "srcStride+24(FP)", "R9")
	a.op("MOVQ", "count+32(FP)", "CX")
	a.op("MOVQ", "mask+40(FP)", "AX")
	a.op("KMOVW", "AX", "K1")
	for part := 2; part <= pairParts; part++ {
		a.op("SHRQ", 16, "AX")
		a.op("KMOVW", "AX", fmt.Sprintf("K%d", part))
	}
	a.label("loop", true)
	for part := range pairParts {
		mask := fmt.Sprintf("K%d", part+1)
		even, odd := vector(64, 2*part), vector(64, 2*part+1)
		a.op("VPMOVZXWD.Z", mem(32*part, "SI"), mask, even)
		a.op("VPMOVZXWD.Z", mem(32*part, "SI", "R9", 1), mask, odd)
		a.op("VPSLLD", 16, odd, odd)
		a.op("VPORD", even, odd, odd)
		a.op("VMOVDQU32", odd, mask, mem(64*part, "DI"))
	}
	a.op("LEAQ", mem(0, "SI", "R9", 2), "SI")
	a.op("ADDQ", "R8", "DI")
	a.op("DECQ", "CX")
	a.op("JNZ", "loop")
	a.op("VZEROUPPER")
	a.op("RET")
}

func transposeEntry(a *asm, e element) {
	lanes := 32 / e.size
	a.function("transpose"+e.name, fmt.Sprintf("transposes 1 to %d rows of %d·blocks numbers: number j of row i goes to number i of row j of dst, of which %d are written.", lanes, lanes, lanes),
		arg{"dst", "unsafe.Pointer"}, arg{"dstStride", "uintptr"}, arg{"src", "unsafe.Pointer"}, arg{"srcStride", "uintptr"}, arg{"blocks", "int"}, arg{"rows", "int"})
	a.op("MOVQ", "dst+0(FP)", "DI")
	a.op("MOVQ", "dstStride+8(FP)", "R12")
	a.op("MOVQ", "src+16(FP)", "SI")
	a.op("MOVQ", "srcStride+24(FP)", "R8")
	a.op("MOVQ", "blocks+32(FP)", "CX")
	a.op("MOVQ", "rows+40(FP)", "AX")
	a.op("LEAQ", mem(0, "R8", "R8", 2), "R9")
	a.op("LEAQ", mem(0, "R8", "R8", 4), "R10")
	a.op("LEAQ", mem(0, "R9", "R8", 4), "R11")
	a.op("LEAQ", mem(0, "R12", "R12", 2), "R13")
	a.op("LEAQ", mem(0, "DI", "R12", 4), "DX")
	for rows := lanes; rows > 1; rows-- {
		a.op("CMPQ", "AX", rows)
		a.op("JEQ", fmt.Sprintf("rows%d", rows))
	}
	for rows := 1; rows <= lanes; rows++ {
		if rows > 1 {
			a.label(fmt.Sprintf("rows%d", rows), false)
		}
		a.op("JMP", fmt.Sprintf("·transpose%s_%d<>(SB)", e.name, rows))
	}
}

// transpose writes the kernel for a number of rows; in place of missing ones it reads the last one.
func transpose(a *asm, e element, rows int) {
	fmt.Fprintf(&a.text, "\nTEXT ·transpose%s_%d<>(SB), NOSPLIT|NOFRAME, $0-48\n", e.name, rows)
	source := func(i, offset int) string {
		i = min(i, rows-1)
		switch i {
		case 0:
			return mem(offset, "SI")
		case 3:
			return mem(offset, "SI", "R9", 1)
		case 5:
			return mem(offset, "SI", "R10", 1)
		case 6:
			return mem(offset, "SI", "R9", 2)
		case 7:
			return mem(offset, "SI", "R11", 1)
		default:
			return mem(offset, "SI", "R8", i)
		}
	}
	target := func(i int) string {
		base := []string{"DI", "DX"}[i/4]
		if i&3 == 3 {
			return mem(0, base, "R13", 1)
		}
		if i&3 == 0 {
			return mem(0, base)
		}
		return mem(0, base, "R12", i&3)
	}
	y := func(n int) string { return vector(32, n) }
	a.label("loop", true)
	if e.size == 4 {
		// Rows i and i+4 share a register, so that the following steps stay within its halves.
		for half := range 2 {
			for i := range 4 {
				a.op("VMOVUPS", source(i, 16*half), vector(16, i))
				a.op("VINSERTF128", 1, source(i+4, 16*half), y(i), y(i))
			}
			a.op("VUNPCKLPS", y(1), y(0), y(4))
			a.op("VUNPCKHPS", y(1), y(0), y(5))
			a.op("VUNPCKLPS", y(3), y(2), y(6))
			a.op("VUNPCKHPS", y(3), y(2), y(7))
			a.op("VUNPCKLPD", y(6), y(4), y(8))
			a.op("VUNPCKHPD", y(6), y(4), y(9))
			a.op("VUNPCKLPD", y(7), y(5), y(10))
			a.op("VUNPCKHPD", y(7), y(5), y(11))
			for i := range 4 {
				a.op("VMOVUPS", y(8+i), target(4*half+i))
			}
		}
		a.op("LEAQ", mem(0, "DI", "R12", 8), "DI")
		a.op("LEAQ", mem(0, "DX", "R12", 8), "DX")
	} else {
		for half := range 2 {
			for i := range 2 {
				a.op("VMOVUPD", source(i, 16*half), vector(16, i))
				a.op("VINSERTF128", 1, source(i+2, 16*half), y(i), y(i))
			}
			a.op("VUNPCKLPD", y(1), y(0), y(2))
			a.op("VUNPCKHPD", y(1), y(0), y(3))
			a.op("VMOVUPD", y(2), target(2*half))
			a.op("VMOVUPD", y(3), target(2*half+1))
		}
		a.op("LEAQ", mem(0, "DI", "R12", 4), "DI")
	}
	a.op("ADDQ", 32, "SI")
	a.op("DECQ", "CX")
	a.op("JNZ", "loop")
	a.op("VZEROUPPER")
	a.op("RET")
}
