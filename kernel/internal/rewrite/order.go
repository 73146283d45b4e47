package rewrite

import (
	"go/ast"
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
	mentions := make([][]string, len(stmts)) // of each var declaration, names
	functions := map[string][]string{}       // of each function of the cell, names
	for _, it := range items {
		if it.kind != token.FUNC {
			continue
		}
		f, _, err := parsePart(code[it.lo:it.hi], 0)
		if err != nil || len(f.Decls) != 1 {
			continue
		}
		if d, ok := f.Decls[0].(*ast.FuncDecl); ok && d.Recv == nil {
			functions[d.Name.Name] = free(f)
		}
	}
	for i, it := range stmts {
		if it.kind != token.VAR {
			continue
		}
		if f, _, err := parsePart(code[it.lo:it.hi], 0); err == nil {
			mentions[i] = free(f)
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

// free lists the names that a file uses without declaring them; fields, parameters and local variables are none.
func free(f *ast.File) (names []string) {
	for _, id := range f.Unresolved {
		names = append(names, id.Name)
	}
	ast.Inspect(f, func(n ast.Node) bool { // the keys of other composite literals are taken for fields, those of maps aren't any
		if l, ok := n.(*ast.CompositeLit); ok {
			_, ofMap := l.Type.(*ast.MapType)
			for _, e := range l.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && ofMap {
					if id, ok := kv.Key.(*ast.Ident); ok && id.Obj == nil {
						names = append(names, id.Name)
					}
				}
			}
		}
		return true
	})
	return names
}
