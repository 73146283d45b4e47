package main

import "fmt"

// A matmul kernel computes a tile of C: some rows, times some vectors of columns. It walks along k once; for each k it
// reads the vectors of B and, for each row, broadcasts one number of A and adds its products to as many vectors of
// sums, which stay in registers. Each sum is one chain of fused multiply-adds in the order of k, whatever the tile.
//
// Offsets into tileArgs, see matmul.go of the package.
const (
	argA, argARow, argACol = 0, 8, 16
	argB, argBRow          = 24, 32
	argC, argCRow          = 40, 48
	argK, argAdd, argMask  = 56, 64, 72
)

// element is a floating point type.
type element struct {
	name   string // of the type, in names of functions
	size   int
	suffix string // of packed and of scalar instructions
	scalar string
	pairs  bool // a number is a pair of bfloat16, and the product of two is the sum of the products of their halves
}

// goName is the type's name in Go.
func (e element) goName() string { return map[int]string{4: "float32", 8: "float64"}[e.size] }

var (
	float32s  = element{"F32", 4, "PS", "SS", false}
	float64s  = element{"F64", 8, "PD", "SD", false}
	bfloat16s = element{"BF16", 4, "PS", "SS", true}
)

// tile is the size of the kernels of a level: rows, vectors of columns, and the bytes of a vector. Three vectors need
// the fewest loads per product: a row of A is broadcast once for all of them. AVX2 has registers for two.
type tile struct {
	level   string
	rows    int
	vectors int
	width   int
}

// together is how many steps along k a whole tile takes at a time.
const together = 4

var tiles = []tile{{"AVX2", 6, 2, 32}, {"AVX512", 9, 3, 64}}

func matmulKernels(a *asm) {
	// Masks for the columns of a partial tile with AVX2: eight words of ones, eight of zeros.
	a.data("·ones", 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
		0, 0, 0, 0, 0, 0, 0, 0)
	for _, t := range tiles {
		for _, e := range []element{float32s, float64s, bfloat16s} {
			if e.pairs && t.width < 64 {
				continue
			}
			matmulEntry(a, t, e)
			for vectors := 1; vectors <= t.vectors; vectors++ {
				for rows := 1; rows <= t.rows; rows++ {
					matmulKernel(a, t, e, rows, vectors)
				}
			}
		}
	}
}

func tileName(t tile, e element) string { return "tile" + e.name + t.level }

// matmulEntry writes the function that Go calls: it jumps to the kernel for the number of rows, and of
// vectors that hold the columns of the mask.
func matmulEntry(a *asm, t tile, e element) {
	lanes := t.width / e.size
	a.function(tileName(t, e), fmt.Sprintf("computes a tile of 1 to %d rows and up to %d columns.", t.rows, t.vectors*lanes),
		arg{"args", "*tileArgs"}, arg{"rows", "int"})
	a.op("MOVQ", "args+0(FP)", "DI")
	a.op("MOVQ", "rows+8(FP)", "AX")
	a.op("MOVQ", mem(argMask, "DI"), "R14")
	for vectors := t.vectors; vectors >= 1; vectors-- {
		if vectors > 1 {
			a.op("MOVQ", "R14", "BX")
			a.op("SHRQ", (vectors-1)*lanes, "BX")
			a.op("JEQ", fmt.Sprintf("below%d", vectors))
			a.op("MOVQ", "BX", "R14") // of the last vector
		}
		for rows := t.rows; rows >= 1; rows-- {
			if rows > 1 {
				a.op("CMPQ", "AX", rows)
				a.op("JNE", fmt.Sprintf("other%d_%d", rows, vectors))
			}
			a.op("JMP", fmt.Sprintf("·%s_%dx%d<>(SB)", tileName(t, e), rows, vectors))
			if rows > 1 {
				a.label(fmt.Sprintf("other%d_%d", rows, vectors), false)
			}
		}
		if vectors > 1 {
			a.label(fmt.Sprintf("below%d", vectors), false)
		}
	}
}

