package cpu

import (
	"math"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// amx is the kernel for tiles, nil where it can't be used. Tests put another one here.
var amx func(args *amxArgs)

var findAMX sync.Once

// tilesAMX returns the kernel for tiles, nil if bfloat16 is multiplied without it. A level
// that the environment names has no AMX.
func tilesAMX() func(args *amxArgs) {
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

// multipliesRight tries a kernel on one product of integers. The kernel was written without such a processor at
// hand, and an emulator may know the instructions only by name.
func multipliesRight(kernel func(args *amxArgs)) bool {
	const k, tiles = 2, 2
	var a [k * amxStep / 2]uint16
	var b [tiles * k * amxStep / 2]uint16
	var c [amxSide * tiles * amxSide]float32
	left := func(i, p int) float32 { return float32((i + 3*p) % 5) }
	right := func(p, j int) float32 { return float32((2*p+j)%7 - 3) }
	code := func(x float32) uint16 { return uint16(math.Float32bits(x) >> 16) }
	for p := range k * amxTerms {
		step, p0 := p/amxTerms, p%amxTerms
		for i := range amxSide {
			a[step*amxStep/2+i*amxTerms+p0] = code(left(i, p))
		}
		for j := range tiles * amxSide {
			b[(j/amxSide*k+step)*amxStep/2+p0/2*2*amxSide+j%amxSide*2+p0%2] = code(right(p, j))
		}
	}
	for i := range c {
		c[i] = float32(i % 11)
	}
	kernel(&amxArgs{a: unsafe.Pointer(&a), aRow: 64, aStep: amxStep, b: unsafe.Pointer(&b), c: unsafe.Pointer(&c), cRow: 4 * tiles * amxSide, k: k, tiles: tiles, add: 1})
	for i, got := range c {
		want := float32(i % 11)
		for p := range k * amxTerms {
			want += left(i/(tiles*amxSide), p) * right(p, i%(tiles*amxSide))
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
