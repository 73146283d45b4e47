package lesson

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/internal/approx"
	"github.com/lectern-go/lectern/internal/humanize"
	display "github.com/lectern-go/lectern/kernel/show"
)

// GuessType is the MIME type under which a [Guess] appears in a notebook's outputs: a JSON object with the question,
// the answer and what counts as right. Pages made from the notebook use it to ask their readers; other programs show
// the text beside it.
const GuessType = "application/vnd.lectern.guess+json"

// Guess asks readers to predict a result before they see it. Then it says how far off they were and, if it can, why.
//
//	lesson.Guess("days of training", nil, days)
//
// The student puts a guess in place of nil and runs the cell again. Until then, what the cell shows after the question
// is hidden in pages and folded in working copies. What a guess looks like depends on the answer: a
// number, true or false, one of the [Choices], a shape such as []int{4, 8} for an answer of type []int, or several
// numbers for a slice or a tensor. With nil the answer is not printed. If the guess is of another type, Guess says
// which one it wants, and what follows stays folded; it never panics because of a guess. It panics with an
// [*AnswerError] for an answer that nobody could guess, which is a mistake of the lesson's author.
//
// Integers have to be exact, other numbers within 1 %; see [Within] and [PlusMinus].
func Guess(question string, guess, answer any, options ...Option) {
	q := newQuestion(question, answer, options)
	q.translate()
	data, err := json.Marshal(q)
	if err != nil {
		panic(&AnswerError{Question: question, Reason: err.Error()})
	}
	display.Bundle(GuessType, string(data), "text/plain", q.reply(guess))
	if isNil(guess) || !q.fits(guess) { // there is still a guess to make
		display.Fold(say("What came out"))
	}
}

// An AnswerError reports an answer that nobody could guess: NaN, a struct, or a text that isn't among the choices.
type AnswerError struct {
	Question string
	Reason   string
}

func (e *AnswerError) Error() string { return fmt.Sprintf("lesson: %s: %s", e.Question, e.Reason) }

// An Option says more about a [Guess].
type Option func(*question)

// Within accepts numbers that are off by at most a share of the answer: Within(0.1) is 10 %.
func Within(share float64) Option {
	return func(q *question) { q.Share, q.Distance = share, 0 }
}

// PlusMinus accepts numbers that are off by at most distance.
func PlusMinus(distance float64) Option {
	return func(q *question) { q.Share, q.Distance = 0, distance }
}

// Choices lists what there is to choose from. The answer is one of them, or a [Pick].
func Choices(names ...string) Option {
	return func(q *question) { q.Choices = names }
}

// A Pick is the position of the answer among the [Choices] of its question. With it, a cell names each choice once, and
// doesn't show which one is right:
//
//	lesson.Guess("Which order of the loops is faster?", nil,
//		lesson.Smallest(ijk, ikj), lesson.Choices("i, j, k", "i, k, j"))
type Pick int

// Smallest picks the choice at the position of the smallest value, the first one if several are equal.
func Smallest[T cmp.Ordered](values ...T) Pick { return Pick(slices.Index(values, slices.Min(values))) }

// Largest picks the choice at the position of the largest value, the first one if several are equal.
func Largest[T cmp.Ordered](values ...T) Pick { return Pick(slices.Index(values, slices.Max(values))) }

// Between picks the range in which a value lies. The limits must ascend: the first choice is for values below the first
// limit, the last choice for values that have reached the last one.
func Between[T cmp.Ordered](value T, limits ...T) (p Pick) {
	for int(p) < len(limits) && value >= limits[p] {
		p++
	}
	return p
}

// Unit names what a number counts, such as "bytes" or "days".
func Unit(name string) Option { return func(q *question) { q.Unit = name } }

// Why adds a sentence that explains the answer, and is shown with it. In the cells of our own lessons it would give the
// answer away: their sentences are in remarks.go.
func Why(sentence string) Option { return func(q *question) { q.Why = sentence } }

// Mistake adds a sentence for those who guess a certain wrong value.
func Mistake(guess any, sentence string) Option {
	return func(q *question) { q.Mistakes = append(q.Mistakes, mistake{guess, sentence}) }
}

