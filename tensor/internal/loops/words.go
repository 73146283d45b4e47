package loops

import "math"

// A WordKernel operates on eight bools at a time.
type WordKernel func(dst, x, y []uint64)

// Bools runs the kernel over bools, eight at a time.
func (words WordKernel) Bools(to, left, right []uint8) {
	Parallel(len(to), ParallelFrom, func(start, end int) { words.some(to[start:end], left[start:end], right[start:end]) })
}

// Rows is Bools for rows of bools. An operand with a single row repeats it.
func (words WordKernel) Rows(to, left, right []uint8, width int) {
	row := func(x []uint8, at int) []uint8 {
		if len(x) == width {
			return x
		}
		return x[at:][:width]
	}
	ParallelRows(len(to)/width, ParallelFrom/width, func(start, end int) {
		for at := start * width; at < end*width; at += width {
			words.some(to[at:][:width], row(left, at), row(right, at))
		}
	})
}

func (words WordKernel) some(to, left, right []uint8) {
	eight := len(to) &^ 7
	words(eights(to[:eight]), eights(left[:eight]), eights(right[:eight]))
	if eight == len(to) {
		return
	}
	var rest [3][8]uint8
	copy(rest[1][:], left[eight:])
	copy(rest[2][:], right[eight:])
	words(eights(rest[0][:]), eights(rest[1][:]), eights(rest[2][:]))
	copy(to[eight:], rest[0][:])
}

// AndWords is 1 where both bools are true.
func AndWords(dst, x, y []uint64) {
	if InWords(Vectors64.AndBits, dst, x, y) {
		return
	}
	for i := range dst {
		dst[i] = x[i] & y[i]
	}
}

// OrWords is 1 where at least one of the bools is true.
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

// NotWords is 1 where the bool is false.
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
