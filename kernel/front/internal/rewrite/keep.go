package rewrite

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// needed returns the remembered variables that the cell can reach, and those that share memory with them.
func (w *work) needed(c *checked) map[string]bool {
	need := c.reach()
	m := w.s.manifest()
	for changed := true; changed; {
		changed = false
		for name := range need {
			v, ok := m.Vars[name]
			if !ok {
				continue
			}
			for _, other := range m.Groups[v.Group].Vars {
				if _, known := w.s.vars[other]; known && !need[other] {
					need[other], changed = true, true
				}
			}
		}
	}
	return need
}

// begin is the call that restores the needed variables, or "" if the cell has nothing to do with kept values.
func (w *work) begin(need map[string]bool) string {
	m := w.s.manifest()
	w.r.Restores = nil
	var pairs, regs []string
	groups := map[int]bool{}
	for _, name := range sortedKeys(need) {
		v, ok := m.Vars[name]
		old, known := w.s.vars[name]
		if !ok || !known || w.n.vars[name].typ == "" {
			continue
		}
		target := name
		if o := w.old[name]; o != "" {
			target = o
		} else if w.n.vars[name].typ != old.typ || slices.Contains(w.r.Forget, name) {
			continue // defined anew before any use
		}
		pairs = append(pairs, fmt.Sprintf("%q, &%s", name, target))
		w.r.Restores = append(w.r.Restores, name)
		if !groups[v.Group] {
			groups[v.Group] = true
			for _, t := range m.Groups[v.Group].Regs {
				if w.declared(t) {
					regs = append(regs, fmt.Sprintf("%s.Reg[%s]()", keepName, w.n.localise(t, w.c.used, w.extra)))
				}
			}
		}
	}
	w.r.Keeps = len(pairs) > 0 || len(w.defs) > 0 || w.stateful()
	if !w.r.Keeps {
		return ""
	}
	slices.Sort(regs)
	regs = slices.Compact(regs)
	args := append([]string{fmt.Sprint(w.src.Cell)}, pairs...)
	return strings.Join(append(regs, "defer "+keepName+".Begin("+strings.Join(args, ", ")+")()"), "; ")
}

// declared reports whether the cells' own types in a type's source still exist.
func (w *work) declared(t string) bool {
	for _, m := range qualified.FindAllString(t, -1) {
		if name, ok := strings.CutPrefix(m, "main."); ok && w.declaring(name) == nil {
			return false
		}
	}
	return true
}

// stateful reports whether the program uses a package whose own state is kept.
func (w *work) stateful() bool {
	for _, path := range w.c.used {
		if w.n.packages.Stateful(path) {
			return true
		}
	}
	return false
}

// reachedLiterals returns the variables holding remembered function literals that the cell can reach.
func (w *work) reachedLiterals(need map[string]bool) (names []string) {
	for _, name := range sortedKeys(w.n.literals) {
		if need[name] && w.n.literals[name].src != w.src && w.types[name] == "" {
			names = append(names, name)
		}
	}
	return names
}

// learnLiterals notes the function literals that the cell's variables hold, and returns their names.
func (w *work) learnLiterals(c *checked) map[string]bool {
	found, others := functionLiterals(c, c.main.Body.List)
	for name := range others {
		delete(w.n.literals, name)
	}
	names := map[string]bool{}
	for name, lit := range found {
		if others[name] {
			continue
		}
		// The literal as the user wrote it, without our edits.
		src, lo, exact := c.user(lit.Pos())
		if !exact || src != w.src {
			continue
		}
		_, hi, _ := c.user(lit.End() - 1)
		if hi++; !parses(w.src.Code[lo:hi]) {
			continue
		}
		w.n.literals[name] = &literal{src: src, lo: lo, hi: hi, order: src.Cell<<20 + lo}
		names[name] = true
	}
	return names
}

func parses(expr string) bool {
	_, err := parser.ParseExpr(expr)
	return err == nil
}

// pollLoops lets an interrupt end a loop with the values kept. Inner loops that call nothing are left alone: a measurement should measure the user's
// code.
func (w *work) pollLoops() {
	poll := func(root ast.Node) {
		var visit func(n ast.Node, polled bool)
		visit = func(n ast.Node, polled bool) {
			ast.Inspect(n, func(m ast.Node) bool {
				var body *ast.BlockStmt
				switch m := m.(type) {
				case *ast.ForStmt:
					body = m.Body
				case *ast.RangeStmt:
					body = m.Body
				case *ast.GoStmt:
					return false
				}
				if body == nil || m == n {
					return true
				}
				here := !polled || calls(body)
				if here {
					w.insert(body.Lbrace+1, keepName+".Poll(); ")
				}
				visit(m, true)
				return false
			})
		}
		visit(root, false)
	}
	if w.usesKeep() {
		poll(w.c.main.Body)
	}
	for _, d := range w.c.file.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd != w.c.main && fd.Body != nil {
			if src, _, exact := w.c.user(fd.Pos()); exact && src == w.src {
				poll(fd.Body)
			}
		}
	}
}

// usesKeep tells before the cell is composed whether it will restore or define anything.
func (w *work) usesKeep() bool {
	if len(w.defs) > 0 {
		return true
	}
	m := w.s.manifest()
	for name := range w.needed(w.c) {
		if _, ok := m.Vars[name]; ok {
			return true
		}
	}
	return false
}

// calls reports whether a block contains a call, or another loop.
func calls(b *ast.BlockStmt) (yes bool) {
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			yes = true
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); !ok || !pureBuiltin[id.Name] {
				yes = true
			}
		case *ast.UnaryExpr:
			yes = yes || n.Op == token.ARROW
		}
		return !yes
	})
	return yes
}

// pureBuiltin are calls that cost next to nothing.
var pureBuiltin = map[string]bool{"len": true, "cap": true, "min": true, "max": true, "float64": true, "float32": true, "int": true, "real": true, "imag": true,
	"uint8": true, "byte": true, "uint32": true, "uint64": true, "int64": true, "int32": true, "append": true}
