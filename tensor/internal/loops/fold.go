package loops

import (
	"math"
	"math/bits"
	"runtime"
	"slices"
	"unsafe"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
)

// Folding reduces a block of elements to one number and two such numbers to
// one. The order of both is fixed, so the result is the same on every run and
// for every layout.
type Folding[T numbers.Number] struct {
	Start T
	block func(x []T) T
	join  func(a, b T) T

	// step does for many blocks side by side what block does for one element of each.
	// block deals out its elements to lanes in turn, and finally joins the upper half of
	// the lanes to the lower half until one is left.
	step  func(sums, x []T)
	lanes int

	// merge joins each element of one slice to that of the other; nil where join has to do that.
	merge func(dst, x []T)

	// four is step for four slices of x, one after the other; nil where there is none.
	four func(sums, w, x, y, z []T)

	// narrow has loops for some of the types in which nothing is computed.
	narrow map[device.Type]narrowLoops[T]

	AnyOrder bool // nothing is rounded, so that the order does not matter
}

// narrowLoops are the loops of a folding for numbers as they lie in memory.
type narrowLoops[T numbers.Number] struct {
	block func(x []byte) T
	step  func(sums, x []byte)    // where one of two is chosen, nil elsewhere
	widen func(dst []T, x []byte) // beside step
}

// Foldings is a folding for each type that is computed in.
type Foldings struct {
	Name string // by which other devices know it

	F32 Folding[float32]
	F64 Folding[float64]
	I64 Folding[int64]
}

// Sums adds.
var Sums = Foldings{
	"sum",
	inFours(vectorFolding(sumFolding[float32](), Vectors32.Sum, Vectors32.Add), Vectors32.AddFour),
	inFours(vectorFolding(sumFolding[float64](), Vectors64.Sum, Vectors64.Add), Vectors64.AddFour),
	wholeSums(),
}

// wholeSums adds integers, in any order because nothing is rounded.
func wholeSums() Folding[int64] {
	f := sumFolding[int64]()
	f.lanes, f.AnyOrder = 1, true
	f.step = func(sums, x []int64) { AddWhole(sums[:len(x)], sums, x) }
	f.merge = f.step
	f.block = func(x []int64) int64 {
		if sum := Vectors64.SumWhole; sum != nil {
			return int64(math.Float64bits(sum(sameBits[float64](x))))
		}
		var a, b, c, d int64
		for ; len(x) >= 4; x = x[4:] {
			a, b, c, d = a+x[0], b+x[1], c+x[2], d+x[3]
		}
		for _, v := range x {
			a += v
		}
		return a + b + c + d
	}
	f.narrow = map[device.Type]narrowLoops[int64]{device.Bool: {block: countTrue}}
	if Vectors64.SumBytes != nil {
		sum := func(x []byte, signs uint64) (sum int64) { // minus 128 for each, if they are signed
			whole, bias := len(x)&^7, int64(signs&0x80)
			sum = int64(math.Float64bits(Vectors64.SumBytes(numbersIn[float64](x[:whole]), math.Float64frombits(signs))))
			for _, v := range x[whole:] {
				sum += int64(v ^ byte(signs))
			}
			return sum - bias*int64(len(x))
		}
		f.narrow[device.Uint8] = narrowLoops[int64]{block: func(x []byte) int64 { return sum(x, 0) }}
		f.narrow[device.Int8] = narrowLoops[int64]{block: func(x []byte) int64 { return sum(x, 0x8080808080808080) }}
	}
	if Vectors32.SumShorts != nil {
		f.narrow[device.Int16] = narrowLoops[int64]{block: func(x []byte) int64 {
			whole := len(x) &^ 3
			sum := int64(int32(math.Float32bits(Vectors32.SumShorts(numbersIn[float32](x[:whole])))))
			for _, v := range numbersIn[int16](x[whole:]) {
				sum += int64(v)
			}
			return sum
		}}
	}
	if v := Vectors32; v.SumLow != nil && v.SumHigh != nil {
		f.narrow[device.Int32] = narrowLoops[int64]{block: func(memory []byte) int64 {
			x := numbersIn[float32](memory)
			low, high := int32(math.Float32bits(v.SumLow(x))), int32(math.Float32bits(v.SumHigh(x)))
			return int64(high)<<16 + int64(low)
		}}
	}
	return f
}

// vectorFolding is a folding with its loops in vector instructions, if there are any;
// these add in the same order.
func vectorFolding[T numbers.Number](f Folding[T], block func(x []T) T, add func(dst, x, y []T)) Folding[T] {
	if block != nil {
		f.block = block
		f.step = func(sums, x []T) { add(sums[:len(x)], sums, x) }
		f.merge = f.step
	}
	return f
}

