package loops

import (
	"math"
	"unsafe"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/layout"
)

// The sizes of a tile of scores: 64 queries by 512 keys of float32 fit into the
// second-level cache.
const (
	tileQueries = 64
	tileKeys    = 512
)

// Attention holds the sizes of an attention, and numbers its heads.
type Attention struct {
	Causal                      bool
	Scale                       float64
	Batch, QueryHeads, KeyHeads int
	T, S                        int // queries and keys of a head
	D, E                        int // sizes of a key and of a value
}

// keysOf returns the number of the keys that head p of the queries sees.
func (h *Attention) keysOf(p int) int {
	return p/h.QueryHeads*h.KeyHeads + p%h.QueryHeads/(h.QueryHeads/h.KeyHeads)
}

// seen returns how many keys, counted from the first, the queries up to i may see.
func (h *Attention) seen(i int) int {
	if h.Causal {
		return i + 1 + h.S - h.T
	}
	return h.S
}

// attend computes the result from q, k and v, and the logarithm of the sum of
// exponentials of each row. mask may have no elements.
func attend[T float32 | float64](h *Attention, in []Array, mask, out, sums Array) {
	if out.Len() == 0 {
		return
	}
	blocks := (h.T + tileQueries - 1) / tileQueries
	work := min(h.T, tileQueries) * max(h.S*(h.D+h.E), 1)
	all := Stored[T](sums)
	ParallelRows(h.Batch*h.QueryHeads*blocks, 4*ParallelFrom/work+1, func(start, end int) {
		var q, k, v, o sheet[T]
		keys := -1
		scores := make([]T, min(tileQueries, h.T)*min(tileKeys, h.S))
		rows := make([]T, min(tileQueries, h.T)*h.E)
		for unit := start; unit < end; unit++ {
			p, first := unit/blocks, unit%blocks*tileQueries
			last := min(first+tileQueries, h.T)
			if unit == start || first == 0 {
				q.open(matrixAt(in[0], p))
				o.place(matrixAt(out, p))
			}
			if at := h.keysOf(p); at != keys {
				keys = at
				k.open(matrixAt(in[1], at))
				v.open(matrixAt(in[2], at))
			}
			visible := maskAt(mask, p)
			attendBlock(h, first, last, &q, &k, &v, rows, scores, all[p*h.T:][:h.T], visible)
			o.put(rows, first, last, h.E)
		}
	})
}

// attendBlock computes the rows of the result for some queries of a head.
func attendBlock[T float32 | float64](h *Attention, first, last int, q, k, v *sheet[T], rows, scores, logs []T, visible *maskReader) {
	n := last - first
	clear(rows[:n*h.E])
	var largest [tileQueries]T
	var sum [tileQueries]float64
	for i := range largest[:n] {
		largest[i] = T(math.Inf(-1))
	}
	for from := 0; from < h.seen(last-1); from += tileKeys {
		to := min(from+tileKeys, h.seen(last-1))
		width := to - from
		multiplyTile[T](matrixOf(scores, width), n, width, h.D, q.from(first), flipped(k.from(from)), false)
		for i := range n {
			row := scores[i*width:][:width:width]
			end := min(h.seen(first+i), to) - from
			if end <= 0 {
				clear(row)
				continue
			}
			scaleRow(row[:end], T(h.Scale))
			hideRow(visible, row[:end], first+i, from)
			top := largestOf(row[:end])
			if math.IsInf(float64(top), -1) && !math.IsNaN(float64(BlockSum(row[:end]))) {
				clear(row) // nothing to see
				continue
			}
			if top > largest[i] {
				if sum[i] > 0 {
					less := T(math.Exp(float64(largest[i] - top)))
					sum[i] *= float64(less)
					scaleRow(rows[i*h.E:][:h.E], less)
				}
				largest[i] = top
			}
			sum[i] += expSum(row[:end], row[:end], largest[i])
			clear(row[end:])
		}
		multiplyTile[T](matrixOf(rows, h.E), n, h.E, width, matrixOf(scores, width), v.from(from), true)
	}
	for i := range n {
		row := rows[i*h.E:][:h.E]
		logs[first+i] = T(math.Inf(1)) // for a query that sees nothing: backward's exponentials are 0
		if sum[i] != 0 {
			logs[first+i] = largest[i] + T(math.Log(sum[i]))
			scaleRow(row, T(1/sum[i]))
		}
	}
}

