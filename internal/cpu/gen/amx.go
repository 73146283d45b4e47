package main

import "fmt"

// Offsets into amxArgs, see amx.go of the package, and the bytes of a panel that a step takes.
const (
	amxA, amxARow, amxAStep = 0, 8, 16
	amxB, amxC, amxCRow     = 24, 32, 40
	amxK, amxTiles, amxAdd  = 48, 56, 64
	amxStep                 = 2048
)

// amxKernels writes the kernels that multiply pairs of bfloat16 with AMX, whose registers are tiles of 16 rows of 64
// bytes. Go's assembler does not know the instructions; their bytes are written instead.
func amxKernels(a *asm) {
	// The configuration: palette 1, and 64 bytes in each of 16 rows for all 8 tiles.
	config := []uint32{1, 0, 0, 0, 64 | 64<<16, 64 | 64<<16, 64 | 64<<16, 64 | 64<<16, 0, 0, 0, 0, 0x10101010, 0x10101010, 0, 0}
	a.data("·amxConfig", config...)

	a.function("enabledStates", "returns the register states that the operating system saves, XCR0.", arg{"states", "*uint64"})
	a.op("MOVQ", "states+0(FP)", "DI")
	a.op("XORL", "CX", "CX")
	a.op("XGETBV")
	a.op("SHLQ", 32, "DX")
	a.op("ORQ", "DX", "AX")
	a.op("MOVQ", "AX", mem(0, "DI"))
	a.op("RET")

	a.function("roundRows", "rounds rows of 32·blocks float32 to bfloat16. It treats subnormal numbers as zero; sums in tiles have none. Strides are in bytes.",
		arg{"dst", "unsafe.Pointer"}, arg{"dstRow", "uintptr"}, arg{"src", "unsafe.Pointer"}, arg{"srcRow", "uintptr"}, arg{"rows", "int"}, arg{"blocks", "int"})
	for i, to := range []string{"DI", "R8", "SI", "R9", "CX", "DX"} {
		a.op("MOVQ", fmt.Sprintf("%s+%d(FP)", []string{"dst", "dstRow", "src", "srcRow", "rows", "blocks"}[i], 8*i), to)
	}
	a.label("row", false)
	a.op("MOVQ", "DI", "R10")
	a.op("MOVQ", "SI", "R11")
	a.op("MOVQ", "DX", "AX")
	a.label("block", false)
	a.op("VMOVUPS", mem(0, "R11"), "Z0")
	a.op("VMOVUPS", mem(64, "R11"), "Z1")
	a.bfloat16s("VCVTNE2PS2BF16", 3, 0x72, "Z0", "Z1", "Z2")
	a.op("VMOVUPS", "Z2", mem(0, "R10"))
	a.op("ADDQ", 128, "R11")
	a.op("ADDQ", 64, "R10")
	a.op("DECQ", "AX")
	a.op("JNZ", "block")
	a.op("ADDQ", "R8", "DI")
	a.op("ADDQ", "R9", "SI")
	a.op("DECQ", "CX")
	a.op("JNZ", "row")
	a.op("VZEROUPPER")
	a.op("RET")

	a.function("tilesBF16AMX", "computes 32x32 elements of C, and again of those beside them, from rows of A and panels of B. Tiles hold nothing before and after.",
		arg{"args", "*amxArgs"})
	const c0, a0, b0 = 0, 4, 6 // tiles: 2x2 of C, 2 of A, 2 of B
	a.op("MOVQ", "args+0(FP)", "DI")
	a.op("MOVQ", mem(amxB, "DI"), "DX")
	a.op("MOVQ", mem(amxC, "DI"), "R10")
	a.op("MOVQ", mem(amxCRow, "DI"), "AX")
	a.op("MOVQ", mem(amxTiles, "DI"), "R9")
	a.op("MOVQ", mem(amxAdd, "DI"), "BX")
	a.op("MOVQ", "AX", "R11") // row 16 of C
	a.op("SHLQ", 4, "R11")
	a.op("ADDQ", "R10", "R11")
	a.op("MOVQ", mem(amxARow, "DI"), "R8")
	a.op("MOVQ", mem(amxAStep, "DI"), "R13")
	a.op("MOVQ", 128, "R12")
	a.op("LEAQ", "·amxConfig<>(SB)", "R14")
	a.amx("LDTILECFG", 0, "R14", "", 0)
	a.label("tile", false)
	a.op("MOVQ", mem(amxA, "DI"), "SI")
	a.op("MOVQ", "R8", "R15") // row 16 of A
	a.op("SHLQ", 4, "R15")
	a.op("ADDQ", "SI", "R15")
	a.op("MOVQ", mem(amxK, "DI"), "CX")
	a.op("TESTQ", "BX", "BX")
	a.op("JEQ", "zero")
	ofC := func(name string) {
		for i := range 4 {
			a.amx(name, c0+i, []string{"R10", "R11"}[i/2], "AX", i%2*64)
		}
	}
	ofC("TILELOADD")
	a.op("JMP", "loop")
	a.label("zero", false)
	for i := range 4 {
		a.amx("TILEZERO", c0+i, "", "", 0)
	}
	a.label("loop", true)
	a.amx("TILELOADD", a0, "SI", "R8", 0)
	a.amx("TILELOADD", b0, "DX", "R12", 0)
	a.amx("TILELOADD", b0+1, "DX", "R12", 64)
	a.amx("TILELOADD", a0+1, "R15", "R8", 0)
	for i := range 4 {
		a.dotTiles(c0+i, a0+i/2, b0+i%2)
	}
	a.op("ADDQ", "R13", "SI")
	a.op("ADDQ", "R13", "R15")
	a.op("ADDQ", amxStep, "DX")
	a.op("DECQ", "CX")
	a.op("JNZ", "loop")
	ofC("TILESTORED")
	a.op("ADDQ", 128, "R10")
	a.op("ADDQ", 128, "R11")
	a.op("DECQ", "R9")
	a.op("JNZ", "tile")
	a.amx("TILERELEASE", 0, "", "", 0)
	a.op("RET")
}

