package render

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// formula is $…$ or $$…$$ within a paragraph.
type formula struct {
	ast.BaseInline
	latex   string
	display bool
	offset  int // of the opening dollar in the cell's source
}

var kindFormula = ast.NewNodeKind("Formula")

func (n *formula) Kind() ast.NodeKind            { return kindFormula }
func (n *formula) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// formulaBlock is $$…$$ on lines of its own. Being a block it may hold lines
// that Markdown would otherwise take for a list or a heading.
type formulaBlock struct {
	ast.BaseBlock
	latex  strings.Builder
	offset int
	done   bool   // the closing $$ has been seen
	after  string // what wrongly follows it on its line
}

var kindFormulaBlock = ast.NewNodeKind("FormulaBlock")

func (n *formulaBlock) Kind() ast.NodeKind            { return kindFormulaBlock }
func (n *formulaBlock) IsRaw() bool                   { return true }
func (n *formulaBlock) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// formulaParser recognizes formulas in running text. A dollar opens one only if
// no white space follows it, and closes one only if none precedes it and no
// digit follows, so that prices stay prices: "$5 and $10".
type formulaParser struct{}

func (formulaParser) Trigger() []byte { return []byte{'$'} }

func (formulaParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	fence := 1
	if bytes.HasPrefix(line, []byte("$$")) {
		fence = 2
	}
	if len(line) <= fence || fence == 1 && isSpace(line[1]) {
		block.Advance(fence)
		return ast.NewTextSegment(segment.WithStop(segment.Start + fence))
	}
	// A dollar that would close this one would close an earlier one too: where the
	// earlier found none, this one need not look again.
	if r, ok := pc.Get(unclosed[fence]).(span); ok && segment.Start > r.start && segment.Start < r.stop {
		block.Advance(fence)
		return ast.NewTextSegment(segment.WithStop(segment.Start + fence))
	}
	last := segment.Stop
	startLine, startPos := block.Position()
	n := &formula{display: fence == 2, offset: segment.Start}
	block.Advance(fence)
	var latex []byte
	for {
		line, at := block.PeekLine()
		if line == nil {
			pc.Set(unclosed[fence], span{segment.Start, last})
			block.SetPosition(startLine, startPos)
			block.Advance(fence)
			return ast.NewTextSegment(segment.WithStop(segment.Start + fence))
		}
		last = at.Stop
		for i := 0; i < len(line); i++ {
			switch line[i] {
			case '\\':
				i++
				continue
			case '$':
			default:
				continue
			}
			if fence == 2 && (i+1 == len(line) || line[i+1] != '$') {
				continue
			}
			before := byte(' ') // what comes before this dollar
			if i > 0 {
				before = line[i-1]
			} else if len(latex) > 0 {
				before = latex[len(latex)-1]
			}
			if fence == 1 && (isSpace(before) || i+1 < len(line) && line[i+1] >= '0' && line[i+1] <= '9') {
				continue
			}
			n.latex = string(latex) + string(line[:i])
			block.Advance(i + fence)
			return n
		}
		latex = append(latex, line...)
		block.AdvanceLine()
	}
}

// unclosed keeps, for one and for two dollars, where none is closed.
var unclosed = [3]parser.ContextKey{1: parser.NewContextKey(), 2: parser.NewContextKey()}

type span struct{ start, stop int }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// formulaBlockParser recognizes a paragraph that begins with $$.
type formulaBlockParser struct{}

func (formulaBlockParser) Trigger() []byte { return []byte{'$'} }

func (formulaBlockParser) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	at := pc.BlockOffset()
	if at < 0 || pc.BlockIndent() > 3 || !bytes.HasPrefix(line[at:], []byte("$$")) {
		return nil, parser.NoChildren
	}
	n := &formulaBlock{offset: segment.Start + at - segment.Padding}
	body := line[at+2:]
	if i := bytes.Index(body, []byte("$$")); i >= 0 {
		if len(bytes.TrimSpace(body[i+2:])) > 0 {
			return nil, parser.NoChildren // a paragraph that happens to begin with a formula
		}
		n.latex.Write(body[:i])
		n.done = true
		return n, parser.NoChildren
	}
	n.latex.Write(body)
	return n, parser.NoChildren
}

func (formulaBlockParser) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	n := node.(*formulaBlock)
	if n.done {
		return parser.Close
	}
	line, segment := reader.PeekLine()
	i := bytes.Index(line, []byte("$$"))
	if i < 0 {
		n.latex.Write(line)
		return parser.Continue | parser.NoChildren
	}
	n.latex.Write(line[:i])
	n.done, n.after = true, string(bytes.TrimSpace(line[i+2:]))
	newline := 1
	if line[len(line)-1] != '\n' {
		newline = 0
	}
	reader.Advance(segment.Stop - segment.Start - newline + segment.Padding)
	return parser.Close
}

func (formulaBlockParser) Close(node ast.Node, reader text.Reader, pc parser.Context) {}
func (formulaBlockParser) CanInterruptParagraph() bool                                { return true }
func (formulaBlockParser) CanAcceptIndentedLine() bool                                { return false }

// formulas are the parsers, to be run before Markdown's own: a formula may hold
// underscores, stars and backslashes.
func formulas() []parser.Option {
	return []parser.Option{
		parser.WithInlineParsers(util.Prioritized(formulaParser{}, 50)),
		parser.WithBlockParsers(util.Prioritized(formulaBlockParser{}, 50)),
	}
}
