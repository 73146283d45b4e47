package tensor

import (
	"math"
	"unsafe"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/internal/device"
	"github.com/lectern-go/lectern/tensor/internal/loops"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/layout"
)

// The sizes of a tile of scores: 64 queries by 512 keys of float32 fit into the
// second-level cache.
const (
	tileQueries = 64
	tileKeys    = 512
)

// heads is the sizes of an attention, and how it numbers its heads.
type heads struct {
	*attention
	batch, queryHeads, keyHeads int
	t, s, d, e                  int
}

func (a *attention) headsOf(q, k, v *Tensor) heads {
	return heads{a, layout.Product(q.layout.Shape[:q.Dim()-3]), q.Size(-3), k.Size(-3), q.Size(-2), k.Size(-2), q.Size(-1), v.Size(-1)}
}

// keysOf returns the number of the keys that head p of the queries sees.
func (h *heads) keysOf(p int) int {
	return p/h.queryHeads*h.keyHeads + p%h.queryHeads/(h.queryHeads/h.keyHeads)
}

// seen returns how many keys, the first ones, the queries up to i may see.
func (h *heads) seen(i int) int {
	if h.causal {
		return i + 1 + h.s - h.t
	}
	return h.s
}

// attend computes the result and the logarithm of the sum of exponentials of each row.
func attend(a *attention, in []*Tensor) (out, sums *Tensor) {
	q := in[0]
	h := a.headsOf(q, in[1], in[2])
	shape := q.Shape()
	shape[len(shape)-1] = h.e
	out = newTensor(q.dtype, shape, false)
	out.layout = orderedLayout(shape, q.layout.Strides)
	if formats[q.dtype].arithmetic == inFloat64 {
		sums = newTensor(Float64, shape[:len(shape)-1], false)
		attendTiles[float64](&h, in, out, sums)
	} else {
		sums = newTensor(Float32, shape[:len(shape)-1], false)
		attendTiles[float32](&h, in, out, sums)
	}
	return out, sums
}

func attendTiles[T float32 | float64](h *heads, in []*Tensor, out, sums *Tensor) {
	if out.Len() == 0 {
		return
	}
	blocks := (h.t + tileQueries - 1) / tileQueries
	lead := out.layout.Shape[:out.Dim()-2]
	work := min(h.t, tileQueries) * max(h.s*(h.d+h.e), 1)
	all := plain[T](sums)
	loops.ParallelRows(h.batch*h.queryHeads*blocks, 4*loops.ParallelFrom/work+1, func(start, end int) {
		var q, k, v, o sheet[T]
		keys := -1
		scores := make([]T, min(tileQueries, h.t)*min(tileKeys, h.s))
		rows := make([]T, min(tileQueries, h.t)*h.e)
		for unit := start; unit < end; unit++ {
			p, first := unit/blocks, unit%blocks*tileQueries
			last := min(first+tileQueries, h.t)
			if unit == start || first == 0 {
				q.open(in[0].batch(p, lead))
				o.place(out.batch(p, lead))
			}
			if at := h.keysOf(p); at != keys {
				keys = at
				k.open(in[1].batch(at, in[1].layout.Shape[:in[1].Dim()-2]))
				v.open(in[2].batch(at, in[2].layout.Shape[:in[2].Dim()-2]))
			}
			visible := h.maskOf(maskOf(in), p)
			attendBlock(h, first, last, &q, &k, &v, rows, scores, all[p*h.t:][:h.t], visible)
			o.put(rows, first, last, h.e)
		}
	})
}

