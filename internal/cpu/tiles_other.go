//go:build !amd64

package cpu

import "unsafe"

var tiles32 = [...]tile{Generic: {2, 4, 2, false, tileGo[float32]}}

var tiles64 = [...]tile{Generic: {2, 4, 2, false, tileGo[float64]}}

func packRows(dst unsafe.Pointer, dstStride int, src unsafe.Pointer, srcStride, rows, bytes int) {
	packRowsGo(dst, dstStride, src, srcStride, rows, bytes)
}

func transpose(dst unsafe.Pointer, stride int, src unsafe.Pointer, srcStride, lines, k, size int) {
	transposeGo(dst, stride, src, srcStride, lines, k, size)
}
