package main

import "fmt"

// A kernel of inner products multiplies rows with a vector: some rows at a time, so that their sums need not wait for
// each other. Each row has sums in the lanes of dotBytes of registers, to which its terms are dealt out in turn;
// finally the upper half of the lanes is added to the lower half until one is left. That is the same at every level.

// dotBytes is how many bytes the sums of a row take.
const dotBytes = 128

// dotLevel is a level, with the width of its vectors and the rows at a time that its registers hold.
type dotLevel struct {
	name  string
	width int
	rows  int
}

var dotLevels = []dotLevel{{"AVX2", 32, 3}, {"AVX512", 64, 4}}

func dotKernels(a *asm) {
	words := make([]uint32, 2*dotBytes/4) // ones for the lanes of all vectors, and as many zeros
	for i := range dotBytes / 4 {
		words[i] = 0xffffffff
	}
	a.data("·edge", words...)
	for _, l := range dotLevels {
		for _, e := range []element{float32s, float64s} {
			dotKernel(a, l, e)
		}
	}
}

// Registers of a kernel; the rows that are worked on are at dotRows.
const (
	dotAll, dotStride, dotCount  = "SI", "R8", "CX"
	dotX, dotWhole, dotRest      = "DX", "R9", "R14" // the vector, its bytes that fill all lanes, and the rest
	dotTo, dotToStride, dotAt    = "DI", "R15", "BX"
	dotMasks                     = "AX"
	dotVector, dotRow, dotMasked = 12, 13, 14 // and in AVX-512 16 more
)

var dotRows = []string{"R10", "R11", "R12", "R13"}

func dotKernel(a *asm, l dotLevel, e element) {
	a.function("dots"+e.name+l.name, "computes the inner products of count rows of k > 0 numbers with x. Strides are in bytes.",
		arg{"rows", "unsafe.Pointer"}, arg{"stride", "int"}, arg{"count", "int"}, arg{"x", "unsafe.Pointer"}, arg{"k", "int"}, arg{"to", "unsafe.Pointer"}, arg{"toStride", "int"})
	for i, r := range []string{dotAll, dotStride, dotCount, dotX, dotWhole, dotTo, dotToStride} {
		name := []string{"rows", "stride", "count", "x", "k", "to", "toStride"}[i]
		a.op("MOVQ", fmt.Sprintf("%s+%d(FP)", name, 8*i), r)
	}
	a.op("MOVQ", dotWhole, dotRest)
	a.op("ANDQ", dotBytes/e.size-1, dotRest)
	a.op("SUBQ", dotRest, dotWhole)
	if l.width == 64 { // masks of the vectors that are not whole
		a.op("MOVQ", dotCount, "BX")
		a.op("MOVQ", dotRest, "CX")
		a.op("MOVQ", 1, "AX")
		a.op("SHLQ", "CX", "AX")
		a.op("DECQ", "AX")
		a.op("MOVQ", "BX", dotCount)
		a.op("KMOVW", "AX", "K1")
		a.op("SHRQ", l.width/e.size, "AX")
		a.op("KMOVW", "AX", "K2")
	} else {
		a.op("LEAQ", fmt.Sprintf("·edge<>+%d(SB)", dotBytes), dotMasks)
		a.op("MOVQ", dotRest, "BX")
		a.op("NEGQ", "BX")
		a.op("LEAQ", mem(0, dotMasks, "BX", e.size), dotMasks)
	}
	a.op("IMULQ", e.size, dotWhole)
	a.op("JMP", "next")
	for _, rows := range []int{l.rows, 1} {
		dotBody(a, l, e, rows)
	}
	a.label("next", false)
	a.op("CMPQ", dotCount, l.rows)
	a.op("JGE", fmt.Sprintf("rows%d", l.rows))
	a.op("TESTQ", dotCount, dotCount)
	a.op("JNZ", "rows1")
	a.op("VZEROUPPER")
	a.op("RET")
}

