package tokenizer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestSteps(t *testing.T) {
	text := "the cat in the hat <b>&"
	steps, err := Steps(text, 3)
	if err != nil {
		t.Fatal(err)
	}
	trained, err := TrainBPE(text, 3)
	if err != nil {
		t.Fatal(err)
	}
	ids := Byte{}.Encode(text)
	for i, s := range steps {
		m := trained.Merges()[i]
		if !slices.Equal(s.Before, ids) || s.Chosen.Left != m.Left || s.Chosen.Right != m.Right || s.ID != m.ID || !slices.Contains(s.Counts, s.Chosen) {
			t.Errorf("step %d is %v, want merge %v", i, s, m)
		}
		ids = s.After
		if len(s.Vocab) != 257+i || string(s.Vocab[s.ID]) != string(s.Vocab[m.Left])+string(s.Vocab[m.Right]) {
			t.Errorf("step %d has a vocabulary of %d", i, len(s.Vocab))
		}
	}
	if !slices.Equal(ids, trained.Encode(text)) {
		t.Errorf("the last step leaves %v, want %v", ids, trained.Encode(text))
	}
	page := steps[2].HTML()
	for _, want := range []string{"&lt;", "&amp;", "outline", "19 tokens &rarr; 17"} {
		if !strings.Contains(page, want) {
			t.Errorf("HTML lacks %q: %s", want, page)
		}
	}
	if strings.Contains(page, "<b>") {
		t.Errorf("HTML does not escape the text: %s", page)
	}
	steps, err = Steps("ab", 3)
	var few *TooFewPairsError
	if !errors.As(err, &few) || few.Learned != 1 || len(steps) != 1 {
		t.Errorf("too many steps: %v, %v", steps, err)
	}
	for name, train := range map[string]func(string, int, TrainOptions) (*BPE, error){
		"TrainNaive": TrainNaive,
		"Train": func(text string, merges int, o TrainOptions) (*BPE, error) {
			return Train(context.Background(), strings.NewReader(text), merges, o)
		},
	} { // more merges than there is memory for: what is asked for takes none, only what is learned
		if _, err := train("ab", 1<<40, TrainOptions{}); !errors.As(err, &few) || few.Learned != 1 {
			t.Errorf("%s, 1<<40 merges: %v", name, err)
		}
	}
	if _, err := Steps("ab", -1); err == nil {
		t.Error("-1 steps give no error")
	}
}
