// The cases of exercise 19.5. (3b9859cc9c88)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestRate(t *testing.T) {
	t.Run("the start", func(t *testing.T) {
		got := Rate(0, 20, 200, 0.05, 0)
		lesson.Same(t, got, 0)
	})
	t.Run("during the warm-up", func(t *testing.T) {
		got := Rate(10, 20, 200, 0.05, 0)
		lesson.Same(t, got, 0.025)
	})
	t.Run("the peak", func(t *testing.T) {
		got := Rate(20, 20, 200, 0.05, 0)
		lesson.Same(t, got, 0.05)
	})
	t.Run("halfway down", func(t *testing.T) {
		got := Rate(110, 20, 200, 0.05, 0)
		lesson.Same(t, got, 0.025)
	})
	t.Run("on the way down", func(t *testing.T) {
		got := Rate(65, 20, 200, 0.1, 0.01)
		lesson.Same(t, got, 0.08681980515339464)
	})
	t.Run("the end", func(t *testing.T) {
		got := Rate(200, 20, 200, 0.1, 0.01)
		lesson.Same(t, got, 0.01)
	})
	t.Run("no warm-up", func(t *testing.T) {
		got := Rate(0, 0, 100, 0.3, 0.1)
		lesson.Same(t, got, 0.3)
	})
}
