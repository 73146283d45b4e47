// The cases of exercise 30.3. (f77309d067ac)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestLinearBackward(t *testing.T) {
	t.Run("one number", func(t *testing.T) {
		first, second := LinearBackward([][]float64{{3}}, [][]float64{{2}}, [][]float64{{1}})
		lesson.Same(t, first, [][]float64{{2}})
		lesson.Same(t, second, [][]float64{{3}})
	})
	t.Run("one output", func(t *testing.T) {
		first, second := LinearBackward([][]float64{{1, 2}}, [][]float64{{3, 4}}, [][]float64{{10}})
		lesson.Same(t, first, [][]float64{{30, 40}})
		lesson.Same(t, second, [][]float64{{10, 20}})
	})
	t.Run("one input", func(t *testing.T) {
		first, second := LinearBackward([][]float64{{1}, {2}, {3}}, [][]float64{{5}}, [][]float64{{1,
			-1, 2}})
		lesson.Same(t, first, [][]float64{{5}, {-5}, {10}})
		lesson.Same(t, second, [][]float64{{5}})
	})
	t.Run("a batch of two", func(t *testing.T) {
		first, second := LinearBackward([][]float64{{1, 2}}, [][]float64{{3, 4}, {5, 6}},
			[][]float64{{1}, {-2}})
		lesson.Same(t, first, [][]float64{{-7, -8}})
		lesson.Same(t, second, [][]float64{{1, 2}, {-2, -4}})
	})
	t.Run("a square", func(t *testing.T) {
		first, second := LinearBackward([][]float64{{1, 2}, {3, 4}}, [][]float64{{1, 0}, {0, 1}},
			[][]float64{{1, 2}, {3, 4}})
		lesson.Same(t, first, [][]float64{{1, 3}, {2, 4}})
		lesson.Same(t, second, [][]float64{{7, 10}, {15, 22}})
	})
	t.Run("three inputs, two outputs", func(t *testing.T) {
		first, second := LinearBackward([][]float64{{1, 0, 2}, {-1, 3, 0.5}}, [][]float64{{1, 2, 3}, {0,
			-1, 4}}, [][]float64{{1, 2}, {0.5, -1}})
		lesson.Same(t, first, [][]float64{{1, 1.5, 5}, {2, 5, 2}})
		lesson.Same(t, second, [][]float64{{-1, 6, 3}, {1.5, -3, 0.5}})
	})
}
