// The cases of exercise 09.6. (2aa0b37c8619)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestPrune(t *testing.T) {
	t.Run("no weights", func(t *testing.T) {
		got := Prune([]float64{})
		lesson.Same(t, got, []float64{})
	})
	t.Run("one block", func(t *testing.T) {
		got := Prune([]float64{0.1, 0.9, 0.4, 0.2})
		lesson.Same(t, got, []float64{0, 0.9, 0.4, 0})
	})
	t.Run("negative weights", func(t *testing.T) {
		got := Prune([]float64{-0.1, 0.3, -0.9, 0.2})
		lesson.Same(t, got, []float64{0, 0.3, -0.9, 0})
	})
	t.Run("two blocks", func(t *testing.T) {
		got := Prune([]float64{1, 2, 3, 4, 8, 7, 6, 5})
		lesson.Same(t, got, []float64{0, 0, 3, 4, 8, 7, 0, 0})
	})
	t.Run("equal weights", func(t *testing.T) {
		got := Prune([]float64{1, 1, 1, 1})
		lesson.Same(t, got, []float64{1, 1, 0, 0})
	})
	t.Run("equally far from zero", func(t *testing.T) {
		got := Prune([]float64{1, 2, -2, 2})
		lesson.Same(t, got, []float64{0, 2, -2, 0})
	})
	t.Run("zeros", func(t *testing.T) {
		got := Prune([]float64{0, 0, 0, 5})
		lesson.Same(t, got, []float64{0, 0, 0, 5})
	})
}
