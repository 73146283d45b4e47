//go:build unix

package main

import (
	"strings"
	"testing"
)

const openGuess = "import (\n\"fmt\"\n\"github.com/lectern-go/lectern/notebooks/lesson\"\n\"github.com/lectern-go/lectern/kernel/show\"\n)\n\n" +
	"x := 42\nfmt.Println(\"before\")\nlesson.Guess(\"What is x?\", %s, x)\nfmt.Println(\"x <is>\", x)\nshow.SVG(`<svg xmlns=\"http://www.w3.org/2000/svg\"/>`)\nx"

// TestFold: in a working copy, what comes out after an open question is behind a line; with a
// guess, and elsewhere, it is not.
func TestFold(t *testing.T) {
	t.Parallel()
	bin, err := tools()
	need(t, err)
	dir := t.TempDir()
	for _, c := range []struct {
		name, copies, guess string
		folded              bool
	}{
		{"open", dir, "nil", true},
		{"of a wrong type", dir, "`many`", true},
		{"guessed", dir, "42", false},
		{"elsewhere", t.TempDir(), "nil", false},
	} {
		l := startLabIn(t, bin, dir, []string{copiesVar + "=" + c.copies})
		outs, r := l.run(strings.Replace(openGuess, "%s", c.guess, 1))
		if r.Status != "ok" {
			t.Fatalf("%s: %s", c.name, flat(outs))
		}
		all := flat(outs)
		if !strings.HasPrefix(all, "[stdout]before\n[display]") {
			t.Errorf("%s: what comes before the question is not folded: %s", c.name, all)
		}
		if folded := !strings.Contains(all, "[stdout]x <is> 42"); folded != c.folded {
			t.Fatalf("%s: folded is %v: %s", c.name, folded, all)
		}
		if !c.folded {
			continue
		}
		shown, _ := outs[len(outs)-1].data["text/html"].(string)
		if len(outs) != 3 || !strings.HasPrefix(shown, "<details><summary") || strings.Contains(shown, "<details open") {
			t.Fatalf("%s: %d outputs, the last is %s", c.name, len(outs), shown)
		}
		at := 0
		for _, part := range []string{"What came out", "<pre>x &lt;is&gt; 42\n</pre>", "data:image/svg+xml;base64,", "<pre>42"} {
			i := strings.Index(shown[at:], part)
			if i < 0 {
				t.Fatalf("%s: %q is not in its place: %s", c.name, part, shown)
			}
			at += i
		}
		if outs, _ := l.run("x + 1"); flat(outs) != "[result]43" {
			t.Errorf("the next cell: %s", flat(outs))
		}
		if outs, r := l.run("lesson.Guess(\"And 1/x?\", nil, 1.5)\nfmt.Println(\"seen\")\nvar none []int\nnone[0]++"); r.Status != "error" || !strings.Contains(flat(outs), "index out of range") ||
			!strings.Contains(flat(outs), "seen") || strings.Contains(flat(outs), "[stdout]") {
			t.Errorf("a panic after an open question: %s", flat(outs))
		}
	}
}
