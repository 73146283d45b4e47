package loops

import (
	"math"
	"slices"

	"github.com/lectern-go/lectern/internal/cpu"
	"github.com/lectern-go/lectern/tensor/internal/numbers"
)

// positions finds the extreme of each run of count elements.
func positions[T numbers.Number](out []int64, x Array, count int, largest bool) {
	plain := IsPlain[T](x)
	if !plain && count > BlockLen {
		longPositions[T](out, x, count, largest)
		return
	}
	var find func(row []T) (at int, ok bool)
	if count >= 64 {
		switch v := any(&find).(type) {
		case *func(row []float32) (at int, ok bool):
			*v = finder(Vectors32, largest)
		case *func(row []float64) (at int, ok bool):
			*v = finder(Vectors64, largest)
		}
	}
	var rows []T
	if plain {
		rows = Stored[T](x)
	}
	ParallelRows(len(out), ParallelFrom/max(count, 1), func(start, end int) {
		var r *Reader[T]
		if !plain {
			r = NewReader[T](x)
			defer r.Done()
		}
		for i := start; i < end; i++ {
			var row []T
			if plain {
				row = rows[i*count:][:count]
			} else {
				row = r.Block(i*count, count)
			}
			if find != nil {
				if at, ok := find(row); ok {
					out[i] = int64(at)
					continue
				}
			}
			out[i] = int64(firstExtreme(row, largest))
		}
	})
}

// intPositions is positions for int32 in the places of float32.
func intPositions(out []int64, x []float32, count int, largest bool) {
	extreme, flip := Vectors32.HighestInts, int32(0)
	if !largest {
		extreme, flip = Vectors32.LowestInts, -1
	}
	ParallelRows(len(out), ParallelFrom/count, func(start, end int) {
		for i := start; i < end; i++ {
			row := x[i*count:][:count]
			best := int32(math.Float32bits(extreme(row))) ^ flip
			out[i] = int64(slices.Index(sameBits[int32](row), best))
		}
	})
}

// longPositions is positions for runs that are read in several blocks.
func longPositions[T numbers.Number](out []int64, x Array, count int, largest bool) {
	ParallelRows(len(out), ParallelFrom/count, func(start, end int) {
		r := NewReader[T](x)
		defer r.Done()
		for i := start; i < end; i++ {
			at, first := 0, true
			var best T
			InBlocks(0, count, func(from, n int) {
				if best != best { // the first NaN stays
					return
				}
				block := r.Block(i*count+from, n)
				j := firstExtreme(block, largest)
				if v := block[j]; first || v != v || largest && v > best || !largest && v < best {
					best, at, first = v, from+j, false
				}
			})
			out[i] = int64(at)
		}
	})
}

// finder returns positionIn with the loop of a level, nil if there is none.
func finder[T float32 | float64](v *cpu.Vectors[T], largest bool) func(row []T) (at int, ok bool) {
	switch {
	case v.Highest == nil:
		return nil
	case largest:
		return func(row []T) (at int, ok bool) { return positionIn(row, v.Highest, 1) }
	}
	return func(row []T) (at int, ok bool) { return positionIn(row, v.Lowest, -1) }
}

// positionIn finds the first extreme of a row by its size, starting with the block that it is in. It reports whether
// that is possible: it isn't if the size may stand for NaN.
func positionIn[T float32 | float64](x []T, size func(x []T) T, sign T) (at int, ok bool) {
	best, from, to := T(math.Inf(-1)), 0, min(len(x), BlockLen)
	for start := 0; start < len(x); start += BlockLen {
		end := min(start+BlockLen, len(x))
		top := size(x[start:end])
		if !(top <= T(largestFinite[T]())) {
			return 0, false
		}
		if top > best {
			best, from, to = top, start, end
		}
	}
	for ; from+64 < to && size(x[from:from+64]) < best; from += 64 {
	}
	for x[from] != sign*best {
		from++
	}
	return from, true
}

// firstExtreme finds the extreme of a row that is not empty: the first NaN, if there is one.
func firstExtreme[T numbers.Number](x []T, largest bool) (at int) {
	best := x[0]
	if largest {
		for i, v := range x {
			if v > best {
				best, at = v, i
			} else if v != v {
				return i
			}
		}
		return at
	}
	for i, v := range x {
		if v < best {
			best, at = v, i
		} else if v != v {
			return i
		}
	}
	return at
}

// PositiveWeights reports whether numbers are finite and at least 0, with one above 0; it returns false if that
// can't be told quickly.
func PositiveWeights(x []float64) bool {
	v := Vectors64
	if v.Highest == nil || v.Lowest == nil {
		return false
	}
	top := v.Highest(x)
	return top > 0 && top <= math.MaxFloat64 && v.Lowest(x) <= 0
}