// inFours adds four rows at a time by fused multiply-adds with 1, which round as additions do.
func inFours[T float32 | float64](f Folding[T], add func(dst, w, x, y, z []T, a, b, c, d T)) Folding[T] {
	if add != nil {
		f.four = func(sums, w, x, y, z []T) { add(sums[:len(w)], w, x, y, z, 1, 1, 1, 1) }
	}
	return f
}

func sumFolding[T numbers.Number]() Folding[T] {
	return Folding[T]{0, sumBlock[T], func(a, b T) T { return a + b }, func(sums, x []T) {
		for i, v := range x {
			sums[i] += v
		}
	}, cpu.SumLanes, nil, nil, nil, false}
}

// sumBlock adds in lanes, which is both faster and, for floats, more exact than
// one running sum.
func sumBlock[T numbers.Number](x []T) T {
	var lane [cpu.SumLanes]T
	for len(x) >= len(lane) {
		for i := range lane {
			lane[i] += x[i]
		}
		x = x[len(lane):]
	}
	for i, v := range x {
		lane[i] += v
	}
	return joinLanes(&lane)
}

// joinLanes adds the upper half of the lanes to the lower half until one is left.
func joinLanes[T numbers.Number](lane *[cpu.SumLanes]T) T {
	for half := len(lane) / 2; half > 0; half /= 2 {
		for i := range half {
			lane[i] += lane[i+half]
		}
	}
	return lane[0]
}

// narrowLen is the size of blocks of integers that are folded as they are stored. Sums of that many int16, and of
// the upper and the lower halves of that many int32, fit 31 bits.
const narrowLen = 16 * BlockLen

// Fold reduces each run of count elements of x to one element of out: each block to a
// number, and those numbers in pairs. Threads share the runs or, if there are few, the
// blocks; the order of the sums stays the same.
func Fold[T numbers.Number](out []T, x Array, count int, f Folding[T]) {
	blocks, length := (count+BlockLen-1)/BlockLen, BlockLen
	if IsPlain[T](x) && blocks > 0 {
		foldPlain(out, Stored[T](x), count, blocks, f)
		return
	}
	narrow, size := f.narrow[x.Dtype].block, int(x.Width)
	if !x.IsContiguous() {
		narrow = nil
	}
	if narrow != nil { // nothing is rounded, so blocks may have any size
		length = narrowLen
		blocks = (count + length - 1) / length
	}
	if len(out) == 1 && blocks > 1 {
		if partial := foldAcross(x, f); partial != nil {
			out[0] = f.join(f.Start, joinPairs(partial, f.join))
			return
		}
	}
	block := func(r *Reader[T], i, b int) T {
		n := min(length, count-b*length)
		if narrow != nil {
			return narrow(MemoryOf[byte](x)[(x.Layout.Offset+i*count+b*length)*size:][:n*size])
		}
		return f.block(r.Block(i*count+b*length, n))
	}
	if blocks > 1 && len(out) < runtime.GOMAXPROCS(0) {
		partial := make([]T, blocks)
		for i := range out {
			ParallelRows(blocks, ParallelFrom/length, func(first, last int) {
				r := NewReader[T](x)
				defer r.Done()
				for b := first; b < last; b++ {
					partial[b] = block(r, i, b)
				}
			})
			out[i] = f.join(f.Start, joinPairs(partial, f.join))
		}
		return
	}
	ParallelRows(len(out), ParallelFrom/max(count, 1), func(start, end int) {
		r := NewReader[T](x)
		defer r.Done()
		partial := make([]T, blocks)
		for i := start; i < end; i++ {
			for b := range partial {
				partial[b] = block(r, i, b)
			}
			out[i] = f.Start
			if blocks > 0 {
				out[i] = f.join(f.Start, joinPairs(partial, f.join))
			}
		}
	})
}

// foldEach reduces each block of x.
func foldEach[T numbers.Number](x Array, f Folding[T]) []T {
	if partial := foldAcross(x, f); partial != nil {
		return partial
	}
	partial := make([]T, (x.Len()+BlockLen-1)/BlockLen)
	ParallelRows(len(partial), ParallelFrom/BlockLen, func(first, last int) {
		r := NewReader[T](x)
		defer r.Done()
		for b := first; b < last; b++ {
			partial[b] = f.block(r.Block(b*BlockLen, min(BlockLen, x.Len()-b*BlockLen)))
		}
	})
	return partial
}

