package lesson

import (
	"slices"
	"strings"
	"testing"
)

func TestNumbersInSentences(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []float64
	}{
		{"no number at all", nil},
		{"It takes 15.3·batch + 24.9 GB, so 3 fit.", []float64{15.3, 24.9, 3}},
		{"1,024 sequences of 1,024 tokens, which is 1,048,576.", []float64{1024, 1024, 1048576}},
		{"4.3e21 FLOPs, or 4.3·10^21, or 4.3 × 10^21, or 4.3E+21", []float64{4.3e21, 4.3e21, 4.3e21, 4.3e21}},
		{"1.56 billion parameters, 400 thousand steps, 2 trillion tokens", []float64{1.56e9, 4e5, 2e12}},
		{"a share of 9.2%, then 61.8 %.", []float64{9.2, 61.8}},
		{"1e999 is no number that matters", nil},
		{"6.3 x 10^24, 6.3x10^24, 1_000_000, .5 and 3 Million", []float64{6.3e24, 6.3e24, 1e6, 0.5, 3e6}},
		{"a batch of 3, 4 or 5", []float64{3, 4, 5}},
		{"6.3×10²⁴, 2·10⁻³ and 5 × 10¹²", []float64{6.3e24, 2e-3, 5e12}},
		{"优化器一步要 218 亿 FLOPs, 13.0 毫秒; 1.5 万亿, 3 百万, 2万", []float64{218e8, 13, 1.5e12, 3e6, 2e4}},
		{"1.5 千亿, 2 百亿, 3 千万, 4 十万, 5 千字节", []float64{1.5e11, 2e10, 3e7, 4e5, 5}},
		{"12,5 is no 125, nor is 3,4 a 34; 12,500.5 is one number", []float64{12, 5, 125, 3, 4, 34, 12500.5}},
	} {
		if got := numbersIn(tt.text); !slices.EqualFunc(got, tt.want, func(a, b float64) bool { return near(a, b, []float64{1e-12}) }) {
			t.Errorf("%q: got %v, want %v", tt.text, got, tt.want)
		}
	}
}

func TestCheckReadsSentences(t *testing.T) {
	const right = "It takes 15.3·batch + 24.9 GB, so at most 3 sequences fit."
	for _, tt := range []struct {
		name   string
		answer any
		want   string
	}{
		{"no answer", nil, "replace nil with your answer, a sentence in quotes"},
		{"a number", 3, "3 is of type int; give a sentence in quotes"},
		{"one number of three", "At most 3 sequences fit on the card.", "1 of the 3 numbers are right so far."},
		{"numbers alone", "15.3, 24.9, 3", "Now say it in a sentence"},
		{"a sentence", right, "✓ Exercise 29.1: the numbers are right."},
		{"the rubric follows", right, "a point for each:\n  · It says"},
	} {
		if got := printed(t, func() { Check("29.1", tt.answer) }); !strings.Contains(got, tt.want) {
			t.Errorf("%s: printed %q, want %q in it", tt.name, got, tt.want)
		}
	}
	for _, e := range exercises {
		if wanted, ok := floats(e.want); e.rubric != nil && (!ok || len(wanted) == 0 || len(e.tolerance) == 0 || e.tolerance[0] < 1e-3) {
			t.Errorf("exercise %s: a sentence has numbers, and rounds them; want %v, tolerance %v", e.key, e.want, e.tolerance)
		}
	}
}
