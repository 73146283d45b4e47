package show

import (
	"reflect"
	"strings"

	"github.com/lectern-go/lectern/internal/tabular"
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
	if _, ok := v.(numeral4); ok {
		return true
	}
	k := reflect.ValueOf(v).Kind()
	return k >= reflect.Int && k <= reflect.Complex128
}

// HTML renders the table with inline styles only, so that it looks alike in JupyterLab and in a rendered page.
func (t table) HTML() string {
	var b strings.Builder
	b.WriteString(`<table class="lectern-table"><thead><tr>`)
	right := t.right()
	for i, h := range t.header {
		b.WriteString(`<th scope="col" style="text-align:` + side(i < len(right) && right[i]) + `">` + escape(h) + `</th>`)
	}
	b.WriteString("</tr></thead><tbody>\n")
	for _, r := range t.rows {
		b.WriteString("<tr>")
		for _, v := range r {
			if h, ok := v.(interface{ HTML() string }); ok && !isNil(v) {
				b.WriteString("<td>" + h.HTML() + "</td>")
			} else {
				b.WriteString(`<td style="text-align:` + side(isNumber(v)) + `">` + escape(cellText(v)) + "</td>")
			}
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table>")
	return b.String()
}

// right reports for each column whether it holds numbers alone.
func (t table) right() []bool {
	var right []bool
	for _, row := range t.rows {
		for i, v := range row {
			if i == len(right) {
				right = append(right, true)
			}
			right[i] = right[i] && isNumber(v)
		}
	}
	return right
}

func side(right bool) string {
	if right {
		return "right"
	}
	return "left"
}

// String aligns the columns.
func (t table) String() string {
	right := t.right()
	text := tabular.Table{Header: t.header, Rule: true, Left: func(column int) bool { return column >= len(right) || !right[column] }}
	for _, r := range t.rows {
		row := make([]string, len(r))
		for i, v := range r {
			row[i] = strings.ReplaceAll(cellText(v), "\n", " ")
		}
		text.Add(row...)
	}
	return text.String()
}
