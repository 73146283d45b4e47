// The cases of exercise 28.5. (d780ffda5259)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestPasses(t *testing.T) {
	t.Run("two ranks", func(t *testing.T) {
		got := Passes(0, 0, 2)
		lesson.Same(t, got, 1)
	})
	t.Run("the first step", func(t *testing.T) {
		got := Passes(1, 0, 4)
		lesson.Same(t, got, 0)
	})
	t.Run("a later step", func(t *testing.T) {
		got := Passes(3, 1, 4)
		lesson.Same(t, got, 1)
	})
	t.Run("past the end of the ring", func(t *testing.T) {
		got := Passes(0, 0, 4)
		lesson.Same(t, got, 3)
	})
	t.Run("the last step", func(t *testing.T) {
		got := Passes(0, 6, 8)
		lesson.Same(t, got, 1)
	})
}
