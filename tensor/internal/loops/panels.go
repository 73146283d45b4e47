package loops

import (
	"encoding/binary"
	"unsafe"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/tensor/layout"
)

// Moving elements between layouts whose axes lie in memory in different orders. Copied
// one by one, each element would cost a cache line; in tiles, a line is used while it
// is in the cache.

// pairAxis is an axis of two tensors of the same shape.
type pairAxis struct{ size, to, from int }

// pairAxes returns the axes of two tensors of the same shape; axes that follow each
// other in both are joined.
func pairAxes(t, x Array) []pairAxis {
	axes := make([]pairAxis, 0, len(t.Layout.Shape))
	for i, size := range t.Layout.Shape {
		if size == 1 {
			continue
		}
		a := pairAxis{size, t.Layout.Strides[i], x.Layout.Strides[i]}
		if n := len(axes) - 1; n >= 0 && axes[n].to == size*a.to && axes[n].from == size*a.from {
			a.size *= axes[n].size
			axes = axes[:n]
		}
		axes = append(axes, a)
	}
	return axes
}

// moveFrom is the number of bytes from which it pays for Relay to look at the axes.
const moveFrom = 1 << 12

// Relay copies x, which has t's dtype and shape, into t, if that can be done faster
// than element by element: in whole runs, or in tiles of two axes, one with its
// elements side by side in x, the other in t. It reports whether it did.
func Relay(t, x Array) bool {
	if t.Dtype != x.Dtype || t.Len()*int(t.Width) < moveFrom {
		return false
	}
	switch t.Width {
	case 1:
		return move(stored8(t), stored8(x), t, x)
	case 2:
		return move(MemoryOf[uint16](t), MemoryOf[uint16](x), t, x)
	case 4:
		return move(MemoryOf[uint32](t), MemoryOf[uint32](x), t, x)
	case 8:
		return move(MemoryOf[uint64](t), MemoryOf[uint64](x), t, x)
	}
	return false
}

func stored8(t Array) []uint8 { return MemoryOf[uint8](t) }

func move[S uint8 | uint16 | uint32 | uint64](to, from []S, t, x Array) bool {
	axes := pairAxes(t, x)
	inFrom, inTo := -1, -1 // the axis along which elements lie side by side
	for i, a := range axes {
		if a.from == 1 {
			inFrom = i
		}
		if a.to == 1 {
			inTo = i
		}
		if a.from == 0 || a.to == 0 {
			return false
		}
	}
	if inFrom < 0 || inTo < 0 {
		return false
	}
	to, from = to[t.Layout.Offset:], from[x.Layout.Offset:]
	a, b := axes[inFrom], axes[inTo]
	rest := make([]pairAxis, 0, len(axes))
	for i, other := range axes {
		if i != inFrom && i != inTo {
			rest = append(rest, other)
		}
	}
	planes := 1
	for _, other := range rest {
		planes *= other.size
	}
	place := func(plane int) (atTo, atFrom int) {
		for i := len(rest) - 1; i >= 0; i-- {
			n := plane % rest[i].size
			plane /= rest[i].size
			atTo, atFrom = atTo+n*rest[i].to, atFrom+n*rest[i].from
		}
		return atTo, atFrom
	}
	if inFrom == inTo {
		if a.size < 16 {
			return false
		}
		const piece = 1 << 14
		pieces := (a.size + piece - 1) / piece
		ParallelRows(planes*pieces, ParallelFrom/min(a.size, piece), func(start, end int) {
			for i := start; i < end; i++ {
				atTo, atFrom := place(i / pieces)
				first := i % pieces * piece
				n := min(piece, a.size-first)
				copy(to[atTo+first:][:n], from[atFrom+first:][:n])
			}
		})
		return true
	}
	if a.size < 4 || b.size < 4 {
		return false
	}
	const side = 16
	strips := (a.size + side - 1) / side
	ParallelRows(planes*strips, ParallelFrom/(side*b.size), func(start, end int) {
		for i := start; i < end; i++ {
			atTo, atFrom := place(i / strips)
			first := i % strips * side
			turnStrip(to[atTo+first*a.to:], from[atFrom+first:], min(side, a.size-first), b.size, a.to, b.from)
		}
	})
	return true
}

