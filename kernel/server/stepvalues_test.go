//go:build unix

package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/internal/report"
)

// asked is a line of the cells in testdata/stepvalues.txt that asks for variables.
var asked = regexp.MustCompile(`(?m)^(\s*)\?([\w ]+)$`)

// TestStepsShowWhatIsThere compares the variables that a reader sees with what the cell itself prints of them: a line
// ?a b prints both, and before that step both have to be the values that are printed then.
func TestStepsShowWhatIsThere(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/stepvalues.txt")
	if err != nil {
		t.Fatal(err)
	}
	l := startLab(t)
	word := os.Getenv("LECTERN_GROUP")
	for _, g := range strings.Split(string(b), "\n### ")[1:] {
		name, code, _ := strings.Cut(strings.TrimRight(g, "\n"), "\n")
		if !strings.Contains(name, word) {
			continue
		}
		l.run("%reset")
		if earlier, last, ok := strings.Cut(code, "\n===\n"); ok {
			l.run(earlier)
			code = last
		}
		questions := 0
		program := asked.ReplaceAllStringFunc(code, func(line string) string {
			m := asked.FindStringSubmatch(line)
			var args []string
			for _, v := range strings.Fields(m[2]) {
				questions++
				args = append(args, fmt.Sprintf(`"\x02%s\x1f", show.Format(%s)`, v, v))
			}
			return m[1] + "fmt.Print(" + strings.Join(args, ", ") + ")"
		})
		outs, record, r := l.steps(program)
		if r.Status != "ok" || record == nil {
			t.Errorf("%s: %s %s %s", name, r.Status, r.EValue, flat(outs))
			continue
		}
		answered := 0
		for i, e := range record.Steps {
			for _, pair := range strings.Split(e.Out, "\x02")[1:] {
				v, text, _ := strings.Cut(pair, "\x1f")
				want := humanize.Shorten(strings.Join(strings.Fields(text), " "), 160)
				answered++
				if got := seen(record, i, v); got != want {
					line := strings.TrimSpace(strings.Split(code, "\n")[e.Line-1])
					t.Errorf("%s: line %d, %s: a reader sees %s = %s, and it is %s", name, e.Line, line, v, got, want)
				}
			}
		}
		if answered < questions {
			t.Errorf("%s: %d of %d questions are answered", name, answered, questions)
		}
	}
}

// seen is a variable before step i, as the script of a page finds it where that step stands.
func seen(r *report.Record, i int, name string) string {
	inside := func(block, other int) bool {
		for block != other && block > 0 {
			block = r.Scopes[block-1]
		}
		return block == other
	}
	type frame map[string]report.StepVar
	cell, goroutines := frame{}, map[int][]frame{}
	leave := func(f frame, block int) {
		for key, v := range f {
			if !inside(block, v.Scope) {
				delete(f, key)
			}
		}
	}
	for j, e := range r.Steps[:i+1] {
		if goroutines[e.Where] == nil {
			goroutines[e.Where] = []frame{cell}
		}
		frames := goroutines[e.Where]
		switch {
		case e.Kind == "leave":
			goroutines[e.Where] = frames[:len(frames)-1]
			continue
		case e.Kind == "enter":
			frames = append(frames, frame{})
			goroutines[e.Where] = frames
		}
		if e.Kind != "begin" {
			leave(frames[e.Frame], e.Scope)
		}
		for _, v := range e.Vars {
			if j < i {
				frames[v.Frame][fmt.Sprint(v.Scope, " ", v.Name)] = v
			}
		}
	}
	e := r.Steps[i]
	frames := goroutines[e.Where]
	for d := e.Frame; d >= 0; d-- { // a function that is called by another one does not see what that declares, but then it asks for nothing there
		best := report.StepVar{Scope: -1}
		for _, v := range frames[d] {
			if v.Name == name && (best.Scope < 0 || inside(v.Scope, best.Scope)) {
				best = v
			}
		}
		if best.Scope >= 0 {
			return best.Text
		}
	}
	return "nothing"
}
