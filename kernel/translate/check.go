package translate

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/lectern-go/lectern/internal/glob"
	"github.com/lectern-go/lectern/internal/po"
)

// A Fault is a mistake in a translation that a program can see.
type Fault struct {
	File    string // of the catalogue
	English string
	Text    string
	What    string
}

func (f Fault) String() string {
	return fmt.Sprintf("%s: %s\n\t%s\n\t%s", f.File, f.What, f.English, f.Text)
}

// Faults compares the translations of a language with their English: code, a formula, a number or a link has
// to be the same, words of the glossary are those of the glossary, and Chinese has its own punctuation.
func (l *Language) Faults() ([]Fault, error) {
	terms, err := readGlossary(filepath.Join(l.Dir, glossaryFile))
	if err != nil {
		return nil, err
	}
	files, err := glob.In(l.Dir, "*.po")
	if err != nil {
		return nil, err
	}
	var list []Fault
	for _, path := range files {
		f, err := read(path)
		if err != nil {
			return nil, err
		}
		for _, m := range f.Messages {
			if m.ID == "" || !m.Valid() {
				continue
			}
			found := compared(m)
			if strings.HasPrefix(l.Tag, "zh") && !slices.Contains(m.Flags, "same") { // a sample, or a message that is quoted
				found = append(found, chinese(m.Str)...)
			}
			if !slices.Contains(m.Flags, "no-glossary") {
				found = append(found, terms.misused(m)...)
			}
			for _, what := range found {
				list = append(list, Fault{filepath.Base(path), m.ID, m.Str, what})
			}
		}
	}
	return list, nil
}

var (
	textCommand = regexp.MustCompile(`\\(?:text|textbf|textit|mathrm)\{[^{}]*\}`)
	anyFormula  = regexp.MustCompile(`(?s)\$\$.+?\$\$|\$[^\s$](?:[^$]*?[^\s$])?\$`)
	anyCode     = regexp.MustCompile("``.+?``|`[^`]+`")
	linkTarget  = regexp.MustCompile(`\]\(([^)\s]*)`)
	value       = regexp.MustCompile(`\{\w+\}`)
	htmlTag     = regexp.MustCompile(`</?[a-z][^>]*>`)
)

// compared says what differs between a text and its translation but must not.
func compared(m *po.Message) (list []string) {
	same := func(what string, from, to []string) {
		slices.Sort(from)
		slices.Sort(to)
		if !slices.Equal(from, to) {
			list = append(list, fmt.Sprintf("%s differ: %q, and in the translation %q", what, from, to))
		}
	}
	english, text := m.ID, m.Str
	taken := func(what string, e *regexp.Regexp, as func(string) string) {
		find := func(s *string) (found []string) {
			*s = e.ReplaceAllStringFunc(*s, func(part string) string {
				if as != nil {
					part = as(part)
				}
				found = append(found, part)
				return " "
			})
			return found
		}
		same(what, find(&english), find(&text))
	}
	taken("code spans", anyCode, nil)
	taken("formulas", anyFormula, func(s string) string {
		return strings.Join(strings.Fields(textCommand.ReplaceAllString(s, `\text{}`)), " ")
	})
	targets := func(s string) (found []string) {
		for _, t := range linkTarget.FindAllStringSubmatch(s, -1) {
			found = append(found, t[1])
		}
		return found
	}
	same("targets of links", targets(english), targets(text))
	english, text = linkTarget.ReplaceAllString(english, "]("), linkTarget.ReplaceAllString(text, "](")
	taken("values", value, nil)
	taken("formats", verb, func(s string) string { return regexp.MustCompile(`\[\d+\]`).ReplaceAllString(s, "") })
	taken("HTML tags", htmlTag, nil)
	for _, mark := range []string{"<", ">", `"`} { // which would bring more than text into a page
		if strings.Count(text, mark) > strings.Count(english, mark) {
			list = append(list, fmt.Sprintf("there are more of %s than in the English", mark))
		}
	}
	if a, b := strings.Count(m.ID, "\n"), strings.Count(m.Str, "\n"); a != b { // in a comment, a new line would be code
		list = append(list, fmt.Sprintf("%d line breaks became %d", a, b))
	}
	if a, b := strings.Count(english, "**"), strings.Count(text, "**"); a != b {
		list = append(list, fmt.Sprintf("%d marks ** became %d", a, b))
	}
	wanted, got := quantities(english), quantities(text)
	for _, q := range wanted {
		i := -1
		for _, scale := range []float64{1, 1e6, 1e9} { // "from 168 to 42 million" says million once and means it twice
			if i < 0 && (scale == 1 || strings.Contains(english, "illion")) {
				i = slices.IndexFunc(got, func(g float64) bool { return math.Abs(g-q*scale) <= 1e-9*math.Abs(q*scale) })
			}
		}
		if i < 0 {
			if q != 0 { // which has many names
				list = append(list, fmt.Sprintf("the number %g is missing", q))
			}
			continue
		}
		got = slices.Delete(got, i, i+1)
	}
	for _, g := range got {
		if g > 12 && !slices.Contains([]float64{100, 1000, 1e4, 1e6, 1e8, 1e9, 1e12}, g) { // small ones may be words in English
			list = append(list, fmt.Sprintf("the number %g is not in the English", g))
		}
	}
	return list
}

