package rewrite

import (
	"go/scanner"
	"go/token"
	"iter"
	"slices"
	"strings"
)

// An item is a top-level part of a cell: an import, a declaration or a statement.
type item struct {
	kind   token.Token // IMPORT, FUNC, TYPE, CONST, VAR, or ILLEGAL for any other statement
	lo, hi int
	ended  bool // by a semicolon that the user typed
}

// isDecl reports whether the item belongs outside a function. A var is a statement here: its initializer runs once.
func (it item) isDecl() bool {
	return it.kind == token.FUNC || it.kind == token.TYPE || it.kind == token.CONST
}

// tok is one token of a cell.
type tok struct {
	tok    token.Token
	lit    string // the text; "\n" for a semicolon that the end of a line stands for
	lo, hi int
}

// nesting is by how much the token changes the depth of brackets.
func (t tok) nesting() int {
	switch t.tok {
	case token.LPAREN, token.LBRACE, token.LBRACK:
		return 1
	case token.RPAREN, token.RBRACE, token.RBRACK:
		return -1
	}
	return 0
}

// tokens scans a cell. It never fails: on unfinished code it gives what it can.
func tokens(code string) []tok {
	return slices.AppendSeq(make([]tok, 0, len(code)/3), scan([]byte(code), nil))
}

// scan yields the tokens of code, and gives its errors, with their places, to wrong.
func scan(code []byte, wrong func(at int, msg string)) iter.Seq[tok] {
	return func(yield func(tok) bool) {
		f := token.NewFileSet().AddFile("", -1, len(code))
		var sc scanner.Scanner
		sc.Init(f, code, func(p token.Position, msg string) {
			if wrong != nil {
				wrong(p.Offset, msg)
			}
		}, scanner.ScanComments)
		for {
			p, t, lit := sc.Scan()
			if t == token.EOF {
				return
			}
			lo := f.Offset(p)
			n := len(lit)
			switch {
			case t == token.SEMICOLON && lit == "\n":
				n = min(1, len(code)-lo)
			case !t.IsLiteral() && t != token.COMMENT && !t.IsKeyword() && t != token.ILLEGAL:
				n = len(t.String())
			case t == token.COMMENT || t == token.STRING:
				n = literalLen(code, lo, lit)
			}
			if !yield(tok{t, lit, lo, min(lo+n, len(code))}) {
				return
			}
		}
	}
}

// qualifiers are the names before a dot, which may be those of packages.
func qualifiers(code string) (names []string) {
	before := token.ILLEGAL // the token before
	name := ""
	for t := range scan([]byte(code), nil) {
		if t.tok == token.PERIOD && name != "" {
			names = append(names, name)
		}
		if name = ""; t.tok == token.IDENT && before != token.PERIOD {
			name = t.lit
		}
		before = t.tok
	}
	return names
}

// literalLen is the length of a literal in the cell; the scanner drops carriage returns from its text.
func literalLen(code []byte, lo int, lit string) int {
	i := lo
	for j := 0; j < len(lit) && i < len(code); i++ {
		if code[i] == lit[j] {
			j++
		}
	}
	return i - lo
}

// split cuts a cell into its top-level items. It looks at tokens only, so it works on unfinished code.
func split(code string) []item {
	var items []item
	var cur item
	started := false
	cur.lo = -1
	depth, lastEnd := 0, 0
	var h header
	ts := tokens(code)
	finish := func(ended bool) {
		if started {
			cur.ended = ended
			items = append(items, cur)
		}
		cur, started, h = item{lo: -1}, false, header{}
	}
	for i, t := range ts {
		if t.tok == token.COMMENT {
			// A comment above an item belongs to it, a comment after one does not.
			if !started && cur.lo < 0 && (lastEnd == 0 || strings.Contains(code[lastEnd:t.lo], "\n")) {
				cur.lo = t.lo
			}
			continue
		}
		if depth == 0 {
			if t.tok == token.SEMICOLON {
				if t.lit == "\n" || !h.goesOn() {
					finish(t.lit == ";")
				}
				continue
			}
			h.next(t, ts, i)
		}
		depth = max(0, depth+t.nesting())
		if !started {
			started = true
			if cur.lo < 0 {
				cur.lo = t.lo
			}
			cur.kind = itemKind(ts[i:])
		}
		cur.hi, lastEnd = t.hi, t.hi
	}
	finish(false)
	return items
}

// itemKind looks at the tokens that an item begins with.
func itemKind(ts []tok) token.Token {
	switch ts[0].tok {
	case token.IMPORT, token.TYPE, token.CONST, token.VAR:
		return ts[0].tok
	case token.FUNC:
		if isFuncDecl(ts[1:]) {
			return token.FUNC
		}
	}
	return token.ILLEGAL
}

// isFuncDecl tells func name(…) and func (r T) name(…) from the call to a function literal, by what follows the
// keyword.
func isFuncDecl(ts []tok) bool {
	var after []tok
	for _, t := range ts {
		if t.tok != token.COMMENT {
			after = append(after, t)
		}
		if len(after) > 200 {
			break
		}
	}
	if len(after) == 0 {
		return true // unfinished
	}
	if after[0].tok == token.IDENT {
		return true
	}
	if after[0].tok != token.LPAREN {
		return true
	}
	depth := 0
	for i, t := range after {
		switch t.tok {
		case token.LPAREN:
			depth++
		case token.RPAREN:
			depth--
		}
		if depth == 0 {
			return i+2 < len(after) && after[i+1].tok == token.IDENT && after[i+2].tok == token.LPAREN
		}
	}
	return false
}

// A header follows the tokens of a statement at depth 0 to know whether a semicolon belongs to the header of an if,
// for or switch.
type header struct {
	left   int  // semicolons that the header may still have
	block  bool // its block has begun
	braces int  // of function literals and composite literals in the header, still to come
	value  bool // the token before ended an operand
}

func (h *header) goesOn() bool {
	if h.left > 0 && !h.block {
		h.left--
		return true
	}
	return false
}

func (h *header) next(t tok, ts []tok, i int) {
	switch t.tok {
	case token.FOR:
		h.left, h.block = 2, false
	case token.IF, token.SWITCH, token.SELECT:
		h.left, h.block = 1, false
	case token.FUNC, token.MAP:
		h.braces++
	case token.STRUCT, token.INTERFACE:
		h.braces += 2
	case token.LBRACK:
		if !h.value {
			h.braces++
		}
	case token.LBRACE:
		if h.braces > 0 {
			h.braces--
		} else {
			h.block = true
		}
	}
	switch t.tok {
	case token.IDENT, token.INT, token.FLOAT, token.IMAG, token.CHAR, token.STRING, token.RPAREN, token.RBRACK, token.RBRACE:
		h.value = true
	default:
		h.value = false
	}
}