// foldPlain is Fold for numbers that are stored as the type they are computed in.
func foldPlain[T numbers.Number](out, x []T, count, blocks int, f Folding[T]) {
	if blocks > 1 && len(out) < cpu.Threads() {
		partial := make([]T, blocks)
		for i := range out {
			x := x[i*count:][:count]
			ParallelRows(blocks, ParallelFrom/BlockLen, func(first, last int) { foldBlocks(partial[first:last], x[first*BlockLen:], f) })
			out[i] = f.join(f.Start, joinPairs(partial, f.join))
		}
		return
	}
	ParallelRows(len(out), ParallelFrom/max(count, 1), func(start, end int) {
		if blocks == 1 {
			for i := start; i < end; i++ {
				out[i] = f.join(f.Start, f.block(x[i*count:][:count]))
			}
			return
		}
		partial := make([]T, blocks)
		for i := start; i < end; i++ {
			foldBlocks(partial, x[i*count:][:count], f)
			out[i] = f.join(f.Start, joinPairs(partial, f.join))
		}
	})
}

// foldBlocks reduces each block of x, as many as there is room for.
func foldBlocks[T numbers.Number](out, x []T, f Folding[T]) {
	for b := range out {
		out[b] = f.block(x[b*BlockLen : min((b+1)*BlockLen, len(x))])
	}
}

// joinPairs joins neighbors, then their results, and so on: a balanced tree.
func joinPairs[T numbers.Number](x []T, join func(a, b T) T) T {
	switch len(x) {
	case 1:
		return x[0]
	case 8: // the same, without so many calls
		return join(join(join(x[0], x[1]), join(x[2], x[3])), join(join(x[4], x[5]), join(x[6], x[7])))
	}
	half := (len(x) + 1) / 2
	return join(joinPairs(x[:half], join), joinPairs(x[half:], join))
}

// MaxFolding finds the largest.
func MaxFolding[T numbers.Number](start T) Folding[T] {
	return Folding[T]{start, func(x []T) T {
		best := x[0]
		for _, v := range x[1:] {
			best = max(best, v)
		}
		return best
	}, func(a, b T) T { return max(a, b) }, func(sums, x []T) {
		for i, v := range x {
			sums[i] = max(sums[i], v)
		}
	}, 1, nil, nil, nil, true}
}

// MinFolding finds the smallest.
func MinFolding[T numbers.Number](start T) Folding[T] {
	return Folding[T]{start, func(x []T) T {
		best := x[0]
		for _, v := range x[1:] {
			best = min(best, v)
		}
		return best
	}, func(a, b T) T { return min(a, b) }, func(sums, x []T) {
		for i, v := range x {
			sums[i] = min(sums[i], v)
		}
	}, 1, nil, nil, nil, true}
}

// VectorExtreme is a folding of extremes with its loops in vector instructions, if there are any:
// choose returns the larger, or smaller, of two numbers, and size the largest of a slice, or of its
// negated numbers if sign is -1. size does not tell NaN from infinity, nor +0 from -0.
func VectorExtreme[T float32 | float64](f Folding[T], choose func(dst, x, y []T), size func(x []T) T, sign T) Folding[T] {
	if choose == nil || size == nil {
		return f
	}
	switch v := vectorsFor[T](); {
	case sign > 0 && v.MaxFour != nil:
		f.four = v.MaxFour
	case sign < 0 && v.MinFour != nil:
		f.four = v.MinFour
	}
	few := f.block
	f.block = func(x []T) T {
		switch top := size(x); {
		case top == 0:
			return zeroOf(x, sign)
		case top <= T(largestFinite[T]()):
			return sign * top
		}
		return few(x)
	}
	f.step = func(sums, x []T) { choose(sums[:len(x)], sums, x) }
	f.merge = f.step
	return f
}

// zeroOf is the largest of numbers, or the smallest if sign is -1, when that is 0: of the two zeros, +0 is the larger.
func zeroOf[T float32 | float64](x []T, sign T) T {
	negative := 0
	if sign < 0 && Vectors64.Shifted != nil { // the bits that any of them has
		size, signs := int(unsafe.Sizeof(x[0])), uint64(1<<63)
		if size == 4 {
			signs |= 1 << 31
		}
		words := unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*size/8)
		if math.Float64bits(Vectors64.Shifted(words, 0))&signs != 0 {
			return T(math.Copysign(0, -1))
		}
		x = x[len(words)*8/size:]
	}
	for _, v := range x {
		if math.Signbit(float64(v)) {
			negative++
		}
	}
	if sign > 0 && negative == len(x) || sign < 0 && negative > 0 {
		return T(math.Copysign(0, -1))
	}
	return 0
}

