package mathml

import "strings"

// command parses what follows a command's name.
func (p *parser) command(t token) atom {
	name := t.text
	if s, ok := symbols[name]; ok {
		return sign(s)
	}
	if g, ok := greek[name]; ok {
		f := p.font
		if f == italic && name[0] >= 'A' && name[0] <= 'Z' {
			f = roman
		}
		return identifier(f, g)
	}
	if limits, ok := functions[name]; ok {
		text := name
		if name == "argmax" || name == "argmin" {
			text = "arg\u2009" + name[3:]
		}
		return function(text, limits)
	}
	if w, ok := spaces[name]; ok {
		return atom{ml: `<mspace width="` + w + `"/>`, class: space, count: 1}
	}
	if f, ok := fontCommands[name]; ok {
		old := p.font
		p.font = f
		a := p.argument(`\` + name)
		p.font = old
		return a
	}
	if acc, ok := accents[name]; ok {
		stretchy := "false"
		if acc.wide {
			stretchy = "true"
		}
		return element(`<mover accent="true">` + p.argument(`\`+name).single() + `<mo stretchy="` + stretchy + `">` + acc.text + "</mo></mover>")
	}
	if size, ok := sizes[strings.TrimRight(name, "lrm")]; ok && name != "bigm" {
		return p.sized(name, size)
	}
	switch name {
	case "frac", "dfrac", "tfrac", "binom":
		return p.fraction(name)
	case "sqrt":
		return p.root(t)
	case "left":
		return p.leftRight(t)
	case "begin":
		return p.environment(t)
	case "text", "textrm", "textnormal", "textbf", "textit", "texttt", "mbox":
		return p.text(name)
	case "operatorname":
		return p.operatorName()
	case "underline":
		return element(`<munder accentunder="true">` + p.argument(`\underline`).single() + `<mo stretchy="true">_</mo></munder>`)
	case "underbrace":
		a := element(`<munder>` + p.argument(`\underbrace`).single() + `<mo stretchy="true">⏟</mo></munder>`)
		a.limits = true
		return a
	case "overbrace":
		a := element(`<mover>` + p.argument(`\overbrace`).single() + `<mo stretchy="true">⏞</mo></mover>`)
		a.limits = true
		return a
	case "overset", "stackrel":
		above := p.argument(`\` + name).single()
		base := p.argument(`\` + name)
		return atom{ml: "<mover>" + base.single() + above + "</mover>", class: rel, count: 1}
	case "underset":
		below := p.argument(`\underset`).single()
		base := p.argument(`\underset`)
		return atom{ml: "<munder>" + base.single() + below + "</munder>", class: op, name: base.name, count: 1}
	case "xrightarrow", "xleftarrow":
		arrow := map[string]string{"xrightarrow": "→", "xleftarrow": "←"}[name]
		return atom{ml: `<mover><mo stretchy="true">` + arrow + `</mo><mpadded width="+1em" lspace="0.5em">` + p.argument(`\`+name).single() + "</mpadded></mover>", class: rel, count: 1}
	case "phantom":
		return element("<mphantom>" + p.argument(`\phantom`).ml + "</mphantom>")
	case "boxed":
		return element(`<mrow style="border:1px solid;padding:0.25em 0.4em">` + p.argument(`\boxed`).ml + "</mrow>")
	case "pmod":
		a := element(`<mspace width="1em"/><mo stretchy="false" lspace="0" rspace="0">(</mo><mi>mod</mi><mspace width="0.3333em"/>` + p.argument(`\pmod`).single() + `<mo stretchy="false" lspace="0" rspace="0">)</mo>`)
		a.count = 6
		return a
	case "not":
		return p.negated(t)
	case "substack":
		return p.substack(t)
	case `limits`, `nolimits`:
		p.fail(t.off, `%s only follows an operator such as \sum`, t)
	}
	p.fail(t.off, `unknown command \%s%s`, name, suggestion(name))
	return atom{}
}

// element is an ordinary atom of one element.
func element(ml string) atom { return atom{ml: ml, class: ord, count: 1} }

// function is an upright name such as log. One that takes limits has to be an
// operator, since only those move their limits aside in running text.
func function(name string, limits bool) atom {
	ml := "<mi>" + escapeText(name) + "</mi>"
	if limits {
		ml = `<mo movablelimits="true" form="prefix" lspace="0" rspace="0">` + escapeText(name) + "</mo>"
	}
	return atom{ml: ml, class: op, name: true, limits: limits, count: 1}
}

func (p *parser) fraction(name string) atom {
	num := p.argument(`\` + name).single()
	den := p.argument(`\` + name).single()
	switch name {
	case "dfrac":
		return element(`<mstyle displaystyle="true" scriptlevel="0"><mfrac>` + num + den + "</mfrac></mstyle>")
	case "tfrac":
		return element(`<mstyle displaystyle="false" scriptlevel="0"><mfrac>` + num + den + "</mfrac></mstyle>")
	case "binom":
		return element(`<mrow><mo form="prefix" fence="true" stretchy="true">(</mo><mfrac linethickness="0">` + num + den + `</mfrac><mo form="postfix" fence="true" stretchy="true">)</mo></mrow>`)
	}
	return element("<mfrac>" + num + den + "</mfrac>")
}

func (p *parser) root(t token) atom {
	degree := ""
	if b := p.peek(); b.is("[") {
		p.next()
		degree = p.row(stopAtBracket, none).single()
		if c := p.next(); !c.is("]") {
			p.fail(b.off, "this [ of \\sqrt is never closed")
		}
	}
	body := p.argument(t.String())
	if degree != "" {
		return element("<mroot>" + body.single() + degree + "</mroot>")
	}
	return element("<msqrt>" + body.ml + "</msqrt>")
}

// delimiter consumes a fence after \left, \right, \middle or \big.
func (p *parser) delimiter(of string) (text string, c class) {
	t := p.next()
	if t.is(".") {
		return "", none
	}
	if t.is("<") || t.is(">") {
		p.fail(t.off, `%s needs a delimiter; write \langle or \rangle`, of)
	}
	s := symbol{text: t.text, class: ord}
	if t.kind == command {
		s = symbols[t.text]
	} else if t.kind == char {
		if k, ok := typed[[]rune(t.text)[0]]; ok {
			s = k
		}
	}
	if !fences[s.text] || t.is("{") || t.is("}") {
		p.fail(t.off, `%s needs a delimiter such as ( [ \{ | \langle or . but found %s`, of, t)
	}
	return s.text, s.class
}

func fence(form, text string) string {
	if text == "" {
		return ""
	}
	return `<mo form="` + form + `" fence="true" stretchy="true">` + escapeText(text) + "</mo>"
}

func (p *parser) leftRight(t token) atom {
	l, _ := p.delimiter(`\left`)
	body := "<mrow>" + fence("prefix", l)
	for {
		body += p.row(stopAtEnd, none).ml
		e := p.next()
		switch {
		case e.isCommand("middle"):
			m, _ := p.delimiter(`\middle`)
			body += `<mo form="infix" stretchy="true" lspace="0.15em" rspace="0.15em">` + escapeText(m) + "</mo>"
		case e.isCommand("right"):
			r, _ := p.delimiter(`\right`)
			return atom{ml: body + fence("postfix", r) + "</mrow>", class: close_, count: 1}
		default:
			p.fail(t.off, `this \left has no \right (found %s)`, e)
		}
	}
}

// sized is a delimiter of a fixed size, \big( and its kin.
func (p *parser) sized(name, size string) atom {
	text, c := p.delimiter(`\` + name)
	if text == "" {
		return element("<mrow></mrow>")
	}
	form := "infix"
	switch {
	case strings.HasSuffix(name, "l"), c == open && !strings.HasSuffix(name, "r"):
		form, c = "prefix", open
	case strings.HasSuffix(name, "r"), c == close_:
		form, c = "postfix", close_
	}
	return atom{ml: `<mo form="` + form + `" stretchy="true" symmetric="true" lspace="0" rspace="0" minsize="` + size + `" maxsize="` + size + `">` + escapeText(text) + "</mo>", class: c, count: 1}
}

// text sets words in the surrounding page's font.
func (p *parser) text(name string) atom {
	raw, off := p.rawGroup(`\` + name)
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; c {
		case '\\':
			if i++; i == len(raw) || strings.IndexByte("_%&#${} ", raw[i]) < 0 {
				p.fail(off+i-1, `a command inside \%s; close the text first`, name)
			}
			b.WriteByte(raw[i])
		case '$':
			p.fail(off+i, `a formula inside \%s; close the text first`, name)
		case '{', '}':
		case '~':
			b.WriteString("\u00a0")
		default:
			b.WriteByte(c)
		}
	}
	s := b.String()
	// White space at the ends of <mtext> is dropped unless it is hard.
	if strings.TrimLeft(s, " \n") != s {
		s = "\u00a0" + strings.TrimLeft(s, " \n")
	}
	if strings.TrimRight(s, " \n") != s {
		s = strings.TrimRight(s, " \n") + "\u00a0"
	}
	attr := map[string]string{"textbf": ` style="font-weight:bold"`, "textit": ` style="font-style:italic"`, "texttt": ` style="font-family:monospace"`}[name]
	return element("<mtext" + attr + ">" + escapeText(s) + "</mtext>")
}

func (p *parser) operatorName() atom {
	limits := false
	if p.peek().is("*") {
		p.next()
		limits = true
	}
	raw, off := p.rawGroup(`\operatorname`)
	raw = strings.NewReplacer(`\_`, "_", `\,`, "\u2009", `\ `, "\u00a0", "~", "\u00a0").Replace(raw)
	if i := strings.IndexAny(raw, `\{}$&%#^`); i >= 0 || strings.TrimSpace(raw) == "" {
		p.fail(off, `\operatorname needs a plain name`)
	}
	return function(strings.Join(strings.Fields(raw), "\u2009"), limits)
}

func (p *parser) negated(t token) atom {
	n := p.next()
	s := symbols[n.text].text
	if n.kind == char {
		s = n.text
	}
	text, ok := negations[s]
	if !ok {
		p.fail(t.off, `\not cannot be put on %s`, n)
	}
	return sign(symbol{text, rel, false})
}
