//go:build arm64 || (js && lectern_cell)

package cpu

import (
	"math/bits"
	"unsafe"
)

// inWhole computes a tile with a kernel that only knows tiles with all columns. Other tiles go through a whole one.
func inWhole[T float32 | float64](x *tileArgs, rows, all int, kernel func(args *tileArgs, rows int)) {
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
