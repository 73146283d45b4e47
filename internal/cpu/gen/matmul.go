package main

import "fmt"

// A matmul kernel computes a tile of C: some rows, times two vectors of columns. It walks along k once; for each k it
// reads two vectors of B and, for each row, broadcasts one number of A and adds its products to two vectors of sums,
// which stay in registers. Each sum is one chain of fused multiply-adds in the order of k, whatever the tile.
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
	pairs  bool // a number is a pair of bfloat16, and the product of two the sum of the products of their halves
}

// goName is the type's name in Go.
func (e element) goName() string { return map[int]string{4: "float32", 8: "float64"}[e.size] }

var (
	float32s  = element{"F32", 4, "PS", "SS", false}
	float64s  = element{"F64", 8, "PD", "SD", false}
	bfloat16s = element{"BF16", 4, "PS", "SS", true}
)

// tile is the size of a kernel's tile: rows, and the bytes of a vector.
type tile struct {
	level string
	rows  int
	width int
}

var tiles = []tile{{"AVX2", 6, 32}, {"AVX512", 14, 64}}

func matmulKernels(a *asm) {
	// Masks for the columns of a partial tile with AVX2: eight words of ones, eight of zeros.
	a.data("·ones", 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
		0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	for _, t := range tiles {
		for _, e := range []element{float32s, float64s, bfloat16s} {
			if e.pairs && t.width < 64 {
				continue
			}
			matmulEntry(a, t, e)
			for rows := 1; rows <= t.rows; rows++ {
				matmulKernel(a, t, e, rows)
			}
		}
	}
}

func tileName(t tile, e element) string { return "tile" + e.name + t.level }

// matmulEntry writes the function that Go calls: it jumps to the kernel for the number of rows.
func matmulEntry(a *asm, t tile, e element) {
	a.function(tileName(t, e), fmt.Sprintf("computes a tile of 1 to %d rows and up to %d columns.", t.rows, 2*t.width/e.size),
		arg{"args", "*tileArgs"}, arg{"rows", "int"})
	a.op("MOVQ", "args+0(FP)", "DI")
	a.op("MOVQ", "rows+8(FP)", "AX")
	for rows := t.rows; rows > 1; rows-- {
		a.op("CMPQ", "AX", rows)
		a.op("JEQ", fmt.Sprintf("rows%d", rows))
	}
	for rows := 1; rows <= t.rows; rows++ {
		if rows > 1 {
			a.label(fmt.Sprintf("rows%d", rows), false)
		}
		a.op("JMP", fmt.Sprintf("·%s_%d<>(SB)", tileName(t, e), rows))
	}
}

// matmulKernel writes the kernel for a number of rows. It is reached by a jump, so its frame is the entry's.
func matmulKernel(a *asm, t tile, e element, rows int) {
	fmt.Fprintf(&a.text, "\nTEXT ·%s_%d<>(SB), NOSPLIT|NOFRAME, $0-16\n", tileName(t, e), rows)
	reg := func(n int) string { return vector(t.width, n) }
	sum := func(row, half int) string { return reg(2*row + half) }
	b0, b1 := reg(2*t.rows), reg(2*t.rows+1)
	wide := t.width == 64
	var x [2]string // the broadcast numbers of A
	x[0] = reg(2*t.rows + 2)
	x[1] = reg(2*t.rows + 3)

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
	if rows > 8 {
		a.op("LEAQ", mem(0, "SI", "R8", 8), "R13") // row 8
	}
	row := func(i int) string { // where row i of A is
		base := "SI"
		if i >= 8 {
			base = "R13"
		}
		switch i & 7 {
		case 0:
			return mem(0, base)
		case 3:
			return mem(0, base, "R9", 1)
		case 5:
			return mem(0, base, "R10", 1)
		case 6:
			return mem(0, base, "R9", 2)
		case 7:
			return mem(0, base, "R11", 1)
		default:
			return mem(0, base, "R8", i&7)
		}
	}
	for i := range rows {
		for half := range 2 {
			if wide {
				a.op("VPXORD", sum(i, half), sum(i, half), sum(i, half))
			} else {
				a.op("VXORPS", sum(i, half), sum(i, half), sum(i, half))
			}
		}
	}
	if wide { // the lanes that are columns
		lanes := t.width / e.size
		a.op("MOVQ", mem(argMask, "DI"), "R14")
		a.op("KMOVW", "R14", "K1")
		a.op("SHRQ", lanes, "R14")
		a.op("KMOVW", "R14", "K2")
	}
	a.label("loop", true)
	if wide {
		a.op("VMOVU"+e.suffix+".Z", mem(0, "DX"), "K1", b0)
		a.op("VMOVU"+e.suffix+".Z", mem(t.width, "DX"), "K2", b1)
	} else {
		a.op("VMOVU"+e.suffix, mem(0, "DX"), b0)
		a.op("VMOVU"+e.suffix, mem(t.width, "DX"), b1)
	}
	for i := range rows {
		a.op("VBROADCAST"+e.scalar, row(i), x[i&1])
		for half, b := range []string{b0, b1} {
			if e.pairs {
				a.dotPairs(b, x[i&1], sum(i, half))
			} else {
				a.op("VFMADD231"+e.suffix, b, x[i&1], sum(i, half))
			}
		}
	}
	a.op("ADDQ", "R12", "SI")
	if rows > 8 {
		a.op("ADDQ", "R12", "R13")
	}
	a.op("ADDQ", "BX", "DX")
	a.op("DECQ", "CX")
	a.op("JNZ", "loop")

	// The sums are stored, or added to what is there. A full tile needs no masks.
	a.op("MOVQ", mem(argMask, "DI"), "R14")
	columns := 2 * t.width / e.size
	a.op("MOVQ", mem(argAdd, "DI"), "CX")
	if columns == 32 {
		a.op("MOVL", "$0xffffffff", "R8")
	} else {
		a.op("MOVQ", (1<<columns)-1, "R8")
	}
	a.op("CMPQ", "R14", "R8")
	a.op("JNE", "partial")
	a.op("TESTQ", "CX", "CX")
	a.op("JEQ", "store")
	for i := range rows {
		for half := range 2 {
			a.op("VADD"+e.suffix, mem(half*t.width, "R15"), sum(i, half), sum(i, half))
			a.op("VMOVU"+e.suffix, sum(i, half), mem(half*t.width, "R15"))
		}
		a.op("ADDQ", "AX", "R15")
	}
	a.op("VZEROUPPER")
	a.op("RET")
	a.label("store", false)
	for i := range rows {
		for half := range 2 {
			a.op("VMOVU"+e.suffix, sum(i, half), mem(half*t.width, "R15"))
		}
		a.op("ADDQ", "AX", "R15")
	}
	a.op("VZEROUPPER")
	a.op("RET")

	a.label("partial", false)
	if wide {
		a.op("TESTQ", "CX", "CX")
		a.op("JEQ", "storePartial")
		for i := range rows {
			for half := range 2 {
				mask := fmt.Sprintf("K%d", half+1)
				a.op("VMOVU"+e.suffix+".Z", mem(half*t.width, "R15"), mask, b0)
				a.op("VADD"+e.suffix, b0, sum(i, half), sum(i, half))
				a.op("VMOVU"+e.suffix, sum(i, half), mask, mem(half*t.width, "R15"))
			}
			a.op("ADDQ", "AX", "R15")
		}
		a.op("VZEROUPPER")
		a.op("RET")
		a.label("storePartial", false)
		for i := range rows {
			for half := range 2 {
				a.op("VMOVU"+e.suffix, sum(i, half), fmt.Sprintf("K%d", half+1), mem(half*t.width, "R15"))
			}
			a.op("ADDQ", "AX", "R15")
		}
		a.op("VZEROUPPER")
		a.op("RET")
		return
	}
	// With AVX2 masks are vectors. The words behind the mask's count are in R14: n ones end where zeros begin.
	a.op("POPCNTQ", "R14", "R14")
	if e.size == 8 {
		a.op("SHLQ", 1, "R14")
	}
	a.op("NEGQ", "R14")
	a.op("LEAQ", "·ones<>+64(SB)", "R8")
	a.op("LEAQ", mem(0, "R8", "R14", 4), "R8")
	a.op("VMOVDQU", mem(0, "R8"), b0)
	a.op("VMOVDQU", mem(32, "R8"), b1)
	move := "VMASKMOV" + e.suffix
	a.op("TESTQ", "CX", "CX")
	a.op("JEQ", "storePartial")
	for i := range rows {
		for half := range 2 {
			mask := []string{b0, b1}[half]
			a.op(move, mem(half*t.width, "R15"), mask, x[0])
			a.op("VADD"+e.suffix, x[0], sum(i, half), sum(i, half))
			a.op(move, sum(i, half), mask, mem(half*t.width, "R15"))
		}
		a.op("ADDQ", "AX", "R15")
	}
	a.op("VZEROUPPER")
	a.op("RET")
	a.label("storePartial", false)
	for i := range rows {
		for half := range 2 {
			a.op(move, sum(i, half), []string{b0, b1}[half], mem(half*t.width, "R15"))
		}
		a.op("ADDQ", "AX", "R15")
	}
	a.op("VZEROUPPER")
	a.op("RET")
}

// dotPairs adds the products of pairs of bfloat16 in b and x to sum: VDPBF16PS, which Go's assembler does not know.
func (a *asm) dotPairs(b, x, sum string) {
	rm, v, r := number(b), number(x), number(sum)
	not := func(n, bit int) int { return ^n >> bit & 1 }
	bytes := []int{
		0x62,
		not(r, 3)<<7 | not(rm, 4)<<6 | not(rm, 3)<<5 | not(r, 4)<<4 | 2, // after 0F 38
		^v&15<<3 | 1<<2 | 2, // F3
		2<<5 | not(v, 4)<<3, // 512 bits
		0x52,
		0xc0 | r&7<<3 | rm&7,
	}
	for i, b := range bytes {
		bytes[i] = b & 255
	}
	a.op(fmt.Sprintf("BYTE $0x%02x; BYTE $0x%02x; BYTE $0x%02x; BYTE $0x%02x; BYTE $0x%02x; BYTE $0x%02x // VDPBF16PS %s, %s, %s",
		bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], b, x, sum))
}

// number returns the number of a vector register.
func number(register string) int {
	n := 0
	fmt.Sscan(register[1:], &n)
	return n
}
