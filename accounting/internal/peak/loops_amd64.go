package peak

import "golang.org/x/sys/cpu"

//go:noescape
func fmaAVX2F32(n int)

//go:noescape
func fmaAVX2F64(n int)

//go:noescape
func fmaAVX512F32(n int)

//go:noescape
func fmaAVX512F64(n int)

//go:noescape
func dotBF16(n int)

//go:noescape
func tilesBF16(config *[64]byte, n int)

//go:noescape
func multiplyChain(n int)

func nativeLoops() (loops []Loop) {
	if cpu.X86.HasAMXTile && cpu.X86.HasAMXBF16 && tilesAllowed() {
		// 16 rows by 16 columns of sums, with 32 products each; one starts every 16 cycles.
		loops = append(loops, Loop{"AMX", "bfloat16", 16 * 16 * 32 / 16, 2 * 16 * 16 * 32 * 4, runTiles})
	}
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512BF16 {
		loops = append(loops, Loop{"AVX-512 BF16", "bfloat16", 32, 2 * 32 * 12, dotBF16})
	}
	if cpu.X86.HasAVX512F {
		loops = append(loops,
			Loop{"AVX-512 FMA", "float32", 16, 2 * 16 * 12, fmaAVX512F32},
			Loop{"AVX-512 FMA", "float64", 8, 2 * 8 * 12, fmaAVX512F64})
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		loops = append(loops,
			Loop{"AVX2 FMA", "float32", 8, 2 * 8 * 12, fmaAVX2F32},
			Loop{"AVX2 FMA", "float64", 4, 2 * 4 * 12, fmaAVX2F64})
	}
	return loops
}

// tileConfig selects palette 1: eight tiles of 16 rows of 64 bytes.
var tileConfig = func() (c [64]byte) {
	c[0] = 1
	for tile := range 8 {
		c[16+2*tile] = 64
		c[48+tile] = 16
	}
	return c
}()

func runTiles(n int) { tilesBF16(&tileConfig, n) }

// clockChain returns a loop with the cycles of one iteration: four dependent
// products of three cycles each, on all processors since 2006.
func clockChain() (chain func(n int), cycles int) { return multiplyChain, 12 }
