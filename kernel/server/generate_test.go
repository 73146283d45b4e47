//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A generator writes random programs that compile and end: variables of some types, loops, closures, slices that share
// memory, maps and structs. Every name is used, and every program prints all its variables after each step.
type generator struct {
	rng  *rand.Rand
	top  strings.Builder
	main strings.Builder
	n    int
	vars map[string][]string // names by type
}

// generate returns a program without its package clause.
func generate(rng *rand.Rand) string {
	g := &generator{rng: rng, vars: map[string][]string{}}
	fmt.Fprintf(&g.top, "import \"fmt\"\n\ntype rec struct {\n\tn int\n\ts []int\n\tnext *rec\n}\n\nfunc (r *rec) add(n int) int { r.n += n; return r.n }\n\nfunc (r rec) get() int { return r.n }\n")
	for range 1 + rng.IntN(2) {
		g.function()
	}
	g.declare("int", fmt.Sprint(rng.IntN(10)))
	g.declare("[]int", "[]int{1, 2, 3, 4}")
	for range 5 + rng.IntN(8) {
		g.step()
		if g.rng.IntN(2) == 0 {
			g.show()
		}
	}
	g.show()
	return g.top.String() + "\nfunc main() {\n" + g.main.String() + "}"
}

func (g *generator) name(prefix string) string {
	g.n++
	return fmt.Sprint(prefix, g.n)
}

func (g *generator) pick(typ string) string {
	if list := g.vars[typ]; len(list) > 0 {
		return list[g.rng.IntN(len(list))]
	}
	return ""
}

func (g *generator) stmt(format string, args ...any) {
	fmt.Fprintf(&g.main, "\t"+format+"\n", args...)
}

// function declares a function of the package that makes closures or uses a variable of the package.
func (g *generator) function() {
	f, v := g.name("f"), g.name("p")
	switch g.rng.IntN(3) {
	case 0:
		fmt.Fprintf(&g.top, "\nfunc %s(step int) func() int {\n\tn := %d\n\treturn func() int { n += step; return n }\n}\n", f, g.rng.IntN(9))
		g.vars["maker"] = append(g.vars["maker"], f)
	case 1:
		fmt.Fprintf(&g.top, "\nvar %s = %d\n\nfunc %s(x int) int { %s += x; return %s * %d }\n", v, g.rng.IntN(9), f, v, v, 1+g.rng.IntN(3))
		g.vars["int"] = append(g.vars["int"], v)
		g.vars["func(int) int"] = append(g.vars["func(int) int"], f)
	case 2:
		fmt.Fprintf(&g.top, "\nfunc %s(xs []int, f func(int) int) (r int) {\n\tfor i := range xs {\n\t\txs[i] = f(xs[i]) %% 1000\n\t\tr += xs[i]\n\t}\n\treturn\n}\n", f)
		g.vars["over"] = append(g.vars["over"], f)
	}
}

// declare makes a variable, in one of the forms that Go has.
func (g *generator) declare(typ, value string) string {
	v := g.name("v")
	switch g.rng.IntN(3) {
	case 0:
		g.stmt("var %s %s = %s", v, typ, value)
	case 1:
		g.stmt("var %s = %s", v, value)
	default:
		g.stmt("%s := %s", v, value)
	}
	g.vars[typ] = append(g.vars[typ], v)
	return v
}

// number writes an expression of type int.
func (g *generator) number() string {
	switch g.rng.IntN(5) {
	case 0:
		return g.pick("int")
	case 1:
		return fmt.Sprintf("(%s + %d)", g.pick("int"), g.rng.IntN(5))
	case 2:
		return fmt.Sprintf("len(%s)", g.pick("[]int"))
	case 3:
		if r := g.pick("*rec"); r != "" {
			return r + ".get()"
		}
	}
	return fmt.Sprint(g.rng.IntN(20))
}

// step writes a statement.
func (g *generator) step() {
	switch g.rng.IntN(14) {
	case 0:
		g.declare("int", g.number()+" % 1000")
	case 1:
		g.declare("[]int", g.pick("[]int")+"[:1]")
	case 2:
		s := g.pick("[]int")
		g.stmt("%s = append(%s, %s)", g.pick("[]int"), s, g.number())
	case 3:
		g.declare("map[string]int", fmt.Sprintf("map[string]int{\"a\": %s}", g.number()))
	case 4:
		if m := g.pick("map[string]int"); m != "" {
			g.stmt("%s[%q] += %s", m, string(rune('a'+g.rng.IntN(4))), g.number())
		}
	case 5:
		x := g.pick("int")
		g.declare("func() int", fmt.Sprintf("func() int { %s = (%s + %d) %% 1000; return %s }", x, x, 1+g.rng.IntN(9), x))
	case 6:
		x := g.pick("int")
		g.declare("func(int) int", fmt.Sprintf("func(a int) int { return (a*%d + %s) %% 1000 }", 1+g.rng.IntN(4), x))
	case 7:
		if f := g.pick("maker"); f != "" {
			g.declare("func() int", fmt.Sprintf("%s(%d)", f, 1+g.rng.IntN(5)))
		}
	case 8:
		if f := g.pick("func() int"); f != "" {
			g.stmt("fmt.Println(%q, %s())", f, f)
		}
	case 9:
		f, o := g.pick("func(int) int"), g.pick("over")
		if f != "" && o != "" {
			g.stmt("fmt.Println(%s(%s, %s))", o, g.pick("[]int"), f)
		}
	case 10:
		next := g.pick("*rec")
		if next == "" {
			next = "nil"
		}
		g.declare("*rec", fmt.Sprintf("&rec{n: %s, s: %s, next: %s}", g.number(), g.pick("[]int"), next))
	case 11:
		if r := g.pick("*rec"); r != "" {
			if g.rng.IntN(2) == 0 {
				g.declare("func(int) int", r+".add")
			} else {
				g.declare("func() int", r+".get")
			}
		}
	case 12:
		x, s := g.pick("int"), g.pick("[]int")
		g.stmt("for i, v := range %s {\n\t\tif v%%2 == %d {\n\t\t\tcontinue\n\t\t}\n\t\t%s = (%s + v*i) %% 1000\n\t}", s, g.rng.IntN(2), x, x)
	case 13:
		if f := g.pick("func() int"); f != "" {
			h := g.name("h")
			g.stmt("%s := map[string]func() int{\"x\": %s, \"y\": func() int { return %s + 1 }}", h, f, g.pick("int"))
			g.stmt("fmt.Println(%s[\"x\"](), %s[\"y\"](), len(%s))", h, h, h)
		}
	}
}

// show prints every variable.
func (g *generator) show() {
	for _, typ := range []string{"int", "[]int", "map[string]int"} {
		if list := g.vars[typ]; len(list) > 0 {
			g.stmt("fmt.Println(%s)", strings.Join(list, ", "))
		}
	}
	for _, s := range g.vars["[]int"] {
		g.stmt("fmt.Print(cap(%s), \" \")", s)
	}
	for _, r := range g.vars["*rec"] {
		g.stmt("fmt.Print(%s.n, %s.s, %s.next == nil, \" \")", r, r, r)
	}
	for _, f := range g.vars["func() int"] {
		g.stmt("fmt.Print(%s != nil, \" \")", f)
	}
	for _, f := range g.vars["func(int) int"] {
		g.stmt("fmt.Print(%s(0), \" \")", f)
	}
	g.stmt("fmt.Println()")
}
