package peak

//go:noescape
func fmaNEONF32(n int)

//go:noescape
func fmaNEONF64(n int)

//go:noescape
func addChain(n int)

func nativeLoops() []Loop {
	return []Loop{
		{"NEON FMA", "float32", 4, 2 * 4 * 16, fmaNEONF32},
		{"NEON FMA", "float64", 2, 2 * 2 * 16, fmaNEONF64},
	}
}

// clockChain returns a loop with the cycles of one iteration: four dependent
// sums of one cycle each.
func clockChain() (chain func(n int), cycles int) { return addChain, 4 }
