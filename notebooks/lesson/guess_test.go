package lesson

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
)

type scalar struct{ vector }

func (scalar) Shape() []int { return []int{} }

func TestGuess(t *testing.T) {
	steps := Choices("AdaGrad", "RMSProp")
	for _, tt := range []struct {
		name          string
		guess, answer any
		options       []Option
		want          string
	}{
		{"nothing yet", nil, 143.93, nil, "? q: Put your guess (a number) in place of nil"},
		{"nothing yet of a choice", nil, "RMSProp", []Option{steps}, `(one of "AdaGrad", "RMSProp")`},
		{"nothing yet of a bool", nil, true, nil, "(true or false)"},
		{"right", 144, 143.93, []Option{Unit("days")}, "✓ q: Right, it is 144 days."},
		{"rounded once", 1, 2097151. / 4194306, nil, "it is 0.5:"},
		{"digits that float32 makes up", 1, float64(float32(3.88)), nil, "it is 3.88:"},
		{"no more digits than count", 1, 42.857142, []Option{Within(0.05)}, "it is 42.9:"},
		{"more where a guess needs more", 1, 10. / 9, []Option{Within(0.005)}, "it is 1.111:"},
		{"a distance decides, too", 1, 4.71725, []Option{PlusMinus(0.5)}, "it is 4.7:"},
		{"a large integer in full", 1, 2097152, nil, "it is 2,097,152:"},
		{"a large integer that is a float", 1, 167772160., nil, "it is 167,772,160:"},
		{"a huge number in powers of ten", 1, 6.3e24, nil, "it is 6.3e24:"},
		{"a list of numbers", []float64{1}, vector{0.25, 1. / 3}, nil, "it is [0.25 0.333]:"},
		{"right with a reason", 144, 143.93, []Option{Why("That is long.")}, "✓ q: Right, it is 144. That is long."},
		{"twice", 287.86, 143.93, nil, "✗ q: You guessed 287.86; it is 144: a factor of 2 too large."},
		{"half", 72, 143.93, nil, "a factor of 2 too small."},
		{"bits", 1024, 128, nil, "a factor of 8 too large; bits for bytes, perhaps."},
		{"bytes", 16, 128, nil, "a factor of 8 too small; bytes for bits, perhaps."},
		{"powers of ten", 0.14393, 143.93, nil, "a factor of 1000 too small; check the powers of ten."},
		{"binary prefixes", 1024 * 1024, 1e6, nil, "4.9 % too large; 1024 for 1000, perhaps."},
		{"one over it", 0.1, 10, nil, "check the powers of ten"},
		{"one over it, no power of ten", 0.25, 4.0, nil, "that is its reciprocal."},
		{"sign", -20, 20, nil, "the size is right, the sign is not."},
		{"other sign", -1, 20, nil, "even the sign is different."},
		{"one too many", 17, 16, nil, "one too many."},
		{"one too few", 15, 16, nil, "one too few."},
		{"much", 500, 100, nil, "5 times too large."},
		{"little", 130, 100, nil, "30 % too large."},
		{"zero", 1, 0, nil, "You guessed 1; it is 0."},
		{"loosely right", 130, 100, []Option{Within(0.5)}, "✓ q: Right, it is 100."},
		{"near enough", 0.3, 0.0, []Option{PlusMinus(0.5)}, "✓"},
		{"integers are exact", 1002, 1000, nil, "0.2 % too large"},
		{"a tensor without axes", 4, scalar{vector{4}}, nil, "✓ q: Right, it is 4."},
		{"wrong type", "many", 4, nil, `? q: "many" is of type string; guess a number.`},
		{"two numbers for one", []int{1, 2}, 4, nil, "guess a number."},
		{"choice", "AdaGrad", "RMSProp", []Option{steps}, "✗ q: You guessed AdaGrad; it is RMSProp."},
		{"right choice", "RMSProp", "RMSProp", []Option{steps}, "✓ q: Right, it is RMSProp."},
		{"none of the choices", "Adam", "RMSProp", []Option{steps}, `"Adam" is of type string; guess one of "AdaGrad", "RMSProp".`},
		{"the smallest", "b", Smallest(2, 1.5, 1.5), []Option{Choices("a", "b", "c")}, "✓ q: Right, it is b."},
		{"the largest", "a", Largest(time.Second, time.Minute), []Option{Choices("a", "b")}, "✗ q: You guessed a; it is b."},
		{"below the first limit", "a", Between(0.1, 0.2, 0.8), []Option{Choices("a", "b", "c")}, "it is a."},
		{"at the first limit", "a", Between(0.2, 0.2, 0.8), []Option{Choices("a", "b", "c")}, "it is b."},
		{"at the last limit", "a", Between(0.8, 0.2, 0.8), []Option{Choices("a", "b", "c")}, "it is c."},
		{"bool", false, true, nil, "✗ q: You guessed false; it is true."},
		{"right bool", true, true, nil, "✓ q: Right, it is true."},
		{"bool in quotes", "true", true, nil, "✓"},
		{"number for a bool", 1, true, nil, "1 is of type int; guess true or false."},
		{"shape", []int{16, 2}, []int{16, 2}, nil, "✓ q: Right, it is [16 2]."},
		{"axes the other way round", []int{2, 16}, []int{16, 2}, nil, "the sizes are right, their order is not."},
		{"too few axes", []int{16}, []int{16, 2}, nil, "you gave 1 axis, but there are 2."},
		{"wrong size", []int{16, 32}, []int{16, 2}, nil, "axis 1 has size 2, not 32."},
		{"numbers", []float64{1, 2, 4}, vector{1, 2, 3}, nil, "1 of 3 are wrong, the first at index 2."},
		{"too few numbers", []float64{1}, vector{1, 2, 3}, nil, "you gave 1 number, but there are 3."},
		{"text", "cpu", name(7), nil, "✗ q: You guessed cpu; it is seven."},
		{"known mistake", 287.86, 143.93, []Option{Mistake(287.86, "Is that the sparse rate?"), Mistake(1, "No.")}, "too large. Is that the sparse rate?"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := printed(t, func() { Guess("q", tt.guess, tt.answer, tt.options...) }); !strings.Contains(got, tt.want) {
				t.Errorf("printed %q, want %q in it", got, tt.want)
			}
		})
	}
}