// turnStrip copies the transpose of a matrix with n columns, at most 16: rows of from are
// stride apart, those of to are width apart.
func turnStrip[S uint8 | uint16 | uint32 | uint64](to, from []S, n, rows, width, stride int) {
	start := turnInVectors(to, from, n, rows, width, stride)
	for done := 0; n-done >= 4; done += 4 {
		r0, r1 := to[done*width:][:rows], to[(done+1)*width:][:rows]
		r2, r3 := to[(done+2)*width:][:rows], to[(done+3)*width:][:rows]
		for j, at := start, start*stride+done; j < rows; j, at = j+1, at+stride {
			line := from[at : at+4 : at+4]
			r0[j], r1[j], r2[j], r3[j] = line[0], line[1], line[2], line[3]
		}
	}
	for i := n &^ 3; i < n; i++ {
		row := to[i*width:][:rows]
		for j, at := start, start*stride+i; j < rows; j, at = j+1, at+stride {
			row[j] = from[at]
		}
	}
}

// turnInVectors does the first rows of turnStrip in vector instructions, and returns how many.
func turnInVectors[S uint8 | uint16 | uint32 | uint64](to, from []S, n, rows, width, stride int) (done int) {
	switch to := any(to).(type) {
	case []uint32:
		return cpu.Transpose(to, width, any(from).([]uint32), stride, rows, n)
	case []uint64:
		return cpu.Transpose(to, width, any(from).([]uint64), stride, rows, n)
	case []uint8:
		return turnBytes(to, any(from).([]uint8), n, rows, width, stride)
	}
	return 0
}

// turnBytes is turnInVectors for squares of 8 bytes by 8, whose rows are words: blocks of 4 by 4 bytes change places,
// then those of 2 by 2 within each of them, and then single bytes.
func turnBytes(to, from []uint8, n, rows, width, stride int) (done int) {
	if n%8 != 0 {
		return 0
	}
	for ; done+8 <= rows; done += 8 {
		for column := 0; column < n; column += 8 {
			w, at := from[done*stride+column:], 0
			next := func() uint64 {
				v := binary.LittleEndian.Uint64(w[at:])
				at += stride
				return v
			}
			a, b, c, d := next(), next(), next(), next()
			e, f, g, h := next(), next(), next(), next()
			a, e = swapParts(a, e, 32, 1<<32-1)
			b, f = swapParts(b, f, 32, 1<<32-1)
			c, g = swapParts(c, g, 32, 1<<32-1)
			d, h = swapParts(d, h, 32, 1<<32-1)
			a, c = swapParts(a, c, 16, 0x0000ffff0000ffff)
			b, d = swapParts(b, d, 16, 0x0000ffff0000ffff)
			e, g = swapParts(e, g, 16, 0x0000ffff0000ffff)
			f, h = swapParts(f, h, 16, 0x0000ffff0000ffff)
			a, b = swapParts(a, b, 8, 0x00ff00ff00ff00ff)
			c, d = swapParts(c, d, 8, 0x00ff00ff00ff00ff)
			e, f = swapParts(e, f, 8, 0x00ff00ff00ff00ff)
			g, h = swapParts(g, h, 8, 0x00ff00ff00ff00ff)
			w, at = to[column*width+done:], 0
			put := func(v uint64) {
				binary.LittleEndian.PutUint64(w[at:], v)
				at += width
			}
			put(a)
			put(b)
			put(c)
			put(d)
			put(e)
			put(f)
			put(g)
			put(h)
		}
	}
	return done
}

// swapParts exchanges the upper parts of a with the lower ones of b, each of the given number of bits.
func swapParts(a, b uint64, bits int, low uint64) (x, y uint64) {
	t := (a>>bits ^ b) & low
	return a ^ t<<bits, b ^ t
}

// A panel holds a few rows of a tensor whose rows run across memory: rows that lie side
// by side are fetched together.
type panel struct {
	width       int // of the tensor's rows, 0 where a panel would be of no use
	first, held int // the rows that are here
	raw         []uint64
}

// forget drops everything but the memory.
func (p *panel) forget() { *p = panel{raw: p.raw} }

const (
	panelRows  = 16
	panelWidth = 1 << 12 // elements of a row at most: all rows together stay in a cache
)

// usefulWidth returns the width of a panel for a merged layout, 0 if it would be of no use.
func usefulWidth(l *layout.Layout) int {
	last := len(l.Shape) - 1
	if last < 1 || l.Strides[last] <= 1 || l.Strides[last-1] != 1 || l.Shape[last-1] < 4 ||
		l.Shape[last] < 8 || l.Shape[last] > panelWidth || l.Len() < moveFrom {
		return 0
	}
	return l.Shape[last]
}

