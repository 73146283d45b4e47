// The cases of exercise 19.4. (7e75faf41fdd)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestRegressionStep(t *testing.T) {
	t.Run("one weight, one example", func(t *testing.T) {
		first, second := RegressionStep([]float64{1}, [][]float64{{2}}, []float64{6}, 0.1)
		lesson.Same(t, first, []float64{2.6})
		lesson.Same(t, second, 16)
	})
	t.Run("weights that are right", func(t *testing.T) {
		first, second := RegressionStep([]float64{3, 1}, [][]float64{{1, 2}, {0, 1}}, []float64{5, 1},
			0.5)
		lesson.Same(t, first, []float64{3, 1})
		lesson.Same(t, second, 0)
	})
	t.Run("two examples", func(t *testing.T) {
		first, second := RegressionStep([]float64{1, -1}, [][]float64{{1, 2}, {0, 1}}, []float64{3, 1},
			0.05)
		lesson.Same(t, first, []float64{1.2, -0.5})
		lesson.Same(t, second, 10)
	})
	t.Run("four examples", func(t *testing.T) {
		first, second := RegressionStep([]float64{0, 0}, [][]float64{{1, 0}, {0, 1}, {1, 1}, {2, -1}},
			[]float64{1, 2, 3, 0}, 0.1)
		lesson.Same(t, first, []float64{0.2, 0.25})
		lesson.Same(t, second, 3.5)
	})
	t.Run("inputs of zero", func(t *testing.T) {
		first, second := RegressionStep([]float64{2, 2}, [][]float64{{0, 0}}, []float64{0}, 0.1)
		lesson.Same(t, first, []float64{2, 2})
		lesson.Same(t, second, 0)
	})
}
