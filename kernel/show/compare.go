package show

import (
	"math"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/internal/humanize"
)

// A Claim is a prediction next to its measurement.
type Claim struct {
	What                string
	Predicted, Measured float64
	Unit                string // of both: "bytes", "FLOP", "FLOP/s", "s", "days", or none
}

// A Comparison is a table of claims with the ratio of each, measured over predicted:
//
//	show.Comparison{
//		{"forward", 2 * B * D * K, counted, "FLOP"},
//		{"time", 0.4, seconds, "s"},
//	}
type Comparison []Claim

// table is the comparison as rows of text.
func (c Comparison) table() (t table) {
	t.header = []string{"", "predicted", "measured", "ratio"}
	for _, l := range c {
		ratio := "–"
		if l.Predicted != 0 {
			ratio = humanize.Significant(l.Measured/l.Predicted, 3)
		}
		t.rows = append(t.rows, []any{l.What, quantity{l.Predicted, l.Unit}, quantity{l.Measured, l.Unit}, numeral(ratio)})
	}
	return t
}

// HTML shows the table in a notebook.
func (c Comparison) HTML() string { return c.table().HTML() }

// String aligns the table as text.
func (c Comparison) String() string { return c.table().String() }

// quantity and numeral are texts of numbers, aligned right.
type (
	quantity struct {
		value float64
		unit  string
	}
	numeral string
)

// String returns the number with its unit, see [Quantity].
func (q quantity) String() string { return Quantity(q.value, q.unit) }

// String returns the text.
func (n numeral) String() string { return string(n) }

// Quantity writes a number with its unit, as people say it:
//
//	496 bytes, 2,304 MiB, 12.5 ms, 426 GFLOP/s, 503,316,480 FLOP, 6.3e24 FLOP, 143.93 days
//
// Bytes take binary units from 10 KiB on, speeds ("…/s") and seconds take prefixes; other numbers are written out up
// to 15 digits and with five significant ones if they are larger or not whole.
func Quantity(x float64, unit string) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return strings.TrimSpace(strconv.FormatFloat(x, 'g', -1, 64) + " " + unit)
	case unit == "bytes" || unit == "B":
		units := []string{unit, "KiB", "MiB", "GiB", "TiB", "PiB"}
		i := 0
		for math.Abs(x) >= 10*1024 && i < len(units)-1 {
			x /= 1024
			i++
		}
		return plainOrShort(x, 4) + " " + units[i]
	case unit == "s":
		units := []string{"s", "ms", "µs", "ns"}
		i := 0
		for x != 0 && math.Abs(x) < 1 && i < len(units)-1 {
			x *= 1000
			i++
		}
		return humanize.Significant(x, 4) + " " + units[i]
	case strings.HasSuffix(unit, "/s"):
		prefixes := []string{"", "k", "M", "G", "T", "P", "E"}
		i := 0
		for math.Abs(x) >= 1000 && i < len(prefixes)-1 {
			x /= 1000
			i++
		}
		return humanize.Significant(x, 4) + " " + prefixes[i] + unit
	}
	return strings.TrimSpace(plainOrShort(x, 5) + " " + unit)
}

// plainOrShort writes integers of up to 15 digits with commas, others with some significant digits.
func plainOrShort(x float64, digits int) string {
	if x != math.Trunc(x) || math.Abs(x) >= 1e15 {
		return humanize.Significant(x, digits)
	}
	return humanize.Thousands(int(x))
}