// attendBlock computes the rows of the result for some queries of a head.
func attendBlock[T float32 | float64](h *heads, first, last int, q, k, v *sheet[T], rows, scores, logs []T, visible *maskReader) {
	n := last - first
	clear(rows[:n*h.e])
	var largest [tileQueries]T
	var sum [tileQueries]float64
	for i := range largest[:n] {
		largest[i] = T(math.Inf(-1))
	}
	for from := 0; from < h.seen(last-1); from += tileKeys {
		to := min(from+tileKeys, h.seen(last-1))
		width := to - from
		multiplyTile[T](matrixOf(scores, width), n, width, h.d, q.from(first), flipped(k.from(from)), false)
		for i := range n {
			row := scores[i*width:][:width:width]
			end := min(h.seen(first+i), to) - from
			if end <= 0 {
				clear(row)
				continue
			}
			scaleRow(row[:end], T(h.scale))
			hideRow(visible, row[:end], first+i, from)
			top := loops.LargestOf(row[:end])
			if math.IsInf(float64(top), -1) && !math.IsNaN(float64(loops.BlockSum(row[:end]))) {
				clear(row) // nothing to be seen
				continue
			}
			if top > largest[i] {
				if sum[i] > 0 {
					less := T(math.Exp(float64(largest[i] - top)))
					sum[i] *= float64(less)
					scaleRow(rows[i*h.e:][:h.e], less)
				}
				largest[i] = top
			}
			sum[i] += loops.ExpSum(row[:end], row[:end], largest[i])
			clear(row[end:])
		}
		multiplyTile[T](matrixOf(rows, h.e), n, h.e, width, matrixOf(scores, width), v.from(from), true)
	}
	for i := range n {
		row := rows[i*h.e:][:h.e]
		logs[first+i] = T(math.Inf(1)) // of a query that sees nothing: backward's exponentials are 0
		if sum[i] != 0 {
			logs[first+i] = largest[i] + T(math.Log(sum[i]))
			scaleRow(row, T(1/sum[i]))
		}
	}
}

// attendBackward returns the gradients with respect to q, k and v one behind the other,
// each in the order of its input in memory. Each head of keys is computed in one go,
// so that what is added to it is added in an order that threads don't change.
func attendBackward(a *attention, in []*Tensor) *Tensor {
	q, k, v := in[1], in[2], in[3]
	h := a.headsOf(q, k, v)
	all := newTensor(q.dtype, []int{q.Len() + k.Len() + v.Len()}, true)
	var grads [3]*Tensor
	from := 0
	for i, x := range []*Tensor{q, k, v} {
		l := orderedLayout(x.layout.Shape, x.layout.Strides)
		l.Offset = from
		grads[i], from = all.alias(l), from+x.Len()
	}
	if formats[q.dtype].arithmetic == inFloat64 {
		attendTilesBackward[float64](&h, in, grads)
	} else {
		attendTilesBackward[float32](&h, in, grads)
	}
	return all
}

