package cpu

import "unsafe"

var tiles32 = [...]tile{
	Generic: {2, 4, 4, tileGo[float32]},
	AVX2:    {6, 16, 8, tileF32AVX2},
	AVX512:  {9, 48, 16, tileF32AVX512},
}

var tiles64 = [...]tile{
	Generic: {2, 4, 4, tileGo[float64]},
	AVX2:    {6, 8, 4, tileF64AVX2},
	AVX512:  {9, 24, 8, tileF64AVX512},
}

// tilePairs is the kernel for pairs of bfloat16.
var tilePairs = tile{9, 48, 16, tileBF16AVX512}

// dotsBFloat16 reports whether the chosen level multiplies pairs of bfloat16.
func dotsBFloat16() bool { return level == AVX512 && hasBFloat16Dot }

// dotKernels returns the kernels of inner products in float32 and float64; nil where the level has none.
func dotKernels() (float32s, float64s dotKernel) {
	switch level {
	case AVX512:
		return dotsF32AVX512, dotsF64AVX512
	case AVX2:
		return dotsF32AVX2, dotsF64AVX2
	}
	return nil, nil
}

// packRows copies rows of bytes, a multiple of 4 and at most 192, to rows of dst. It writes whole
// vectors: after the last row of dst there must be room for the rest of one.
func packRows(dst unsafe.Pointer, dstStride int, src unsafe.Pointer, srcStride, rows, bytes int) {
	if level == Generic {
		packRowsGo(dst, dstStride, src, srcStride, rows, bytes)
		return
	}
	copyRows(dst, uintptr(dstStride), src, uintptr(srcStride), rows, bytes/4)
}

// transpose copies number k of line i to position k·stride + i of dst. It writes whole vectors: after the last row of
// dst there must be room for the rest of one.
func transpose(dst unsafe.Pointer, stride int, src unsafe.Pointer, srcStride, lines, k, size int) {
	lanes := 32 / size
	if level == Generic || k < lanes {
		transposeGo(dst, stride, src, srcStride, lines, k, size)
		return
	}
	whole := k / lanes
	for i := roundUp(lines, lanes) - lanes; i >= 0; i -= lanes { // the next lines overwrite the excess
		rows := min(lanes, lines-i)
		to, from := unsafe.Add(dst, i*size), unsafe.Add(src, i*srcStride)
		if rows == 1 {
			transposeGo(to, stride, from, srcStride, rows, k, size)
			continue
		}
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
