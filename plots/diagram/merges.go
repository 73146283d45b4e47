package diagram

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/internal/humanize"
)

// A MergeStep is one step in the training of a byte-pair encoding, as tokenizer.Steps returns them.
type MergeStep interface {
	Tokens() (before, after []int32)                 // of the text
	Merge() (left, right, result int32, times int64) // what was merged into which token, and how often the pair was seen
	Bytes(token int32) []byte                        // what a token stands for, once the step is done
}

// Merges draws the training of a byte-pair encoding as trees: the bytes of the text at
// the bottom, and above them the tokens that they were merged into, each with the
// number of the merge that made it. Long texts are cut off after a token.
//
//	steps, err := tokenizer.Steps("the cat in the hat", 3)
//	diagram.Merges(steps)
func Merges[S MergeStep](steps []S) *Figure {
	merges := make([]MergeStep, len(steps))
	for i, s := range steps {
		merges[i] = s
	}
	return drawMerges(merges)
}

func drawMerges(steps []MergeStep) *Figure {
	return fitted(func(phone bool) *Figure { return drawTrees(steps, phone) })
}

func drawTrees(steps []MergeStep, phone bool) *Figure {
	f := &Figure{}
	if len(steps) == 0 {
		f.title = "No merges"
		f.label(0, 14, "start", "no merges")
		return f
	}
	_, _, first, _ := steps[0].Merge()
	t := mergeTrees{Figure: f, steps: steps, first: first, leafW: leafW, gap: 10, most: maxLeaves}
	if phone {
		t.leafW, t.gap, t.most = 18.4, 9.5, 18
	}
	text, _ := steps[0].Tokens()
	_, tokens := steps[len(steps)-1].Tokens()
	shown := 0
	for ; shown < len(tokens) && t.leaves < t.most; shown++ {
		t.place(tokens[shown])
	}
	deepest := 0
	for _, n := range t.nodes {
		deepest = max(deepest, n.level)
	}
	y := func(level int) float64 { return float64(deepest-level) * mergeRow }
	for _, n := range t.nodes { // lines first, boxes over them
		for _, c := range []int{n.left, n.right} {
			if c >= 0 {
				child := t.nodes[c]
				f.line(`stroke="currentColor" stroke-opacity=".5"`, n.x, y(n.level)+mergeH, child.x, y(child.level))
			}
		}
	}
	for _, n := range t.nodes {
		fill := plain
		switch {
		case n.level > 0 && n.top:
			fill = green
		case n.level > 0:
			fill = orange
		}
		text := t.text(n.id)
		w := max(monoWidth(text)+6, t.leafW-4)
		f.box(n.x-w/2, y(n.level), w, mergeH, fill)
		f.label(n.x, y(n.level)+16, "middle", text, mono)
		if n.level > 0 {
			f.label(n.x+w/2+3, y(n.level)+15, "start", strconv.Itoa(n.merge), faint)
		}
	}
	bottom := y(0) + mergeH + 22
	if rest := fmt.Sprintf("… %s in all", humanize.Count(len(tokens), "token")); shown < len(tokens) && phone {
		f.label(0, bottom, "start", rest)
		bottom += 24
	} else if shown < len(tokens) {
		f.label(t.right+6, y(0)+16, "start", rest)
	}
	var said []string
	for i, s := range steps {
		left, right, result, times := s.Merge()
		text := fmt.Sprintf("%d: %s + %s → %s, seen %d times", i+1, t.text(left), t.text(right), t.text(result), times)
		if i == maxListed {
			text = fmt.Sprintf("… and %d more", len(steps)-maxListed)
		} else if i > maxListed {
			break
		}
		said = append(said, text)
		f.label(0, bottom+float64(i)*17, "start", text, `font-size="12"`)
	}
	f.include(0, f.height+6)
	f.title = fmt.Sprintf("Byte-pair merges as trees, %d bytes in %s: %s", len(text), humanize.Count(len(tokens), "token"), strings.Join(said, "; "))
	return f
}

const (
	maxLeaves = 40 // bytes of the text that are drawn
	maxListed = 12 // merges that are described in words

	leafW    = 24.
	mergeH   = 23.
	mergeRow = 44.
)

// mergeNode is a token in a tree; left and right are -1 for a byte.
type mergeNode struct {
	id          int32
	x           float64 // of its middle
	level       int     // 0 for a byte
	merge       int     // counted from 1
	left, right int
	top         bool // no token contains it
}

type mergeTrees struct {
	*Figure
	steps  []MergeStep
	first  int32 // id of the first merged token
	nodes  []mergeNode
	leaves int
	right  float64 // where the next leaf begins

	leafW, gap float64 // least width of a leaf, and what it adds to its text
	most       int     // leaves that are drawn
}

// place adds the tree of one token of the text. A token too long to be drawn is
// replaced by the two that it was merged from.
func (t *mergeTrees) place(id int32) {
	if t.leaves >= t.most {
		return
	}
	if len(t.bytes(id)) > t.most {
		left, right, _, _ := t.steps[id-t.first].Merge()
		t.place(left)
		t.place(right)
		return
	}
	i := t.add(id)
	t.nodes[i].top = true
}

func (t *mergeTrees) bytes(id int32) []byte { return t.steps[len(t.steps)-1].Bytes(id) }

func (t *mergeTrees) add(id int32) int {
	n := mergeNode{id: id, left: -1, right: -1}
	if id < t.first {
		w := max(t.leafW, monoWidth(t.text(id))+t.gap)
		n.x = t.right + w/2
		t.right += w
		t.leaves++
	} else {
		left, right, _, _ := t.steps[id-t.first].Merge()
		n.merge = int(id-t.first) + 1
		n.left, n.right = t.add(left), t.add(right)
		l, r := t.nodes[n.left], t.nodes[n.right]
		n.x, n.level = (l.x+r.x)/2, max(l.level, r.level)+1
	}
	t.nodes = append(t.nodes, n)
	return len(t.nodes) - 1
}

// text shows a token with its spaces visible, a long one cut in the middle.
func (t *mergeTrees) text(id int32) string {
	q := strconv.Quote(string(t.bytes(id)))
	text := []rune(strings.ReplaceAll(q[1:len(q)-1], " ", "␣"))
	if len(text) > 24 {
		text = append(append(text[:16:16], '…'), text[len(text)-7:]...)
	}
	return string(text)
}