func largestFinite[T float32 | float64]() float64 {
	if _, ok := any(T(0)).(float32); ok {
		return math.MaxFloat32
	}
	return math.MaxFloat64
}

// Whole gives a folding of extremes its loops for integers, and one for bools. The largest int32 is found by
// their bits, flipped by flip.
func Whole(f Folding[int64], highest func(x []float32) float32, flip int32, bools func(x []uint8) int64) Folding[int64] {
	choose, join, smallest := MaxWhole, f.join, f.join(1, 2) == 1
	chooseInts := Vectors32.MaxInts
	if smallest {
		choose, chooseInts = MinWhole, Vectors32.MinInts
	}
	f.step = func(sums, x []int64) { choose(sums[:len(x)], sums, x) }
	f.merge = f.step
	f.block = func(x []int64) int64 {
		if Vectors64.MaxWhole != nil && len(x) >= 512 {
			return foldHalves(x, f.step, join)
		}
		a := x[0] // in four chains, none of which waits for another
		b, c, d := a, a, a
		if smallest {
			for ; len(x) >= 4; x = x[4:] {
				a, b, c, d = min(a, x[0]), min(b, x[1]), min(c, x[2]), min(d, x[3])
			}
		} else {
			for ; len(x) >= 4; x = x[4:] {
				a, b, c, d = max(a, x[0]), max(b, x[1]), max(c, x[2]), max(d, x[3])
			}
		}
		for _, v := range x {
			a = join(a, v)
		}
		return join(join(a, b), join(c, d))
	}
	f.narrow = map[device.Type]narrowLoops[int64]{
		device.Bool:  {block: bools},
		device.Uint8: narrowed[uint8](Vectors64.MaxBytes, Vectors64.HighestBytes, 0, smallest),
		device.Int8:  narrowed[int8](Vectors64.MaxBytes, Vectors64.HighestBytes, 0x8080808080808080, smallest),
		device.Int16: narrowed[int16](Vectors64.MaxShorts, Vectors64.HighestShorts, 0x8000800080008000, smallest),
	}
	if chooseInts != nil && highest != nil {
		f.narrow[device.Int32] = narrowLoops[int64]{
			func(x []byte) int64 { return int64(int32(math.Float32bits(highest(numbersIn[float32](x)))) ^ flip) },
			func(sums, x []byte) {
				chooseInts(numbersIn[float32](sums), numbersIn[float32](sums), numbersIn[float32](x))
			},
			widen[int32],
		}
	}
	return f
}

// narrowed makes the loops of a folding of extremes for integers of 8 or 16 bits. Vector loops find the largest of
// unsigned numbers, so the sign bit of signed numbers is flipped and, for the smallest, so are all other bits.
func narrowed[S uint8 | int8 | int16](most func(dst, x, y []float64, turn float64), highest func(x []float64, turn float64) float64, signs uint64, smallest bool) narrowLoops[int64] {
	best := slices.Max[[]S]
	if smallest {
		best, signs = slices.Min[[]S], ^signs
	}
	turn := math.Float64frombits(signs)
	step := func(sums, x []byte) {
		if whole := len(x) &^ 7; most != nil && whole > 0 {
			a := numbersIn[float64](sums[:whole])
			most(a, a, numbersIn[float64](x[:whole]), turn)
			sums, x = sums[whole:], x[whole:]
		}
		a := numbersIn[S](sums)
		for i, v := range numbersIn[S](x) {
			if smallest {
				a[i] = min(a[i], v)
			} else {
				a[i] = max(a[i], v)
			}
		}
	}
	block := func(x []byte) int64 {
		const unit = 64 // bytes that vectors take
		if highest == nil || len(x) < 2*unit {
			return int64(best(numbersIn[S](x)))
		}
		words := [2]uint64{math.Float64bits(highest(numbersIn[float64](x[:len(x)&^(unit-1)]), turn)) ^ signs}
		words[1] = words[0]
		if rest := x[len(x)&^(unit-1):]; len(rest) > 0 { // together with the ones before, these make a unit, too
			words[1] = math.Float64bits(highest(numbersIn[float64](x[len(x)-unit:]), turn)) ^ signs
		}
		return int64(best(unsafe.Slice((*S)(unsafe.Pointer(&words)), int(unsafe.Sizeof(words)/unsafe.Sizeof(S(0))))))
	}
	return narrowLoops[int64]{block, step, widen[S]}
}

func widen[S uint8 | int8 | int16 | int32](dst []int64, x []byte) {
	for i, v := range numbersIn[S](x) {
		dst[i] = int64(v)
	}
}

