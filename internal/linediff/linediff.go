// Package linediff shows how two texts differ, line by line.
package linediff

import (
	"fmt"
	"strings"
)

const (
	context   = 2   // equal lines shown around a difference
	width     = 160 // of a line, in characters
	limit     = 60  // lines shown of one difference
	mostTable = 4_000_000
)

// Of compares two texts: a line that is only in a is marked -, one that is only in b is marked +. It returns "" for
// equal texts.
func Of(a, b []string) string {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	if head == len(a) && head == len(b) {
		return ""
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out []string
	line := func(mark byte, s string) {
		if r := []rune(s); len(r) > width {
			s = string(r[:width]) + fmt.Sprintf(" … (%d more characters)", len(r)-width)
		}
		out = append(out, fmt.Sprintf("  %c %s", mark, s))
	}
	for _, s := range a[max(0, head-context):head] {
		line(' ', s)
	}
	for _, e := range edits(a[head:len(a)-tail], b[head:len(b)-tail]) {
		line(e.mark, e.text)
	}
	for _, s := range a[len(a)-tail : min(len(a), len(a)-tail+context)] {
		line(' ', s)
	}
	if n := len(out) - limit; n > 0 {
		out = append(out[:limit], fmt.Sprintf("    … %d more lines", n))
	}
	return strings.Join(out, "\n") + "\n"
}

type edit struct {
	mark byte // ' ', '-' or '+'
	text string
}

// edits returns a shortest way from a to b, by the table of the longest common subsequence. Texts for which that
// table would be too large count as completely different.
func edits(a, b []string) []edit {
	var out []edit
	if (len(a)+1)*(len(b)+1) > mostTable {
		for _, s := range a {
			out = append(out, edit{'-', s})
		}
		for _, s := range b {
			out = append(out, edit{'+', s})
		}
		return out
	}
	w := len(b) + 1
	common := make([]int32, (len(a)+1)*w) // common[i*w+j]: of a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i*w+j] = common[(i+1)*w+j+1] + 1
			} else {
				common[i*w+j] = max(common[(i+1)*w+j], common[i*w+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, edit{' ', a[i]})
			i++
			j++
		case j == len(b) || i < len(a) && common[(i+1)*w+j] >= common[i*w+j+1]:
			out = append(out, edit{'-', a[i]})
			i++
		default:
			out = append(out, edit{'+', b[j]})
			j++
		}
	}
	return out
}
