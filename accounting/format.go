package accounting

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// grouped writes a whole number with commas: 503,316,480.
func grouped(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// short writes a number of any size with five significant digits: 4.3773e22,
// 989.5e12, 16384. Exponents are multiples of three up to 1e15.
func short(x float64) string {
	abs := math.Abs(x)
	switch {
	case math.IsInf(x, 0) || math.IsNaN(x) || x == 0:
		return fmt.Sprint(x)
	case abs >= 1e18 || abs < 1e-3:
		exponent := int(math.Floor(math.Log10(abs)))
		mantissa := x / math.Pow(10, float64(exponent))
		return trim(mantissa, 5) + "e" + strconv.Itoa(exponent)
	case abs >= 1e6:
		exponent := int(math.Floor(math.Log10(abs))) / 3 * 3
		return trim(x/math.Pow(10, float64(exponent)), 5) + "e" + strconv.Itoa(exponent)
	}
	return trim(x, 5)
}

// trim writes x with a number of significant digits, without trailing zeros.
func trim(x float64, digits int) string {
	return strconv.FormatFloat(mustParse(strconv.FormatFloat(x, 'g', digits, 64)), 'f', -1, 64)
}

func mustParse(s string) float64 {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err)
	}
	return x
}

// bytesText writes a size: "496 bytes", "2,304 MiB".
func bytesText(n int) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"}
	value, unit := float64(n), 0
	for math.Abs(value) >= 10*1024 && unit < len(units)-1 {
		value /= 1024
		unit++
	}
	if value == math.Trunc(value) {
		return grouped(int(value)) + " " + units[unit]
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}

// rate writes a speed: "426.1 GFLOP/s", "3.35 TB/s".
func rate(perSecond float64, unit string) string {
	prefixes := []string{"", "k", "M", "G", "T", "P", "E"}
	i := 0
	for math.Abs(perSecond) >= 1000 && i < len(prefixes)-1 {
		perSecond /= 1000
		i++
	}
	return trim(perSecond, 4) + " " + prefixes[i] + unit + "/s"
}

// table is rows of text under a heading. The first column stands left, and the
// last if it is words; all others are numbers and stand right.
type table struct {
	head  []string
	words bool // in the last column
	rows  [][]string
}

// left reports whether column i stands left.
func (t *table) left(i int) bool { return i == 0 || t.words && i == len(t.head)-1 }

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// String lays the columns out with spaces.
func (t *table) String() string {
	width := make([]int, len(t.head))
	all := append([][]string{t.head}, t.rows...)
	for _, row := range all {
		for i, cell := range row {
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	var b strings.Builder
	for _, row := range all {
		line := ""
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-len([]rune(cell)))
			switch {
			case i == 0:
				line = cell + pad
			case t.left(i):
				line += "  " + cell + pad
			default:
				line += "  " + pad + cell
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// HTML writes a table element.
func (t *table) HTML() string {
	var b strings.Builder
	row := func(tag string, cells []string) {
		b.WriteString("<tr>")
		for i, cell := range cells {
			align := "right"
			if t.left(i) {
				align = "left"
			}
			text := strings.TrimLeft(cell, " ")
			indent := ""
			if n := len(cell) - len(text); n > 0 {
				indent = fmt.Sprintf(";padding-left:%.1fem", 0.5+0.6*float64(n))
			}
			fmt.Fprintf(&b, `<%s style="text-align:%s%s">%s</%s>`, tag, align, indent, html.EscapeString(text), tag)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("<table>\n<thead>")
	row("th", t.head)
	b.WriteString("</thead>\n<tbody>\n")
	for _, r := range t.rows {
		row("td", r)
	}
	b.WriteString("</tbody></table>\n")
	return b.String()
}

// counted writes a number of things: "1 thread", "2 threads".
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return grouped(n) + " " + thing + "s"
}

// preformatted shows text in a notebook as it is.
func preformatted(text string) string { return "<pre>" + html.EscapeString(text) + "</pre>\n" }
