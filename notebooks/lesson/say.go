package lesson

import "github.com/lectern-go/lectern/internal/po"

// say returns a text in the student's language, with values in it as fmt writes them. What students write in cells is
// the same in all languages, and so is how it is judged.
func say(english string, values ...any) string { return po.Say(english, values...) }

// phrase marks a text that is passed to say later.
func phrase(english string) string { return english }

// points writes a number of points.
func points(n int) string {
	if n == 1 {
		return say("1 point")
	}
	return say("%d points", n)
}
