package render

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

// style is how a terminal would draw a character: colors from 1 to 16, zero
// being the default.
type style struct {
	fg, bg                         uint8
	bold, dim, italic, line, strik bool
	reverse                        bool
}

type glyph struct {
	r     rune
	style style
}

// No library does this for us: the one that is maintained, buildkite/terminal-to-html, needs a newer Go than we ask of
// a student and writes links, pictures and 256 colors that a page can't take from anybody.

// terminal returns what a terminal shows after text was written to it, as HTML:
// colors become classes, a carriage return overwrites the line, a backspace
// steps back, an erase erases. Other escape sequences are dropped and stray
// control characters drawn as symbols. Colors beyond the basic sixteen are
// replaced by the nearest of them, whose contrast is known in light and dark.
func terminal(text string) string {
	var b strings.Builder
	var line []glyph
	var now style
	cursor := 0
	put := func(r rune) {
		if cursor < len(line) {
			line[cursor] = glyph{r, now}
		} else {
			line = append(line, glyph{r, now})
		}
		cursor++
	}
	flush := func(end string) {
		writeLine(&b, line)
		b.WriteString(end)
		line, cursor = line[:0], 0
	}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\n':
			flush("\n")
			i++
		case c == '\r':
			i++
			cursor = 0
		case c == '\b':
			i++
			cursor = max(0, cursor-1)
		case c == '\t':
			i++
			put('\t')
		case c == 0x1b:
			n, final, params := escape(text[i:])
			i += n
			switch final {
			case 'm':
				now.apply(params)
			case 'K':
				switch params {
				case "", "0":
					line = line[:min(cursor, len(line))]
				case "1", "2":
					for k := range line[:min(cursor, len(line))] {
						line[k] = glyph{' ', style{}}
					}
					if params == "2" {
						line = line[:min(cursor, len(line))]
					}
				}
			}
		case c < ' ':
			i++
			put('␀' + rune(c))
		case c == 0x7f:
			i++
			put('␡')
		default:
			r, n := utf8.DecodeRuneInString(text[i:])
			i += n
			put(r)
		}
	}
	flush("")
	return b.String()
}

// escape measures the escape sequence at the start of s. For a control sequence
// it returns the final byte and the parameters.
func escape(s string) (n int, final byte, params string) {
	if len(s) == 1 {
		return 1, 0, ""
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1, s[i], s[2:i]
			}
			if s[i] < 0x20 {
				return i, 0, ""
			}
		}
		return len(s), 0, ""
	case ']', 'P', '_', '^': // strings that end with BEL or ESC \
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1, 0, ""
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2, 0, ""
			}
			if s[i] == '\n' {
				return i, 0, ""
			}
		}
		return len(s), 0, ""
	}
	_, w := utf8.DecodeRuneInString(s[1:])
	return 1 + w, 0, ""
}

// apply changes the style by the parameters of an SGR sequence.
func (s *style) apply(params string) {
	if strings.Trim(params, "0123456789;:") != "" {
		return // a private sequence
	}
	var p []int
	for _, f := range strings.FieldsFunc(params+";", func(r rune) bool { return r == ';' || r == ':' }) {
		n, _ := strconv.Atoi(f)
		p = append(p, n)
	}
	if len(p) == 0 {
		p = []int{0}
	}
	for i := 0; i < len(p); i++ {
		switch n := p[i]; {
		case n == 0:
			*s = style{}
		case n == 1:
			s.bold = true
		case n == 2:
			s.dim = true
		case n == 3:
			s.italic = true
		case n == 4:
			s.line = true
		case n == 7:
			s.reverse = true
		case n == 9:
			s.strik = true
		case n == 22:
			s.bold, s.dim = false, false
		case n == 23:
			s.italic = false
		case n == 24:
			s.line = false
		case n == 27:
			s.reverse = false
		case n == 29:
			s.strik = false
		case n >= 30 && n <= 37:
			s.fg = uint8(n - 30 + 1)
		case n >= 90 && n <= 97:
			s.fg = uint8(n - 90 + 9)
		case n == 39:
			s.fg = 0
		case n >= 40 && n <= 47:
			s.bg = uint8(n - 40 + 1)
		case n >= 100 && n <= 107:
			s.bg = uint8(n - 100 + 9)
		case n == 49:
			s.bg = 0
		case n == 38 || n == 48:
			c, used := extended(p[i+1:])
			i += used
			if n == 38 {
				s.fg = c
			} else {
				s.bg = c
			}
		}
	}
}

// extended reads 5;N or 2;R;G;B and returns the nearest basic color.
func extended(p []int) (c uint8, used int) {
	switch {
	case len(p) >= 2 && p[0] == 5:
		n := min(max(p[1], 0), 255)
		switch {
		case n < 16:
			return uint8(n + 1), 2
		case n < 232:
			n -= 16
			return nearest(n/36*51, n/6%6*51, n%6*51), 2
		}
		g := 8 + 10*(n-232)
		return nearest(g, g, g), 2
	case len(p) >= 4 && p[0] == 2:
		return nearest(p[1], p[2], p[3]), 4
	}
	return 0, len(p)
}

func nearest(r, g, b int) uint8 {
	basic := [8][3]int{{0, 0, 0}, {205, 0, 0}, {0, 180, 0}, {190, 150, 0}, {40, 80, 220}, {190, 0, 190}, {0, 175, 190}, {200, 200, 200}}
	best, at := 1<<30, 0
	for i, c := range basic {
		if d := (r-c[0])*(r-c[0]) + (g-c[1])*(g-c[1]) + (b-c[2])*(b-c[2]); d < best {
			best, at = d, i
		}
	}
	return uint8(at + 1)
}

// writeLine writes a line's glyphs, one span for each run of a style.
func writeLine(b *strings.Builder, line []glyph) {
	for i := 0; i < len(line); {
		j := i
		var run strings.Builder
		for ; j < len(line) && line[j].style == line[i].style; j++ {
			run.WriteRune(line[j].r)
		}
		text := html.EscapeString(run.String())
		if class := line[i].style.class(); class != "" {
			text = `<span class="` + class + `">` + text + "</span>"
		}
		b.WriteString(text)
		i = j
	}
}

// class names the style. Bright colors share the class of the plain ones. On a
// colored ground the text keeps the page's own color, so that no pair of
// colors is unreadable.
func (s style) class() string {
	var c []string
	fg, bg := s.fg, s.bg
	if s.reverse {
		fg, bg = bg, fg
		if bg == 0 {
			c = append(c, "ar")
			fg = 0
		}
	}
	if bg != 0 {
		c = append(c, "ag"+strconv.Itoa(int(bg-1)%8))
	} else if fg != 0 {
		c = append(c, "af"+strconv.Itoa(int(fg-1)%8))
	}
	for _, f := range []struct {
		on   bool
		name string
	}{{s.bold, "ab"}, {s.dim, "ad"}, {s.italic, "ai"}, {s.line, "au"}, {s.strik, "as"}} {
		if f.on {
			c = append(c, f.name)
		}
	}
	return strings.Join(c, " ")
}
