package show

import (
	"reflect"
	"strings"
	"unicode/utf8"
)

// table is what Table shows.
type table struct {
	header []string
	rows   [][]any
}

// cellText is how a value looks inside a table: strings without quotes.
func cellText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	if v == nil {
		return ""
	}
	return Format(v)
}

func isNumber(v any) bool {
	k := reflect.ValueOf(v).Kind()
	return k >= reflect.Int && k <= reflect.Complex128
}

// HTML renders the table with inline styles only, so that it looks alike in JupyterLab and in a rendered page.
func (t table) HTML() string {
	var b strings.Builder
	b.WriteString(`<table class="lectern-table"><thead><tr>`)
	for _, h := range t.header {
		b.WriteString(`<th>` + escape(h) + `</th>`)
	}
	b.WriteString("</tr></thead><tbody>\n")
	for _, r := range t.rows {
		b.WriteString("<tr>")
		for _, v := range r {
			if h, ok := v.(interface{ HTML() string }); ok && !isNil(v) {
				b.WriteString("<td>" + h.HTML() + "</td>")
			} else if isNumber(v) {
				b.WriteString(`<td style="text-align:right">` + escape(cellText(v)) + "</td>")
			} else {
				b.WriteString(`<td style="text-align:left">` + escape(cellText(v)) + "</td>")
			}
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table>")
	return b.String()
}

// String aligns the columns.
func (t table) String() string {
	var cells [][]string
	var widths []int
	var right []bool
	add := func(row []string) {
		for i, s := range row {
			if i == len(widths) {
				widths, right = append(widths, 0), append(right, true)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(s))
		}
		cells = append(cells, row)
	}
	add(t.header)
	for _, r := range t.rows {
		row := make([]string, len(r))
		for i, v := range r {
			row[i] = strings.ReplaceAll(cellText(v), "\n", " ")
		}
		add(row)
		for i, v := range r {
			right[i] = right[i] && isNumber(v)
		}
	}
	var b strings.Builder
	for n, row := range cells {
		var line strings.Builder
		for i, s := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(s))
			if i > 0 {
				line.WriteString("  ")
			}
			if right[i] {
				line.WriteString(pad + s)
			} else {
				line.WriteString(s + pad)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		if n == 0 {
			rule := 2*len(widths) - 2
			for _, w := range widths {
				rule += w
			}
			b.WriteString(strings.Repeat("-", max(rule, 0)) + "\n")
		}
	}
	return b.String()
}