// matmulKernel writes the kernel for a number of rows and of vectors. It is reached by a jump, so its frame is the
// entry's. R14 holds the mask of the last vector's columns.
func matmulKernel(a *asm, t tile, e element, rows, vectors int) {
	fmt.Fprintf(&a.text, "\nTEXT ·%s_%dx%d<>(SB), NOSPLIT|NOFRAME, $0-16\n", tileName(t, e), rows, vectors)
	wide := t.width == 64
	lanes := t.width / e.size
	sum := func(row, v int) string { return vector(t.width, row*vectors+v) }
	rest := t.rows * t.vectors // the registers after the sums
	b := func(v int) string { return vector(t.width, rest+v) }
	x := [2]string{vector(t.width, rest+t.vectors), vector(t.width, rest+t.vectors+1)} // broadcast numbers of A

	a.op("MOVQ", mem(argA, "DI"), "SI")
	a.op("MOVQ", mem(argARow, "DI"), "R8")
	a.op("MOVQ", mem(argACol, "DI"), "R12")
	a.op("MOVQ", mem(argB, "DI"), "DX")
	a.op("MOVQ", mem(argBRow, "DI"), "BX")
	a.op("MOVQ", mem(argC, "DI"), "R15")
	a.op("MOVQ", mem(argCRow, "DI"), "AX")
	a.op("MOVQ", mem(argK, "DI"), "CX")
	if rows > 3 {
		a.op("LEAQ", mem(0, "R8", "R8", 2), "R9") // 3 rows
	}
	if rows > 5 {
		a.op("LEAQ", mem(0, "R8", "R8", 4), "R10") // 5 rows
	}
	if rows > 7 {
		a.op("LEAQ", mem(0, "R9", "R8", 4), "R11") // 7 rows
	}
	row := func(i int) string { // where row i of A is
		switch i {
		case 0:
			return mem(0, "SI")
		case 3:
			return mem(0, "SI", "R9", 1)
		case 5:
			return mem(0, "SI", "R10", 1)
		case 6:
			return mem(0, "SI", "R9", 2)
		case 7:
			return mem(0, "SI", "R11", 1)
		default: // 1, 2, 4, 8
			return mem(0, "SI", "R8", i)
		}
	}
	// The existing elements of C are prefetched before the sums are computed.
	a.op("MOVQ", "R15", "R13")
	for i := range rows {
		for v := range vectors {
			if wide || v == 0 {
				a.op("PREFETCHT0", mem(v*t.width, "R13"))
			}
		}
		if i < rows-1 {
			a.op("ADDQ", "AX", "R13")
		}
	}
	for i := range rows {
		for v := range vectors {
			if wide {
				a.op("VPXORD", sum(i, v), sum(i, v), sum(i, v))
			} else {
				a.op("VXORPS", sum(i, v), sum(i, v), sum(i, v))
			}
		}
	}
	// row i of A is at offset + row(i), all of B at offset + DX.
	step := func(row func(i int) string, offset int) {
		for v := range vectors {
			a.op("VMOVU"+e.suffix, mem(offset+v*t.width, "DX"), b(v))
		}
		for i := range rows {
			a.op("VBROADCAST"+e.scalar, row(i), x[i&1])
			for v := range vectors {
				if e.pairs {
					a.dotPairs(b(v), x[i&1], sum(i, v))
				} else {
					a.op("VFMADD231"+e.suffix, b(v), x[i&1], sum(i, v))
				}
			}
		}
	}
	if rows == t.rows && vectors == t.vectors {
		// As a rule, both operands are packed: then several steps move the pointers only once, which leaves more of the
		// processor to the sums.
		panelA, panelB := rows*e.size, vectors*t.width
		a.op("CMPQ", "R8", e.size)
		a.op("JNE", "loop")
		a.op("CMPQ", "R12", panelA)
		a.op("JNE", "loop")
		a.op("CMPQ", "BX", panelB)
		a.op("JNE", "loop")
		a.op("SUBQ", together, "CX")
		a.op("JLT", "few")
		a.label("several", true)
		for u := range together {
			step(func(i int) string { return mem(u*panelA+i*e.size, "SI") }, u*panelB)
		}
		a.op("ADDQ", together*panelA, "SI")
		a.op("ADDQ", together*panelB, "DX")
		a.op("SUBQ", together, "CX")
		a.op("JGE", "several")
		a.label("few", false)
		a.op("ADDQ", together, "CX")
		a.op("JEQ", "end")
	}
	a.label("loop", true)
	step(row, 0)
	a.op("ADDQ", "R12", "SI")
	a.op("ADDQ", "BX", "DX")
	a.op("DECQ", "CX")
	a.op("JNZ", "loop")
	if rows == t.rows && vectors == t.vectors {
		a.label("end", false)
	}

	// The sums are stored, or added to what is there. A full tile needs no masks.
	a.op("MOVQ", mem(argAdd, "DI"), "CX")
	a.op("CMPQ", "R14", (1<<lanes)-1)
	a.op("JNE", "partial")
	a.op("TESTQ", "CX", "CX")
	a.op("JEQ", "store")
	each := func(do func(sum, c string, last bool)) { // for each vector of sums
		for i := range rows {
			for v := range vectors {
				do(sum(i, v), mem(v*t.width, "R15"), v == vectors-1)
			}
			if i < rows-1 {
				a.op("ADDQ", "AX", "R15")
			}
		}
		a.op("VZEROUPPER")
		a.op("RET")
	}
	each(func(sum, c string, last bool) {
		a.op("VADD"+e.suffix, c, sum, sum)
		a.op("VMOVU"+e.suffix, sum, c)
	})
	a.label("store", false)
	each(func(sum, c string, last bool) { a.op("VMOVU"+e.suffix, sum, c) })

	a.label("partial", false)
	// load and save move the last vector of a row, under the mask.
	var load, save func(from, to string)
	if wide {
		a.op("KMOVW", "R14", "K1")
		load = func(from, to string) { a.op("VMOVU"+e.suffix+".Z", from, "K1", to) }
		save = func(from, to string) { a.op("VMOVU"+e.suffix, from, "K1", to) }
	} else { // With AVX2 a mask is a vector: n ones end where zeros begin.
		a.op("POPCNTQ", "R14", "R14")
		if e.size == 8 {
			a.op("SHLQ", 1, "R14")
		}
		a.op("NEGQ", "R14")
		a.op("LEAQ", "·ones<>+32(SB)", "R8")
		a.op("VMOVDQU", mem(0, "R8", "R14", 4), x[1])
		load = func(from, to string) { a.op("VMASKMOV"+e.suffix, from, x[1], to) }
		save = func(from, to string) { a.op("VMASKMOV"+e.suffix, from, x[1], to) }
	}
	a.op("TESTQ", "CX", "CX")
	a.op("JEQ", "storePartial")
	each(func(sum, c string, last bool) {
		if !last {
			a.op("VADD"+e.suffix, c, sum, sum)
			a.op("VMOVU"+e.suffix, sum, c)
			return
		}
		load(c, x[0])
		a.op("VADD"+e.suffix, x[0], sum, sum)
		save(sum, c)
	})
	a.label("storePartial", false)
	each(func(sum, c string, last bool) {
		if last {
			save(sum, c)
		} else {
			a.op("VMOVU"+e.suffix, sum, c)
		}
	})
}

