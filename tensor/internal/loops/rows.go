package loops

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Softmax computes exp(x)/Σexp(x) of a row.
func Softmax[T float32 | float64](dst, x []T) {
	factor := T(1 / expSum(dst, x, largestOf(x)))
	if dst, ok := any(dst).([]float32); ok && Vectors32.Scale != nil {
		Vectors32.Scale(dst, dst, float32(factor))
		return
	}
	for i := range dst {
		dst[i] *= factor
	}
}

// LogSoftmax computes the logarithm of that.
func LogSoftmax[T float32 | float64](dst, x []T) {
	largest := largestOf(x)
	log := T(math.Log(expSum(dst, x, largest)))
	if x, ok := any(x).([]float32); ok && Vectors32.Plus != nil {
		dst := any(dst).([]float32)
		Vectors32.Plus(dst, x, -float32(largest))
		Vectors32.Plus(dst, dst, -float32(log))
		return
	}
	for i, v := range x {
		dst[i] = v - largest - log
	}
}

// LogSoftmaxRows is LogSoftmax for each row of float32, a few rows at a time, so that their logarithms don't wait for
// each other. It reports whether it can do so.
func LogSoftmaxRows(out, x Array) bool {
	v := Vectors32
	if v.Plus == nil || !IsPlain[float32](out) || !IsPlain[float32](x) || x.Len() == 0 {
		return false
	}
	count := x.Layout.Shape[x.Dim()-1]
	to, from := Stored[float32](out), Stored[float32](x)
	ParallelRows(len(to)/count, ParallelFrom/count, func(start, end int) {
		var minus [16]struct {
			largest float32
			log     float64
		}
		few := min(len(minus), max(1, BlockLen/count)) // which stay in the nearest cache
		for ; start < end; start += few {
			rows := minus[:min(few, end-start)]
			row := func(all []float32, i int) []float32 { return all[(start+i)*count:][:count] }
			for i := range rows {
				largest := largestOf(row(from, i))
				rows[i].largest, rows[i].log = -largest, expSum(row(to, i), row(from, i), largest)
			}
			for i := range rows {
				rows[i].log = -math.Log(rows[i].log)
			}
			for i, r := range rows {
				v.Plus(row(to, i), row(from, i), r.largest)
				v.Plus(row(to, i), row(to, i), float32(r.log))
			}
		}
	})
	return true
}

// SoftmaxColumns computes the softmax, or its logarithm, of float32 along an axis that does not run along memory,
// without gathering its elements, and reports whether it can. Each step is that of Softmax or LogSoftmax for each
// column, in the same order, so that the results are the same.
func SoftmaxColumns(out, x Array, axis int, logarithm bool) bool {
	v := Vectors32
	if v.Maximum == nil || v.Exp == nil || !IsPlain[float32](out) || !IsPlain[float32](x) || x.Len() == 0 || x.Dim() < 2 {
		return false
	}
	outer, count, inner := layout.Product(x.Layout.Shape[:axis]), x.Layout.Shape[axis], layout.Product(x.Layout.Shape[axis+1:])
	if inner < 16 {
		return false
	}
	to, from := Stored[float32](out), Stored[float32](x)
	width := min(foldWidth, inner)
	pieces := (inner + width - 1) / width
	ParallelRows(outer*pieces, ParallelFrom/(count*min(inner, width)), func(start, end int) {
		room, wide := borrow[float32, run[float32]](&runs), borrow[float64, run[float64]](&runs)
		defer giveBack[float32](&runs, room)
		defer giveBack[float64](&runs, wide)
		parts, sums := room.of((2+cpu.SumLanes)*width), wide.of(width)
		largest, factors, lanes := parts[:width], parts[width:2*width], parts[2*width:]
		for piece := start; piece < end; piece++ {
			first := piece / pieces * count * inner
			column := piece % pieces * width
			n := min(width, inner-column)
			largest, factors, sums := largest[:n], factors[:n], sums[:n]
			row := func(all []float32, i int) []float32 { return all[first+i*inner+column:][:n:n] }
			copy(largest, row(from, 0))
			for i := 1; i < count; i++ {
				v.Maximum(largest, largest, row(from, i))
			}
			clear(sums)
			for block := 0; block < count; block += BlockLen {
				size := min(BlockLen, count-block)
				clear(lanes)
				for i := range size {
					e, lane := row(to, block+i), lanes[i%cpu.SumLanes*width:][:n]
					v.Sub(e, row(from, block+i), largest)
					if logarithm {
						v.Exp(factors, e)
						v.Add(lane, lane, factors)
						continue
					}
					v.Exp(e, e)
					v.Add(lane, lane, e)
				}
				for half := cpu.SumLanes / 2; half > 0; half /= 2 {
					v.Add(lanes[:half*width], lanes[:half*width], lanes[half*width:])
				}
				for i := range sums {
					sums[i] += float64(lanes[i])
				}
			}
			for i, sum := range sums {
				if logarithm {
					factors[i] = float32(math.Log(sum))
				} else {
					factors[i] = float32(1 / sum)
				}
			}
			for i := range count {
				if e := row(to, i); logarithm {
					v.Sub(e, e, factors)
				} else {
					v.Mul(e, e, factors)
				}
			}
		}
	})
	return true
}

