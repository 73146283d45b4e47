//go:build unix

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/jupyter"
)

// TestSessionFuzz types random cells: declarations of each kind, redefinitions, changes of values under several names,
// magics, shell lines, cells that fail, are interrupted or end by force. A model says what every name must be. Now and
// then, and at the end, 1+1 works, every name is what it must be, or a note has said why not, and no note has said so
// without a reason. Some sessions are tried, with LECTERN_LONG=1 many.
func TestSessionFuzz(t *testing.T) {
	t.Parallel()
	s := seed(t)
	rounds, cells := 1, 16
	if long() {
		rounds, cells = 100, 40
	}
	for round := range uint64(rounds) {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			f := &sessionFuzz{l: startLab(t), rng: rand.New(rand.NewPCG(s, round)), names: map[string]*named{}}
			if msg := f.session(cells); msg != "" {
				t.Fatalf("LECTERN_SEED=%d, session %d: %s\nthe cells so far:\n%s", s, round, msg, strings.Join(f.log, "\n===\n"))
			}
		})
	}
}

// A named is what the model knows of a name.
type named struct {
	kind string // of nameKinds
	n    *int   // of an int; of a pointer and a closure the int that they share with others
	s    string
	list *[]int
	dict map[string]int
	uses string // the name that a function, a pointer or a struct depends on; of a function also when its value is not known
	lost bool   // nothing is known of it: that has been said, or follows from what was said
	idle bool   // a function or closure that lacks the name it uses, until that is there again
}

// sessionFuzz is a session and its model.
type sessionFuzz struct {
	l     *lab
	rng   *rand.Rand
	names map[string]*named
	n     int
	log   []string
}

// fuzzNames are the names that cells declare: some mean something to Go already.
var fuzzNames = []string{"ab", "bc", "cd", "x", "count", "data", "len", "strings", "flag", "max"}

// value writes what a name must print as, and how it is asked; "" if nothing is known.
func (e *named) value(name string) (ask, want string) {
	if e.lost {
		return "", ""
	}
	switch e.kind {
	case "int", "const":
		return name, fmt.Sprint(*e.n)
	case "string":
		return name, e.s
	case "slice":
		return fmt.Sprintf("%s, cap(%s)", name, name), fmt.Sprint(*e.list, cap(*e.list))
	case "map":
		return name, fmt.Sprint(e.dict)
	case "pointer":
		return "*" + name, fmt.Sprint(*e.n)
	case "closure": // it counts
		*e.n++
		return name + "()", fmt.Sprint(*e.n)
	case "func", "reader":
		return name + "()", fmt.Sprint(*e.n)
	case "type":
		return name + "{3, 4}", "{3 4}"
	case "struct", "any":
		return name, fmt.Sprintf("{%d 7}", *e.n)
	}
	return "", ""
}

// An act is a part of a cell, and what it makes of the model.
type act struct {
	code     string
	apply    func()
	names    []string // that it uses: first the one that it declares or changes
	declares string   // the kind that the first becomes, or "" if it stays the same
}

// session types n cells or so and returns the mistakes of the kernel.
func (f *sessionFuzz) session(n int) string {
	for i := range n {
		if msg := f.cell(); msg != "" {
			return msg
		}
		if i%6 == 5 || i == n-1 {
			if msg := f.check(); msg != "" {
				return msg
			}
		}
	}
	return ""
}

// run types a cell and reads the notes about lost variables, of which those names may be that are given.
func (f *sessionFuzz) run(code string, o jupyter.ExecuteOptions, mayLose ...string) (said, status, wrong string) {
	f.log = append(f.log, code)
	o.Timeout = patience
	outs, r, err := f.l.try(code, o)
	if err != nil {
		return "", "dead", fmt.Sprintf("%q: %v", code, err)
	}
	said = flat(outs)
	f.log[len(f.log)-1] += "\n--- " + r.Status + " " + strings.TrimSpace(said)
	if strings.Contains(said, "istake of Lectern") || strings.Contains(said, "please report") {
		return said, r.Status, "the kernel blames itself: " + said
	}
	for line := range strings.Lines(said) {
		if !strings.Contains(line, "note: ") || !strings.Contains(line, "not remembered") && !strings.Contains(line, "must be defined again") {
			continue
		}
		for name, e := range f.names {
			if mentions(line, name) && !e.lost {
				if !slices.Contains(mayLose, name) {
					return said, r.Status, fmt.Sprintf("%s is lost for no reason: %s", name, line)
				}
				f.set(name, &named{lost: true})
			}
		}
	}
	return said, r.Status, ""
}