// question holds what a page needs in order to ask it.
type question struct {
	Question string    `json:"question"`
	Key      string    `json:"key,omitempty"` // the question in English, if it is asked in another language
	Kind     string    `json:"kind"`          // number, numbers, shape, choice or text
	Answer   any       `json:"answer"`        // float64, []float64, []int or string
	Shown    string    `json:"shown"`         // the answer as text
	Share    float64   `json:"share,omitempty"`
	Distance float64   `json:"distance,omitempty"`
	Choices  []string  `json:"choices,omitempty"`
	Labels   []string  `json:"labels,omitempty"` // what the choices are called in another language
	Unit     string    `json:"unit,omitempty"`
	Why      string    `json:"why,omitempty"`
	Mistakes []mistake `json:"mistakes,omitempty"`
}

type mistake struct {
	Guess any    `json:"guess"`
	Why   string `json:"why"`
}

var yesNo = []string{"true", "false"}

func newQuestion(text string, answer any, options []Option) *question {
	q := &question{Question: text, Share: 0.01}
	bad := func(format string, args ...any) {
		panic(&AnswerError{Question: text, Reason: fmt.Sprintf(format, args...)})
	}
	v := reflect.ValueOf(answer)
	values, numeric := floats(answer)
	if _, named := answer.(fmt.Stringer); named && !isNil(answer) {
		_, numeric = answer.(interface{ Floats() []float64 }) // a number with a name, such as a dtype, goes by that name
	}
	shape, isShape := answer.([]int)
	pick, isPick := answer.(Pick)
	switch {
	case isPick:
		q.Kind, q.Answer, q.Share = "text", "", 0
		values = nil
	case isShape:
		q.Kind, q.Answer, q.Share = "shape", shape, 0
	case numeric && v.Kind() != reflect.Slice && v.Kind() != reflect.Pointer:
		q.Kind, q.Answer = "number", values[0]
		if v.CanInt() || v.CanUint() {
			q.Share = 0
		}
	case numeric:
		q.Kind, q.Answer = "numbers", values
		if s, ok := answer.(interface{ Shape() []int }); ok && len(s.Shape()) == 0 && len(values) == 1 {
			q.Kind, q.Answer = "number", values[0]
		}
	case v.IsValid() && v.Kind() == reflect.Bool:
		q.Kind, q.Answer, q.Choices, q.Share = "choice", fmt.Sprint(v.Bool()), yesNo, 0
	default:
		name, ok := answer.(string)
		if s, named := answer.(fmt.Stringer); named && !isNil(answer) {
			name, ok = s.String(), true
		}
		if !ok {
			bad("an answer of type %T can't be guessed: give a number, a bool, a shape, a list of numbers, a text or a tensor", answer)
		}
		q.Kind, q.Answer, q.Share = "text", name, 0
	}
	exact := slices.Clone(values) // what is shown is rounded once: 0.4996 is 0.5 in three digits, and so is 0.49999952
	for i, f := range values {
		values[i] = rounded(f)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			bad("%v can't be guessed: ask for true or false instead", f)
		}
	}
	if _, ok := q.Answer.(float64); ok {
		q.Answer = values[0]
	}
	if i := slices.IndexFunc(remarks, func(r remark) bool { return r.question == text }); i >= 0 {
		q.Why, q.Mistakes = remarks[i].why, slices.Clone(remarks[i].mistakes)
	}
	for _, o := range options {
		o(q)
	}
	if isPick {
		if pick < 0 || int(pick) >= len(q.Choices) {
			bad("choice %d can't be picked from %q", pick, q.Choices)
		}
		q.Answer = q.Choices[pick]
	}
	if q.Kind == "text" && len(q.Choices) > 0 {
		q.Kind = "choice"
	}
	if q.Kind == "choice" && !slices.Contains(q.Choices, q.Answer.(string)) {
		bad("the answer %q isn't among the choices %q", q.Answer, q.Choices)
	}
	shown := brief(q.Answer)
	switch q.Kind {
	case "number":
		shown = q.number(exact[0])
	case "numbers":
		list := make([]string, len(exact))
		for i, f := range exact {
			list[i] = q.number(f)
		}
		shown = "[" + strings.Join(list, " ") + "]"
	}
	q.Shown = strings.TrimSpace(shown + " " + q.Unit)
	return q
}

