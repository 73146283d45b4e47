// The cases of exercise 0.3. (0724f9f52e0b)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestBoth(t *testing.T) {
	t.Run("nothing to clip", func(t *testing.T) {
		first, second := Both([]float64{1, 2}, 3)
		lesson.Same(t, first, []float64{1, 2})
		lesson.Same(t, second, []float64{1, 2})
	})
	t.Run("some are too large, and the argument stays as it is", func(t *testing.T) {
		first, second := Both([]float64{1, 5, -2, 9}, 4)
		lesson.Same(t, first, []float64{1, 4, -2, 4})
		lesson.Same(t, second, []float64{1, 5, -2, 9})
	})
	t.Run("the limit itself", func(t *testing.T) {
		first, second := Both([]float64{2, 2.5}, 2)
		lesson.Same(t, first, []float64{2, 2})
		lesson.Same(t, second, []float64{2, 2.5})
	})
	t.Run("no values", func(t *testing.T) {
		first, second := Both([]float64{}, 1)
		lesson.Same(t, first, []float64{})
		lesson.Same(t, second, []float64{})
	})
}
