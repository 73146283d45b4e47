package lesson

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// judge looks at an answer that is a sentence: all wanted numbers must occur in it. Then it shows the rubric, by which
// students judge the rest themselves.
func (e exercise) judge(answer any) string {
	said, isText := answer.(string)
	switch {
	case isNil(answer):
		return say("Exercise %s: replace nil with your answer, a sentence in quotes, and run the cell again.", e.key)
	case !isText:
		return say("Exercise %s: %s is of type %s; give a sentence in quotes, with the numbers and the reason.", e.key, brief(answer), fmt.Sprintf("%T", answer))
	}
	wanted, _ := floats(e.want)
	found := 0
	for _, w := range wanted {
		if slices.ContainsFunc(numbersIn(said), func(n float64) bool { return near(n, w, e.tolerance) }) {
			found++
		}
	}
	switch {
	case found < len(wanted):
		return say("Exercise %s: %d of the %d numbers are right so far. %s", e.key, found, len(wanted), say(e.hint))
	case words(said) < len(wanted)+4:
		return say("Exercise %s: the numbers are right. Now say it in a sentence: what are they, and why?", e.key)
	}
	text := strings.TrimSpace(say("✓ Exercise %s: the numbers are right. %s", e.key, say(e.praise)))
	text += "\n" + say("Does your sentence say this, too? Give yourself a point for each:")
	for _, s := range e.rubric {
		text += "\n  · " + say(s)
	}
	return text
}

// words counts the words of a sentence. Chinese, which has no spaces, has about one word for every two characters.
func words(s string) int {
	return len(strings.Fields(s)) + len(han.FindAllString(s, -1))/2
}

var han = regexp.MustCompile(`\p{Han}`)

var numeral = regexp.MustCompile(`((?:\d{1,3}(?:,\d{3})+\b|\d[\d_]*)(?:\.\d+)?|\.\d+)(?:[eE]([-+]?\d+)|\s*[·×*x]\s*10\^([-+]?\d+)|\s*(?i:(thousand|million|billion|trillion)\b|(万亿|[十百千]?[万亿])))?`)

var scales = map[string]float64{
	"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12,
	"万": 1e4, "十万": 1e5, "百万": 1e6, "千万": 1e7, "亿": 1e8, "十亿": 1e9, "百亿": 1e10, "千亿": 1e11, "万亿": 1e12,
}

// raised matches powers of ten with an exponent in superscript digits.
var raised = regexp.MustCompile(`10([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)`)

var lowered = strings.NewReplacer("⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9", "⁻", "-", "⁺", "+")

// numbersIn returns the numbers that a text contains, such as 1,024, 2.5 million, 218 亿, 6.3e24, 6.3·10^24 and
// 6.3·10²⁴.
func numbersIn(text string) []float64 {
	text = raised.ReplaceAllStringFunc(text, func(s string) string { return "10^" + lowered.Replace(s[2:]) })
	var list []float64
	for _, m := range numeral.FindAllStringSubmatch(text, -1) {
		x, err := strconv.ParseFloat(strings.NewReplacer(",", "", "_", "").Replace(m[1])+"e"+cmp.Or(m[2], m[3], "0"), 64)
		if err != nil {
			continue // too large for a float64
		}
		if scale, ok := scales[strings.ToLower(m[4]+m[5])]; ok {
			x *= scale
		}
		list = append(list, x)
	}
	return list
}