// largestOf may skip NaN: the exponentials will show it, for those who compute them.
func largestOf[T float32 | float64](x []T) T {
	if x, ok := any(x).([]float32); ok && Vectors32.Largest != nil {
		return T(Vectors32.Largest(x))
	}
	largest := T(math.Inf(-1))
	for _, v := range x {
		largest = max(largest, v)
	}
	return largest
}

// expSum computes exp(x - largest) and returns the sum; sums of blocks are added in
// float64. dst may be x.
func expSum[T float32 | float64](dst, x []T, largest T) float64 {
	var sum float64
	if x, ok := any(x).([]float32); ok && Vectors32.ExpSum != nil {
		dst := any(dst).([]float32)
		InBlocks(0, len(x), func(at, n int) {
			sum += float64(Vectors32.ExpSum(dst[at:at+n], x[at:at+n], float32(largest)))
		})
		return sum
	}
	for i, v := range x {
		e := math.Exp(float64(v - largest))
		dst[i] = T(e)
		sum += e
	}
	return sum
}

// logSumExps computes ln Σexp(x) of each run of count elements.
func logSumExps[T float32 | float64](out []T, x Array, count int) {
	ParallelRows(len(out), ParallelFrom/max(count, 1), func(start, end int) {
		r := NewReader[T](x)
		defer r.Done()
		row := make([]T, count)
		for i := start; i < end; i++ {
			r.Copy(row, i*count)
			largest := largestOf(row)
			if math.IsInf(float64(largest), 0) { // nothing to add, or all infinite, but for a NaN that was skipped
				for _, v := range row {
					if v != v {
						largest = v
						break
					}
				}
				out[i] = largest
				continue
			}
			out[i] = T(float64(largest) + math.Log(expSum(row, row, largest)))
		}
	})
}

// Cumsums and Cumprods compute the sums and the products of the elements up to each. For float32 they run in float64
// and are rounded when stored: a million roundings would add up.
var (
	Cumsums  = UnaryKernels{F32: cumsum[float32, float64], F64: cumsum[float64, float64], I64: cumsum[int64, int64]}
	Cumprods = UnaryKernels{F32: cumprod[float32, float64], F64: cumprod[float64, float64], I64: cumprod[int64, int64]}
)

func cumsum[T, Wide numbers.Number](dst, x []T) {
	sum := Wide(0)
	for i, v := range x {
		sum += Wide(v)
		dst[i] = T(sum)
	}
}

func cumprod[T, Wide numbers.Number](dst, x []T) {
	product := Wide(1)
	for i, v := range x {
		product *= Wide(v)
		dst[i] = T(product)
	}
}