// registerNumbers are those of the instruction format.
var registerNumbers = map[string]int{"AX": 0, "CX": 1, "DX": 2, "BX": 3, "SI": 6, "DI": 7, "R8": 8, "R9": 9, "R10": 10, "R11": 11, "R12": 12, "R13": 13, "R14": 14, "R15": 15}

// amxOps are prefix and opcode.
var amxOps = map[string][2]int{
	"LDTILECFG": {0, 0x49}, "TILERELEASE": {0, 0x49}, "TILEZERO": {3, 0x49},
	"TILELOADD": {3, 0x4b}, "TILESTORED": {2, 0x4b}, "TDPBF16PS": {2, 0x5c},
}

// amx writes an instruction on a tile, or on none, and memory: rows at displacement + base, stride apart.
func (a *asm) amx(name string, tile int, base, stride string, displacement int) {
	op := amxOps[name]
	b, s := registerNumbers[base], registerNumbers[stride]
	var tail []int
	text := name
	switch {
	case base == "": // no memory
		tail = []int{0xc0 | tile<<3}
	case stride == "":
		tail = []int{tile<<3 | b&7}
		text += fmt.Sprintf(" (%s)", base)
	case displacement == 0:
		tail = []int{tile<<3 | 4, s&7<<3 | b&7}
		text += fmt.Sprintf(" (%s)(%s*1)", base, stride)
	default: // of a byte
		tail = []int{0x40 | tile<<3 | 4, s&7<<3 | b&7, displacement}
		text += fmt.Sprintf(" %d(%s)(%s*1)", displacement, base, stride)
	}
	if name != "LDTILECFG" && name != "TILERELEASE" {
		text += fmt.Sprintf(" T%d", tile)
	}
	a.vex(text, op, s, b, 0, tail)
}

// dotTiles adds the products of pairs of bfloat16 in two tiles to a third.
func (a *asm) dotTiles(sum, left, right int) {
	a.vex(fmt.Sprintf("TDPBF16PS T%d, T%d, T%d", right, left, sum), amxOps["TDPBF16PS"], 0, 0, right, []int{0xc0 | sum<<3 | left})
}

// vex writes an instruction of the map 0F38 with a prefix of three bytes, 128 bits, W 0. index and base are registers
// of its memory operand, v is the register that the prefix names.
func (a *asm) vex(text string, op [2]int, index, base, v int, tail []int) {
	bytes := append([]int{0xc4, 0x80 | (^index>>3&1)<<6 | (^base>>3&1)<<5 | 2, (^v&15)<<3 | op[0], op[1]}, tail...)
	line := ""
	for i, b := range bytes {
		if i > 0 {
			line += "; "
		}
		line += fmt.Sprintf("BYTE $0x%02x", b)
	}
	a.op(line + " // " + text)
}