// attendBackward adds to the gradients with respect to q, k and v, which begin as zeros,
// from dL/dy, q, k, v, and the result and the logarithms of Attend. Each key head is
// computed in one go, so that its terms are added in an order that threads don't change.
func attendBackward[T float32 | float64](h *Attention, in []Array, mask Array, grads []Array) {
	if in[0].Len() == 0 || h.S == 0 {
		return
	}
	group := h.QueryHeads / h.KeyHeads
	logs := Stored[T](in[5])
	work := h.T * group * max(h.S*(h.D+h.E), 1)
	ParallelRows(h.Batch*h.KeyHeads, ParallelFrom/work+1, func(start, end int) {
		var g, q, k, v, o, dq, dk, dv sheet[T]
		size := min(tileQueries, h.T) * min(tileKeys, h.S)
		p, ds := make([]T, size), make([]T, size)
		dots := make([]T, h.T)
		for at := start; at < end; at++ {
			k.open(matrixAt(in[2], at))
			v.open(matrixAt(in[3], at))
			dk.accumulate(matrixAt(grads[1], at))
			dv.accumulate(matrixAt(grads[2], at))
			for member := range group {
				head := at/h.KeyHeads*h.QueryHeads + at%h.KeyHeads*group + member
				g.open(matrixAt(in[0], head))
				q.open(matrixAt(in[1], head))
				o.open(matrixAt(in[4], head))
				dq.accumulate(matrixAt(grads[0], head))
				for i := range dots {
					dots[i] = rowDot(&g, &o, i, h.E)
				}
				visible := maskAt(mask, head)
				for first := 0; first < h.T; first += tileQueries {
					last := min(first+tileQueries, h.T)
					n := last - first
					for from := 0; from < h.seen(last-1); from += tileKeys {
						to := min(from+tileKeys, h.seen(last-1))
						width := to - from
						multiplyTile[T](matrixOf(p, width), n, width, h.D, q.from(first), flipped(k.from(from)), false)
						multiplyTile[T](matrixOf(ds, width), n, width, h.E, g.from(first), flipped(v.from(from)), false)
						for i := range n {
							row, slope := p[i*width:][:width:width], ds[i*width:][:width:width]
							see := max(min(h.seen(first+i), to)-from, 0)
							scaleRow(row[:see], T(h.Scale))
							hideRow(visible, row[:see], first+i, from)
							expSum(row[:see], row[:see], logs[head*h.T+first+i])
							clear(row[see:])
							slopeRow(slope[:see], row[:see], dots[first+i], T(h.Scale))
							clear(slope[see:])
						}
						dv.add(from, width, n, h.E, flipped(matrixOf(p, width)), g.from(first))
						dk.add(from, width, n, h.D, flipped(matrixOf(ds, width)), q.from(first))
						dq.add(first, n, width, h.D, matrixOf(ds, width), k.from(from))
					}
				}
				dq.close()
			}
			dk.close()
			dv.close()
		}
	})
}

// maskReader hands out the mask of one head; nil hides nothing.
type maskReader struct {
	data   []uint8
	layout layout.Layout // [T S]
}

// maskAt returns the mask of a head of the queries.
func maskAt(mask Array, p int) *maskReader {
	if mask.Data == nil {
		return nil
	}
	return &maskReader{MemoryOf[uint8](mask), *matrixAt(mask, p).Layout}
}

// matrixAt returns a matrix in the last two axes by its number in row-major order of the others.
func matrixAt(a Array, p int) Array {
	lead := a.Dim() - 2
	l := layout.Layout{Shape: a.Layout.Shape[lead:], Strides: a.Layout.Strides[lead:], Offset: a.Layout.Offset}
	for axis := lead - 1; axis >= 0; axis-- {
		l.Offset += p % a.Layout.Shape[axis] * a.Layout.Strides[axis]
		p /= a.Layout.Shape[axis]
	}
	return a.With(l)
}

// hideRow sets the scores of a query from a key on to -Inf where the mask hides them.
func hideRow[T float32 | float64](r *maskReader, row []T, i, from int) {
	if r == nil {
		return
	}
	at, step := r.layout.Offset+i*r.layout.Strides[0]+from*r.layout.Strides[1], r.layout.Strides[1]
	for j := range row {
		if r.data[at+j*step] == 0 {
			row[j] = T(math.Inf(-1))
		}
	}
}

// sheet is a matrix of one head as a kernel wants it: its elements in their place, or a
// copy of them as T.
type sheet[T float32 | float64] struct {
	of     Array
	matrix cpu.Matrix
	copied []T
	native bool
}