// RunningSums and RunningProducts are the steps of Cumsums and Cumprods from one row to the next.
var (
	RunningSums     = BinaryKernels{F64: Vector2(Vectors64.Add, Add[float64]), I64: AddWhole}
	RunningProducts = BinaryKernels{F64: Vector2(Vectors64.Mul, Mul[float64]), I64: Mul[int64]}
)

// runColumns computes in T; out may be narrower.
func runColumns[T numbers.Number](out, x Array, axis int, start T, step func(dst, x, y []T)) {
	count, inner := x.Layout.Shape[axis], layout.Product(x.Layout.Shape[axis+1:])
	if out.Len() == 0 {
		return
	}
	pieces := (inner + BlockLen - 1) / BlockLen
	ParallelRows(out.Len()/(count*inner)*pieces, ParallelFrom/(count*min(inner, BlockLen)), func(from, end int) {
		r, w := NewReader[T](x), NewWriter[T](out)
		defer r.Done()
		defer w.Done()
		running := make([]T, min(BlockLen, inner))
		for piece := from; piece < end; piece++ {
			at := piece/pieces*count*inner + piece%pieces*BlockLen
			n := min(BlockLen, inner-piece%pieces*BlockLen)
			before := running[:n]
			fillWith(before, start)
			for range count {
				now := w.Block(at, n) // its own place, or one that is used again
				step(now, before, r.Block(at, n))
				w.Flush(at, n)
				before, at = now, at+inner
			}
		}
	})
}

// keepPart copies the part of each row that begins, or ends, at a diagonal.
func keepPart[S uint8 | uint16 | uint32 | uint64](to, from []S, rows, columns, diagonal int, lower bool) {
	if len(to) == 0 {
		return
	}
	ParallelRows(len(to)/columns, ParallelFrom/columns, func(start, end int) {
		for i := start; i < end; i++ {
			dst, src := to[i*columns:][:columns], from[i*columns:][:columns]
			cut := i%rows + diagonal
			if lower {
				cut = min(max(cut+1, 0), columns)
				copy(dst[:cut], src)
				clear(dst[cut:])
			} else {
				cut = min(max(cut, 0), columns)
				clear(dst[:cut])
				copy(dst[cut:], src[cut:])
			}
		}
	})
}

// Reverse writes x from the end; dst must not be x.
func Reverse[T numbers.Number](dst, x []T) {
	for i, v := range x {
		dst[len(dst)-1-i] = v
	}
}

// ReverseParts writes rows of count parts, each with the given number of bytes, with their parts in reverse order.
func ReverseParts(to, from []byte, count, size int) {
	if len(to) == 0 {
		return
	}
	switch size {
	case 1:
		reverseRows(to, from, count, reverseBytes)
	case 2:
		reverseRows(words[uint16](to), words[uint16](from), count, reverse)
	case 4:
		reverseRows(words[uint32](to), words[uint32](from), count, reverse32)
	case 8:
		reverseRows(words[uint64](to), words[uint64](from), count, reverse)
	default:
		ParallelRows(len(to)/size, ParallelFrom/size, func(start, end int) {
			for part := start; part < end; part++ {
				copy(to[part*size:][:size], from[(part/count*count+count-1-part%count)*size:])
			}
		})
	}
}

func interleave[S any](out, x, y []S) {
	pairs := unsafe.Slice((*[2]S)(unsafe.Pointer(unsafe.SliceData(out))), len(x))
	Parallel(len(x), ParallelFrom, func(start, end int) {
		pairs, x, y := pairs[start:end], x[start:end], y[start:end]
		for i := range pairs {
			pairs[i] = [2]S{x[i], y[i]}
		}
	})
}

// reverseRows reverses rows of count elements. Threads share the rows or, if there are few, each of them.
func reverseRows[S any](to, from []S, count int, reverse func(dst, src []S)) {
	rows := len(to) / count
	if rows < cpu.Threads() {
		for i := range rows {
			dst, src := to[i*count:][:count], from[i*count:][:count]
			Parallel(count, ParallelFrom, func(start, end int) { reverse(dst[count-end:count-start], src[start:end]) })
		}
		return
	}
	ParallelRows(rows, ParallelFrom/count, func(start, end int) {
		for i := start; i < end; i++ {
			reverse(to[i*count:][:count], from[i*count:][:count])
		}
	})
}