// fetch copies n elements from position start on to consecutive memory.
func (p *panel) fetch(dst unsafe.Pointer, n int, data unsafe.Pointer, size int, l *layout.Layout, start int) {
	for n > 0 {
		row, column := start/p.width, start%p.width
		if row < p.first || row >= p.first+p.held {
			p.fill(row, data, size, l)
		}
		run := min(n, p.width-column)
		at := ((row-p.first)*p.width + column) * size
		copy(unsafe.Slice((*byte)(dst), run*size), unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(p.raw))), len(p.raw)*8)[at:])
		if n, start = n-run, start+run; n > 0 { // no pointer may go past the end
			dst = unsafe.Add(dst, run*size)
		}
	}
}

// fill fetches a row and those beside it.
func (p *panel) fill(row int, data unsafe.Pointer, size int, l *layout.Layout) {
	p.raw = atLeast(p.raw, (panelRows*p.width*size+7)/8)
	rows := l.Shape[len(l.Shape)-2]
	p.first, p.held = row, min(panelRows, rows-row%rows)
	stride := l.Strides[len(l.Strides)-1]
	from := unsafe.Add(data, p.offset(l)*size)
	to := unsafe.Pointer(unsafe.SliceData(p.raw))
	switch size {
	case 1:
		turnPanel[uint8](to, from, p, stride)
	case 2:
		turnPanel[uint16](to, from, p, stride)
	case 4:
		turnPanel[uint32](to, from, p, stride)
	default:
		turnPanel[uint64](to, from, p, stride)
	}
}

// offset returns where in the storage the first row begins.
func (p *panel) offset(l *layout.Layout) int {
	at := l.Offset
	for axis, rest := len(l.Shape)-2, p.first; axis >= 0; axis-- {
		at += rest % l.Shape[axis] * l.Strides[axis]
		rest /= l.Shape[axis]
	}
	return at
}

func turnPanel[S uint8 | uint16 | uint32 | uint64](to, from unsafe.Pointer, p *panel, stride int) {
	turnStrip(unsafe.Slice((*S)(to), panelRows*p.width), unsafe.Slice((*S)(from), (p.width-1)*stride+p.held), p.held, p.width, p.width, stride)
}

// put takes a row to store, as the bytes of its elements, and stores the rows that it
// holds once it has all of them.
func (p *panel) put(row int, src unsafe.Pointer, data unsafe.Pointer, size int, l *layout.Layout) {
	if p.held == panelRows || p.held > 0 && (row != p.first+p.held || row%l.Shape[len(l.Shape)-2] == 0) {
		p.flush(data, size, l)
	}
	if p.held == 0 {
		p.first = row
	}
	p.raw = atLeast(p.raw, (panelRows*p.width*size+7)/8)
	bytes := p.width * size
	copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(p.raw))), len(p.raw)*8)[p.held*bytes:], unsafe.Slice((*byte)(src), bytes))
	p.held++
}

// Flush stores the rows that are held.
func (p *panel) flush(data unsafe.Pointer, size int, l *layout.Layout) {
	if p.held == 0 {
		return
	}
	stride := l.Strides[len(l.Strides)-1]
	to, from := unsafe.Add(data, p.offset(l)*size), unsafe.Pointer(unsafe.SliceData(p.raw))
	switch size {
	case 1:
		turnBack[uint8](to, from, p, stride)
	case 2:
		turnBack[uint16](to, from, p, stride)
	case 4:
		turnBack[uint32](to, from, p, stride)
	default:
		turnBack[uint64](to, from, p, stride)
	}
	p.held = 0
}

func turnBack[S uint8 | uint16 | uint32 | uint64](to, from unsafe.Pointer, p *panel, stride int) {
	rows, lines := unsafe.Slice((*S)(from), panelRows*p.width), unsafe.Slice((*S)(to), (p.width-1)*stride+p.held)
	done := turnInVectors(lines, rows, p.width, p.held, stride, p.width)
	for first := done; first < p.held; first += 4 {
		n := min(4, p.held-first)
		if n < 4 {
			for i := first; i < p.held; i++ {
				for j, v := range rows[i*p.width:][:p.width] {
					lines[j*stride+i] = v
				}
			}
			return
		}
		r0, r1 := rows[first*p.width:][:p.width], rows[(first+1)*p.width:][:p.width]
		r2, r3 := rows[(first+2)*p.width:][:p.width], rows[(first+3)*p.width:][:p.width]
		for j, at := 0, first; j < p.width; j, at = j+1, at+stride {
			line := lines[at : at+4 : at+4]
			line[0], line[1], line[2], line[3] = r0[j], r1[j], r2[j], r3[j]
		}
	}
}
