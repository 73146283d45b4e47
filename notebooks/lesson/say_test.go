package lesson

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/po"
)

// TestLanguages: what is said about an answer, and a question, are in the student's language as far as it has them.
// What a guess is worth does not depend on that.
func TestLanguages(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "notebooks", "xx")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"lesson.po": "msgid \"\"\nmsgstr \"Language: xx\\n\"\n\nmsgid \"✓ %s Right, it is %s.\"\nmsgstr \"✓ %s Richtig: %s.\"\n\nmsgid \"%d points\"\nmsgstr \"%d Punkte\"\n",
		"05-a.po":   "msgid \"\"\nmsgstr \"Language: xx\\n\"\n\nmsgid \"Which is it?\"\nmsgstr \"Welches ist es?\"\n\nmsgid \"the first\"\nmsgstr \"das erste\"\n\n#, fuzzy\nmsgid \"Because.\"\nmsgstr \"Veraltet.\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	ask := func() *question {
		q := newQuestion("Which is it?", "the first", []Option{Choices("the first", "the second"), Why("Because.")})
		q.translate()
		return q
	}
	english := ask().reply("the first")
	if english != "✓ Which is it? Right, it is the first. Because." {
		t.Errorf("in English: %q", english)
	}
	t.Setenv("LECTERN_ROOT", root)
	t.Setenv(po.LanguageVariable, "xx")
	q := ask()
	if got := q.reply("the first"); got != "✓ Welches ist es? Richtig: das erste. Because." {
		t.Errorf("in the language: %q", got)
	}
	if q.Key != "Which is it?" || q.Choices[0] != "the first" || strings.Join(q.Labels, ", ") != "das erste, the second" {
		t.Errorf("the question is %+v", q)
	}
	if got := points(3); got != "3 Punkte" {
		t.Errorf("points: %q", got)
	}
	for _, lang := range []string{"", "en", "yy", "../xx"} {
		t.Setenv(po.LanguageVariable, lang)
		if got := ask().reply("the first"); got != english {
			t.Errorf("language %q: %q", lang, got)
		}
	}
}