func words[S any](x []byte) []S {
	var s S
	return unsafe.Slice((*S)(unsafe.Pointer(unsafe.SliceData(x))), len(x)/int(unsafe.Sizeof(s)))
}

func reverse[S any](dst, x []S) {
	x = x[:len(dst)]
	for len(dst) >= 4 { // which takes half as many checks
		n := len(x) - 4
		to, from := dst[:4:4], x[n:n+4:n+4]
		to[0], to[1], to[2], to[3] = from[3], from[2], from[1], from[0]
		dst, x = dst[4:], x[:n]
	}
	for i := range dst {
		dst[i] = x[len(x)-1-i]
	}
}

// reverseBytes is reverse, a word at a time.
func reverseBytes(dst, x []uint8) {
	rest := len(dst) & 7
	reverse(dst[:rest], x[len(x)-rest:])
	to, from := eights(dst[rest:]), eights(x[:len(x)-rest])
	for len(to) >= 4 {
		n := len(from) - 4
		a, b := to[:4:4], from[n:n+4:n+4]
		a[0], a[1] = bits.ReverseBytes64(b[3]), bits.ReverseBytes64(b[2])
		a[2], a[3] = bits.ReverseBytes64(b[1]), bits.ReverseBytes64(b[0])
		to, from = to[4:], from[:n]
	}
	for i := range to {
		to[i] = bits.ReverseBytes64(from[len(from)-1-i])
	}
}

// reverse32 is reverse, in vector instructions where there are any.
var reverse32 = func() func(dst, x []uint32) {
	if vector := cpu.Reverse(); vector != nil {
		return vector
	}
	return reverse[uint32]
}()

// normRows calls f for each row of count elements, with that row of each input; an input with a
// single row serves all.
func normRows[T float32 | float64](out Array, in []Array, count int, eps float64, f func(dst []T, in *[3][]T, s *[2][]T, eps float64)) {
	ParallelRows(out.Len()/count, ParallelFrom/count, func(start, end int) {
		var scratch [2][]T
		var rows, all [3][]T // the whole of inputs that need no buffer
		var readers [3]*Reader[T]
		for i, x := range in {
			if IsPlain[T](x) {
				all[i] = Stored[T](x)
				rows[i] = all[i][:count:count]
				continue
			}
			readers[i], rows[i] = NewReader[T](x), make([]T, count)
			readers[i].Copy(rows[i], 0)
		}
		var to []T
		var w *Writer[T]
		if IsPlain[T](out) {
			to = Stored[T](out)
		} else {
			w = NewWriter[T](out)
		}
		dst := to
		if w != nil {
			dst = make([]T, count)
		}
		for row := start; row < end; row++ {
			for i, x := range in {
				switch {
				case x.Layout.Len() == count: // the same for all
				case all[i] != nil:
					rows[i] = all[i][row*count:][:count:count]
				default:
					readers[i].Copy(rows[i], row*count)
				}
			}
			if w == nil {
				dst = to[row*count:][:count:count]
			}
			f(dst, &rows, &scratch, eps) // ranging over values would copy rows, which waits for earlier stores
			if w != nil {
				w.Copy(dst, row*count)
			}
		}
	})
}

// spreadOf returns the mean of a row, rounded to T, and 1/√(var + eps).
func spreadOf[T float32 | float64](x []T, eps float64) (mean, scale T) {
	var sum, squares float64
	InBlocks(0, len(x), func(from, n int) { sum += BlockSum(x[from : from+n]) })
	middle := sum / float64(len(x))
	mean = T(middle)
	InBlocks(0, len(x), func(from, n int) { squares += blockSquares(x[from:from+n], mean) })
	off := float64(mean) - middle
	return mean, T(1 / math.Sqrt(max(squares/float64(len(x))-off*off, 0)+eps))
}

