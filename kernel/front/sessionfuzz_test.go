//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lectern-go/lectern/kernel/jupyter"
)

// TestSessionFuzz types random sequences of declarations, redefinitions, failing and interrupted cells and magics. Afterwards 1+1 works, and every
// variable has its last value, or a note has said why not. It runs for some seconds, with LECTERN_LONG=1 for five minutes.
func TestSessionFuzz(t *testing.T) {
	t.Parallel()
	s := seed(t)
	limit := 8 * time.Second
	if os.Getenv("LECTERN_LONG") != "" {
		limit = 5 * time.Minute
	}
	end := time.Now().Add(limit)
	for round := uint64(0); round == 0 || time.Now().Before(end); round++ {
		f := &sessionFuzz{l: startLab(t), rng: rand.New(rand.NewPCG(s, round)), vars: map[string]string{}}
		if msg := f.round(25, end); msg != "" {
			t.Fatalf("LECTERN_SEED=%d, round %d: %s\nthe cells so far:\n%s", s, round, msg, strings.Join(f.log, "\n===\n"))
		}
		f.l.k.Shutdown(5 * time.Second)
	}
}

// sessionFuzz is a session and what must be known in it.
type sessionFuzz struct {
	l    *lab
	rng  *rand.Rand
	vars map[string]string // the printed value of each variable that must live
	log  []string
	n    int
}

// round types up to n cells and returns what is wrong.
func (f *sessionFuzz) round(n int, end time.Time) string {
	for i := range n {
		if i > 5 && time.Now().After(end) {
			break
		}
		if msg := f.step(); msg != "" {
			return msg
		}
		if f.rng.IntN(5) == 0 {
			if msg := f.check(); msg != "" {
				return msg
			}
		}
	}
	return f.check()
}

// run types a cell. What a note says to be lost need not live.
func (f *sessionFuzz) run(code string, o jupyter.ExecuteOptions) (said, status string) {
	f.log = append(f.log, code)
	o.Timeout = 60 * time.Second
	outs, r, err := f.l.try(code, o)
	if err != nil {
		return err.Error(), "dead"
	}
	said = flat(outs)
	f.log[len(f.log)-1] += "\n--- " + r.Status + " " + strings.TrimSpace(said)
	for name := range f.vars {
		for _, line := range strings.Split(said, "\n") {
			if mentions(line, name) && (strings.Contains(line, "not remembered") || strings.Contains(line, "must be defined again") || strings.Contains(line, "was dropped") ||
				strings.Contains(line, "no longer") || strings.Contains(line, "is lost")) {
				delete(f.vars, name)
			}
		}
	}
	return said, r.Status
}

// mentions reports whether a line has a name as a word.
func mentions(line, name string) bool {
	for _, w := range strings.FieldsFunc(line, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_')
	}) {
		if w == name {
			return true
		}
	}
	return false
}

// check is the invariant.
func (f *sessionFuzz) check() string {
	if said, status := f.run("1+1", jupyter.ExecuteOptions{}); status != "ok" || !strings.Contains(said, "[result]2") {
		return fmt.Sprintf("1+1 does not work: %s %s", status, said)
	}
	for name, want := range f.vars {
		said, status := f.run(fmt.Sprintf("fmt.Println(\"is\", %s)", name), jupyter.ExecuteOptions{})
		if _, lives := f.vars[name]; lives && (status != "ok" || !strings.Contains(said, "is "+want+"\n")) {
			return fmt.Sprintf("%s is not %s: %s %s", name, want, status, said)
		}
	}
	return ""
}

// step types one random cell and notes what it has changed.
func (f *sessionFuzz) step() string {
	f.n++
	names := []string{"a", "b", "x", "count", "data"}
	name := names[f.rng.IntN(len(names))]
	value := fmt.Sprint(f.n * 3)
	steps := ""
	if f.rng.IntN(5) == 0 {
		steps = "//step\n"
	}
	ok := func(code string) (string, bool) {
		said, status := f.run(code, jupyter.ExecuteOptions{})
		if status != "ok" {
			return fmt.Sprintf("%q must work: %s %s", code, status, said), false
		}
		return "", true
	}
	declared := func(code string) string { // name is a variable with value
		delete(f.vars, name)
		msg, good := ok(code)
		if good {
			f.vars[name] = value
		}
		return msg
	}
	gone := func(code string) string { // name is something else
		delete(f.vars, name)
		msg, _ := ok(code)
		return msg
	}
	switch f.rng.IntN(19) {
	case 0, 1, 2:
		return declared(fmt.Sprintf("%s%s := %s", steps, name, value))
	case 3:
		return declared(fmt.Sprintf("var %s = %q", name, value))
	case 4:
		return declared(fmt.Sprintf("const %s = %s", name, value))
	case 5:
		return gone(fmt.Sprintf("func %s() int { return %s }", name, value))
	case 6:
		return gone(fmt.Sprintf("type %s struct{ N int }", name))
	case 7:
		value = "[" + value + " 2]"
		return declared(fmt.Sprintf("%s%s := []int{%s, 2}", steps, name, strings.Fields(value[1:])[0]))
	case 8: // a type and a variable of it
		value = "{" + value + " s}"
		return declared(fmt.Sprintf("type t%s struct { N int; S string }\n%s := t%s{%s, \"s\"}", name, name, name, strings.Fields(value[1:])[0]))
	case 9:
		f.run("undefinedName(1)", jupyter.ExecuteOptions{})
	case 10:
		f.run("var i int = \"s\"", jupyter.ExecuteOptions{})
	case 11:
		f.run("func broken( {", jupyter.ExecuteOptions{})
	case 12: // a panic keeps what was set before it
		delete(f.vars, name)
		if _, status := f.run(fmt.Sprintf("%s := %s\npanic(\"stop\")", name, value), jupyter.ExecuteOptions{}); status != "error" {
			return "a panic is no error"
		}
		f.vars[name] = value
	case 13:
		msg, _ := ok([]string{"!true", "%ls", "!echo text", "!*pwd"}[f.rng.IntN(4)])
		return msg
	case 14:
		if _, status := f.run("!false", jupyter.ExecuteOptions{}); status != "error" {
			return "!false is no error"
		}
	case 15:
		delete(f.vars, name)
		f.run("%rm "+name, jupyter.ExecuteOptions{})
	case 16:
		if f.rng.IntN(4) == 0 {
			clear(f.vars)
			msg, _ := ok("%reset")
			return msg
		}
		f.run([]string{"strings := 1", "len := 3", "import str \"strings\"", "func flag() {}", "type error2 error", "import s \"strings\"\ns.ToUpper(\"a\")"}[f.rng.IntN(6)], jupyter.ExecuteOptions{})
		msg, _ := ok("%rm strings len flag")
		return msg
	case 17: // an interrupt keeps what was set before it
		delete(f.vars, name)
		first := true
		_, status := f.run(fmt.Sprintf("%s := %s\nfmt.Println(\"go\")\nfor { time.Sleep(time.Millisecond) }", name, value), jupyter.ExecuteOptions{Output: func(m *jupyter.Message) {
			if m.Header.Type == "stream" && first {
				first = false
				f.l.k.Interrupt()
			}
		}})
		if status != "error" {
			return "an interrupt is no error"
		}
		f.vars[name] = value
	case 18:
		msg, _ := ok(fmt.Sprintf("%sfor i := range 3 {\n\t_ = i\n}\nfmt.Println(\"loop\")", steps))
		return msg
	}
	return ""
}
