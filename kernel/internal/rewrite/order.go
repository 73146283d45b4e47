package rewrite

import (
	"go/token"
	"slices"
)

// Package-level variables of a Go file may be declared in any order: each is initialized when those that it needs are.
// A cell runs from top to bottom, but its var declarations need not be in that order.

// inOrder moves var declarations that others need before those. items are all of the cell's, and known reports whether
// a name is a variable of an earlier cell.
func inOrder(code string, stmts, items []item, known func(string) bool) []item {
	vars := 0
	for _, it := range stmts {
		if it.kind == token.VAR {
			vars++
		}
	}
	if vars < 2 {
		return stmts
	}
	declares := map[string]int{}             // by name, the index of the var declaration
	mentions := make([][]string, len(stmts)) // of each statement, names
	functions := map[string][]string{}       // of each function of the cell, names
	names := func(it item) (list []string) {
		for _, t := range tokens(code[it.lo:it.hi]) {
			if t.tok == token.IDENT {
				list = append(list, t.lit)
			}
		}
		return list
	}
	for _, it := range items {
		if it.kind == token.FUNC {
			if list := names(it); len(list) > 0 {
				functions[list[0]] = list[1:] // of a method it is the receiver: nothing that is called by name
			}
		}
	}
	for i, it := range stmts {
		mentions[i] = names(it)
		if it.kind != token.VAR {
			continue
		}
		if d := parseDecl(&Source{Code: code}, it); d != nil {
			for _, n := range d.names {
				if _, again := declares[n]; !again && !known(n) {
					declares[n] = i
				}
			}
		}
	}
	var out []item
	placed := make([]bool, len(stmts))
	var place func(i int, open []int)
	place = func(i int, open []int) {
		if placed[i] || slices.Contains(open, i) {
			return
		}
		if stmts[i].kind == token.VAR {
			seen := map[string]bool{}
			var need func(list []string)
			need = func(list []string) {
				for _, n := range list {
					if seen[n] {
						continue
					}
					seen[n] = true
					if j, ok := declares[n]; ok && j != i {
						place(j, append(open, i))
					}
					need(functions[n])
				}
			}
			need(mentions[i])
		}
		placed[i] = true
		out = append(out, stmts[i])
	}
	for i := range stmts {
		place(i, nil)
	}
	return out
}
