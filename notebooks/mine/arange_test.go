// The cases of exercise 02.5. (bc38035a2b46)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestArange(t *testing.T) {
	t.Run("counting", func(t *testing.T) {
		got := Arange(0, 5, 1)
		lesson.Same(t, got, []float64{0, 1, 2, 3, 4})
	})
	t.Run("halves", func(t *testing.T) {
		got := Arange(0, 2, 0.5)
		lesson.Same(t, got, []float64{0, 0.5, 1, 1.5})
	})
	t.Run("a stop between two steps", func(t *testing.T) {
		got := Arange(1, 8, 3)
		lesson.Same(t, got, []float64{1, 4, 7})
	})
	t.Run("counting down", func(t *testing.T) {
		got := Arange(10, 0, -2)
		lesson.Same(t, got, []float64{10, 8, 6, 4, 2})
	})
	t.Run("nothing to count", func(t *testing.T) {
		got := Arange(3, 3, 1)
		lesson.Same(t, got, []float64{})
	})
	t.Run("the wrong direction", func(t *testing.T) {
		got := Arange(0, 5, -1)
		lesson.Same(t, got, []float64{})
	})
	t.Run("many tenths", func(t *testing.T) {
		got := Arange(0, 1, 0.1)
		lesson.Same(t, got, []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9})
	})
}