var quantityText = regexp.MustCompile(`(\d[\d,_]*(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(thousand|million|billion|trillion|万亿|千亿|百亿|十亿|千万|百万|十万|万|亿|千|百)?`)

var scaleOf = map[string]float64{"": 1, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "百": 100, "千": 1e3, "万": 1e4, "十万": 1e5, "百万": 1e6, "千万": 1e7,
	"亿": 1e8, "十亿": 1e9, "百亿": 1e10, "千亿": 1e11, "万亿": 1e12}

// quantities are the numbers of a text, with the words that scale them.
func quantities(s string) (list []float64) {
	for _, m := range quantityText.FindAllStringSubmatch(s, -1) {
		if x, err := strconv.ParseFloat(strings.NewReplacer(",", "", "_", "").Replace(m[1]), 64); err == nil {
			list = append(list, x*scaleOf[m[2]])
		}
	}
	return list
}

var (
	hanHalf   = regexp.MustCompile(`\p{Han}\s*[,;:?!](?:\s|$|\p{Han})|\p{Han}\.(?:\s|$|\p{Han})|\p{Han}\(|\p{Han}\s*\([^()]*\p{Han}|\)\p{Han}`)
	hanTight  = regexp.MustCompile(`\p{Han}[A-Za-z0-9]|[A-Za-z0-9%]\p{Han}`)
	hanSpaced = regexp.MustCompile(`\p{Han} \p{Han}|[，。；：？！、（）《》“”] \p{Han}|\p{Han} [，。；：？！、（）》”]`)
	boldEnd   = regexp.MustCompile(`[。：？！]\*\* `)
	lowerWord = regexp.MustCompile(`\b[a-z]{3,}\b`)
	isHan     = regexp.MustCompile(`\p{Han}`)
)

