package cpu

import (
	"math/bits"
	"unsafe"
)

func detect() []Level { return []Level{Generic, NEON} } // every arm64 has it

var tiles32 = [...]tile{
	Generic: {2, 4, 4, tileGo[float32]},
	NEON:    {8, 8, 8, tileNEON[float32]},
}

var tiles64 = [...]tile{
	Generic: {2, 4, 4, tileGo[float64]},
	NEON:    {8, 4, 4, tileNEON[float64]},
}

// tileNEON sends whole tiles to the kernel, and others too, by way of a whole one.
func tileNEON[T float32 | float64](x *tileArgs, rows int) {
	kernel, all := tileF32NEON, 8
	if unsafe.Sizeof(T(0)) == 8 {
		kernel, all = tileF64NEON, 4
	}
	cols := bits.OnesCount64(x.mask)
	if cols == all {
		kernel(x, rows)
		return
	}
	whole := new([8 * 8]T)
	args := *x
	args.c, args.cStride, args.add = unsafe.Pointer(whole), uintptr(all)*unsafe.Sizeof(T(0)), 0
	kernel(&args, rows)
	for i := range rows {
		c := unsafe.Slice((*T)(unsafe.Add(x.c, uintptr(i)*x.cStride)), cols)
		for j := range c {
			if x.add != 0 {
				c[j] += whole[i*all+j]
			} else {
				c[j] = whole[i*all+j]
			}
		}
	}
}
