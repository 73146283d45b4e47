// The cases of exercise 26.3. (ffcd4fdd72e4)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestParameters(t *testing.T) {
	t.Run("no blocks", func(t *testing.T) {
		got := Parameters(0, 8, 16, 10)
		lesson.Same(t, got, 168)
	})
	t.Run("one block", func(t *testing.T) {
		got := Parameters(1, 8, 16, 10)
		lesson.Same(t, got, 824)
	})
	t.Run("a small model", func(t *testing.T) {
		got := Parameters(3, 64, 192, 256)
		lesson.Same(t, got, 192960)
	})
	t.Run("the assignment's model", func(t *testing.T) {
		got := Parameters(48, 1600, 6400, 50257)
		lesson.Same(t, got, 2127057600)
	})
}