// mentions reports whether a line has a name as a word.
func mentions(line, name string) bool {
	return slices.Contains(strings.FieldsFunc(line, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_')
	}), name)
}

// check is the invariant.
func (f *sessionFuzz) check() string {
	said, status, wrong := f.run("1+1", jupyter.ExecuteOptions{})
	if wrong != "" || status != "ok" || !strings.Contains(said, "[result]2") {
		return fmt.Sprintf("1+1 does not work: %s %s %s", status, said, wrong)
	}
	var asks, wants []string
	for _, name := range slices.Sorted(maps.Keys(f.names)) {
		if ask, want := f.names[name].value(name); ask != "" {
			asks, wants = append(asks, fmt.Sprintf("fmt.Println(%q, %s)", name+" is", ask)), append(wants, name+" is "+want+"\n")
		}
	}
	if len(asks) == 0 {
		return ""
	}
	said, status, wrong = f.run(strings.Join(asks, "\n"), jupyter.ExecuteOptions{})
	if want := "[stdout]" + strings.Join(wants, ""); wrong != "" || status != "ok" || said != want {
		return fmt.Sprintf("the names are not what they must be, but %s %q, want %q; %s", status, said, want, wrong)
	}
	return ""
}

// set gives a name a meaning. What depends on the one before is no longer known.
func (f *sessionFuzz) set(name string, e *named) {
	for other, o := range f.names {
		if other == name || o.uses != name {
			continue
		}
		if o.kind == "reader" && !o.lost && (e.kind == "int" || e.kind == "const") {
			o.n = e.n
		} else {
			fits := e.kind == "int" || e.kind == "const" && o.kind == "reader"
			f.names[other] = &named{kind: o.kind, uses: o.uses, lost: true, idle: o.idle && !fits}
		}
	}
	f.names[name] = e
}

