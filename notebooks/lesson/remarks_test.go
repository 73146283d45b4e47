package lesson

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/notebook"
)

// What is stored in the lessons says what the remarks, the exercises and the tasks say: who changes one of their
// sentences runs the lesson again.
func TestStoredWords(t *testing.T) {
	said := map[string]remark{}
	for _, r := range remarks {
		said[r.question] = r
	}
	praised := map[string]string{}
	for _, e := range exercises {
		praised[e.key] = e.praise
	}
	for _, x := range tasks {
		praised[x.key] = x.praise
	}
	files, err := filepath.Glob("../*.ipynb")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no lessons: %v", err)
	}
	questions, praises := 0, 0
	for _, file := range files {
		n, err := notebook.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range n.Cells {
			for _, out := range c.Outputs {
				if q, ok := out.Data[notebook.GuessType].(map[string]any); ok {
					questions++
					want, got := said[fmt.Sprint(q["question"])], ""
					if want.why != "" {
						got = fmt.Sprint(q["why"])
					}
					if got != want.why {
						t.Errorf("%s, cell %s: the answer's reason is %q, and remarks.go says %q", file, c.ID, got, want.why)
					}
					mistakes, _ := q["mistakes"].([]any)
					for i, m := range want.mistakes {
						if i >= len(mistakes) || mistakes[i].(map[string]any)["why"] != m.Why {
							t.Errorf("%s, cell %s: of the mistake %v it does not say %q", file, c.ID, m.Guess, m.Why)
						}
					}
				}
				for line := range strings.Lines(out.Plain()) {
					rest, ok := strings.CutPrefix(line, "✓ Exercise ")
					key, rest, _ := strings.Cut(rest, " ")
					praise, known := praised[strings.TrimSuffix(key, ":")]
					if !ok || !known {
						continue
					}
					praises++
					if !strings.HasSuffix(strings.TrimSpace(rest), strings.TrimSpace(praise)) {
						t.Errorf("%s, cell %s: the praise is %q, and it says %q", file, c.ID, praise, strings.TrimSpace(rest))
					}
				}
			}
		}
	}
	if questions < 200 || praises < 100 {
		t.Errorf("%d questions and %d praises are stored", questions, praises)
	}
}
