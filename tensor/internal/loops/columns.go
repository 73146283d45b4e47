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
		rows, direct := NewReader[T](x), IsPlain[T](x)
		defer rows.Done()
		var memory []T
		if direct {
			memory = Stored[T](x)
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
				row, end := b*BlockLen, min(count, (b+1)*BlockLen)
				if direct && f.four != nil { // of four rows that go to one lane
					many, n, next := f.lanes, n, f.lanes*width
					if together {
						many, n = 1, f.lanes*n
					}
					fours := (end - row) / (4 * f.lanes)
					for a := range many {
						for i := range fours {
							from := memory[(outer*count+row+a)*width+first+4*i*next:]
							f.four(lanes[a*pitch:][:n], from[:n], from[next:][:n], from[2*next:][:n], from[3*next:][:n])
						}
					}
					row += fours * 4 * f.lanes
				}
				for ; row < end; row++ {
					at := (outer*count+row)*width + first
					if direct && together && row%BlockLen%f.lanes == 0 {
						rows := min(f.lanes, min(count, (b+1)*BlockLen)-row)
						f.step(lanes[:rows*n], memory[at:][:rows*n])
						row += rows - 1
						continue
					}
					if !direct && together && f.lanes == 1 && n <= BlockLen { // many rows are converted at a time
						many := min(BlockLen/n, end-row)
						block := rows.Block(at, many*n)
						for i := range many {
							f.step(lanes[:n], block[i*n:][:n])
						}
						row += many - 1
						continue
					}
					lane := lanes[row%BlockLen%f.lanes*pitch:][:n]
					if direct {
						f.step(lane, memory[at:][:n])
					} else {
						f.step(lane, rows.Block(at, n))
					}
				}
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
				copy(partial[b*pitch:], lanes[:n])
			}
			if blocks == 1 && f.merge != nil {
				sums := out[outer*width+first:][:n]
				fillWith(sums, f.Start)
				f.merge(sums, partial[:n])
				continue
			}
			for i := range n {
				for b := range pairs {
					pairs[b] = partial[b*pitch+i]
				}
				out[outer*width+first+i] = f.join(f.Start, joinPairs(pairs, f.join))
			}
		}
	})
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
