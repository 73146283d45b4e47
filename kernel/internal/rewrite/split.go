package rewrite

import (
	"go/scanner"
	"go/token"
	"strings"
)

// An item is a top-level part of a cell: an import, a declaration or a statement.
type item struct {
	kind   token.Token // IMPORT, FUNC, TYPE, CONST, VAR, or ILLEGAL for any other statement
	lo, hi int
	ended  bool // by a semicolon that the user typed
}

// isDecl reports whether the item belongs outside a function. A var is a statement here: its initialiser runs once.
func (it item) isDecl() bool {
	return it.kind == token.FUNC || it.kind == token.TYPE || it.kind == token.CONST
}

// tok is one token of a cell.
type tok struct {
	tok    token.Token
	lit    string // the text; "\n" for a semicolon that the end of a line stands for
	lo, hi int
}

// tokens scans a cell. It never fails: on unfinished code it gives what it can.
func tokens(code string) []tok {
	fs := token.NewFileSet()
	f := fs.AddFile("", -1, len(code))
	var sc scanner.Scanner
	sc.Init(f, []byte(code), func(token.Position, string) {}, scanner.ScanComments)
	var ts []tok
	for {
		p, t, lit := sc.Scan()
		if t == token.EOF {
			return ts
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
		ts = append(ts, tok{t, lit, lo, min(lo+n, len(code))})
	}
}

// literalLen is the length of a literal in the cell; the scanner drops carriage returns from its text.
func literalLen(code string, lo int, lit string) int {
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
			// A comment above an item belongs to it, a comment behind one does not.
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
		switch t.tok {
		case token.LPAREN, token.LBRACE, token.LBRACK:
			depth++
		case token.RPAREN, token.RBRACE, token.RBRACK:
			depth = max(0, depth-1)
		}
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

// isFuncDecl tells func name(…) and func (r T) name(…) from the call of a function literal, by what follows the
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
