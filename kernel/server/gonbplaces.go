//go:build unix

package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// GoNB refers to lines of the cell that it was given, which is a program of ours. Here they become lines of the user's
// cells.

var (
	gonbFrame = regexp.MustCompile(`(?:\x1b\[[0-9;]*m)*\[\[ Cell (?:\[\d+\] )?Line (\d+) \]\](?:\x1b\[[0-9;]*m)* \S*?main(?:_test)?\.go:\d+`)
	gonbMark  = regexp.MustCompile(`Cell\[\d+\]: Line (\d+)`)
	gonbError = regexp.MustCompile(`^.*main(?:_test)?\.go:\d+:(\d+): `)
)

// fromGoNB turns GoNB's lines in a text, such as a stack trace, into the user's.
func (e *execution) fromGoNB(text string) string {
	if e.Result.Program == nil || !strings.Contains(text, "[[ Cell ") {
		return text
	}
	return gonbFrame.ReplaceAllStringFunc(text, func(m string) string {
		line, _ := strconv.Atoi(gonbFrame.FindStringSubmatch(m)[1])
		p := e.Result.Program.Place(line, 1)
		if p.Line == 0 {
			return m
		}
		return fmt.Sprintf("cell[%d]:%d", p.Cell, p.Line)
	})
}

// gonbSays turns what the compiler has said about GoNB's program into what it would have said about ours. The lines of
// GoNB's report are marked with those of its cell.
func (e *execution) gonbSays(value string, report []any) string {
	lines := strings.Split(value, "\n")
	for i, line := range lines {
		m := gonbError.FindStringSubmatch(line)
		if m == nil || i >= len(report) {
			continue
		}
		s, _ := report[i].(string)
		mark := gonbMark.FindStringSubmatch(s)
		if mark == nil {
			continue
		}
		at, _ := strconv.Atoi(mark[1])
		col, _ := strconv.Atoi(m[1])
		if p := e.Result.Program.Place(at, col); p.Line > 0 {
			lines[i] = fmt.Sprintf("cell[%d]:%d: %s", p.Cell, p.Line, line[len(m[0]):])
		}
	}
	return strings.Join(lines, "\n")
}
