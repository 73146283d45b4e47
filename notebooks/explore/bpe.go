package main

import (
	"cmp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/lectern-go/lectern/tokenizer"
)

// mostText and mostMerges keep the steps few enough to look at.
const (
	mostText   = 400 // bytes
	mostMerges = 60
	mostPairs  = 8 // of the counts of a step
)

// bpe trains a tokenizer merge by merge.
type bpe struct {
	text, other string
	steps       []tokenizer.Step
	at          int // merges so far
	long        bool
}

func newBPE() *bpe {
	x := &bpe{other: "the quick brown fox"}
	x.set("text", "the cat in the hat")
	return x
}

func (x *bpe) set(control, value string) {
	switch control {
	case "text":
		x.text, x.long = cut(value, mostText), len(value) > mostText
		x.steps, _ = tokenizer.Steps(x.text, mostMerges) // the error says that there are no more, which is to be seen
		x.at = min(x.at, len(x.steps))
	case "other":
		x.other = cut(value, mostText)
	case "at":
		if i, err := strconv.Atoi(value); err == nil {
			x.at = max(0, min(i, len(x.steps)))
		}
	case "go":
		by := 1
		if value == "back" {
			by = -1
		}
		x.at = max(0, min(x.at+by, len(x.steps)))
	}
}

// cut is the beginning of a text: whole characters, of at most so many bytes together.
func cut(text string, bytes int) string {
	for len(text) > bytes {
		_, last := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-last]
	}
	return text
}

// tokens are those of the text after the merges so far, and what each token stands for.
func (x *bpe) tokens() (ids []int32, vocab [][]byte) {
	if x.at > 0 {
		s := x.steps[x.at-1]
		return s.After, s.Vocab
	}
	vocab = make([][]byte, 256)
	for b := range vocab {
		vocab[b] = []byte{byte(b)}
	}
	return tokenizer.Byte{}.Encode(x.text), vocab
}

func (x *bpe) draw(p *page) {
	p.add(`<div class="x-row x-grow">`)
	p.field("Train on", "text", x.text, 30, false)
	p.add(`</div>`)
	if x.long {
		p.add(`<p class="x-hint">Only the first %d bytes are used, so that you can look at each step.</p>`, mostText)
	}
	ids, vocab := x.tokens()
	p.add(`<div class="x-row">`)
	p.button("◀ Undo a merge", "go", "back")
	p.button("Merge the commonest pair ▶", "go", "on")
	p.add(`</div>`)
	if len(x.steps) > 0 {
		p.slider("Merges", "at", 0, len(x.steps), x.at, say("%d of %d", x.at, len(x.steps)))
	}
	ratio := ""
	if len(ids) > 0 {
		ratio = say(": %.3g bytes each", tokenizer.CompressionRatio(x.text, ids))
	}
	if x.at == 0 {
		p.says(`%d tokens, a byte each. No merge has been learned yet.`, len(ids))
	} else {
		s := x.steps[x.at-1]
		p.says(`Merge %d: %s and %s, %s, become token %d, %s. %d tokens are left%s.`,
			x.at, quoted(s.Vocab, s.Chosen.Left), quoted(s.Vocab, s.Chosen.Right), beside(s.Chosen.Count), s.ID, quoted(s.Vocab, s.ID), len(ids), ratio)
	}
	newest := int32(-1)
	if x.at > 0 {
		newest = x.steps[x.at-1].ID
	}
	drawTokens(p, say("Tokens of the text"), ids, vocab, newest)
	x.drawCounts(p)
	p.add(`<div class="x-row x-grow">`)
	p.field("Encode with these merges", "other", x.other, 24, false)
	p.add(`</div>`)
	var merges []tokenizer.Merge
	for _, s := range x.steps[:x.at] {
		merges = append(merges, tokenizer.Merge{Left: s.Chosen.Left, Right: s.Chosen.Right, ID: s.ID})
	}
	coder, err := tokenizer.NewBPE(merges, nil, nil)
	if err != nil {
		p.refused(err.Error())
		return
	}
	encoded := coder.Encode(x.other)
	p.add(`<p class="x-hint">%d bytes become %d tokens.</p>`, len(x.other), len(encoded))
	drawTokens(p, say("Tokens of the second text"), encoded, vocab, -1)
}

// beside says how often a pair stands in the text.
func beside(n int64) string {
	if n == 1 {
		return say("side by side once")
	}
	return say("side by side %d times", n)
}

// quoted is what a token stands for.
func quoted(vocab [][]byte, id int32) string { return "“" + visible(vocab, id) + "”" }

// visible writes a token so that spaces, and bytes that are no text, can be seen.
func visible(vocab [][]byte, id int32) string {
	text := ""
	for _, r := range tokenizer.ShowTokens(vocab, []int32{id}) {
		if r == ' ' {
			r = '␣'
		}
		text += string(r)
	}
	return text
}

func drawTokens(p *page, name string, ids []int32, vocab [][]byte, newest int32) {
	p.add(`<ol class="x-tokens" aria-label="%s">`, name)
	for _, id := range ids {
		class := raw("")
		switch {
		case id == newest:
			class = ` class="x-new"`
		case id >= 256:
			class = ` class="x-merged"`
		}
		p.add(`<li%s><b>%s</b><small>%d</small></li>`, class, visible(vocab, id), id)
	}
	p.add(`</ol>`)
}

// drawCounts shows the pairs that the next merge chooses from, the commonest first.
func (x *bpe) drawCounts(p *page) {
	if x.at == mostMerges {
		p.add(`<p class="x-hint">This explorer ends here: it stops after %d merges.</p>`, mostMerges)
		return
	}
	if x.at == len(x.steps) {
		p.add(`<p class="x-hint">No pair is left to merge here.</p>`)
		return
	}
	next := x.steps[x.at]
	counts := slices.Clone(next.Counts)
	slices.SortStableFunc(counts, func(a, b tokenizer.PairCount) int { return cmp.Compare(b.Count, a.Count) }) // of equals the first met stays first
	p.add(`<table class="x-counts"><caption>How often pairs occur side by side now</caption><tbody>`)
	for _, c := range counts[:min(len(counts), mostPairs)] {
		class, word := raw(""), ""
		if c == next.Chosen {
			class, word = ` class="x-here"`, say("comes next")
		}
		p.add(`<tr%s><th scope="row"><code>%s</code> + <code>%s</code></th><td>%d</td><td class="x-bar"><span style="width:%d%%"></span></td><td>%s</td></tr>`,
			class, visible(next.Vocab, c.Left), visible(next.Vocab, c.Right), c.Count, 100*c.Count/next.Chosen.Count, word)
	}
	p.add(`</tbody></table>`)
	if rest := len(counts) - mostPairs; rest > 0 {
		p.add(`<p class="x-hint">… and %d more. Of equally common pairs, the one that comes first in the text is merged.</p>`, rest)
	}
}
