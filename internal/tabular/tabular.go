// Package tabular writes tables as text, aligned, and as HTML for notebooks.
package tabular

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

// A Table is rows of cells below a header. Spaces before the text of a cell indent it.
type Table struct {
	Caption string // a line above; may be empty
	Header  []string
	Rows    [][]string
	Left    func(column int) bool // says which columns hold words; nil means only the first. Numbers are aligned to the right.
	Rule    bool                  // a line below the header, as text

	parts map[[2]int][]string // by row and column
}

// Add appends a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Unfold says what a number in the last row consists of, with one line per part. In HTML the number unfolds into
// them; text has no room for that.
func (t *Table) Unfold(column int, parts ...string) {
	if t.parts == nil {
		t.parts = map[[2]int][]string{}
	}
	t.parts[[2]int{len(t.Rows) - 1, column}] = parts
}

func (t Table) left(column int) bool {
	if t.Left == nil {
		return column == 0
	}
	return t.Left(column)
}

// String aligns the columns. Each line ends with a newline.
func (t Table) String() string {
	all := append([][]string{t.Header}, t.Rows...)
	var width []int
	for _, row := range all {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	if t.Caption != "" {
		b.WriteString(t.Caption + "\n")
	}
	for n, row := range all {
		cells := make([]string, len(row))
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if t.left(i) {
				cells[i] = cell + pad
			} else {
				cells[i] = pad + cell
			}
		}
		b.WriteString(strings.TrimRight(strings.Join(cells, "  "), " ") + "\n")
		if t.Rule && n == 0 {
			whole := 2*len(width) - 2
			for _, w := range width {
				whole += w
			}
			b.WriteString(strings.Repeat("-", max(whole, 0)) + "\n")
		}
	}
	return b.String()
}

// HTML returns the table as an element.
func (t Table) HTML() string {
	var b strings.Builder
	b.WriteString(`<table class="lectern-table">`)
	if t.Caption != "" {
		fmt.Fprintf(&b, "<caption>%s</caption>", html.EscapeString(t.Caption))
	}
	b.WriteString("<thead>")
	row := func(tag string, n int, cells []string) {
		b.WriteString("<tr>")
		for i, cell := range cells {
			style := "text-align:right"
			if t.left(i) {
				style = "text-align:left"
			}
			text := strings.TrimLeft(cell, " ")
			if indent := len(cell) - len(text); indent > 0 {
				style += fmt.Sprintf(";padding-left:%.1fem", 0.5+0.6*float64(indent))
			}
			content := html.EscapeString(text)
			if parts := t.parts[[2]int{n, i}]; len(parts) > 0 {
				content = "<details><summary>" + content + "</summary>"
				for _, p := range parts {
					content += "<div>" + html.EscapeString(p) + "</div>"
				}
				content += "</details>"
			}
			fmt.Fprintf(&b, `<%[1]s style="%[2]s">%[3]s</%[1]s>`, tag, style, content)
		}
		b.WriteString("</tr>\n")
	}
	row("th", -1, t.Header)
	b.WriteString("</thead><tbody>")
	for n, cells := range t.Rows {
		row("td", n, cells)
	}
	b.WriteString("</tbody></table>")
	return b.String()
}
