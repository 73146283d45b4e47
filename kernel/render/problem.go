package render

import (
	"fmt"
	"strings"

	"github.com/lectern-go/lectern/internal/humanize"
)

// A Problem is something in a notebook that keeps a page from being right.
type Problem struct {
	Notebook string // the file, as given
	Cell     int    // counted from 1 over all cells; 0 is the notebook as a whole
	ID       string // the cell's id
	Line     int    // of the cell's source, from 1; 0 if it is not known
	Msg      string
}

func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.Notebook)
	if p.Cell > 0 {
		fmt.Fprintf(&b, ", cell %d (id %s)", p.Cell, p.ID)
	}
	if p.Line > 0 {
		fmt.Fprintf(&b, ", line %d", p.Line)
	}
	return b.String() + ": " + p.Msg
}

// Problems are all the problems that keep a site from being written, so that they can be fixed in one go.
type Problems []*Problem

func (p Problems) Error() string {
	if len(p) == 1 {
		return "render: " + p[0].Error()
	}
	lines := make([]string, len(p))
	for i, q := range p {
		lines[i] = "  " + q.Error()
	}
	return fmt.Sprintf("render: %s, nothing was written:\n%s", humanize.Count(len(p), "problem"), strings.Join(lines, "\n"))
}
