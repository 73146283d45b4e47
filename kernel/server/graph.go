//go:build unix

package main

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/internal/stale"
)

// graph obeys %graph.
func (e *execution) graph(rewrite.Command) *failure {
	rows := graphRows(&e.k.stale.book)
	if len(rows) == 0 {
		e.stream("stdout", "no cell has defined anything yet\n")
		return nil
	}
	e.show(map[string]any{"image/svg+xml": drawGraph(rows), "text/plain": graphText(rows)})
	return nil
}

// A graphRow is a cell in the picture of what depends on what.
type graphRow struct {
	number int
	code   string // its first line
	from   []int  // the rows that it reads from, in their order
	reads  string // what it reads, and from which cells
	writes string
	stale  string // what it has used an earlier value of; "" if it is not stale
}

// graphRows are the cells that have written something or read what others have, in the order of their first runs.
func graphRows(b *stale.Book) (rows []graphRow) {
	links, stales := b.Links(), b.Stale()
	at := map[*stale.Cell]int{}
	for _, c := range b.Cells() {
		linked := slices.ContainsFunc(links, func(l stale.Link) bool { return l.From == c || l.To == c })
		if !linked && len(c.Writes()) == 0 {
			continue
		}
		at[c] = len(rows)
		r := graphRow{number: c.Number, code: codeLine(c.Code), writes: listed(c.Writes())}
		if i := slices.IndexFunc(stales, func(s stale.Stale) bool { return s.ID == c.ID }); i >= 0 {
			r.stale = listed(stales[i].Names)
		}
		rows = append(rows, r)
	}
	for _, l := range links {
		r := &rows[at[l.To]]
		r.from = append(r.from, at[l.From])
		if r.reads != "" {
			r.reads += "; "
		}
		r.reads += fmt.Sprintf("%s of [%d]", listed(l.Names), l.From.Number)
	}
	return rows
}

const graphCode = 60 // characters of a cell's first line

// codeLine is the first line of a cell that is Go; if there is none, the first.
func codeLine(code string) string {
	first := ""
	for l := range strings.Lines(code) {
		l = strings.ReplaceAll(strings.TrimSpace(l), "\t", " ")
		if first == "" {
			first = l
		}
		if l != "" && !strings.HasPrefix(l, "//") && !strings.HasPrefix(l, "%") && !strings.HasPrefix(l, "!") {
			first = l
			break
		}
	}
	return humanize.Shorten(first, graphCode)
}

// graphText is the graph for terminals and those who can't see it.
func graphText(rows []graphRow) string {
	wide := 0
	for _, r := range rows {
		wide = max(wide, utf8.RuneCountInString(r.code))
	}
	var b strings.Builder
	for i, r := range rows {
		if i > 0 {
			b.WriteString("\n")
		}
		line := fmt.Sprintf("%5s  %s%s", fmt.Sprintf("[%d]", r.number), r.code, strings.Repeat(" ", wide-utf8.RuneCountInString(r.code)))
		for _, part := range []struct{ word, what string }{{"reads", r.reads}, {"writes", r.writes}, {"stale: used the earlier", r.stale}} {
			if part.what != "" {
				line += "  " + part.word + " " + part.what
			}
		}
		b.WriteString(strings.TrimRight(line, " "))
	}
	return b.String()
}

// The picture: cells below each other, and left of them a line from each cell that others read
// from, with a branch to each of these.
const (
	graphRowHeight = 46
	graphLane      = 14 // between two lines
	graphMargin    = 12
	graphWidth     = 560 // of a cell
)

var graphColours = []string{"#0969da", "#1a7f37", "#bc4c00", "#8250df", "#cf222e", "#57606a"}

// drawGraph draws the graph.
func drawGraph(rows []graphRow) string {
	readers := make([][]int, len(rows))
	for i, r := range rows {
		for _, from := range r.from {
			readers[from] = append(readers[from], i)
		}
	}
	lanes := graphLanes(readers)
	count := 0
	for _, l := range lanes {
		count = max(count, l+1)
	}
	left := 2*graphMargin + count*graphLane
	width, height := left+graphWidth+graphMargin, len(rows)*graphRowHeight+graphMargin
	middle := func(row int) int { return graphMargin/2 + row*graphRowHeight + graphRowHeight/2 }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img" font-family="sans-serif" font-size="12">`, width, height)
	fmt.Fprintf(&b, "<title>What depends on what: %s</title>\n", humanize.Count(len(rows), "cell"))
	for from, list := range readers {
		if len(list) == 0 {
			continue
		}
		colour := graphColours[lanes[from]%len(graphColours)]
		x := left - graphMargin/2 - (lanes[from]+1)*graphLane
		for _, to := range list {
			y, z, turn := middle(from)+5, middle(to)-5, 6 // lines leave below the middle and arrive above it
			if z < y {
				turn = -turn
			}
			fmt.Fprintf(&b, `<path d="M%d %d H%d Q%d %d %d %d V%d Q%d %d %d %d H%d" fill="none" stroke="%s" stroke-width="1.6"/>`,
				left, y, x+6, x, y, x, y+turn, z-turn, x, z, x+6, z, left-5, colour)
			fmt.Fprintf(&b, `<path d="M%d %d l-7 -4 v8 z" fill="%s"/>`+"\n", left, z, colour)
		}
	}
	for i, r := range rows {
		fill, line := "#f6f8fa", "#afb8c1"
		if r.stale != "" {
			fill, line = "#fff4d6", "#9a6700"
		}
		y := middle(i) - graphRowHeight/2 + 3
		about := fmt.Sprintf("cell [%d]", r.number)
		for _, part := range []struct{ word, what string }{{"reads", r.reads}, {"writes", r.writes}, {"used the earlier", r.stale}} {
			if part.what != "" {
				about += ", " + part.word + " " + part.what
			}
		}
		fmt.Fprintf(&b, `<g><title>%s</title><rect x="%d" y="%d" width="%d" height="%d" rx="4" fill="%s" stroke="%s"/>`, html.EscapeString(about), left, y, graphWidth, graphRowHeight-6, fill, line)
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="#57606a">[%d]</text>`, left+8, y+16, r.number)
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="#1f2328" font-family="monospace">%s</text>`, left+44, y+16, html.EscapeString(r.code))
		what := "writes " + r.writes
		switch {
		case r.stale != "":
			what = "stale: used the earlier " + r.stale
		case r.reads != "" && r.writes != "":
			what = "reads " + r.reads + " · writes " + r.writes
		case r.reads != "":
			what = "reads " + r.reads
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="#57606a" font-size="11">%s</text></g>`+"\n", left+44, y+32, html.EscapeString(humanize.Shorten(what, 84)))
	}
	b.WriteString("</svg>")
	return b.String()
}

// graphLanes gives each cell that others read from a line that no other one meets; -1 for the rest.
func graphLanes(readers [][]int) []int {
	lanes := make([]int, len(readers))
	type span struct{ lo, hi int }
	var taken [][]span
	for from, list := range readers {
		lanes[from] = -1
		if len(list) == 0 {
			continue
		}
		s := span{min(from, slices.Min(list)), max(from, slices.Max(list))}
		i := 0
		for i < len(taken) && slices.ContainsFunc(taken[i], func(o span) bool { return s.lo <= o.hi && o.lo <= s.hi }) {
			i++
		}
		if i == len(taken) {
			taken = append(taken, nil)
		}
		taken[i] = append(taken[i], s)
		lanes[from] = i
	}
	return lanes
}
