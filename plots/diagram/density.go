package diagram

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/tensor"
)

// Density draws every number that floating-point formats have between two bounds, on a
// line where equal distances are equal differences: ticks crowd near zero and thin out
// with each power of two. Where ticks are too close to tell apart, the line is filled.
// It panics unless from is below to, both are finite, and the dtypes are floating
// point.
func Density(from, to float64, dtypes ...tensor.Dtype) *Figure {
	if !(from < to) || math.IsInf(to-from, 0) {
		panic(fmt.Errorf("diagram: density: from %v to %v is not a range; give a smaller and a larger finite number", from, to))
	}
	return fitted(func(phone bool) *Figure { return drawDensity(from, to, dtypes, phone) })
}

func drawDensity(from, to float64, dtypes []tensor.Dtype, phone bool) *Figure {
	f := &Figure{}
	const bar, together = 18., 2.5
	width, row, top, left := 660., 44., 0., nameColumn(dtypes)
	if phone { // names are above
		row, top, left = 64, 20, 10
		width = phoneWidth - 2*left
	}
	place := func(x float64) float64 { return left + (x-from)/(to-from)*width }
	var said []string
	for i, d := range dtypes {
		tensor.Finfo(d) // panics for types without fractions
		y := top + float64(i)*row
		if phone {
			f.label(left, y-7, "start", d.String(), mono)
		} else {
			f.label(left-10, y+14, "end", d.String(), mono)
		}
		f.line(thin, left, y+bar, left+width, y+bar)
		first, last := ordinal(d, from), ordinal(d, to)
		for first <= last && valueAt(d, first) < from {
			first++
		}
		for last >= first && valueAt(d, last) > to {
			last--
		}
		count := uint64(last) - uint64(first) + 1 // nearly all float64 are too many for an int
		said = append(said, fmt.Sprintf("%s has %s numbers", d, thousands(count)))
		f.label(left, y+bar+14, "start", thousands(count)+" numbers", faint)
		var ticks strings.Builder
		gap := func(n int) float64 { return place(valueAt(d, n)) - place(valueAt(d, n-1)) }
		for n := first; n <= last; n++ {
			x := place(valueAt(d, n))
			if n == last || gap(n+1) > together {
				fmt.Fprintf(&ticks, "M%s %sv%s", number(x), number(y), number(bar))
				continue
			}
			// Distances grow away from zero, so the numbers that are too close end at the first
			// positive one that is far enough from its neighbor.
			if n = max(n+1, min(last, 1)); n < last {
				n += sort.Search(last-n, func(more int) bool { return gap(n+more+1) > together })
			}
			f.box(x, y, max(place(valueAt(d, n))-x, 1), bar, blue)
		}
		if ticks.Len() > 0 {
			fmt.Fprintf(&f.body, `<path d="%s" fill="none" stroke="%s" stroke-width="1.5"/>`, ticks.String(), lineBlue)
		}
	}
	bottom := top + float64(len(dtypes))*row
	for i := range 5 {
		x := from + (to-from)*float64(i)/4
		f.line(thin, place(x), 0, place(x), bottom+2)
		f.label(place(x), bottom+16, "middle", plainNumber(x), faint)
	}
	f.title = fmt.Sprintf("Numbers between %s and %s: %s", plainNumber(from), plainNumber(to), strings.Join(said, "; "))
	return f
}

// thousands is humanize.Thousands for numbers that an int can't hold, too.
func thousands(n uint64) string {
	if n <= math.MaxInt {
		return humanize.Thousands(int(n))
	}
	return fmt.Sprintf("%s,%03d", humanize.Thousands(int(n/1000)), n%1000)
}

// ordinal numbers the values of a format in order: 0 is zero, 1 the smallest positive
// number, -1 its negative. A NaN or infinity counts as the largest.
func ordinal(d tensor.Dtype, x float64) int {
	code := d.EncodeSaturating(math.Abs(x))
	if x < 0 {
		return -int(code)
	}
	return int(code)
}

// valueAt is the inverse of ordinal.
func valueAt(d tensor.Dtype, n int) float64 {
	if n < 0 {
		return -d.Decode(uint64(-n)).Value
	}
	return d.Decode(uint64(n)).Value
}
