package diagram

import (
	"fmt"
	"math"
	"strings"

	"github.com/lectern-go/lectern/tensor"
)

// Ranges draws the positive numbers of several formats along a line that counts in
// powers of two: the bar of a format reaches from its smallest to its largest number,
// the part where precision fades (subnormal numbers) is lighter, and the label says
// how many numbers lie between 1 and 2. It panics for a dtype that is not floating
// point.
func Ranges(dtypes ...tensor.Dtype) *Figure {
	return fitted(func(phone bool) *Figure { return drawRanges(dtypes, phone) })
}

func drawRanges(dtypes []tensor.Dtype, phone bool) *Figure {
	f := &Figure{}
	const bar = 16.
	perDecade, row, top, left, every := 6.2, 40., 0., nameColumn(dtypes), 10. // how many decades there are from label to label
	lowest, highest := 0., 0.
	infos := make([]tensor.FloatInfo, len(dtypes))
	for i, d := range dtypes {
		infos[i] = tensor.Finfo(d)
		lowest = min(lowest, math.Floor(math.Log10(infos[i].SmallestSubnormal)))
		highest = max(highest, math.Ceil(math.Log10(infos[i].Max)))
	}
	if highest-lowest > 120 { // float64 would push all others into a corner
		lowest, highest = -48, 42
	}
	if phone { // names are above
		row, top, left, every = 60, 20, 16, 20
		perDecade = (phoneWidth - 2*left) / (highest - lowest)
	}
	place := func(x float64) float64 {
		return left + (min(max(math.Log10(x), lowest), highest)-lowest)*perDecade
	}
	var said []string
	for i, info := range infos {
		y := top + float64(i)*row
		if phone {
			f.label(place(info.SmallestSubnormal), y-6, "start", info.Name, mono)
		} else {
			f.label(left-10, y+bar-3, "end", info.Name, mono)
		}
		f.box(place(info.SmallestSubnormal), y, place(info.Tiny)-place(info.SmallestSubnormal), bar, orange)
		f.box(place(info.Tiny), y, place(info.Max)-place(info.Tiny), bar, blue)
		numbers := fmt.Sprintf("%.0f", 1/info.Eps)
		if 1/info.Eps > 1e7 {
			numbers = fmt.Sprintf("2^%d", info.Mantissa)
		}
		f.label(place(info.SmallestSubnormal), y+bar+13, "start", numbers+" numbers from 1 to 2", faint)
		said = append(said, fmt.Sprintf("%s from %.2g (normal from %.2g) to %.3g", info.Name, info.SmallestSubnormal, info.Tiny, info.Max))
	}
	bottom := top + float64(len(infos))*row + 4
	for e := math.Ceil(lowest/every) * every; e <= highest; e += every {
		x := place(math.Pow(10, e))
		fmt.Fprintf(&f.body, `<path d="M%s 0 L%s %s" stroke="currentColor" stroke-opacity=".15"/>`, number(x), number(x), number(bottom))
		text := "1"
		if e != 0 {
			text = fmt.Sprintf("1e%+.0f", e)
		}
		f.label(x, bottom+14, "middle", text, faint)
	}
	f.title = "Range of the positive numbers: " + strings.Join(said, "; ")
	return f
}
