package rewrite

import "testing"

func TestQuestion(t *testing.T) {
	for code, want := range map[string]string{
		"x?": "x", "?tensor.Arange": "tensor.Arange", " loss?? \n": "loss", "größe?": "größe",
		"?": "", "x ? y": "", "a?b": "", "x": "", "5?": "", "f(x)?": "",
	} {
		if got := Question(code); got != want {
			t.Errorf("Question(%q) = %q, want %q", code, got, want)
		}
	}
}
