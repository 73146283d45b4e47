package loops

import (
	"unsafe"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Every elementwise operation and reduction sees its operands through a
// reader: whatever their layout and dtype, it hands out blocks of consecutive elements
// in row-major order, of the type that is computed in. If memory already looks like
// that, a block is a slice of it; otherwise the elements are gathered and converted
// into a buffer that stays in the first-level cache. So a kernel is a loop over plain
// slices, written once.

// BlockLen is the largest number of elements that a reader hands out at a time.
const BlockLen = 1024

// Reader hands out the elements of one tensor as blocks of T.
type Reader[T numbers.Number] struct {
	data    unsafe.Pointer // of the storage
	layout  layout.Layout  // merged
	size    int            // bytes per stored element
	native  bool           // stored as T
	linear  bool           // one run of stride 1
	same    bool           // one element, repeated
	convert func(dst []T, src unsafe.Pointer)
	values  []T // converted elements
	buffers[T]
}

// NewReader returns a reader of t, whose buffers others can use after Done.
func NewReader[T numbers.Number](t Array) *Reader[T] {
	r := borrow[T, Reader[T]](&readers)
	*r = Reader[T]{data: t.Data, size: int(t.Width), native: numbers.IsNative[T](t.Dtype), buffers: r.buffers}
	switch {
	case t.IsContiguous():
		r.layout, r.linear = layout.Layout{Offset: t.Layout.Offset}, true
	case t.Layout.RepeatsOne():
		r.layout, r.same = layout.Layout{Offset: t.Layout.Offset}, true
	default:
		r.layout = t.Layout.Merged()
		r.panel.width = usefulWidth(&r.layout)
	}
	if !r.native {
		r.convert = numbers.Loader[T](t.Dtype)
	}
	return r
}

// Done ends the use of a reader and of the blocks that it has handed out. A reader without Done becomes garbage like
// anything else.
func (r *Reader[T]) Done() {
	*r = Reader[T]{buffers: r.buffers}
	r.panel.forget()
	giveBack[T](&readers, r)
}

// Block returns elements [start, start+n), n ≤ BlockLen. The slice is valid until the
// next call and must not be written to.
func (r *Reader[T]) Block(start, n int) []T {
	if r.linear && r.native {
		return unsafe.Slice((*T)(r.at(start)), n)
	}
	if r.same && len(r.values) >= n {
		return r.values[:n]
	}
	r.values = r.memory()[:n]
	r.Copy(r.values, start)
	return r.values
}

// Copy puts the elements from start on into dst, which may be of any length.
func (r *Reader[T]) Copy(dst []T, start int) {
	switch {
	case len(dst) == 0:
	case r.same:
		if r.native {
			dst[0] = *(*T)(r.at(0))
		} else {
			r.convert(dst[:1], r.at(0))
		}
		repeat(dst, dst[0])
	case r.linear && r.native:
		copy(dst, unsafe.Slice((*T)(r.at(start)), len(dst)))
	case r.linear:
		r.convert(dst, r.at(start))
	case r.native:
		r.fetch(unsafe.Pointer(unsafe.SliceData(dst)), len(dst), start)
	default:
		raw := r.rawFor(min(len(dst), BlockLen) * r.size)
		for len(dst) > 0 {
			n := min(len(dst), BlockLen)
			r.fetch(raw, n, start)
			r.convert(dst[:n], raw)
			dst, start = dst[n:], start+n
		}
	}
}

// fetch copies stored elements, as they are, to consecutive memory.
func (r *Reader[T]) fetch(dst unsafe.Pointer, n, start int) {
	if r.panel.width > 0 {
		r.panel.fetch(dst, n, r.data, r.size, &r.layout, start)
		return
	}
	gather(dst, n, r.data, r.size, &r.layout, start)
}

// at returns the address of element i of a linear tensor.
func (r *Reader[T]) at(i int) unsafe.Pointer { return unsafe.Add(r.data, (r.layout.Offset+i)*r.size) }

// Writer takes blocks of T in row-major order and puts them into a tensor.
type Writer[T numbers.Number] struct {
	data   unsafe.Pointer
	layout layout.Layout
	size   int
	native bool
	linear bool
	store  func(dst unsafe.Pointer, src []T)
	values []T
	buffers[T]
}

// NewWriter returns a writer into t, whose buffers others can use after Done.
func NewWriter[T numbers.Number](t Array) *Writer[T] {
	w := borrow[T, Writer[T]](&writers)
	*w = Writer[T]{data: t.Data, size: int(t.Width), native: numbers.IsNative[T](t.Dtype), buffers: w.buffers}
	if t.IsContiguous() {
		w.layout, w.linear = layout.Layout{Offset: t.Layout.Offset}, true
	} else {
		w.layout = t.Layout.Merged()
	}
	if !w.native {
		w.store = numbers.Storer[T](t.Dtype)
	}
	return w
}

// Done ends the use of a writer and stores the rows that are held back.
func (w *Writer[T]) Done() {
	w.panel.flush(w.data, w.size, &w.layout)
	*w = Writer[T]{buffers: w.buffers}
	w.panel.forget()
	giveBack[T](&writers, w)
}

// Block returns where to put elements [start, start+n), n ≤ BlockLen; flush
// must follow.
func (w *Writer[T]) Block(start, n int) []T {
	if w.linear && w.native {
		return unsafe.Slice((*T)(w.at(start)), n)
	}
	w.values = w.memory()[:n]
	return w.values
}

// Flush stores the block that was handed out for start.
func (w *Writer[T]) Flush(start, n int) {
	switch {
	case w.linear && w.native:
	case w.linear:
		w.store(w.at(start), w.values[:n])
	case w.native:
		scatter(w.data, w.size, &w.layout, start, unsafe.Pointer(unsafe.SliceData(w.values)), n)
	default:
		raw := w.rawFor(n * w.size)
		w.store(raw, w.values[:n])
		scatter(w.data, w.size, &w.layout, start, raw, n)
	}
}

// row stores row number i. All rows have the length of src and are stored in order;
// Done must follow the last.
func (w *Writer[T]) row(src []T, i int) {
	if w.linear || len(src) == 0 {
		w.Copy(src, i*len(src))
		return
	}
	if w.panel.held == 0 {
		w.panel.width = usefulWidth(&w.layout)
	}
	if w.panel.width != len(src) {
		w.Copy(src, i*len(src))
		return
	}
	from := unsafe.Pointer(unsafe.SliceData(src))
	if !w.native {
		from = w.rawFor(len(src) * w.size)
		w.store(from, src)
	}
	w.panel.put(i, from, w.data, w.size, &w.layout)
}

// Copy stores src, of any length, from element start on.
func (w *Writer[T]) Copy(src []T, start int) {
	if w.linear && w.native {
		copy(unsafe.Slice((*T)(w.at(start)), len(src)), src)
		return
	}
	InBlocks(0, len(src), func(from, n int) {
		copy(w.Block(start+from, n), src[from:from+n])
		w.Flush(start+from, n)
	})
}

func (w *Writer[T]) at(i int) unsafe.Pointer { return unsafe.Add(w.data, (w.layout.Offset+i)*w.size) }

// gather copies n elements of size bytes, from position start of a layout on,
// to consecutive memory.
func gather(dst unsafe.Pointer, n int, data unsafe.Pointer, size int, l *layout.Layout, start int) {
	switch size {
	case 1:
		Walk(l, start, n, func(done, at, run, stride int) { gatherRun[uint8](dst, done, data, at, run, stride) })
	case 2:
		Walk(l, start, n, func(done, at, run, stride int) { gatherRun[uint16](dst, done, data, at, run, stride) })
	case 4:
		Walk(l, start, n, func(done, at, run, stride int) { gatherRun[uint32](dst, done, data, at, run, stride) })
	case 8:
		Walk(l, start, n, func(done, at, run, stride int) { gatherRun[uint64](dst, done, data, at, run, stride) })
	}
}

// scatter is the inverse of gather.
func scatter(data unsafe.Pointer, size int, l *layout.Layout, start int, src unsafe.Pointer, n int) {
	switch size {
	case 1:
		Walk(l, start, n, func(done, at, run, stride int) { scatterRun[uint8](data, at, stride, src, done, run) })
	case 2:
		Walk(l, start, n, func(done, at, run, stride int) { scatterRun[uint16](data, at, stride, src, done, run) })
	case 4:
		Walk(l, start, n, func(done, at, run, stride int) { scatterRun[uint32](data, at, stride, src, done, run) })
	case 8:
		Walk(l, start, n, func(done, at, run, stride int) { scatterRun[uint64](data, at, stride, src, done, run) })
	}
}

// Walk calls f for each run of elements along the last axis: done elements come before
// it, and it starts at storage index at and has run elements, stride apart.
func Walk(l *layout.Layout, start, n int, f func(done, at, run, stride int)) {
	last := len(l.Shape) - 1
	if last < 0 {
		for done := range n { // a single number
			f(done, l.Offset, 1, 0)
		}
		return
	}
	var small [8]int
	position := small[:]
	if last >= len(small) {
		position = make([]int, last+1)
	}
	at := l.Offset
	for axis, rest := last, start; axis >= 0; axis-- {
		position[axis] = rest % l.Shape[axis]
		rest /= l.Shape[axis]
		at += position[axis] * l.Strides[axis]
	}
	for done := 0; done < n; {
		run := min(n-done, l.Shape[last]-position[last])
		f(done, at, run, l.Strides[last])
		done += run
		position[last] += run
		at += run * l.Strides[last]
		for axis := last; axis > 0 && position[axis] == l.Shape[axis]; axis-- {
			at += l.Strides[axis-1] - l.Shape[axis]*l.Strides[axis]
			position[axis] = 0
			position[axis-1]++
		}
	}
}

func gatherRun[S uint8 | uint16 | uint32 | uint64](dst unsafe.Pointer, done int, data unsafe.Pointer, at, run, stride int) {
	size := int(unsafe.Sizeof(S(0)))
	to := unsafe.Slice((*S)(unsafe.Add(dst, done*size)), run)
	from := unsafe.Slice((*S)(unsafe.Add(data, at*size)), (run-1)*stride+1)
	switch stride {
	case 0:
		fillWith(to, from[0])
	case 1:
		copy(to, from)
	default:
		for i, j := 0, 0; i < len(to); i, j = i+1, j+stride {
			to[i] = from[j]
		}
	}
}

// fillWith writes one value everywhere, by copies that double the part that is done.
func fillWith[S any](dst []S, value S) {
	few := min(len(dst), 16)
	for i := range few {
		dst[i] = value
	}
	for done := few; done < len(dst); done *= 2 {
		copy(dst[done:], dst[:done])
	}
}

func scatterRun[S uint8 | uint16 | uint32 | uint64](data unsafe.Pointer, at, stride int, src unsafe.Pointer, done, run int) {
	size := int(unsafe.Sizeof(S(0)))
	from := unsafe.Slice((*S)(unsafe.Add(src, done*size)), run)
	to := unsafe.Slice((*S)(unsafe.Add(data, at*size)), (run-1)*stride+1)
	if stride == 1 {
		copy(to, from)
		return
	}
	for i, j := 0, 0; i < len(from); i, j = i+1, j+stride {
		to[j] = from[i]
	}
}

// ParallelFrom is the number of elements from which an elementwise operation is worth
// more than one thread.
const ParallelFrom = 1 << 16

// Parallel calls f for pieces that make up [0, n), on several cores if each
// gets at least grain elements. Pieces start at multiples of BlockLen. What f
// writes must not depend on where a piece ends.
func Parallel(n, grain int, f func(start, end int)) { inPieces(n, grain, BlockLen, f) }

// ParallelRows is Parallel for things that are themselves many elements, such as the
// rows of a matrix: a piece may start at any of them.
func ParallelRows(n, grain int, f func(start, end int)) { inPieces(n, max(grain, 1), 1, f) }

func inPieces(n, grain, unit int, f func(start, end int)) {
	pieces := min(cpu.Threads(), n/grain)
	if pieces <= 1 {
		f(0, n)
		return
	}
	size := ((n+pieces-1)/pieces + unit - 1) / unit * unit
	cpu.Parallel((n+size-1)/size, func(piece int) { f(piece*size, min((piece+1)*size, n)) })
}

// inStretches calls f for stretches of [start, end), long enough that calls cost
// nothing, and short enough that the collector, which must wait for a vector loop to
// end, waits only microseconds.
func inStretches(start, end int, f func(start, end int)) {
	for ; start < end; start += 16 * BlockLen {
		f(start, min(start+16*BlockLen, end))
	}
}

// InBlocks calls f for each block of [start, end).
func InBlocks(start, end int, f func(start, n int)) {
	for ; start < end; start += BlockLen {
		f(start, min(BlockLen, end-start))
	}
}