// place points the sheet at a matrix to write.
func (s *sheet[T]) place(m Array) {
	s.of, s.native = m, numbers.IsNative[T](m.Dtype)
	if s.native {
		s.matrix = matrixIn(m)
		return
	}
	if n := m.Len(); cap(s.copied) < n {
		s.copied = make([]T, n)
	}
	s.copied = s.copied[:m.Len()]
	s.matrix = matrixOf(s.copied, m.Layout.Shape[1])
}

// open points the sheet at a matrix to read.
func (s *sheet[T]) open(m Array) {
	s.place(m)
	if !s.native {
		NewReader[T](m).Copy(s.copied, 0)
	}
}

// accumulate points the sheet at a matrix of zeros to add to; close ends that.
func (s *sheet[T]) accumulate(m Array) {
	s.place(m)
	if !s.native {
		clear(s.copied)
	}
}

// close stores the sums.
func (s *sheet[T]) close() {
	if !s.native {
		NewWriter[T](s.of).Copy(s.copied, 0)
	}
}

// put stores rows [first, last) of width n.
func (s *sheet[T]) put(rows []T, first, last, n int) {
	if !s.native || s.matrix.Col != 1 {
		m := s.of.Layout
		part := s.of.With(layout.Layout{Shape: []int{last - first, n}, Strides: m.Strides, Offset: m.Offset + first*m.Strides[0]})
		NewWriter[T](part).Copy(rows[:(last-first)*n], 0)
		return
	}
	for i := first; i < last; i++ {
		copy(unsafe.Slice((*T)(unsafe.Add(s.matrix.Data, i*s.matrix.Row*int(unsafe.Sizeof(rows[0])))), n), rows[(i-first)*n:])
	}
}

// from returns the matrix from a row on.
func (s *sheet[T]) from(row int) cpu.Matrix {
	m := s.matrix
	var zero T
	m.Data = unsafe.Add(m.Data, row*m.Row*int(unsafe.Sizeof(zero)))
	return m
}

// add adds a product a·b, of m x k and k x n, to the m rows from first on.
func (s *sheet[T]) add(first, m, k, n int, a, b cpu.Matrix) {
	multiplyTile[T](s.from(first), m, n, k, a, b, true)
}

// flipped returns the transposed matrix.
func flipped(m cpu.Matrix) cpu.Matrix { return cpu.Matrix{Data: m.Data, Row: m.Col, Col: m.Row} }

// matrixOf returns values in rows of a length.
func matrixOf[T any](values []T, row int) cpu.Matrix {
	return cpu.Matrix{Data: unsafe.Pointer(unsafe.SliceData(values)), Row: row, Col: 1}
}

// multiplyTile computes c = a·b, of m x k and k x n, or adds it to c.
func multiplyTile[T float32 | float64](c cpu.Matrix, m, n, k int, a, b cpu.Matrix, add bool) {
	p := cpu.Product{M: m, N: n, K: k, A: a, B: b, C: c, Format: cpu.Float32, Add: add}
	if numbers.IsNative[T](device.Float64) {
		p.Format = cpu.Float64
	}
	cpu.Multiply(&p)
}

func scaleRow[T float32 | float64](row []T, by T) {
	if v := vectorsFor[T](); v.Scale != nil {
		v.Scale(row, row, by)
		return
	}
	for i := range row {
		row[i] *= by
	}
}

// slopeRow turns products of G and V into dS: (x - less)·times·p.
func slopeRow[T float32 | float64](x, p []T, less, times T) {
	if v := vectorsFor[T](); v.Affine != nil && v.Mul != nil {
		v.Affine(x, x, less, times)
		v.Mul(x, x, p)
		return
	}
	for i := range x {
		x[i] = T((x[i]-less)*times) * p[i]
	}
}

// rowDot returns the inner product of row i of two sheets of width n.
func rowDot[T float32 | float64](a, b *sheet[T], i, n int) T {
	x, y, sum := a.from(i), b.from(i), 0.
	var zero T
	size := int(unsafe.Sizeof(zero))
	for j := range n {
		sum += float64(*(*T)(unsafe.Add(x.Data, j*x.Col*size))) * float64(*(*T)(unsafe.Add(y.Data, j*y.Col*size)))
	}
	return T(sum)
}

// matrixIn returns a matrix as package cpu takes it.
func matrixIn(a Array) cpu.Matrix {
	return cpu.Matrix{Data: unsafe.Add(a.Data, a.Layout.Offset*int(a.Width)), Row: a.Layout.Strides[0], Col: a.Layout.Strides[1]}
}