// dotBody computes the inner products of some rows, and continues with the next ones.
func dotBody(a *asm, l dotLevel, e element, rows int) {
	vectors := dotBytes / l.width
	sum := func(row, v int) string { return vector(l.width, row*vectors+v) }
	high := 0
	if l.width == 64 {
		high = 16
	}
	x, row := vector(l.width, high+dotVector), vector(l.width, high+dotRow)
	a.label(fmt.Sprintf("rows%d", rows), false)
	for r := range rows {
		if r == 0 {
			a.op("MOVQ", dotAll, dotRows[0])
		} else {
			a.op("LEAQ", mem(0, dotRows[r-1], dotStride, 1), dotRows[r])
		}
		for v := range vectors {
			if l.width == 64 {
				a.op("VPXORD", sum(r, v), sum(r, v), sum(r, v))
			} else {
				a.op("VXORPS", sum(r, v), sum(r, v), sum(r, v))
			}
		}
	}
	a.op("LEAQ", mem(0, dotRows[rows-1], dotStride, 1), dotAll)
	a.op("XORQ", dotAt, dotAt)
	a.op("CMPQ", dotAt, dotWhole)
	a.op("JGE", fmt.Sprintf("rest%d", rows))
	a.label(fmt.Sprintf("loop%d", rows), true)
	for v := range vectors {
		a.op("VMOVU"+e.suffix, mem(v*l.width, dotX, dotAt, 1), x)
		for r := range rows {
			a.op("VFMADD231"+e.suffix, mem(v*l.width, dotRows[r], dotAt, 1), x, sum(r, v))
		}
	}
	a.op("ADDQ", dotBytes, dotAt)
	a.op("CMPQ", dotAt, dotWhole)
	a.op("JLT", fmt.Sprintf("loop%d", rows))
	a.label(fmt.Sprintf("rest%d", rows), false)
	a.op("TESTQ", dotRest, dotRest)
	a.op("JZ", fmt.Sprintf("add%d", rows))
	for v := range vectors {
		mask := vector(32, dotMasked)
		load := func(base, to string) {
			if l.width == 64 {
				a.op("VMOVU"+e.suffix+".Z", mem(v*l.width, base, dotAt, 1), fmt.Sprintf("K%d", v+1), to)
			} else {
				a.op("VMASKMOV"+e.suffix, mem(v*l.width, base, dotAt, 1), mask, to)
			}
		}
		if l.width == 32 {
			a.op("VMOVUPS", mem(v*l.width, dotMasks), mask)
		}
		load(dotX, x)
		for r := range rows {
			load(dotRows[r], row)
			a.op("VFMADD231"+e.suffix, row, x, sum(r, v))
		}
	}
	a.label(fmt.Sprintf("add%d", rows), false)
	add := "VADD" + e.suffix
	for r := range rows {
		for n := vectors / 2; n > 0; n /= 2 {
			for v := range n {
				a.op(add, sum(r, v+n), sum(r, v), sum(r, v))
			}
		}
		at := r * vectors
		if l.width == 64 {
			a.op("VEXTRACTF64X4", 1, vector(64, at), vector(32, dotRow))
			a.op(add, vector(32, dotRow), vector(32, at), vector(32, at))
		}
		low, half := vector(16, at), vector(16, dotRow)
		a.op("VEXTRACTF128", 1, vector(32, at), half)
		a.op(add, half, low, low)
		a.op("VPERMILPD", 1, low, half)
		a.op(add, half, low, low)
		if e.size == 4 {
			a.op("VPSRLDQ", 4, low, half)
			a.op(add, half, low, low)
		}
		a.op("VMOV"+e.scalar, low, mem(0, dotTo))
		a.op("ADDQ", dotToStride, dotTo)
	}
	a.op("SUBQ", rows, dotCount)
	a.op("JMP", "next")
}
