package tokenizer

import (
	"fmt"
	"html"
	"strconv"
	"strings"
)

// HTML shows the step as a notebook does: the pairs that were counted, the most common ones darkest, and the tokens
// after the step in boxes, with the new one marked.
func (s Step) HTML() string {
	var b strings.Builder
	b.WriteString(`<div style="font-family:monospace;line-height:2">`)
	for _, c := range s.Counts {
		style := fmt.Sprintf("background:rgba(52,101,164,%.2f)", 0.1+0.4*float64(c.Count)/float64(s.Chosen.Count))
		if c == s.Chosen {
			style += ";outline:2px solid #c4510c"
		}
		tokenBox(&b, style, fmt.Sprintf("%s + %s", s.show(c.Left), s.show(c.Right)))
		fmt.Fprintf(&b, `<sub>%d</sub> `, c.Count)
	}
	b.WriteString(`<br>`)
	for _, id := range s.After {
		style := "background:rgba(128,128,128,0.18)"
		if id == s.ID {
			style = "background:rgba(196,81,12,0.3);outline:2px solid #c4510c"
		}
		q := strconv.Quote(string(s.Vocab[id]))
		tokenBox(&b, style, q[1:len(q)-1])
	}
	fmt.Fprintf(&b, `<br>%s + %s &rarr; %d %s, %d tokens &rarr; %d</div>`,
		html.EscapeString(s.show(s.Chosen.Left)), html.EscapeString(s.show(s.Chosen.Right)), s.ID,
		html.EscapeString(s.show(s.ID)), len(s.Before), len(s.After))
	return b.String()
}

// tokenBox writes a text in a box in which its spaces can be seen.
func tokenBox(b *strings.Builder, style, text string) {
	fmt.Fprintf(b, `<span style="display:inline-block;line-height:1.4;white-space:pre;padding:2px 3px;margin:2px;border-radius:3px;%s">%s</span>`, style, html.EscapeString(text))
}
