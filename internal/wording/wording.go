// Package wording finds the texts in HTML format strings, so that a program that writes pages can do so in another
// language.
package wording

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	part   = regexp.MustCompile(`<[^>]*>|[^<]+`)
	label  = regexp.MustCompile(`(\baria-label=")([^"]*)(")`)
	inline = regexp.MustCompile(`^</?(?:b|code|em|i|small|strong|sub|sup)\b`)
	verb   = regexp.MustCompile(`%[-+# 0]*[\d.]*(?:\[(\d+)\])?([a-zA-Z%])`)
	words  = regexp.MustCompile(`\p{L}{2}`)
)

// Replace returns an HTML format string with other texts in it: the texts between the tags of blocks, with tags such as
// <b> inside, and those of aria-label. A text is given as it is in the format, with its verbs; in another order they
// are %[2]s and so on, counted within the text.
func Replace(format string, say func(text string) string) string {
	var b strings.Builder
	verbs := 0    // that come before
	code := false // it is a word of a program
	put := func(text string) {
		inside := strings.TrimSpace(text)
		now := inside
		if !code && words.MatchString(verb.ReplaceAllString(part.ReplaceAllStringFunc(inside, func(s string) string {
			if strings.HasPrefix(s, "<") {
				return ""
			}
			return s
		}), "")) {
			now = say(inside)
		}
		next, most := 0, 0
		now = verb.ReplaceAllStringFunc(now, func(v string) string {
			m := verb.FindStringSubmatch(v)
			if m[2] == "%" {
				return v
			}
			next++
			if m[1] != "" {
				next, _ = strconv.Atoi(m[1])
				v = strings.Replace(v, "["+m[1]+"]", "", 1)
			}
			most = max(most, next)
			return v[:len(v)-1] + "[" + strconv.Itoa(verbs+next) + "]" + v[len(v)-1:]
		})
		before := text[:len(text)-len(strings.TrimLeft(text, " \n\t"))]
		after := text[len(strings.TrimRight(text, " \n\t")):]
		if inside == "" {
			after = ""
		}
		b.WriteString(before + now + after)
		verbs += most
	}
	run := ""
	end := func() {
		if run != "" {
			put(run)
			run = ""
		}
	}
	for _, p := range part.FindAllString(format, -1) {
		if !strings.HasPrefix(p, "<") || inline.MatchString(p) {
			run += p
			continue
		}
		end()
		code = strings.Contains(p, `class="hk"`)
		at := 0
		for _, m := range label.FindAllStringSubmatchIndex(p, -1) {
			b.WriteString(numbered(p[at:m[4]], &verbs))
			put(p[m[4]:m[5]])
			at = m[5]
		}
		b.WriteString(numbered(p[at:], &verbs))
	}
	end()
	return b.String()
}

// numbered writes the verbs of a format with the positions of their values.
func numbered(format string, verbs *int) string {
	return verb.ReplaceAllStringFunc(format, func(v string) string {
		if strings.HasSuffix(v, "%") {
			return v
		}
		*verbs++
		return v[:len(v)-1] + "[" + strconv.Itoa(*verbs) + "]" + v[len(v)-1:]
	})
}