// number writes a number of the answer: an integer in full, any other with one digit more than a guess needs.
func (q *question) number(f float64) string {
	size := math.Abs(f)
	switch {
	case f == math.Trunc(f) && size < 1e4:
		return strconv.Itoa(int(f))
	case f == math.Trunc(f) && size < 1e9:
		return humanize.Thousands(int(f))
	}
	digits := 3
	if allowed := max(q.Distance, q.Share*size); allowed > 0 {
		digits = min(max(int(math.Ceil(math.Log10(size/allowed)-1e-9))+1, 2), 6)
	}
	if size >= 1e9 {
		return strings.Replace(strconv.FormatFloat(f, 'g', digits, 64), "e+", "e", 1)
	}
	return humanize.Significant(f, digits)
}

// rounded drops the digits that float32 makes up, so that 3.88 does not read 3.880000114. Integers stay as they are.
func rounded(f float64) float64 {
	if f == math.Trunc(f) {
		return f
	}
	r, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 7, 64), 64)
	if err != nil {
		return f
	}
	return r
}

// translate puts the texts of the question into the student's language. The choices stay as the cell has them.
func (q *question) translate() {
	text := say(q.Question)
	if text == q.Question {
		return
	}
	q.Key, q.Question, q.Why = q.Question, text, say(q.Why)
	for i := range q.Mistakes {
		q.Mistakes[i].Why = say(q.Mistakes[i].Why)
	}
	if q.Unit != "" {
		q.Shown = strings.TrimSuffix(q.Shown, q.Unit) + say(q.Unit)
		q.Unit = say(q.Unit)
	}
	for _, name := range q.Choices {
		label := say(name)
		q.Labels = append(q.Labels, label)
		if name == q.Shown {
			q.Shown = label
		}
	}
}

// ask is the question with a mark at its end.
func (q *question) ask() string {
	if strings.HasSuffix(q.Question, "?") || strings.HasSuffix(q.Question, "？") {
		return q.Question
	}
	return say("%s:", q.Question)
}

// reply is what a student reads.
func (q *question) reply(guess any) string {
	switch {
	case isNil(guess):
		return say("? %s Put your guess (%s) in place of nil, and run the cell again.", q.ask(), q.wanted())
	case !q.fits(guess):
		return say("? %s %s is of type %s; guess %s.", q.ask(), quoted(guess), fmt.Sprintf("%T", guess), q.wanted())
	}
	why := q.Why
	for _, m := range q.Mistakes {
		if q.same(guess, m.Guess) {
			why = strings.TrimSpace(m.Why + " " + why)
		}
	}
	text := ""
	if q.same(guess, q.Answer) {
		text = say("✓ %s Right, it is %s.", q.ask(), q.Shown)
	} else {
		text = say("✗ %s You guessed %s; it is %s.", q.ask(), brief(guess), q.Shown)
		if off := q.off(guess); off != "" {
			text = say("✗ %s You guessed %s; it is %s: %s.", q.ask(), brief(guess), q.Shown, off)
		}
	}
	return strings.TrimSpace(text + " " + why)
}

// wanted names what a guess has to be.
func (q *question) wanted() string {
	switch q.Kind {
	case "number":
		return say("a number")
	case "numbers":
		return say("a list of numbers such as []float64{1, 2}")
	case "shape":
		return say("a shape such as []int{2, 3}")
	case "choice":
		if slices.Equal(q.Choices, yesNo) {
			return say("true or false")
		}
		return say("one of %s", strings.Join(quotedAll(q.Choices), ", "))
	}
	return say("text in quotes")
}

// fits reports whether a guess can be compared with the answer.
func (q *question) fits(guess any) bool {
	switch q.Kind {
	case "number":
		list, ok := floats(guess)
		return ok && len(list) == 1 && !math.IsNaN(list[0])
	case "numbers", "shape":
		list, ok := floats(guess)
		v := reflect.ValueOf(guess)
		return ok && (len(list) != 1 || v.Kind() == reflect.Slice || v.Kind() == reflect.Pointer || reflect.ValueOf(q.Answer).Len() == 1) // a single number isn't a shape
	case "choice":
		if b, ok := guess.(bool); ok {
			guess = fmt.Sprint(b)
		}
		s, ok := guess.(string)
		return ok && slices.Contains(q.Choices, s)
	}
	_, ok := guess.(string)
	return ok
}