func attendTilesBackward[T float32 | float64](h *heads, in []*Tensor, grads [3]*Tensor) {
	if in[0].Len() == 0 || h.s == 0 {
		return
	}
	heads := in[1].layout.Shape[:in[1].Dim()-2]
	keyHeads := in[2].layout.Shape[:in[2].Dim()-2]
	group := h.queryHeads / h.keyHeads
	logs := plain[T](in[5])
	work := h.t * group * max(h.s*(h.d+h.e), 1)
	loops.ParallelRows(h.batch*h.keyHeads, loops.ParallelFrom/work+1, func(start, end int) {
		var g, q, k, v, o, dq, dk, dv sheet[T]
		size := min(tileQueries, h.t) * min(tileKeys, h.s)
		p, ds := make([]T, size), make([]T, size)
		dots := make([]T, h.t)
		for at := start; at < end; at++ {
			k.open(in[2].batch(at, keyHeads))
			v.open(in[3].batch(at, keyHeads))
			dk.accumulate(grads[1].batch(at, keyHeads))
			dv.accumulate(grads[2].batch(at, keyHeads))
			for member := range group {
				head := at/h.keyHeads*h.queryHeads + at%h.keyHeads*group + member
				g.open(in[0].batch(head, heads))
				q.open(in[1].batch(head, heads))
				o.open(in[4].batch(head, heads))
				dq.accumulate(grads[0].batch(head, heads))
				for i := range dots {
					dots[i] = rowDot(&g, &o, i, h.e)
				}
				visible := h.maskOf(maskOf(in[3:]), head)
				for first := 0; first < h.t; first += tileQueries {
					last := min(first+tileQueries, h.t)
					n := last - first
					for from := 0; from < h.seen(last-1); from += tileKeys {
						to := min(from+tileKeys, h.seen(last-1))
						width := to - from
						multiplyTile[T](matrixOf(p, width), n, width, h.d, q.from(first), flipped(k.from(from)), false)
						multiplyTile[T](matrixOf(ds, width), n, width, h.e, g.from(first), flipped(v.from(from)), false)
						for i := range n {
							row, slope := p[i*width:][:width:width], ds[i*width:][:width:width]
							see := max(min(h.seen(first+i), to)-from, 0)
							scaleRow(row[:see], T(h.scale))
							hideRow(visible, row[:see], first+i, from)
							loops.ExpSum(row[:see], row[:see], logs[head*h.t+first+i])
							clear(row[see:])
							slopeRow(slope[:see], row[:see], dots[first+i], T(h.scale))
							clear(slope[see:])
						}
						dv.add(from, width, n, h.e, flipped(matrixOf(p, width)), g.from(first))
						dk.add(from, width, n, h.d, flipped(matrixOf(ds, width)), q.from(first))
						dq.add(first, n, width, h.d, matrixOf(ds, width), k.from(from))
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
	layout Layout // [T S]
}

// maskOf returns the mask of a head of the queries.
func (h *heads) maskOf(mask *Tensor, p int) *maskReader {
	if mask == nil {
		return nil
	}
	return &maskReader{elements[uint8](mask.storage), mask.batch(p, mask.layout.Shape[:mask.Dim()-2]).layout}
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

// sheet is a matrix of one head as a kernel wants it: where its elements lie, or a copy
// of them as T.
type sheet[T float32 | float64] struct {
	of     *Tensor
	matrix cpu.Matrix
	copied []T
	native bool
}

// place points the sheet at a matrix that is to be written.
func (s *sheet[T]) place(m *Tensor) {
	s.of, s.native = m, numbers.IsNative[T](device.Type(m.dtype))
	if s.native {
		s.matrix = m.matrix()
		return
	}
	if n := m.Len(); cap(s.copied) < n {
		s.copied = make([]T, n)
	}
	s.copied = s.copied[:m.Len()]
	s.matrix = matrixOf(s.copied, m.layout.Shape[1])
}

// open points the sheet at a matrix that is to be read.
func (s *sheet[T]) open(m *Tensor) {
	s.place(m)
	if !s.native {
		newReader[T](m).Copy(s.copied, 0)
	}
}

// accumulate points the sheet at a matrix of zeros that is to be added to; close ends it.
func (s *sheet[T]) accumulate(m *Tensor) {
	s.place(m)
	if !s.native {
		clear(s.copied)
	}
}

// close stores what was added to.
func (s *sheet[T]) close() {
	if !s.native {
		newWriter[T](s.of).Copy(s.copied, 0)
	}
}

// put stores rows [first, last) of width n.
func (s *sheet[T]) put(rows []T, first, last, n int) {
	if !s.native || s.matrix.Col != 1 {
		m := s.of.layout
		part := s.of.alias(Layout{Shape: []int{last - first, n}, Strides: m.Strides, Offset: m.Offset + first*m.Strides[0]})
		newWriter[T](part).Copy(rows[:(last-first)*n], 0)
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
	if v := loops.VectorsFor[T](); v.Scale != nil {
		v.Scale(row, row, by)
		return
	}
	for i := range row {
		row[i] *= by
	}
}

// slopeRow turns products of G and V into dS: (x - less)·times·p.
func slopeRow[T float32 | float64](x, p []T, less, times T) {
	if v := loops.VectorsFor[T](); v.Affine != nil && v.Mul != nil {
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