// numbersIn returns memory as the numbers stored there.
func numbersIn[T any](memory []byte) []T {
	var t T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(memory))), len(memory)/int(unsafe.Sizeof(t)))
}

// foldHalves folds parts of x into one by a vector loop, and its upper half into the lower one until few numbers are
// left.
func foldHalves(x []int64, step func(sums, x []int64), join func(a, b int64) int64) int64 {
	room := borrow[int64, stretches[int64]](&rooms)
	defer giveBack[int64](&rooms, room)
	part := room[0][:]
	for n := copy(part, x); n < len(x); n += len(part) {
		step(part, x[n:min(n+len(part), len(x))])
	}
	for n := len(part) / 2; n >= 8; n /= 2 {
		step(part, part[n:2*n])
	}
	best := part[0]
	for _, v := range part[1:8] {
		best = join(best, v)
	}
	return best
}

// countTrue counts the bools that are true.
func countTrue(x []uint8) (n int64) {
	for _, w := range eights(x) {
		n += int64(bits.OnesCount64(w))
	}
	for _, v := range x[len(x)&^7:] {
		n += int64(v)
	}
	return n
}

// AllTrue is 1 if all bools are true.
func AllTrue(x []uint8) int64 { return Truth[int64](countTrue(x) == int64(len(x))) }

// AnyTrue is 1 if any of the bools is true.
func AnyTrue(x []uint8) int64 { return Truth[int64](countTrue(x) > 0) }

// SquareSums adds squares.
var SquareSums = Foldings{
	Name: "sum of squares",
	F32:  squareFolding[float32](0),
	F64:  squareFolding[float64](0),
}

// squareFolding adds the squares of distances from a number.
func squareFolding[T float32 | float64](from T) Folding[T] {
	f := Folding[T]{
		block: func(x []T) T {
			var lane [cpu.SumLanes]T
			for len(x) >= len(lane) {
				for i := range lane {
					lane[i] += T((x[i] - from) * (x[i] - from)) // rounded, whatever the processor
				}
				x = x[len(lane):]
			}
			for i, v := range x {
				lane[i] += T((v - from) * (v - from))
			}
			return joinLanes(&lane)
		},
		join: func(a, b T) T { return a + b },
		step: func(sums, x []T) {
			for i, v := range x {
				sums[i] += T((v - from) * (v - from))
			}
		},
		lanes: cpu.SumLanes,
		merge: func(dst, x []T) {
			for i, v := range x {
				dst[i] += v
			}
		},
	}
	if v := vectorsFor[T](); v.Squares != nil {
		f.block = func(x []T) T { return v.Squares(x, from) }
		f.four = func(sums, w, x, y, z []T) { v.AddSquares(sums[:len(w)], w, x, y, z, from) }
	}
	return f
}

// Products multiplies.
var Products = Foldings{
	"prod",
	productsInFours(vectorFolding(productFolding[float32](), Vectors32.Product, Vectors32.Mul), Vectors32.MulFour),
	productsInFours(vectorFolding(productFolding[float64](), Vectors64.Product, Vectors64.Mul), Vectors64.MulFour),
	func() Folding[int64] { // in one lane: nothing is rounded
		f := productFolding[int64]()
		f.lanes, f.AnyOrder = 1, true
		f.block = func(x []int64) int64 {
			a, b, c, d := int64(1), int64(1), int64(1), int64(1)
			for ; len(x) >= 4; x = x[4:] {
				a, b, c, d = a*x[0], b*x[1], c*x[2], d*x[3]
			}
			for _, v := range x {
				a *= v
			}
			return a * b * c * d
		}
		return f
	}(),
}

// productsInFours multiplies four rows at a time.
func productsInFours[T float32 | float64](f Folding[T], mul func(dst, w, x, y, z []T)) Folding[T] {
	if mul != nil {
		f.four = func(sums, w, x, y, z []T) { mul(sums[:len(w)], w, x, y, z) }
	}
	return f
}

func productFolding[T numbers.Number]() Folding[T] {
	return Folding[T]{1, func(x []T) T {
		var lane [cpu.SumLanes]T
		for i := range lane {
			lane[i] = 1
		}
		for len(x) >= len(lane) {
			for i := range lane {
				lane[i] *= x[i]
			}
			x = x[len(lane):]
		}
		for i, v := range x {
			lane[i] *= v
		}
		for half := len(lane) / 2; half > 0; half /= 2 {
			for i := range half {
				lane[i] *= lane[i+half]
			}
		}
		return lane[0]
	}, func(a, b T) T { return a * b }, func(sums, x []T) {
		for i, v := range x {
			sums[i] *= v
		}
	}, cpu.SumLanes, nil, nil, nil, false}
}
