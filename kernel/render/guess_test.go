package render

import (
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/notebook"
)

// asked is an output of lesson.Guess.
func asked(fields map[string]any) *notebook.Output {
	return &notebook.Output{Type: "display_data", Data: notebook.Object{notebook.GuessType: fields, "text/plain": "? how many: put your guess in place of nil"}}
}

func askNumber(answer float64) map[string]any {
	return map[string]any{"question": "how many `bytes` <now>", "kind": "number", "answer": answer, "shown": "128 bytes", "why": "4 each."}
}

// What follows a question stands in one box up to the next heading, fold or exercise; a question in the box has one of
// its own.
func TestGuess(t *testing.T) {
	got := article(t, md("t", "# T"), code("g", "lesson.Guess()", display("text/plain", "drawn"), asked(askNumber(128))), md("a", "so it is"), code("b", "more()"),
		md("h", "## Next"), code("g2", "lesson.Guess()", asked(askNumber(2))), code("g3", "lesson.Guess()", asked(askNumber(3))), md("x", "told"), md("p", "python", "pytorch"), md("z", "end"))
	want(t, got, `data-guess="{&#34;question&#34;:`, "&#34;answer&#34;:128", "<b>Guess</b> how many <code>bytes</code> &lt;now&gt;</p>", "<b>Answer</b> 128 bytes. 4 each.</p>", "<pre>drawn")
	wantNot(t, got, "in place of nil")
	if opened, closed := strings.Count(got, "<div"), strings.Count(got, "</div>"); opened != closed {
		t.Errorf("%d boxes are opened and %d closed", opened, closed)
	}
	// The outline: the text in a box of answers stands in brackets.
	outline := ""
	got = boxEnds(got)
	for _, part := range []struct{ mark, sign string }{{`<div class="after">`, "["}, {`id="cell-g"`, "g"}, {"<pre>drawn", "o"}, {`id="cell-a"`, "a"}, {`id="cell-b"`, "b"}, {`id="cell-h"`, "h"},
		{`id="cell-g2"`, "2"}, {`id="cell-g3"`, "3"}, {`id="cell-x"`, "x"}, {`<details class="fold pytorch"`, "p"}, {`id="cell-z"`, "z"}} {
		got = strings.ReplaceAll(got, part.mark, "\x01"+part.sign)
	}
	for _, part := range strings.Split(got, "\x01")[1:] {
		outline += part[:1]
	}
	if outline != "g[o][ab]h2[3[x]]pz" {
		t.Errorf("the outline is %s", outline)
	}
}

// boxEnds marks the ends of the boxes.
func boxEnds(s string) string {
	var b strings.Builder
	var open []bool // of the boxes inside which we are, whether they are of answers
	for s != "" {
		start, end := strings.Index(s, "<div"), strings.Index(s, "</div>")
		switch {
		case end < 0:
			return b.String() + s
		case start >= 0 && start < end:
			open = append(open, strings.HasPrefix(s[start:], `<div class="after">`))
			b.WriteString(s[:start+4])
			s = s[start+4:]
		default:
			b.WriteString(s[:end+6])
			if s = s[end+6:]; open[len(open)-1] {
				b.WriteString("\x01]")
			}
			open = open[:len(open)-1]
		}
	}
	return b.String()
}

func TestGuessThatIsNone(t *testing.T) {
	for name, fields := range map[string]map[string]any{
		"no fields":       {},
		"another kind":    {"kind": "number", "answer": "128"},
		"a list of texts": {"kind": "shape", "answer": []any{"a"}},
		"fields amiss":    {"kind": 3},
	} {
		t.Run(name, func(t *testing.T) {
			if p := failing(t, code("g", "x", asked(fields))); len(p) != 1 || !strings.Contains(p[0].Msg, "a question that a page can ask") {
				t.Errorf("problems %v", p)
			}
		})
	}
}

// Cells that only hold the lesson to its numbers are not on the page, nor counted.
func TestCheckOnly(t *testing.T) {
	first, hidden, last := code("a", "first()"), code("b", "lesson.Expect()", display("text/plain", "ticked")), code("c", "last()")
	hidden.Metadata = tagged([]string{"check-only"})
	hidden.Count, last.Count = 2, 3
	got := article(t, first, hidden, last)
	wantNot(t, got, "Expect", "ticked", `id="cell-b"`)
	want(t, got, `aria-label="Cell 1"`, `aria-label="Cell 2"`)
	wantNot(t, got, `aria-label="Cell 3"`)
}