// What is not guessed yet is not given away.
func TestGuessKeepsTheAnswer(t *testing.T) {
	for _, c := range []struct{ guess, answer any }{
		{nil, 143.93}, {"many", 143.93}, {true, 143.93}, {[]int{1, 2}, 143.93}, {143, []int{143, 2}}, {"2x3", []int{143, 2}}, {143, vector{143, 2}},
		{143, true}, {"ja", true}, {143, "143 apples"}, {struct{}{}, 143},
	} {
		got := printed(t, func() { Guess("q", c.guess, c.answer, Why("because")) })
		rest := strings.Replace(got, fmt.Sprint(c.guess)+" is of type", "", 1)
		if strings.Contains(rest, "143") || strings.Contains(got, "because") || c.guess != nil && !strings.Contains(got, fmt.Sprintf("is of type %T; guess ", c.guess)) {
			t.Errorf("a guess %v of %v: printed %q", c.guess, c.answer, got)
		}
	}
}

func TestAnswersThatCannotBeGuessed(t *testing.T) {
	zero := 0.0
	for name, f := range map[string]func(){
		"struct":                  func() { Guess("q", nil, struct{ A int }{1}) },
		"nil":                     func() { Guess("q", nil, nil) },
		"NaN":                     func() { Guess("q", nil, zero/zero) },
		"no choice":               func() { Guess("q", nil, "Adam", Choices("SGD")) },
		"no choice in that place": func() { Guess("q", nil, Largest(1, 2), Choices("SGD")) },
		"nothing to pick from":    func() { Guess("q", nil, Largest(1, 2)) },
		"the smallest with NaN":   func() { Guess("q", nil, Smallest(1, zero/zero), Choices("SGD", "Adam")) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				var bad *AnswerError
				if err, _ := recover().(error); !errors.As(err, &bad) || bad.Question != "q" {
					t.Errorf("panicked with %v, want an AnswerError", err)
				}
			}()
			f()
		})
	}
}

// What is said after an answer begins with a word: after "it is 6." a bare "1·4 + 2·1." reads like the next item of a
// list.
func TestRemarksAreSentences(t *testing.T) {
	for _, r := range remarks {
		said := []string{r.why}
		for _, m := range r.mistakes {
			said = append(said, m.Why)
		}
		for _, s := range said {
			if first := []rune(s + "x")[0]; !unicode.IsLetter(first) && first != '`' {
				t.Errorf("%s: %q doesn't begin with a word", r.question, s)
			}
		}
	}
}
