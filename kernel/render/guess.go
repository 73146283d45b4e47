package render

import (
	"encoding/json"
	"fmt"
	"html"
	"strings"

	"github.com/lectern-go/lectern/kernel/notebook"
)

// A guess is a question to the reader. Its fields are those that assets/guess.js reads; others that a notebook may hold
// are dropped.
type guess struct {
	Question string   `json:"question"`
	Key      string   `json:"key,omitempty"` // the question in English, by which a reader's guess is kept
	Kind     string   `json:"kind"`
	Answer   any      `json:"answer"`
	Shown    string   `json:"shown"`
	Share    float64  `json:"share,omitempty"`
	Distance float64  `json:"distance,omitempty"`
	Choices  []string `json:"choices,omitempty"`
	Labels   []string `json:"labels,omitempty"` // what the choices are called in another language
	Unit     string   `json:"unit,omitempty"`
	Why      string   `json:"why,omitempty"`
	Mistakes []struct {
		Guess any    `json:"guess"`
		Why   string `json:"why"`
	} `json:"mistakes,omitempty"`
}

// fits reports whether the answer is of the question's kind, which the script relies on.
func (g *guess) fits() bool {
	switch answer := g.Answer.(type) {
	case float64:
		return g.Kind == "number"
	case string:
		return g.Kind == "text" || g.Kind == "choice"
	case []any:
		for _, x := range answer {
			if _, ok := x.(float64); !ok {
				return false
			}
		}
		return g.Kind == "numbers" || g.Kind == "shape"
	}
	return false
}

// guesses draws the questions among a cell's outputs, and returns the other outputs. Without scripts the answer stands
// below its question.
func (p *page) guesses(outputs []*notebook.Output) (drawn string, others []*notebook.Output) {
	var b strings.Builder
	for _, o := range outputs {
		data, ok := o.Data[notebook.GuessType]
		if !ok {
			others = append(others, o)
			continue
		}
		var g guess
		packed, err := json.Marshal(data)
		if err == nil {
			err = json.Unmarshal(packed, &g)
		}
		if err != nil || !g.fits() {
			p.problem(0, "an output of type %s isn't a question that a page can ask (%v)", notebook.GuessType, err)
			others = append(others, &notebook.Output{Type: "display_data", Data: notebook.Object{"text/plain": o.Plain()}})
			continue
		}
		if packed, err = json.Marshal(g); err != nil {
			p.problem(0, "an output of type %s can't be written: %v", notebook.GuessType, err)
			continue
		}
		question := html.EscapeString(g.Question)
		fmt.Fprintf(&b, `<div class="guess" role="group" aria-label="%s" data-guess="%s">`+"\n", p.site.say("Guess: %s", question), html.EscapeString(string(packed)))
		fmt.Fprintf(&b, `<p class="question"><b>%s</b> %s</p>`+"\n", p.site.say("Guess"), p.markdownLine(g.Question))
		fmt.Fprintf(&b, `<p class="answer"><b>%s</b> %s %s</p>`+"\n</div>\n", p.site.say("Answer"), html.EscapeString(p.site.say("%s.", g.Shown)), p.markdownLine(g.Why))
	}
	return b.String(), others
}

// markdownLine draws a sentence of a question: its text, and `code` in it.
func (p *page) markdownLine(s string) string {
	parts := strings.Split(s, "`")
	if len(parts)%2 == 0 { // a lone mark is a mark
		return html.EscapeString(s)
	}
	for i, part := range parts {
		parts[i] = html.EscapeString(part)
		if i%2 == 1 {
			parts[i] = "<code>" + parts[i] + "</code>"
		}
	}
	return strings.Join(parts, "")
}

// openAfter begins what stays hidden, beside a cell's other outputs, until its questions are answered: the cells
// below, up to the next heading, fold or exercise. A question among them, which is asked when they are seen, has a box
// of its own inside.
func (p *page) openAfter() {
	p.write(`<div class="after">`+"\n", "")
	p.after++
}

func (p *page) closeAfter() {
	for ; p.after > 0; p.after-- {
		p.write("</div>\n", "")
	}
}

// endsAfter reports whether a cell does not depend on what was asked above it.
func endsAfter(c *notebook.Cell) bool {
	return c.HasTag("exercise") || c.Type == "markdown" && strings.HasPrefix(strings.TrimSpace(c.Source), "#")
}