// LayerNorm computes one row of the result from x, weight and bias.
func LayerNorm[T float32 | float64](dst []T, in *[3][]T, _ *[2][]T, eps float64) {
	x, w, b := in[0], in[1], in[2]
	mean, scale := spreadOf(x, eps)
	if v := vectorsFor[T](); v.Normalize != nil {
		v.Normalize(dst, x, w, b, mean, scale)
		return
	}
	for i := range dst {
		dst[i] = T(T((x[i]-mean)*scale)*w[i]) + b[i]
	}
}

// LayerNormGradient computes one row of dL/dx from dL/dy, x and weight.
func LayerNormGradient[T float32 | float64](dst []T, in *[3][]T, scratch *[2][]T, eps float64) {
	g, x, w := in[0], in[1], in[2]
	if scratch[0] == nil {
		scratch[0], scratch[1] = make([]T, len(x)), make([]T, len(x))
	}
	h, normal := scratch[0], scratch[1]
	mean, scale := spreadOf(x, eps)
	var sum, dot float64
	v := vectorsFor[T]()
	if v.LessTimes == nil {
		for i := range dst {
			h[i], normal[i] = g[i]*w[i], (x[i]-mean)*scale
			sum += float64(h[i])
			dot += float64(h[i]) * float64(normal[i])
		}
	} else {
		v.Mul(h, g, w)
		v.Affine(normal, x, mean, scale)
		InBlocks(0, len(x), func(from, n int) {
			sum += float64(v.Sum(h[from : from+n]))
			dot += float64(v.Dot(h[from:from+n], normal[from:from+n]))
		})
	}
	less, times := T(sum/float64(len(x))), T(dot/float64(len(x)))
	if v.LessTimes != nil {
		v.LessTimes(dst, h, normal, less, times, scale)
		return
	}
	for i := range dst {
		dst[i] = T(h[i]-less-T(normal[i]*times)) * scale
	}
}

// vectorsFor returns the vector loops for T.
func vectorsFor[T float32 | float64]() *cpu.Vectors[T] {
	if v, ok := any(Vectors32).(*cpu.Vectors[T]); ok {
		return v
	}
	return any(Vectors64).(*cpu.Vectors[T])
}

// rootScaleOf returns 1/√(mean x² + eps) of a row.
func rootScaleOf[T float32 | float64](x []T, eps float64) T {
	squares := 0.
	InBlocks(0, len(x), func(from, n int) { squares += blockSquares(x[from:from+n], 0) })
	return T(1 / math.Sqrt(squares/float64(len(x))+eps))
}

// RMSNorm computes one row of the result from x and weight.
func RMSNorm[T float32 | float64](dst []T, in *[3][]T, _ *[2][]T, eps float64) {
	x, w := in[0], in[1]
	scale := rootScaleOf(x, eps)
	if v := vectorsFor[T](); v.Scale != nil && v.Mul != nil {
		v.Scale(dst, x, scale)
		v.Mul(dst, dst, w)
		return
	}
	for i := range dst {
		dst[i] = T(x[i]*scale) * w[i]
	}
}

// RMSNormGradient computes one row of dL/dx from dL/dy, x and weight.
func RMSNormGradient[T float32 | float64](dst []T, in *[3][]T, scratch *[2][]T, eps float64) {
	g, x, w := in[0], in[1], in[2]
	if scratch[0] == nil {
		scratch[0], scratch[1] = make([]T, len(x)), make([]T, len(x))
	}
	h, normal := scratch[0], scratch[1]
	scale := rootScaleOf(x, eps)
	dot := 0.
	v := vectorsFor[T]()
	if v.LessTimes == nil {
		for i := range dst {
			h[i], normal[i] = g[i]*w[i], x[i]*scale
			dot += float64(h[i]) * float64(normal[i])
		}
	} else {
		v.Mul(h, g, w)
		v.Scale(normal, x, scale)
		InBlocks(0, len(x), func(from, n int) { dot += float64(v.Dot(h[from:from+n], normal[from:from+n])) })
	}
	share := T(dot / float64(len(x)))
	if v.LessTimes != nil {
		v.LessTimes(dst, h, normal, 0, share, scale)
		return
	}
	for i := range dst {
		dst[i] = (h[i] - T(normal[i]*share)) * scale
	}
}

