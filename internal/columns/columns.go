// Package columns writes tables as text, aligned, and as HTML for notebooks.
package columns

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

// A Table is rows of cells below a header. The zero Right has all columns on the left.
type Table struct {
	Caption string // a line above; may be empty
	Header  []string
	Rows    [][]string
	Right   func(column int) bool // says which columns hold numbers, which end below each other
}

func (t Table) right(column int) bool { return t.Right != nil && t.Right(column) }

// String aligns the columns.
func (t Table) String() string {
	all := append([][]string{t.Header}, t.Rows...)
	width := make([]int, len(t.Header))
	for _, row := range all {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	var lines []string
	if t.Caption != "" {
		lines = append(lines, t.Caption)
	}
	for _, row := range all {
		cells := make([]string, len(row))
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if t.right(i) {
				cells[i] = pad + cell
			} else {
				cells[i] = cell + pad
			}
		}
		lines = append(lines, strings.TrimRight(strings.Join(cells, "  "), " "))
	}
	return strings.Join(lines, "\n")
}

// HTML returns the table as an element.
func (t Table) HTML() string {
	var b strings.Builder
	b.WriteString(`<table class="lectern-table">`)
	if t.Caption != "" {
		fmt.Fprintf(&b, "<caption>%s</caption>", html.EscapeString(t.Caption))
	}
	b.WriteString("<thead>")
	row := func(tag string, cells []string) {
		b.WriteString("<tr>")
		for i, cell := range cells {
			side := "left"
			if t.right(i) {
				side = "right"
			}
			fmt.Fprintf(&b, `<%[1]s style="text-align:%[2]s">%[3]s</%[1]s>`, tag, side, html.EscapeString(cell))
		}
		b.WriteString("</tr>\n")
	}
	row("th", t.Header)
	b.WriteString("</thead><tbody>")
	for _, cells := range t.Rows {
		row("td", cells)
	}
	b.WriteString("</tbody></table>")
	return b.String()
}
