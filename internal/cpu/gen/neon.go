package main

import "fmt"

// neonTile is the size of the kernels for arm64: rows, and bytes of a vector.
var neonTile = tile{"NEON", 8, 2, 16}

// neonKernels writes the matmul kernels for arm64. They compute whole tiles: two vectors of columns.
func neonKernels(a *asm) {
	for _, e := range []element{float32s, float64s} {
		name := tileName(neonTile, e)
		a.function(name, fmt.Sprintf("computes a tile of 1 to %d rows and %d columns.", neonTile.rows, 32/e.size), arg{"args", "*tileArgs"}, arg{"rows", "int"})
		a.op("MOVD", "args+0(FP)", "R0")
		a.op("MOVD", "rows+8(FP)", "R1")
		for rows := neonTile.rows; rows > 1; rows-- {
			a.op("CMP", rows, "R1")
			a.op("BEQ", fmt.Sprintf("rows%d", rows))
		}
		for rows := 1; rows <= neonTile.rows; rows++ {
			if rows > 1 {
				a.label(fmt.Sprintf("rows%d", rows), false)
			}
			a.op("JMP", fmt.Sprintf("·%s_%d<>(SB)", name, rows))
		}
		for rows := 1; rows <= neonTile.rows; rows++ {
			neonKernel(a, e, rows)
		}
	}
}

// neonKernel writes the kernel for a number of rows, each of which has its own pointer.
func neonKernel(a *asm, e element, rows int) {
	fmt.Fprintf(&a.text, "\nTEXT ·%s_%d<>(SB), NOSPLIT|NOFRAME, $0-16\n", tileName(neonTile, e), rows)
	lanes := map[int]string{4: "S4", 8: "D2"}[e.size]
	v := func(n int) string { return fmt.Sprintf("V%d.%s", n, lanes) }
	pair := func(n int) string { return "[" + v(n) + ", " + v(n+1) + "]" }
	row := func(i int) string { return []string{"R10", "R11", "R12", "R13", "R14", "R15", "R19", "R20"}[i] }
	for i, at := range []int{argA, argARow, argACol, argB, argBRow, argC, argCRow, argK, argAdd} {
		reg := []string{row(0), "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9"}[i]
		a.op("MOVD", mem(at, "R0"), reg)
	}
	for i := 1; i < rows; i++ {
		a.op("ADD", "R2", row(i-1), row(i))
	}
	for i := range 2 * rows {
		a.op("VEOR", fmt.Sprintf("V%d.B16", i), fmt.Sprintf("V%d.B16", i), fmt.Sprintf("V%d.B16", i))
	}
	a.label("loop", false)
	a.op("VLD1", mem(0, "R4"), pair(16))
	a.op("ADD", "R5", "R4", "R4")
	for i := range rows {
		x := 18 + i%4
		a.op("VLD1R.P", fmt.Sprintf("(%s)(R3)", row(i)), "["+v(x)+"]")
		a.op("VFMLA", v(16), v(x), v(2*i))
		a.op("VFMLA", v(17), v(x), v(2*i+1))
	}
	a.op("SUBS", 1, "R8", "R8")
	a.op("BNE", "loop")
	a.op("CBZ", "R9", "store")
	// Go's assembler has no VFADD: a product with 1, fused with the addition, is the same.
	if e.size == 4 {
		a.op("FMOVS", "$1.0", "F26")
		a.op("VDUP", "V26.S[0]", "V26.S4")
	} else {
		a.op("FMOVD", "$1.0", "F26")
		a.op("VDUP", "V26.D[0]", "V26.D2")
	}
	a.op("MOVD", "R6", "R4")
	for i := range rows {
		a.op("VLD1", mem(0, "R4"), pair(24))
		a.op("ADD", "R7", "R4", "R4")
		a.op("VFMLA", v(26), v(24), v(2*i))
		a.op("VFMLA", v(26), v(25), v(2*i+1))
	}
	a.label("store", false)
	for i := range rows {
		a.op("VST1", pair(2*i), mem(0, "R6"))
		a.op("ADD", "R7", "R6", "R6")
	}
	a.op("RET")
}