// pick returns a name of one of the kinds that is none of the others, or "".
func (f *sessionFuzz) pick(kind string, not ...string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(f.names)) {
		if e := f.names[name]; e.kind == kind && !e.lost && !slices.Contains(not, name) {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return list[f.rng.IntN(len(list))]
}

// declare is a cell's part that gives a name a new meaning.
func (f *sessionFuzz) declare(name string, taken []string) (a act) {
	f.n++
	n := f.n
	a.names = []string{name}
	is := func(format string, e *named) act {
		a.code = strings.ReplaceAll(fmt.Sprintf(format, n), "NAME", name)
		a.apply = func() { f.set(name, e) }
		a.declares = e.kind
		if e.uses != "" {
			a.names = append(a.names, e.uses)
		}
		return a
	}
	switch f.rng.IntN(18) {
	case 0, 1:
		return is("NAME := %d", &named{kind: "int", n: &n})
	case 2:
		return is("var NAME = %d", &named{kind: "int", n: &n})
	case 3:
		return is("var NAME int = %d", &named{kind: "int", n: &n})
	case 4:
		return is("NAME := \"s%d\"", &named{kind: "string", s: fmt.Sprint("s", n)})
	case 5, 6:
		return is("const NAME = %d", &named{kind: "const", n: &n})
	case 7:
		return is("func NAME() int { return %d }", &named{kind: "func", n: &n})
	case 8, 9:
		a := is([]string{"type NAME struct{ N, M%d int }", "type NAME struct{ N float64; M%d int }"}[n%2], &named{kind: "type"})
		if n%3 == 0 {
			a.code += strings.ReplaceAll("\nfunc (x NAME) Twice() int { return 2 * int(x.N) }", "NAME", name)
		}
		return a
	case 10, 11:
		list := []int{n, 2, 3}
		return is("NAME := []int{%d, 2, 3}", &named{kind: "slice", list: &list})
	case 12:
		return is("NAME := map[string]int{\"a\": %d}", &named{kind: "map", dict: map[string]int{"a": n}})
	}
	taken = append(taken, name)
	switch f.rng.IntN(7) {
	case 6: // which assigns to another, since this one is new
		other, old := f.pick("int", taken...), f.names[name]
		if other != "" && (old == nil || !old.lost && slices.Contains([]string{"string", "slice", "map"}, old.kind)) {
			a = is(other+", NAME := %[1]d, %[1]d", &named{kind: "int", n: &n})
			a.names = append(a.names, other)
			a.apply = func() {
				*f.names[other].n = n
				mine := n
				f.set(name, &named{kind: "int", n: &mine})
			}
			return a
		}
	case 0:
		if other := f.pick("int", taken...); other != "" {
			return is("NAME := &"+other+" // %d", &named{kind: "pointer", n: f.names[other].n, uses: other})
		}
	case 1:
		if other := f.pick("int", taken...); other != "" {
			return is("NAME := func() int { "+other+"++; return "+other+" } // %d", &named{kind: "closure", n: f.names[other].n, uses: other})
		}
	case 2:
		if other := f.pick("int", append(taken, "len", "max")...); other != "" { // functions go on seeing Go's own
			return is("func NAME() int { return "+other+" } // %d", &named{kind: "reader", n: f.names[other].n, uses: other})
		}
	case 3:
		if other := f.pick("type", taken...); other != "" {
			return is("NAME := "+other+"{%d, 7}", &named{kind: "struct", n: &n, uses: other})
		}
	case 4:
		if other := f.pick("type", taken...); other != "" {
			return is("var NAME any = "+other+"{%d, 7}", &named{kind: "any", n: &n, uses: other})
		}
	case 5: // a slice of the same array
		if other := f.pick("slice", taken...); other != "" {
			list := *f.names[other].list
			if cut := f.rng.IntN(2) + 1; len(list) >= cut {
				a = is(fmt.Sprintf("NAME := %s[:%d] // %%d", other, cut), &named{kind: "slice", uses: other})
				a.apply = func() {
					list := (*f.names[other].list)[:cut]
					f.set(name, &named{kind: "slice", list: &list})
				}
				return a
			}
		}
	}
	return is("NAME := %d", &named{kind: "int", n: &n})
}

// change is a cell's part that changes a value in place; it may not be possible.
func (f *sessionFuzz) change(taken []string) (a act, ok bool) {
	f.n++
	n := f.n
	kind := []string{"int", "pointer", "slice", "slice", "map", "string"}[f.rng.IntN(6)]
	name := f.pick(kind, taken...)
	if name == "" {
		return a, false
	}
	e := f.names[name]
	a.names = []string{name, e.uses}
	is := func(code string, apply func()) (act, bool) {
		a.code, a.apply = strings.ReplaceAll(code, "NAME", name), apply
		return a, true
	}
	switch kind {
	case "int":
		if f.rng.IntN(2) == 0 {
			return is("for i := range 3 {\n\tNAME += i\n}", func() { *e.n += 3 })
		}
		return is("NAME++", func() { *e.n++ })
	case "pointer":
		return is(fmt.Sprintf("*NAME = %d", n), func() { *e.n = n })
	case "slice":
		if f.rng.IntN(2) == 0 {
			return is(fmt.Sprintf("NAME = append(NAME, %d)", n), func() { *e.list = append(*e.list, n) })
		}
		return is(fmt.Sprintf("NAME[0] = %d", n), func() { (*e.list)[0] = n })
	case "map":
		return is(fmt.Sprintf("NAME[\"k%d\"] = %d", n%3, n), func() { e.dict[fmt.Sprint("k", n%3)] = n })
	}
	return is("NAME += \"+\"", func() { e.s += "+" })
}

// acts makes the parts of a cell; none uses what another changes.
func (f *sessionFuzz) acts() (list []act, names []string) {
	for range 1 + f.rng.IntN(3) {
		var a act
		ok := true
		if f.rng.IntN(3) == 0 {
			a, ok = f.change(names)
		} else if name := fuzzNames[f.rng.IntN(len(fuzzNames))]; slices.Contains(names, name) {
			ok = false
		} else {
			a = f.declare(name, names)
		}
		if !ok || slices.ContainsFunc(a.names, func(n string) bool { return n != "" && slices.Contains(names, n) }) {
			continue
		}
		list, names = append(list, a), append(names, a.names...)
	}
	return list, names
}

// cell types one random cell and notes what it has changed.
func (f *sessionFuzz) cell() string {
	ok := func(code string, mayLose ...string) string {
		said, status, wrong := f.run(code, jupyter.ExecuteOptions{}, mayLose...)
		if wrong == "" && status != "ok" {
			wrong = fmt.Sprintf("%q must work: %s %s", code, status, said)
		}
		return wrong
	}
	fails := func(code string, mayLose ...string) string {
		_, status, wrong := f.run(code, jupyter.ExecuteOptions{}, mayLose...)
		if wrong == "" && status != "error" {
			wrong = fmt.Sprintf("%q must fail", code)
		}
		return wrong
	}
	pickOf := func(list ...string) string { return list[f.rng.IntN(len(list))] }
	list, names := f.acts()
	var lines []string
	for _, a := range list {
		lines = append(lines, a.code)
	}
	code := strings.Join(lines, "\n")
	apply := func() {
		for _, a := range list {
			a.apply()
		}
	}
	kind := f.rng.IntN(22)
	if f.refused(list) != "" {
		kind = -1
	}
	switch kind {
	case 0: // does not compile: nothing happens
		return fails(code + "\n" + pickOf("undefinedName(1)", "var i int = \"s\"", "func broken( {", "return 1, 2", "import \"no/such/package\""))
	case 1: // a panic keeps what was set before it
		apply()
		return fails(code + "\npanic(\"stop\")")
	case 2:
		apply()
		return f.interrupted(code)
	case 3: // an end by force: what was there before is there again, but for new variables
		before := f.names
		f.names = maps.Clone(before)
		for _, n := range names {
			f.names[n] = &named{lost: true}
		}
		changed := false
		for _, a := range list { // in place, or what others depend on: the model has no way back
			for _, n := range a.names {
				changed = changed || n != "" && before[n] != nil
			}
		}
		if changed || code == "" {
			f.names = before
			return fails("os.Exit(3)")
		}
		wrong := fails(code+"\nos.Exit(3)", names...)
		for _, n := range names {
			f.names[n] = &named{lost: true}
		}
		return wrong
	case 4:
		return ok(pickOf("!true", "!echo text", "%ls", "!*pwd", "%vars", "%env FUZZ=1", "%cd .", "%%bash\necho bash", "%fallbacks"))
	case 5:
		return fails(pickOf("!false", "%noSuchMagic", "%%bash\nexit 3", "!noSuchProgram"))
	case 6:
		apply()
		return ok("!echo before\n" + code)
	case 7, 8:
		name := fuzzNames[f.rng.IntN(len(fuzzNames))]
		if f.names[name] == nil {
			return ""
		}
		f.set(name, &named{lost: true})
		delete(f.names, name)
		for other, o := range f.names { // a function that lacks something does no harm
			if o.uses == name {
				f.names[other] = &named{kind: o.kind, uses: name, lost: true, idle: true}
			}
		}
		_, status, wrong := f.run("%rm "+name, jupyter.ExecuteOptions{})
		if wrong == "" && status != "ok" {
			wrong = "%rm fails"
		}
		if wrong == "" && !slices.Contains([]string{"len", "strings", "flag", "max"}, name) {
			wrong = fails("fmt.Println(" + name + ")")
		}
		return wrong
	case 9:
		if f.rng.IntN(4) == 0 {
			clear(f.names)
			return ok("%reset")
		}
	case 10, 11:
		apply()
		return ok("//step\n"+code, names...)
	case 12: // the same cell twice: what it changes in place it changes twice, so only declarations
		if len(list) == 1 && f.names[list[0].names[0]] == nil {
			apply()
			if wrong := ok(code); wrong != "" {
				return wrong
			}
			list[0].apply()
			return ok(code)
		}
	}
	if why := f.refused(list); why != "" {
		said, status, wrong := f.run(code, jupyter.ExecuteOptions{})
		if wrong == "" && (status != "error" || !strings.Contains(said, why)) {
			wrong = fmt.Sprintf("it must be refused with %q: %s %s", why, status, said)
		}
		return wrong
	}
	apply()
	return ok(code)
}

// refused returns the message for a cell that the kernel does not take although Go might: it declares one of Go's own
// names, or makes something else of a name that a function of an earlier cell needs.
func (f *sessionFuzz) refused(list []act) string {
	anew := map[string]bool{}
	for _, a := range list {
		name := a.names[0]
		anew[name] = a.declares != ""
		if (name == "len" || name == "max") && slices.Contains([]string{"const", "func", "reader", "type"}, a.declares) {
			return "one of Go's own names"
		}
	}
	for _, a := range list {
		for other, o := range f.names {
			if o.uses == a.names[0] && !o.idle && !anew[other] && (o.kind == "closure" || o.kind == "reader") && a.declares != "" && a.declares != "int" && !(o.kind == "reader" && a.declares == "const") {
				return "still uses the earlier one"
			}
		}
	}
	return ""
}

// interrupted types a cell that ends because it is interrupted: what was set before that stays.
func (f *sessionFuzz) interrupted(code string) string {
	said, status, wrong := f.run(code+"\nfmt.Println(\"go\")\nfor {\n}", jupyter.ExecuteOptions{Output: func(m *jupyter.Message) {
		var c struct{ Name, Text string }
		if m.Header.Type == "stream" && m.DecodeContent(&c) == nil && c.Name == "stdout" && strings.Contains(c.Text, "go") {
			f.l.k.Interrupt()
		}
	}})
	if wrong == "" && status != "error" {
		wrong = "an interrupt is no error: " + said
	}
	return wrong
}
