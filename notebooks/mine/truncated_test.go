// The cases of exercise 13.5. (37384c6abe3b)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestTruncated(t *testing.T) {
	t.Run("nothing to cut", func(t *testing.T) {
		got := Truncated([]float64{0.5, -1, 2}, 3, 1, 3)
		lesson.Same(t, got, []float64{0.5, -1, 2})
	})
	t.Run("the standard deviation", func(t *testing.T) {
		got := Truncated([]float64{0.5, -1, 2}, 3, 0.1, 3)
		lesson.Same(t, got, []float64{0.05, -0.1, 0.2})
	})
	t.Run("numbers beyond the bound", func(t *testing.T) {
		got := Truncated([]float64{4, 0.5, -3.5, 1}, 2, 2, 3)
		lesson.Same(t, got, []float64{1, 2})
	})
	t.Run("a bound in standard deviations", func(t *testing.T) {
		got := Truncated([]float64{2, 2.5, -0.3, -1.5}, 1, 0.01, 1)
		lesson.Same(t, got, []float64{-0.003})
	})
	t.Run("numbers at the bound", func(t *testing.T) {
		got := Truncated([]float64{3, -3}, 2, 1, 3)
		lesson.Same(t, got, []float64{3, -3})
	})
	t.Run("more draws than needed", func(t *testing.T) {
		got := Truncated([]float64{1, 1, 1}, 1, 1, 3)
		lesson.Same(t, got, []float64{1})
	})
	t.Run("no numbers", func(t *testing.T) {
		got := Truncated([]float64{1, 1, 1}, 0, 1, 3)
		lesson.Same(t, got, []float64{})
	})
}
