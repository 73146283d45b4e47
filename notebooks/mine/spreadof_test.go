// The cases of exercise 13.4. (dce56a3bd7bf)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestSpreadOf(t *testing.T) {
	t.Run("lecun", func(t *testing.T) {
		got := SpreadOf("lecun", 16384, 32)
		lesson.Same(t, got, 0.0078125)
	})
	t.Run("lecun, more outputs than inputs", func(t *testing.T) {
		got := SpreadOf("lecun", 4, 400)
		lesson.Same(t, got, 0.5)
	})
	t.Run("xavier", func(t *testing.T) {
		got := SpreadOf("xavier", 256, 64)
		lesson.Same(t, got, 0.07905694150420949)
	})
	t.Run("xavier, the other way around", func(t *testing.T) {
		got := SpreadOf("xavier", 64, 256)
		lesson.Same(t, got, 0.07905694150420949)
	})
	t.Run("xavier of a square matrix", func(t *testing.T) {
		got := SpreadOf("xavier", 100, 100)
		lesson.Same(t, got, 0.1)
	})
	t.Run("he", func(t *testing.T) {
		got := SpreadOf("he", 256, 64)
		lesson.Same(t, got, 0.08838834764831845)
	})
	t.Run("he of one input", func(t *testing.T) {
		got := SpreadOf("he", 1, 9)
		lesson.Same(t, got, 1.4142135623730951)
	})
}
