package mathml

import "strings"

// environments are the tables: their delimiters and how columns are set.
var environments = map[string]struct {
	left, right string
	align       string // of columns in turn, repeated: l, c or r
	tight       bool   // no gap between a right column and the left one after it
	display     bool   // cells are set as displays
}{
	"matrix": {"", "", "c", false, false}, "pmatrix": {"(", ")", "c", false, false}, "bmatrix": {"[", "]", "c", false, false}, "Bmatrix": {"{", "}", "c", false, false},
	"vmatrix": {"|", "|", "c", false, false}, "Vmatrix": {"‖", "‖", "c", false, false}, "smallmatrix": {"", "", "c", false, false}, "array": {"", "", "", false, false},
	"cases": {"{", "", "l", false, false}, "aligned": {"", "", "rl", true, true}, "split": {"", "", "rl", true, true}, "gathered": {"", "", "c", false, true},
}

func (p *parser) environment(t token) atom {
	name, off := p.rawGroup(`\begin`)
	env, ok := environments[name]
	if !ok {
		hint := ""
		switch strings.TrimSuffix(name, "*") {
		case "align", "equation", "eqnarray":
			hint = `; inside $$ use aligned`
		}
		p.fail(off, `unknown environment %q%s`, name, hint)
	}
	if name == "array" {
		spec, at := p.rawGroup(`\begin{array}`)
		env.align = strings.ReplaceAll(spec, " ", "")
		if env.align == "" || strings.Trim(env.align, "lcr") != "" {
			p.fail(at, `the columns of an array are given as l, c and r`)
		}
	}
	var b strings.Builder
	rows, col := 0, 0
	cell := func() {
		prev := none
		if env.tight && col%2 == 1 {
			prev = ord // a sign after & joins what comes before it
		}
		a := p.row(stopAtEnd, prev)
		align := env.align[col%len(env.align)]
		if name == "array" && col >= len(env.align) {
			p.fail(p.pos, "this row has more columns than the array's %d", len(env.align))
		}
		b.WriteString("<mtd" + cellStyle(align, env.tight, col) + ">" + a.ml + "</mtd>")
		col++
	}
	b.WriteString("<mtr>")
	for done := false; !done; {
		cell()
		e := p.next()
		switch {
		case e.is("&"):
		case e.isCommand(`\`):
			b.WriteString("</mtr>")
			rows, col = rows+1, 0
			if p.peek().isCommand("end") { // a final \\ opens no row
				p.next()
				p.endName(t, name)
				return tableAtom(env.left, env.right, b.String(), env.display, name)
			}
			b.WriteString("<mtr>")
		case e.isCommand("end"):
			p.endName(t, name)
			done = true
		case e.is("}"):
			p.fail(e.off, `this } closes nothing inside \begin{%s}`, name)
		default:
			p.fail(t.off, `\begin{%s} has no \end{%s} (found %s)`, name, name, e)
		}
	}
	b.WriteString("</mtr>")
	return tableAtom(env.left, env.right, b.String(), env.display, name)
}

func (p *parser) endName(begin token, name string) {
	got, off := p.rawGroup(`\end`)
	if got != name {
		p.fail(off, `\end{%s} does not match \begin{%s}`, got, name)
	}
}

func tableAtom(left, right, rows string, display bool, name string) atom {
	attr := ""
	if display {
		attr = ` displaystyle="true"`
	}
	table := "<mtable" + attr + ">" + rows + "</mtable>"
	if name == "smallmatrix" {
		table = `<mstyle scriptlevel="1">` + table + "</mstyle>"
	}
	if left == "" && right == "" {
		return element(table)
	}
	return atom{ml: "<mrow>" + fence("prefix", left) + table + fence("postfix", right) + "</mrow>", class: close_, count: 1}
}

// cellStyle aligns a cell. MathML Core leaves alignment to CSS; it is written
// on the cell so that a formula looks right in any page. Chromium and WebKit
// lay the cell's content out as a block, which only their own keywords move.
func cellStyle(align byte, tight bool, col int) string {
	var css []string
	switch align {
	case 'l':
		css = append(css, "text-align:left;text-align:-webkit-left")
	case 'r':
		css = append(css, "text-align:right;text-align:-webkit-right")
	}
	if tight {
		if col%2 == 0 {
			css = append(css, "padding-right:0")
			if col == 0 {
				css = append(css, "padding-left:0")
			}
		} else {
			css = append(css, "padding-left:0")
		}
	}
	if len(css) == 0 {
		return ""
	}
	return ` style="` + strings.Join(css, ";") + `"`
}

// substack stacks the lines under a sum.
func (p *parser) substack(t token) atom {
	o := p.next()
	if !o.is("{") {
		p.fail(t.off, `\substack needs its lines in braces`)
	}
	rows := ""
	for {
		rows += `<mtr><mtd style="padding:0">` + p.row(stopAtEnd, none).ml + "</mtd></mtr>"
		e := p.next()
		switch {
		case e.isCommand(`\`):
		case e.is("}"):
			return element("<mtable>" + rows + "</mtable>")
		default:
			p.fail(o.off, `this { of \substack is never closed (found %s)`, e)
		}
	}
}