// rotateRows turns each pair of neighbors of a row by its angle, back if way is -1.
func rotateRows[T float32 | float64](out, x, cos, sin Array, way int) {
	d := x.Layout.Shape[x.Dim()-1]
	direct := IsPlain[T](x) && IsPlain[T](out) && cos.Layout.Strides[x.Dim()-1] == 1 && sin.Layout.Strides[x.Dim()-1] == 1
	lead := x.Layout.Shape[:x.Dim()-1]
	ParallelRows(x.Len()/d, ParallelFrom/d, func(start, end int) {
		if direct {
			to, from, c, s := Stored[T](out), Stored[T](x), MemoryOf[T](cos), MemoryOf[T](sin)
			for row := start; row < end; row++ {
				rotateRow(to[row*d:][:d:d], from[row*d:][:d:d], c[rowOffset(cos.Layout, lead, row):][:d/2], s[rowOffset(sin.Layout, lead, row):][:d/2], T(way))
			}
			return
		}
		rx, rc, rs, w := NewReader[T](x), NewReader[T](cos), NewReader[T](sin), NewWriter[T](out)
		defer rx.Done()
		defer rc.Done()
		defer rs.Done()
		defer w.Done()
		src, dst, c, s := make([]T, d), make([]T, d), make([]T, d/2), make([]T, d/2)
		for row := start; row < end; row++ {
			rx.Copy(src, row*d)
			rc.Copy(c, row*d/2)
			rs.Copy(s, row*d/2)
			rotateRow(dst, src, c, s, T(way))
			w.Copy(dst, row*d)
		}
	})
}

// rowOffset returns where in memory a row lies, in row-major order of leading axes.
func rowOffset(l *layout.Layout, lead []int, row int) int {
	at := l.Offset
	for axis := len(lead) - 1; axis >= 0; axis-- {
		at += row % lead[axis] * l.Strides[axis]
		row /= lead[axis]
	}
	return at
}

func rotateRow[T float32 | float64](dst, x, cos, sin []T, way T) {
	sin = sin[:len(cos)]
	for i, c := range cos {
		s := sin[i] * way
		a, b := x[2*i], x[2*i+1]
		dst[2*i] = T(a*c) - T(b*s)
		dst[2*i+1] = T(a*s) + T(b*c)
	}
}

func crossEntropies[T float32 | float64](out []T, x Array, count int, at []int64) {
	ParallelRows(len(out), ParallelFrom/max(count, 1), func(start, end int) {
		rows := NewReader[T](x)
		defer rows.Done()
		row := make([]T, count)
		for i := start; i < end; i++ {
			id := at[i]
			if id < 0 {
				out[i] = 0
				continue
			}
			rows.Copy(row, i*count)
			largest, picked := largestOf(row), row[id]
			out[i] = T(math.Log(expSum(row, row, largest)) - float64(picked-largest))
		}
	})
}

func crossEntropyGradients[T float32 | float64](out, g, x Array, axis int, at []int64) {
	upstream := make([]T, len(at))
	NewReader[T](g).Copy(upstream, 0)
	mapRows(out, x, axis, func(dst, row []T, i int) {
		id, g := at[i], upstream[i]
		if id < 0 {
			clear(dst)
			return
		}
		factor := T(float64(g) / expSum(dst, row, largestOf(row)))
		if v := vectorsFor[T](); v.Scale != nil {
			v.Scale(dst, dst, factor)
		} else {
			for j := range dst {
				dst[j] *= factor
			}
		}
		dst[id] -= g
	})
}