// chinese looks at how Chinese is written: full-width punctuation, and a space between Chinese and words in Latin
// letters, digits, code or formulas.
func chinese(s string) (list []string) {
	plain := anyFormula.ReplaceAllString(anyCode.ReplaceAllString(s, "Q"), "Q")
	plain = htmlTag.ReplaceAllString(plain, "")
	plain = linkTarget.ReplaceAllString(plain, "](")
	plain = boldEnd.ReplaceAllString(plain, "。") // where CommonMark needs the space
	plain = aPlace.ReplaceAllString(plain, "$1")
	plain = verb.ReplaceAllString(value.ReplaceAllString(plain, "◌"), "◌") // whatever comes there
	plain = strings.NewReplacer("]()", "", "[", "", "**", "").Replace(plain)
	if m := hanHalf.FindString(plain); m != "" {
		list = append(list, fmt.Sprintf("half-width punctuation beside Chinese: %q", m))
	}
	if m := hanTight.FindString(plain); m != "" {
		list = append(list, fmt.Sprintf("no space between Chinese and Latin: %q", m))
	}
	if m := hanSpaced.FindString(plain); m != "" {
		list = append(list, fmt.Sprintf("a space within Chinese: %q", m))
	}
	if words := lowerWord.FindAllString(algebra.ReplaceAllString(plain, " "), -1); !isHan.MatchString(plain) && len(words) > 2 {
		list = append(list, "it is still English")
	}
	return list
}

var (
	cited    = regexp.MustCompile(`\[\*[^]]*\*[^]]*\]|\[\x60[^]]*\]`) // titles stay as they are
	htmlCode = regexp.MustCompile(`<code>.*?</code>`)
	algebra  = regexp.MustCompile(`\S*[\pL\pN)][·=/−+*\[]\S*`) // a formula in plain text, such as gradient[k]
)

const glossaryFile = "glossary.tsv"

// A term is a word of the glossary.
type term struct {
	english []*regexp.Regexp
	words   []string // in lower case, without which none of the expressions fits
	known   string   // as the glossary writes it
	text    []string
	never   []string
	loose   bool
}

type glossary []term

// readGlossary reads the words of a language; none if it has no glossary.
func readGlossary(path string) (glossary, error) {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("translate: %w", err)
	}
	var g glossary
	head := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		if !head { // the columns' names
			head = true
			continue
		}
		columns := append(strings.Split(line, "\t"), "", "", "")
		t := term{known: columns[0], never: strings.Fields(columns[2]), loose: columns[3] == "loose"}
		for name := range strings.SplitSeq(columns[0], ", ") {
			t.words = append(t.words, strings.ToLower(name))
			t.english = append(t.english, regexp.MustCompile(`(?i)(?:^|[^\pL\pN_.])`+regexp.QuoteMeta(name)+`(?:e?s)?(?:$|[^\pL\pN_])`))
		}
		for name := range strings.SplitSeq(columns[1], " / ") {
			t.text = append(t.text, strings.TrimSpace(name))
		}
		g = append(g, t)
	}
	return g, nil
}

// misused says which words of a translation differ from the glossary's.
func (g glossary) misused(m *po.Message) (list []string) {
	plain := anyFormula.ReplaceAllString(anyCode.ReplaceAllString(m.ID, " "), " ")
	plain = value.ReplaceAllString(htmlCode.ReplaceAllString(plain, " "), " ")
	plain = algebra.ReplaceAllString(linkTarget.ReplaceAllString(cited.ReplaceAllString(plain, " "), "]("), " ")
	lower := strings.ToLower(plain)
	in := func(t term) bool {
		if !slices.ContainsFunc(t.words, func(w string) bool { return strings.Contains(lower, w) }) {
			return false
		}
		return slices.ContainsFunc(t.english, func(e *regexp.Regexp) bool { return e.MatchString(plain) })
	}
	// The translation may have a line's break or a space where the glossary has none.
	text := strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, m.Str))
	has := func(s string) bool { return strings.Contains(text, strings.ToLower(strings.ReplaceAll(s, " ", ""))) }
	for _, t := range g {
		if !t.loose && in(t) && !slices.ContainsFunc(t.text, has) {
			list = append(list, fmt.Sprintf("%q is %s in the glossary", t.known, strings.Join(t.text, " or ")))
		}
		for _, word := range t.never {
			if has(word) {
				list = append(list, fmt.Sprintf("%s is never %s in the glossary, but %s", t.known, word, strings.Join(t.text, " or ")))
			}
		}
	}
	return list
}
