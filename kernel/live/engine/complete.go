package main

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lectern-go/lectern/kernel/internal/names"
	"github.com/lectern-go/lectern/kernel/internal/quick"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
)

// A completion is what can come at a place of a cell, replacing what is between two others. All places count
// characters.
type completion struct {
	Need    []string     `json:"need,omitempty"` // as in an answer
	Matches []suggestion `json:"matches"`
	Start   int          `json:"start"`
	End     int          `json:"end"`
}

type suggestion struct {
	Text   string `json:"text"`
	Kind   string `json:"kind"`
	Detail string `json:"detail"`
}

// offset is the byte offset of a character.
func offset(code string, at int) int {
	for i := range code {
		if at == 0 {
			return i
		}
		at--
	}
	return len(code)
}

// complete answers from the types, as the kernel does.
func (e *engine) complete(code string, at int) completion {
	e.packages.absent = nil
	off := offset(code, at)
	start := off
	c := completion{Matches: []suggestion{}}
	if begin, ok := rewrite.ImportPath(code, off); ok {
		start = begin
		for path := range e.packages.known {
			if names.Importable(path) && strings.HasPrefix(path, code[begin:off]) {
				c.Matches = append(c.Matches, suggestion{path, "module", ""})
			}
		}
		slices.SortFunc(c.Matches, func(a, b suggestion) int { return strings.Compare(a.Text, b.Text) })
	} else if cursor, ok := e.Current().Cursor(code, off); ok {
		items, from := quick.Complete(cursor.Text.String(), cursor.Off, e.packages, e.packages.Names())
		if need := e.packages.missing(e.packages.absent); len(need) > 0 {
			return completion{Need: need}
		}
		if begin, ok := cursor.Cell(from); ok && begin <= off {
			start = begin
		}
		for _, it := range items {
			if !rewrite.Reserved(it.Text) {
				c.Matches = append(c.Matches, suggestion{it.Text, it.Kind, it.Detail})
			}
		}
	}
	c.Start, c.End = utf8.RuneCountInString(code[:start]), utf8.RuneCountInString(code[:off])
	return c
}

// A meaning describes a name.
type meaning struct {
	Need []string `json:"need,omitempty"` // as in an answer
	Text string   `json:"text"`           // Markdown; "" if nothing is
}

// help says what the name at a place of a cell is, by its declaration. Its documentation is in sources that a page
// doesn't have.
func (e *engine) help(code string, at int) meaning {
	e.packages.absent = nil
	callee, ok := rewrite.Callee(code, offset(code, at))
	if !ok {
		return meaning{}
	}
	cursor, ok := e.Current().Cursor(code, callee)
	if !ok {
		return meaning{}
	}
	d, ok := quick.Describe(cursor.Text.String(), cursor.Off, e.packages)
	if need := e.packages.missing(e.packages.absent); len(need) > 0 {
		return meaning{Need: need}
	}
	if !ok {
		return meaning{}
	}
	return meaning{Text: rewrite.UserNames(strings.TrimSpace("```go\n" + d.Declaration + "\n```\n\n" + d.Comment + "\n\n" + d.TypeComment))}
}
