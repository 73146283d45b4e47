package cpu

import "unsafe"

var tiles32 = [...]tile{
	Generic: {2, 4, 2, false, tileGo[float32]},
	AVX2:    {6, 16, 8, false, tileF32AVX2},
	AVX512:  {14, 32, 16, true, tileF32AVX512},
}

var tiles64 = [...]tile{
	Generic: {2, 4, 2, false, tileGo[float64]},
	AVX2:    {6, 8, 8, false, tileF64AVX2},
	AVX512:  {14, 16, 16, true, tileF64AVX512},
}

// tilePairs is the kernel for pairs of bfloat16.
var tilePairs = tile{14, 32, 16, false, tileBF16AVX512}

// dotsBFloat16 reports whether the chosen level multiplies pairs of bfloat16.
func dotsBFloat16() bool { return level == AVX512 && hasBFloat16Dot }

// packRows copies rows of bytes, a multiple of 4 and at most 128, to rows of dst that have room for whole vectors.
func packRows(dst unsafe.Pointer, dstStride int, src unsafe.Pointer, srcStride, rows, bytes int) {
	if level == Generic {
		packRowsGo(dst, dstStride, src, srcStride, rows, bytes)
		return
	}
	copyRows(dst, uintptr(dstStride), src, uintptr(srcStride), rows, bytes/4)
}

// transpose copies number k of line i to position k·stride + i of dst, whose rows have room for whole vectors.
func transpose(dst unsafe.Pointer, stride int, src unsafe.Pointer, srcStride, lines, k, size int) {
	lanes := 32 / size
	if level == Generic || k < lanes {
		transposeGo(dst, stride, src, srcStride, lines, k, size)
		return
	}
	whole := k / lanes
	for i := 0; i < lines; i += lanes {
		rows := min(lanes, lines-i)
		to, from := unsafe.Add(dst, i*size), unsafe.Add(src, i*srcStride)
		kernel := transposeF32
		if size == 8 {
			kernel = transposeF64
		}
		kernel(to, uintptr(stride*size), from, uintptr(srcStride), whole, rows)
		if last := k - lanes; k%lanes != 0 { // the last block overlaps the one before
			kernel(unsafe.Add(to, last*stride*size), uintptr(stride*size), unsafe.Add(from, last*size), uintptr(srcStride), 1, rows)
		}
	}
}
