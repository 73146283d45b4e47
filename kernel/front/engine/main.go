//go:build js

// Command engine is the cell rewriter for a web page. It reads the archives of packages from the page's memory, and answers calls from JavaScript.
//
// When it is ready it has set lecternEngine to an object with these functions; both take and return text in JSON:
//
//	rewrite(cell, code)  what becomes of a cell: an [answer]
//	settle(run)          the cell whose answer came last has run, or not: what later cells know follows from that
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"syscall/js"

	"github.com/lectern-go/lectern/kernel/front/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/keep"
)

// keepDir is the folder of the page's memory in which values are kept.
const keepDir = "/keep"

// An answer is a rewritten cell.
type answer struct {
	Errors  []mistake         `json:"errors,omitempty"`
	Notes   []string          `json:"notes,omitempty"`
	Missing string            `json:"missing,omitempty"` // a package whose archive is not there
	Program string            `json:"program,omitempty"` // Go source; none if there is nothing to run
	Files   map[string]string `json:"files,omitempty"`   // the archives that the program is built from, by path
}

// A mistake is an error at a place of the user's text. Lines and columns count from 1, columns in characters.
type mistake struct {
	Cell int    `json:"cell"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
	End  int    `json:"end"`
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"`
}

func main() {
	p, err := readPackages("/pkg/index.json")
	if err != nil {
		fmt.Fprintln(os.Stderr, "engine:", err)
		os.Exit(1)
	}
	s := rewrite.NewSession(p, func() *keep.Manifest {
		m, err := keep.ReadManifest(keepDir)
		if err != nil {
			fmt.Fprintln(os.Stderr, "engine:", err)
		}
		return m
	})
	var last *rewrite.Result
	js.Global().Set("lecternEngine", map[string]any{
		"rewrite": js.FuncOf(func(_ js.Value, args []js.Value) any {
			last = s.Rewrite(args[0].Int(), args[1].String())
			return text(p.answer(last))
		}),
		"settle": js.FuncOf(func(js.Value, []js.Value) any {
			lost := last.Next.Settle()
			s = last.Next
			return text(lost)
		}),
	})
	select {}
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and numbers alone
	}
	return string(b)
}

func (p *packages) answer(r *rewrite.Result) *answer {
	a := &answer{Notes: r.Notes, Missing: r.Missing}
	for _, e := range r.Errors {
		a.Errors = append(a.Errors, mistake{e.Pos.Cell, e.Pos.Line, e.Pos.Col, e.End, e.Msg, e.Hint})
	}
	if r.Program == nil || len(r.Errors) > 0 {
		return a
	}
	a.Program = r.Program.Source()
	a.Files = map[string]string{}
	for _, path := range append(r.Imports, "runtime") { // the linker adds the latter
		p.collect(path, a.Files)
	}
	return a
}
