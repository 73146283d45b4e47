package rewrite

import (
	"fmt"
	"strings"
	"testing"
)

// A use is what a name means, wherever it stands: the same name may be a field, a key, a label or a local variable.
func TestPieces(t *testing.T) {
	const earlier = "type E struct{ n int }\ntype S struct{ E; k int }\ntype M map[int]int\nfunc f() int { return 1 }\nk, v := 1, 2"
	for _, c := range []struct {
		name, code string
		want       string // the program's own pieces and main with their uses marked, or some of that
	}{
		{"a call", "_ = f() + k", "_ = [f]() + [k]"},
		{"a package", "_ = strings.ToUpper(\"a\")", "_ = [strings.ToUpper=strings](\"a\")"},
		{"a package by another name", "import str \"strings\"\n_ = str.\n\tToUpper(\"a\")", "_ = [str.\n\tToUpper=strings](\"a\")"},
		{"a variable of a package's name", "func g(strings E) int { return strings.n }", "func [g](strings [E]) int { return strings.n }"},
		{"a local variable", "_ = func() int { k := 2; return k }()\n_ = k", "{ k := 2; return k }()\n_ = [k]"},
		{"a parameter", "_ = func(f int) int { return f }(f())", "func(f int) int { return f }([f]())"},
		{"a label", "f:\nfor {\n\tbreak f\n}\n_ = f()", "f:\nfor {\n\tbreak f\n}\n_ = [f]()"},
		{"a field", "s := S{k: k}\n_ = s.k", "[S]{k: [k]}\n_ = [s].k"},
		{"a key", "_ = M{k: v}", "_ = [M]{[k]: [v]}"},
		{"a key of a map in a list", "_ = []map[int]int{{k: v}}", "_ = []map[int]int{{[k]: [v]}}"},
		{"a field of an element", "_ = []S{{k: v}}", "_ = [][S]{{k: [v]}}"},
		{"an embedded type", "_ = S{E: E{n: v}}.E.n", "_ = [S]{[E]: [E]{n: [v]}}.[E].n"},
		{"where its name is a variable's", "_ = func(E int) S { s := S{}; s.E.n = E; return s }(1)", "{ s := [S]{}; s.[E].n = E; return s }(1)"},
		{"that is a package's", "type l struct{ sync.Mutex }\nvar x l\nx.Mutex.Lock()", "[x].Mutex.Lock()"},
		{"a method", "func (s S) f() int { return f() + s.k }", "func (s [S]) f() int { return [f]() + s.k }"},
		{"a type parameter", "func h[k any](x k) k { return x }", "func [h][k any](x k) k { return x }"},
		{"an interface", "type i interface{ f() int }", "type [i] interface{ f() int }"},
		{"itself", "func r(n int) int { return r(n - 1) }", "func [r](n int) int { return [r](n - 1) }"},
		{"constants", "const (\n\ta = iota\n\tb\n)\n_ = a", "const (\n\t[a] = iota\n\t[b]\n)"},
		{"a type switch", "switch k := any(k).(type) {\ncase int:\n\t_ = k\n}", "switch k := any([k]).(type) {\ncase int:\n\t_ = k\n}"},
	} {
		nb := newNotebook(t)
		nb.s = nb.s.Alone()
		nb.run(earlier)
		r := nb.run(c.code)
		if len(r.Errors) > 0 {
			t.Errorf("%s: %v", c.name, r.Errors)
			continue
		}
		pieces, main, err := r.Pieces()
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, p := range append(pieces, main) {
			fmt.Fprintln(&b, p.Renamed(func(u Use) string {
				if u.Path == "" {
					return "[" + u.Name + "]"
				}
				return "[" + p.String()[u.lo:u.hi] + "=" + u.Path + "]"
			}))
		}
		if !strings.Contains(b.String(), c.want) {
			t.Errorf("%s: want %s in\n%s", c.name, c.want, &b)
		}
	}
}
