package lesson

import "github.com/lectern-go/lectern/internal/po"

// say returns a text in the student's language, with values in it as fmt has them. How a cell is written, and so what a
// guess is worth, is the same in all languages.
func say(english string, values ...any) string { return po.Say(english, values...) }

// phrase marks a text that is said later.
func phrase(english string) string { return english }

// points is a number of them in words.
func points(n int) string {
	if n == 1 {
		return say("1 point")
	}
	return say("%d points", n)
}
