// The cases of exercise 14.4. (4db16b87276a)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestLinear(t *testing.T) {
	t.Run("one number", func(t *testing.T) {
		got := Linear([][]float64{{3}}, [][]float64{{2}}, nil)
		lesson.Same(t, got, [][]float64{{6}})
	})
	t.Run("one example", func(t *testing.T) {
		got := Linear([][]float64{{1, 2}}, [][]float64{{3, 4, 5}, {6, 7, 8}}, nil)
		lesson.Same(t, got, [][]float64{{15, 18, 21}})
	})
	t.Run("a bias", func(t *testing.T) {
		got := Linear([][]float64{{1, 2}}, [][]float64{{3, 4, 5}, {6, 7, 8}}, []float64{10, 20, 30})
		lesson.Same(t, got, [][]float64{{25, 38, 51}})
	})
	t.Run("a batch", func(t *testing.T) {
		got := Linear([][]float64{{1, 0}, {0, 1}, {1, 1}}, [][]float64{{1, -2}, {3, 4}}, nil)
		lesson.Same(t, got, [][]float64{{1, -2}, {3, 4}, {4, 2}})
	})
	t.Run("a batch and a bias", func(t *testing.T) {
		got := Linear([][]float64{{1, 2, 3}, {-1, 0, 0.5}}, [][]float64{{1, 0}, {0, 1}, {2, -2}},
			[]float64{0.5, -1})
		lesson.Same(t, got, [][]float64{{7.5, -5}, {0.5, -2}})
	})
	t.Run("no examples", func(t *testing.T) {
		got := Linear([][]float64{}, [][]float64{{1, 2}}, []float64{1, 1})
		lesson.Same(t, got, [][]float64{})
	})
}
