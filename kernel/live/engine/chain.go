package main

import (
	"encoding/json"
	"slices"

	"github.com/lectern-go/lectern/kernel/internal/rewrite"
)

// A link is a cell that the program of an earlier one runs, too.
type link struct {
	cell int
	code string
	r    *rewrite.Result
}

// next is a cell that is to run after another one.
type next struct {
	Cell int    `json:"cell"`
	Code string `json:"code"`
}

// join makes one program of a cell and as many of those after it as possible; nil if none can join. Each of them is
// rewritten as if those before it had kept everything that they define. If that turns out to be wrong, or if one ends
// in another way, the others are rewritten once more, when it is their turn. An answer without a program says what must
// be loaded first.
func (e *engine) join(cell int, r *rewrite.Result, more string, steps bool) *answer {
	var list []next
	if steps || json.Unmarshal([]byte(more), &list) != nil || len(list) == 0 {
		return nil
	}
	var c rewrite.Chain
	if !c.Add(cell, r) {
		return nil
	}
	session := r.Next.Assuming(r.Defines)
	var chain []*link
	for _, n := range list {
		r := session.Rewrite(n.Cell, n.Code)
		if need := e.packages.missing(e.packages.absent); len(need) > 0 {
			return &answer{Need: need}
		}
		if !c.Add(n.Cell, r) {
			break
		}
		chain = append(chain, &link{n.Cell, n.Code, r})
		session = r.Next.Assuming(r.Defines)
	}
	if len(c.Cells()) < 2 {
		return nil
	}
	a := &answer{}
	program, imports := c.Program()
	if e.collect(a, program, imports) {
		e.chain = chain
	}
	return a
}

// turn begins the next cell of the chain, if it is that one, and reports whether it has something to run.
func (e *engine) turn(cell int, code string, last int) (runs, ok bool) {
	if len(e.chain) == 0 || e.chain[0].cell != cell || e.chain[0].code != code || e.forget(last) {
		e.chain = nil
		return false, false
	}
	l := e.chain[0]
	if e.student.changed && slices.Contains(l.r.Imports, minePath) { // the program has an earlier version
		e.chain = nil
		return false, false
	}
	e.chain = e.chain[1:]
	l.r.Next = l.r.Next.Keeping(e.Manifest)
	e.now = newExecution(e, cell, code, l.r)
	e.now.allowed()
	return l.r.Program != nil, true
}
