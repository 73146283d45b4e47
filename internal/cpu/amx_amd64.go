package cpu

import (
	"math"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// amx is the kernel for tiles, nil where it can't be used. Tests put another one here.
var amx func(args *tileArgs)

var findAMX sync.Once

// tilesAMX returns the kernel for tiles, nil if bfloat16 is to be multiplied without. A level that the environment names
// has no AMX.
func tilesAMX() func(args *tileArgs) {
	if level != AVX512 {
		return nil
	}
	findAMX.Do(func() {
		if amx == nil && os.Getenv(Override) == "" && hasAMX() && multipliesRight(tilesBF16AMX) {
			amx = tilesBF16AMX
		}
	})
	return amx
}

// multipliesRight tries a kernel on one product of whole numbers. It was written without such a processor at hand, and an
// emulator may know the instructions by name alone.
func multipliesRight(kernel func(args *tileArgs)) bool {
	const terms = 2 * 2 * amxDepth
	var a, b [amxSide * terms]uint16
	var c [amxSide * amxSide]float32
	left := func(i, p int) float32 { return float32((i + 3*p) % 5) }
	right := func(p, j int) float32 { return float32((2*p+j)%7 - 3) }
	code := func(x float32) uint16 { return uint16(math.Float32bits(x) >> 16) }
	for p := range terms {
		for i := range amxSide {
			a[i*terms+p] = code(left(i, p))
			b[p/2*2*amxSide+2*i+p%2] = code(right(p, i))
		}
	}
	for i := range c {
		c[i] = float32(i % 11)
	}
	kernel(&tileArgs{a: unsafe.Pointer(&a), aRow: 2 * terms, b: unsafe.Pointer(&b), c: unsafe.Pointer(&c), cStride: 4 * amxSide, k: 2, add: 1})
	for i, got := range c {
		want := float32(i % 11)
		for p := range terms {
			want += left(i/amxSide, p) * right(p, i%amxSide)
		}
		if got != want {
			return false
		}
	}
	return true
}

// hasAMX reports whether the processor has tiles of bfloat16, and the operating system saves them and lets this process
// use them.
func hasAMX() bool {
	const tileConfig, tileData = 1 << 17, 1 << 18 // states in XCR0
	if !cpu.X86.HasAMXTile || !cpu.X86.HasAMXBF16 || !cpu.X86.HasOSXSAVE {
		return false
	}
	var states uint64
	enabledStates(&states)
	return states&tileConfig != 0 && states&tileData != 0 && permitTiles()
}
