package loops

import (
	"slices"
	"unsafe"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
	"github.com/lectern-go/lectern/tensor/layout"
)

// foldWidth is how many sums of several lanes FoldColumns keeps at a time.
const foldWidth = 256

// FoldColumns is Fold for many sums side by side, along an axis that stays. It adds
// each sum in the same order as Fold.
func FoldColumns[T numbers.Number](out []T, x Array, goes []bool, count, axis int, f Folding[T]) {
	// The axes become: others that stay, those that go, and that of the columns.
	var order, gone []int
	for i := range x.Layout.Shape {
		switch {
		case goes[i]:
			gone = append(gone, i)
		case i != axis:
			order = append(order, i)
		}
	}
	l, _ := x.Layout.Permute(slices.Concat(order, gone, []int{axis})...)
	x = x.With(l)
	width := l.Shape[len(l.Shape)-1]
	most := foldWidth
	if f.lanes == 1 || f.four != nil && IsPlain[T](x) { // one lane at a time: there is room for more, and longer runs of memory come faster
		most = max(most, min(BlockLen, (width+cpu.Threads()-1)/cpu.Threads()))
	}
	pieces := (width + most - 1) / most
	together := pieces == 1 && (f.lanes == 1 || width <= foldWidth) // rows lie as close together as lanes do
	if narrow := f.narrow[x.Dtype]; narrow.step != nil && x.IsContiguous() {
		foldNarrowColumns(out, x, count, width, narrow, f)
		return
	}
	pitch := min(width, most)
	blocks := (count + BlockLen - 1) / BlockLen
	ParallelRows(len(out)/width*pieces, ParallelFrom/(count*pitch), func(start, end int) {
		c := columns[T]{f: f, count: count, width: width, pitch: pitch, together: together, rows: NewReader[T](x), direct: IsPlain[T](x)}
		defer c.rows.Done()
		if c.direct {
			c.memory = Stored[T](x)
		}
		room := borrow[T, run[T]](&runs)
		defer giveBack[T](&runs, room)
		parts := room.of(f.lanes*pitch + blocks*pitch + blocks)
		lanes, partial, pairs := parts[:f.lanes*pitch], parts[f.lanes*pitch:][:blocks*pitch], parts[(f.lanes+blocks)*pitch:]
		for piece := start; piece < end; piece++ {
			outer, first := piece/pieces, piece%pieces*most
			n := min(most, width-first)
			for b := range blocks {
				used := min(f.lanes, count-b*BlockLen) // the others hold nothing
				fillWith(lanes[:used*pitch], f.Start)
				c.foldRows(lanes, outer, first, n, b*BlockLen, min(count, (b+1)*BlockLen))
				c.joinLanes(lanes, used, n)
				copy(partial[b*pitch:], lanes[:n])
			}
			c.joinBlocks(out[outer*width+first:][:n], partial, pairs)
		}
	})
}

// columns are what FoldColumns folds at a time, with the loops for it.
type columns[T numbers.Number] struct {
	f            Folding[T]
	count, width int  // rows, and elements of each
	pitch        int  // of lanes, and of what a block gives
	together     bool // rows lie as close together as lanes do
	rows         *Reader[T]
	direct       bool // they are in memory as they are computed in
	memory       []T
}

// foldRows folds the rows from row to end, which are of one block, into lanes: n elements of each, from first on.
func (c *columns[T]) foldRows(lanes []T, outer, first, n, row, end int) {
	f, width := &c.f, c.width
	if c.direct && f.four != nil { // of four rows that go to one lane
		many, n, next := f.lanes, n, f.lanes*width
		if c.together {
			many, n = 1, f.lanes*n
		}
		fours := (end - row) / (4 * f.lanes)
		for a := range many {
			for i := range fours {
				from := c.memory[(outer*c.count+row+a)*width+first+4*i*next:]
				f.four(lanes[a*c.pitch:][:n], from[:n], from[next:][:n], from[2*next:][:n], from[3*next:][:n])
			}
		}
		row += fours * 4 * f.lanes
	}
	for row < end {
		at, many := (outer*c.count+row)*width+first, 1
		lane := lanes[row%BlockLen%f.lanes*c.pitch:][:n]
		switch {
		case c.direct && c.together && row%BlockLen%f.lanes == 0:
			many = min(f.lanes, end-row)
			f.step(lanes[:many*n], c.memory[at:][:many*n])
		case c.direct:
			f.step(lane, c.memory[at:][:n])
		case c.together && f.lanes == 1 && n <= BlockLen: // many rows are converted at a time
			many = min(BlockLen/n, end-row)
			block := c.rows.Block(at, many*n)
			for i := range many {
				f.step(lane, block[i*n:][:n])
			}
		default:
			f.step(lane, c.rows.Block(at, n))
		}
		row += many
	}
}

