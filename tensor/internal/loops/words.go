package loops

import "math"

// A WordKernel operates on eight bools at a time.
type WordKernel func(dst, x, y []uint64)

// Bools runs the kernel over bools, eight at a time.
func (words WordKernel) Bools(to, left, right []uint8) {
	Parallel(len(to), ParallelFrom, func(start, end int) {
		eight := (end - start) &^ 7
		words(eights(to[start:][:eight]), eights(left[start:][:eight]), eights(right[start:][:eight]))
		for i := start + eight; i < end; i++ {
			var one [1]uint64
			words(one[:], []uint64{uint64(left[i])}, []uint64{uint64(right[i])})
			to[i] = uint8(one[0]) & 1
		}
	})
}

// AndWords is 1 where both bools are.
func AndWords(dst, x, y []uint64) {
	if InWords(Vectors64.AndBits, dst, x, y) {
		return
	}
	for i := range dst {
		dst[i] = x[i] & y[i]
	}
}

// OrWords is 1 where one of the bools is, or both are.
func OrWords(dst, x, y []uint64) {
	if InWords(Vectors64.OrBits, dst, x, y) {
		return
	}
	for i := range dst {
		dst[i] = x[i] | y[i]
	}
}

// XorWords is 1 where the bools differ.
func XorWords(dst, x, y []uint64) {
	if InWords(Vectors64.XorBits, dst, x, y) {
		return
	}
	for i := range dst {
		dst[i] = x[i] ^ y[i]
	}
}

// NotWords is 1 where the bool is not.
func NotWords(dst, x, _ []uint64) {
	if not := Vectors64.XorBitsOf; not != nil {
		each := math.Float64frombits(EachTrue)
		InWords(func(dst, x, _ []float64) { not(dst, x, each) }, dst, x, x)
		return
	}
	for i := range dst {
		dst[i] = x[i] ^ EachTrue
	}
}

// SameWords is 1 for bools that are equal.
func SameWords(dst, x, y []uint64) {
	XorWords(dst, x, y)
	NotWords(dst, dst, nil)
}