// dotPairs adds the products of pairs of bfloat16 in b and x to sum.
func (a *asm) dotPairs(b, x, sum string) { a.bfloat16s("VDPBF16PS", 2, 0x52, b, x, sum) }

// bfloat16s writes an instruction of AVX512_BF16 on whole vectors, which Go's assembler does not know: EVEX, map 0F38.
// The prefix is 2 for F3, 3 for F2.
func (a *asm) bfloat16s(name string, prefix, op int, second, first, to string) {
	rm, v, r := number(second), number(first), number(to)
	not := func(n, bit int) int { return ^n >> bit & 1 }
	bytes := []int{
		0x62,
		not(r, 3)<<7 | not(rm, 4)<<6 | not(rm, 3)<<5 | not(r, 4)<<4 | 2, // map 0F38
		^v&15<<3 | 1<<2 | prefix,
		2<<5 | not(v, 4)<<3, // 512 bits
		op,
		0xc0 | r&7<<3 | rm&7,
	}
	for i, b := range bytes {
		bytes[i] = b & 255
	}
	a.op(fmt.Sprintf("BYTE $0x%02x; BYTE $0x%02x; BYTE $0x%02x; BYTE $0x%02x; BYTE $0x%02x; BYTE $0x%02x // %s %s, %s, %s",
		bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], name, second, first, to))
}

// number returns the number of a vector register.
func number(register string) int {
	n := 0
	fmt.Sscan(register[1:], &n)
	return n
}
