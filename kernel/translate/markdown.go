package translate

import (
	"regexp"
	"strings"
)

// Heading is the kind of a heading's text.
const Heading = "heading"

// put is given a text and its kind, and returns what replaces it. It reports whether that is in the reader's language.
type put func(kind, text string) (string, bool)

var (
	fenceLine    = regexp.MustCompile("^\\s*(```+|~~~+)\\s*(\\w*)")
	headingLine  = regexp.MustCompile(`^(#{1,6}\s+)(.*\S)`)
	itemLine     = regexp.MustCompile(`^(\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?)(.*\S)`)
	quoteLine    = regexp.MustCompile(`^(>\s*)(.*\S)`)
	tableLine    = regexp.MustCompile(`^\s*\|`)
	tableRule    = regexp.MustCompile(`^\s*\|[\s:|-]+$`)
	summaryLine  = regexp.MustCompile(`^(\s*(?:<details[^>]*>\s*)?<summary[^>]*>)(.*\S)(\s*</summary>.*)$`)
	htmlLine     = regexp.MustCompile(`^\s*(?:</?[a-zA-Z][^>]*>\s*)+$|^\s*<!--`)
	formulaWords = regexp.MustCompile(`\\(?:text|textbf|textit|mathrm)\{([^{}]*)\}`)
)

// markdown replaces the texts of a cell, block by block: a heading, a paragraph, an item of a list, a
// row of a table, the summary of a fold, comments of code in a fence. It returns the lines, counted from 1, on which
// blocks begin that are not in the reader's language afterwards.
func markdown(source string, put put) (out string, foreign []int) {
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(source), "\n")
	var made []string
	add := func(kind, before, text, after string) {
		if hasWords(text) {
			now, ours := put(kind, text)
			if !ours {
				foreign = append(foreign, len(made)+1)
			}
			text = now
		}
		made = append(made, strings.Split(before+text+after, "\n")...)
	}
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if m := fenceLine.FindStringSubmatch(line); m != nil {
			var code []string
			made = append(made, line)
			for i++; i < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[i]), m[1]); i++ {
				code = append(code, lines[i])
			}
			if len(code) > 0 {
				made = append(made, comments(code, m[2], put)...)
			}
			if i < len(lines) {
				made = append(made, lines[i])
			}
			continue
		}
		if strings.HasPrefix(line, "$$") {
			block := line
			for !strings.Contains(block[2:], "$$") && i+1 < len(lines) {
				i++
				block += "\n" + lines[i]
			}
			if formulaWords.MatchString(block) {
				add("formula", "", block, "")
			} else {
				made = append(made, strings.Split(block, "\n")...)
			}
			continue
		}
		// more is the rest of a block, on lines of its own.
		more := func(text string, indented bool) string {
			for i+1 < len(lines) {
				next := lines[i+1]
				if begins(next) || indented && strings.TrimLeft(next, " \t") == next {
					break
				}
				between := " "
				if strings.HasSuffix(text, `\`) || strings.HasSuffix(lines[i], "  ") { // the author's own break
					between = "\n"
				}
				text += between + strings.TrimSpace(next)
				i++
			}
			return text
		}
		switch {
		case strings.TrimSpace(line) == "", tableRule.MatchString(line):
			made = append(made, line)
		case summaryLine.MatchString(line):
			m := summaryLine.FindStringSubmatch(line)
			add("summary", m[1], m[2], m[3])
		case htmlLine.MatchString(line):
			made = append(made, line)
		case headingLine.MatchString(line):
			m := headingLine.FindStringSubmatch(line)
			add(Heading, m[1], m[2], "")
		case tableLine.MatchString(line):
			add("row of a table", "", strings.TrimSpace(line), "")
		case itemLine.MatchString(line):
			m := itemLine.FindStringSubmatch(line)
			add("item of a list", m[1], more(m[2], true), "")
		case quoteLine.MatchString(line):
			m := quoteLine.FindStringSubmatch(line)
			add("quote", m[1], m[2], "")
		case strings.HasPrefix(line, "    "), strings.HasPrefix(line, "\t"): // code
			made = append(made, line)
		default:
			add("prose", "", more(strings.TrimSpace(line), false), "")
		}
	}
	return strings.Join(made, "\n"), foreign
}

// begins reports whether a line ends the paragraph above it.
func begins(line string) bool {
	return strings.TrimSpace(line) == "" || strings.HasPrefix(line, "$$") || fenceLine.MatchString(line) || headingLine.MatchString(line) ||
		itemLine.MatchString(line) || quoteLine.MatchString(line) || tableLine.MatchString(line) || htmlLine.MatchString(line) || summaryLine.MatchString(line)
}

var (
	codeSpan   = regexp.MustCompile("(`+)[^`].*?`+")
	inlineMath = regexp.MustCompile(`\$\$[^$]+\$\$|\$[^\s$](?:[^$]*[^\s$])?\$`)
	linkEnd    = regexp.MustCompile(`\]\([^)\s]*(?:\s+"[^"]*")?\)`)
	address    = regexp.MustCompile(`https?://\S+|<[^>]+>`)
	aWord      = regexp.MustCompile(`\p{L}*\p{Ll}{2}\p{L}*`)
)

// hasWords reports whether there is something to translate: words besides code, formulas, addresses and names of
// capitals.
func hasWords(text string) bool {
	if formulaWords.MatchString(text) {
		return true
	}
	for _, e := range []*regexp.Regexp{codeSpan, inlineMath, linkEnd, address} {
		text = e.ReplaceAllString(text, " ")
	}
	return aWord.MatchString(text)
}

// codeLike is a word of code, or of a pattern, that is written without marks: x.Pow(2), float8_e5m2, (heads hidden).
var codeLike = regexp.MustCompile(`\S*(?:[\p{L}\d][._][\p{L}\d]|\p{Ll}\d|[\p{L}\d]\(|[=\[\]\\])\S*`)

// HasProse reports whether there are words to translate where code has no marks: in comments, figures and tables.
func HasProse(text string) bool {
	return !strings.Contains(text, "->") && hasWords(codeLike.ReplaceAllString(text, " "))
}