// same reports whether a guess is as good as a value.
func (q *question) same(guess, value any) bool {
	g, isNumber := floats(guess)
	v, ok := floats(value)
	if !isNumber || !ok {
		return isNumber == ok && fmt.Sprint(guess) == fmt.Sprint(value)
	}
	if len(g) != len(v) {
		return false
	}
	for i := range g {
		if !q.near(g[i], v[i]) {
			return false
		}
	}
	return true
}

func (q *question) near(g, v float64) bool {
	return approx.Equal(g, v, max(q.Share, 1e-9), q.Distance)
}

// off says how far a wrong guess is from the answer, and what may have gone wrong. ask.js of the kernel says
// the same in pages.
func (q *question) off(guess any) string {
	g, _ := floats(guess)
	switch answer := q.Answer.(type) {
	case float64:
		return offNumber(g[0], answer)
	case []int:
		shape := make([]int, len(g))
		for i := range g {
			shape[i] = int(g[i])
		}
		return offShape(shape, answer)
	case []float64:
		if len(g) != len(answer) {
			return say("you gave %s, but there are %d", numbers(len(g)), len(answer))
		}
		wrong := 0
		first := -1
		for i := range g {
			if !q.near(g[i], answer[i]) {
				if wrong++; first < 0 {
					first = i
				}
			}
		}
		return say("%d of %d are wrong, the first at index %d", wrong, len(g), first)
	}
	return ""
}

// offNumber compares two different numbers.
func offNumber(guess, answer float64) string {
	close := func(a, b float64) bool { return math.Abs(a-b) <= 0.005*math.Abs(b) }
	switch {
	case answer == 0 || guess == 0:
		return ""
	case close(guess, -answer):
		return say("the size is right, the sign is not")
	case math.Signbit(guess) != math.Signbit(answer):
		return say("even the sign is different")
	}
	if whole := guess == math.Trunc(guess) && answer == math.Trunc(answer); whole && math.Abs(guess-answer) == 1 {
		if math.Abs(guess) > math.Abs(answer) {
			return say("one too many")
		}
		return say("one too few")
	}
	ratio := guess / answer
	factor := max(ratio, 1/ratio)
	// size chooses between a sentence for a guess that is too small and one for a guess that is too large.
	size := func(small, large string, values ...any) string {
		if ratio < 1 {
			return say(small, values...)
		}
		return say(large, values...)
	}
	decades := math.Round(math.Log10(factor))
	switch {
	case close(factor, 2):
		return size(phrase("a factor of 2 too small"), phrase("a factor of 2 too large"))
	case close(factor, 8):
		return size(phrase("a factor of 8 too small; bytes for bits, perhaps"), phrase("a factor of 8 too large; bits for bytes, perhaps"))
	case decades >= 1 && close(factor, math.Pow(10, decades)):
		return size(phrase("a factor of %.0f too small; check the powers of ten"), phrase("a factor of %.0f too large; check the powers of ten"), math.Pow(10, decades))
	case close(guess*answer, 1):
		return say("that is its reciprocal")
	case close(factor, 1.024), close(factor, 1.024*1.024), close(factor, 1.024*1.024*1.024):
		return size(phrase("%.1f %% too small; 1024 for 1000, perhaps"), phrase("%.1f %% too large; 1024 for 1000, perhaps"), 100*math.Abs(ratio-1))
	case factor >= 1.5:
		return size(phrase("%.2g times too small"), phrase("%.2g times too large"), factor)
	}
	return size(phrase("%.2g %% too small"), phrase("%.2g %% too large"), 100*math.Abs(ratio-1))
}

// offShape compares two different shapes.
func offShape(guess, answer []int) string {
	if len(guess) != len(answer) {
		if len(guess) == 1 {
			return say("you gave 1 axis, but there are %d", len(answer))
		}
		return say("you gave %d axes, but there are %d", len(guess), len(answer))
	}
	if slices.Equal(slices.Sorted(slices.Values(guess)), slices.Sorted(slices.Values(answer))) {
		return say("the sizes are right, their order is not")
	}
	for i := range guess {
		if guess[i] != answer[i] {
			return say("axis %d has size %d, not %d", i, answer[i], guess[i])
		}
	}
	return ""
}

func numbers(n int) string {
	if n == 1 {
		return say("1 number")
	}
	return say("%d numbers", n)
}

func quotedAll(names []string) []string {
	list := make([]string, len(names))
	for i, s := range names {
		list[i] = fmt.Sprintf("%q", s)
	}
	return list
}
