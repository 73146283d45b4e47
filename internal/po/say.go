package po

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/lectern-go/lectern/internal/glob"
)

// LanguageVariable is the environment variable with a student's language, which is the name of a folder of catalogues
// beside the lessons: zh means notebooks/zh.
const LanguageVariable = "LECTERN_LANG"

// Chosen is the folder with the catalogues of the student's language, in the checkout at root; "" for English.
func Chosen(root string) string {
	lang := os.Getenv(LanguageVariable)
	if lang == "" || lang == "en" || root == "" || !filepath.IsLocal(lang) {
		return ""
	}
	return filepath.Join(root, "notebooks", lang)
}

// Say returns a text in the student's language, with values formatted by fmt: what cells say. Texts are found by
// their English; texts without a translation stay English.
func Say(english string, values ...any) string {
	if text := translated(english); text != "" {
		english = text
	}
	if len(values) == 0 {
		return english
	}
	return fmt.Sprintf(english, values...)
}

// translated finds a translation; "" if there is none. A cell says only a few sentences, so files are searched for
// them instead of being read whole.
func translated(english string) string {
	dir := Chosen(os.Getenv("LECTERN_ROOT"))
	if dir == "" || english == "" {
		return ""
	}
	files, _ := glob.In(dir, "*.po") // the pattern is well-formed
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // then it is English
		}
		if m := Find(text, english); m != nil && m.Valid() {
			return m.Str
		}
	}
	return ""
}
