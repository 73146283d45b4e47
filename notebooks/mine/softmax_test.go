// The cases of exercise 06.5. (fbd9ad35f1b2)

package mine

import (
	"math"
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestSoftmax(t *testing.T) {
	t.Run("one score", func(t *testing.T) {
		got := Softmax([]float64{3})
		lesson.Same(t, got, []float64{1})
	})
	t.Run("equal scores", func(t *testing.T) {
		got := Softmax([]float64{2, 2, 2, 2})
		lesson.Same(t, got, []float64{0.25, 0.25, 0.25, 0.25})
	})
	t.Run("different scores", func(t *testing.T) {
		got := Softmax([]float64{1, 2, 3})
		lesson.Same(t, got, []float64{0.09003057317038046, 0.24472847105479764, 0.6652409557748218})
	})
	t.Run("minus infinity", func(t *testing.T) {
		got := Softmax([]float64{math.Inf(-1), 0, 0})
		lesson.Same(t, got, []float64{0, 0.5, 0.5})
	})
	t.Run("large scores", func(t *testing.T) {
		got := Softmax([]float64{0, 1000, 1000})
		lesson.Same(t, got, []float64{0, 0.5, 0.5})
	})
	t.Run("large negative scores", func(t *testing.T) {
		got := Softmax([]float64{-1000, -1001})
		lesson.Same(t, got, []float64{0.7310585786300049, 0.2689414213699951})
	})
}
