package render

import (
	"encoding/json"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// searchIndex returns the index of all lessons as a JavaScript object:
//
//	p  lessons: [file, title]
//	s  sections: [lesson, anchor, title]; an empty anchor is the lesson itself
//	w  words, sorted, separated by spaces
//	x  for each word the sections that hold it, as differences in base 36
//
// It is small enough to be part of every page, so that searching needs no server
// and no second file. Sections are where the second- and third-level headings
// are; what cells printed is left out.
func searchIndex(pages []*page) string {
	type section struct {
		page       int
		id, title  string
		wordsInRow map[string]bool
	}
	var sections []*section
	for i, p := range pages {
		now := &section{page: i, title: p.title, wordsInRow: map[string]bool{}}
		sections = append(sections, now)
		addWords(now.wordsInRow, p.title)
		titles := map[string]string{}
		for _, e := range p.toc {
			if e.level <= 3 {
				titles[e.id] = e.text
			}
		}
		skip := 0
		for s := (scanner{src: p.indexed.String()}); ; {
			t, ok := s.next()
			if !ok {
				break
			}
			switch t.kind {
			case htmlStart:
				if id, _ := t.attr("id"); titles[id] != "" && (t.name == "h2" || t.name == "h3") {
					now = &section{page: i, id: id, title: titles[id], wordsInRow: map[string]bool{}}
					sections = append(sections, now)
				}
				if t.name == "math" || t.name == "svg" && !t.selfClosing {
					skip++
				}
			case htmlEnd:
				if t.name == "math" || t.name == "svg" {
					skip--
				}
			case htmlText:
				if skip == 0 {
					addWords(now.wordsInRow, html.UnescapeString(t.raw))
				}
			}
		}
	}
	where := map[string][]int{}
	for i, s := range sections {
		for w := range s.wordsInRow {
			where[w] = append(where[w], i)
		}
	}
	words := make([]string, 0, len(where))
	for w := range where {
		words = append(words, w)
	}
	slices.Sort(words)
	postings := make([]string, len(words))
	for i, w := range words {
		last := 0
		var b []string
		for _, s := range where[w] { // in order, since sections were
			b = append(b, strconv.FormatInt(int64(s-last), 36))
			last = s
		}
		postings[i] = strings.Join(b, " ")
	}
	type array = []any
	index := map[string]any{"w": strings.Join(words, " "), "x": strings.Join(postings, ",")}
	ps, ss := array{}, array{}
	for _, p := range pages {
		ps = append(ps, array{p.out, p.title})
	}
	for _, s := range sections {
		ss = append(ss, array{s.page, s.id, s.title})
	}
	index["p"], index["s"] = ps, ss
	b, err := json.Marshal(index) // escapes <, > and &: it is safe inside a script element
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return string(b)
}

// addWords adds the words of a text that are worth looking for, in lower case.
// Characters of scripts that put no space between words count one by one.
func addWords(words map[string]bool, text string) {
	var w []rune
	flush := func() {
		if s := string(w); len(w) > 1 && len(w) <= 40 && !stopWords[s] && !allDigits(w) {
			words[s] = true
		}
		w = w[:0]
	}
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			flush()
			words[string(r)] = true
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || unicode.Is(unicode.Mn, r):
			w = append(w, unicode.ToLower(r))
		default:
			flush()
		}
	}
	flush()
}

// allDigits reports a number of more than four digits, which is data, not a word.
func allDigits(w []rune) bool {
	for _, r := range w {
		if r < '0' || r > '9' {
			return false
		}
	}
	return len(w) > 4
}

var stopWords = set(`an and are as at be been but by can do does for from had has have how if in into is it its may more no not of on one or our so some such
	than that the their them then there these they this those to two up us was we were what when where which who why will with would you your`)
