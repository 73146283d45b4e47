package grading

import "testing"

func TestVerdictReadsAsSentences(t *testing.T) {
	v := Verdict{Parts: []Part{{Key: "00.4", Points: 5, Of: 5}, {Key: "00.5", Of: 1, Problem: "the function is not written yet"}}}
	const want = "Exercise 00.4: 5 of 5 points.\nExercise 00.5: 0 of 1 point: the function is not written yet\n"
	if got := v.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
