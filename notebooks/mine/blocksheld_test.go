// The cases of exercise 23.5. (8fd38acc21fb)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestBlocksHeld(t *testing.T) {
	t.Run("a single block", func(t *testing.T) {
		got := BlocksHeld(1, 1)
		lesson.Same(t, got, 1)
	})
	t.Run("one segment", func(t *testing.T) {
		got := BlocksHeld(16, 16)
		lesson.Same(t, got, 16)
	})
	t.Run("segments of 1", func(t *testing.T) {
		got := BlocksHeld(16, 1)
		lesson.Same(t, got, 16)
	})
	t.Run("segments of the root", func(t *testing.T) {
		got := BlocksHeld(16, 4)
		lesson.Same(t, got, 7)
	})
	t.Run("a deep network", func(t *testing.T) {
		got := BlocksHeld(100, 10)
		lesson.Same(t, got, 19)
	})
	t.Run("a short last segment", func(t *testing.T) {
		got := BlocksHeld(17, 4)
		lesson.Same(t, got, 7)
	})
	t.Run("a last segment that is nearly whole", func(t *testing.T) {
		got := BlocksHeld(7, 4)
		lesson.Same(t, got, 4)
	})
	t.Run("segments longer than the network", func(t *testing.T) {
		got := BlocksHeld(5, 8)
		lesson.Same(t, got, 5)
	})
}
