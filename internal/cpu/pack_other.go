//go:build !amd64

package cpu

import "unsafe"

var tilePairs tile

func dotsBFloat16() bool { return false }

func dotKernels() (float32s, float64s dotKernel) { return nil, nil }

func tilesAMX() func(args *amxArgs) { return nil }

func pairRows(unsafe.Pointer, uintptr, unsafe.Pointer, uintptr, int, uint64) {
	panic("cpu: no pairs of bfloat16 here")
}

func roundRows(unsafe.Pointer, uintptr, unsafe.Pointer, uintptr, int, int) {
	panic("cpu: no pairs of bfloat16 here")
}

func packRows(dst unsafe.Pointer, dstStride int, src unsafe.Pointer, srcStride, rows, bytes int) {
	packRowsGo(dst, dstStride, src, srcStride, rows, bytes)
}

func transpose(dst unsafe.Pointer, stride int, src unsafe.Pointer, srcStride, lines, k, size int) {
	transposeGo(dst, stride, src, srcStride, lines, k, size)
}