// joinLanes joins the upper half of the lanes that are used to the lower one, until one is left.
func (c *columns[T]) joinLanes(lanes []T, used, n int) {
	f, pitch := &c.f, c.pitch
	for half := f.lanes / 2; half > 0; half /= 2 {
		if f.merge != nil && n == pitch && used >= 2*half { // lanes lie side by side
			f.merge(lanes[:half*pitch], lanes[half*pitch:][:half*pitch])
			continue
		}
		for a := 0; a < half && a+half < used; a++ {
			left, right := lanes[a*pitch:][:n], lanes[(a+half)*pitch:][:n]
			if f.merge != nil {
				f.merge(left, right)
				continue
			}
			for i, v := range right {
				left[i] = f.join(left[i], v)
			}
		}
	}
}

// joinBlocks joins what the blocks have given in partial to the results; pairs is room for a number of each block.
func (c *columns[T]) joinBlocks(out, partial, pairs []T) {
	f := &c.f
	if len(pairs) == 1 && f.merge != nil {
		fillWith(out, f.Start)
		f.merge(out, partial[:len(out)])
		return
	}
	for i := range out {
		for b := range pairs {
			pairs[b] = partial[b*c.pitch+i]
		}
		out[i] = f.join(f.Start, joinPairs(pairs, f.join))
	}
}

// foldNarrowColumns is FoldColumns for integers as they lie in memory, when one of them is chosen: the result
// is the same in any order.
func foldNarrowColumns[T numbers.Number](out []T, x Array, count, width int, narrow narrowLoops[T], f Folding[T]) {
	size := int(x.Width)
	pieces, memory := (width+BlockLen-1)/BlockLen, MemoryOf[byte](x)[x.Layout.Offset*size:]
	ParallelRows(len(out)/width*pieces, ParallelFrom/(count*min(width, BlockLen)), func(start, end int) {
		var room [BlockLen]int32 // the widest of them
		for piece := start; piece < end; piece++ {
			outer, first := piece/pieces, piece%pieces*BlockLen
			n := min(BlockLen, width-first)
			row := func(i int) []byte { return memory[((outer*count+i)*width+first)*size:][:n*size] }
			best := unsafe.Slice((*byte)(unsafe.Pointer(&room)), n*size)
			copy(best, row(0))
			for i := 1; i < count; i++ {
				narrow.step(best, row(i))
			}
			to := out[outer*width+first:][:n]
			narrow.widen(to, best)
			for i, v := range to {
				to[i] = f.join(f.Start, v)
			}
		}
	})
}

// foldAcross reduces each block of a matrix whose rows are whole blocks and run across memory, as columns, so that they
// needn't be gathered. It returns nil for any other tensor.
func foldAcross[T numbers.Number](x Array, f Folding[T]) []T {
	l := x.Layout.Merged()
	if len(l.Shape) != 2 || l.Strides[0] != 1 || l.Shape[0] < 16 || l.Shape[1]%BlockLen != 0 || f.four == nil {
		return nil
	}
	rows, across := l.Shape[0], l.Shape[1]/BlockLen
	columns := make([]T, across*rows)
	blocks := x.With(layout.Layout{Shape: []int{across, BlockLen, rows}, Strides: []int{BlockLen * l.Strides[1], l.Strides[1], 1}, Offset: l.Offset})
	FoldColumns(columns, blocks, []bool{false, true, false}, BlockLen, 2, f)
	if across == 1 {
		return columns
	}
	partial := make([]T, len(columns))
	for i := range partial {
		partial[i] = columns[i%across*rows+i/across]
	}
	return partial
}
