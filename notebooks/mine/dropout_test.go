// The cases of exercise 15.5. (5a6e087829ae)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestDropout(t *testing.T) {
	t.Run("all survive", func(t *testing.T) {
		got := Dropout([]float64{1, 2, 3}, []float64{0.9, 0.8, 0.7}, 0.5, true)
		lesson.Same(t, got, []float64{2, 4, 6})
	})
	t.Run("some survive", func(t *testing.T) {
		got := Dropout([]float64{3, -3, 6, 9}, []float64{0.1, 0.3, 0.2, 0.95}, 0.25, true)
		lesson.Same(t, got, []float64{0, -4, 0, 12})
	})
	t.Run("in use", func(t *testing.T) {
		got := Dropout([]float64{3, -3}, []float64{0.1, 0.9}, 0.25, false)
		lesson.Same(t, got, []float64{3, -3})
	})
	t.Run("no dropout", func(t *testing.T) {
		got := Dropout([]float64{5, 7}, []float64{0, 0.5}, 0, true)
		lesson.Same(t, got, []float64{5, 7})
	})
	t.Run("a draw of exactly p", func(t *testing.T) {
		got := Dropout([]float64{1}, []float64{0.5}, 0.5, true)
		lesson.Same(t, got, []float64{2})
	})
	t.Run("no elements", func(t *testing.T) {
		got := Dropout([]float64{}, []float64{}, 0.5, true)
		lesson.Same(t, got, []float64{})
	})
}
