// The cases of exercise 12.4. (7fbb343f8bc6)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestGradients(t *testing.T) {
	t.Run("one number each", func(t *testing.T) {
		first, second := Gradients([][]float64{{3}}, [][]float64{{4}}, [][]float64{{2}})
		lesson.Same(t, first, [][]float64{{8}})
		lesson.Same(t, second, [][]float64{{6}})
	})
	t.Run("a row times a column", func(t *testing.T) {
		first, second := Gradients([][]float64{{1, 2, 3}}, [][]float64{{4}, {5}, {6}}, [][]float64{{1}})
		lesson.Same(t, first, [][]float64{{4, 5, 6}})
		lesson.Same(t, second, [][]float64{{1}, {2}, {3}})
	})
	t.Run("a column times a row", func(t *testing.T) {
		first, second := Gradients([][]float64{{1}, {2}}, [][]float64{{3, 4, 5}}, [][]float64{{1, 0, 2},
			{0, 1, 0}})
		lesson.Same(t, first, [][]float64{{13}, {4}})
		lesson.Same(t, second, [][]float64{{1, 2, 2}})
	})
	t.Run("square matrices", func(t *testing.T) {
		first, second := Gradients([][]float64{{1, 2}, {3, 4}}, [][]float64{{5, 6}, {7, 8}},
			[][]float64{{1, 0}, {0, 1}})
		lesson.Same(t, first, [][]float64{{5, 7}, {6, 8}})
		lesson.Same(t, second, [][]float64{{1, 3}, {2, 4}})
	})
	t.Run("three different sizes", func(t *testing.T) {
		first, second := Gradients([][]float64{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 11}},
			[][]float64{{1, 2}, {3, 4}, {5, 6}}, [][]float64{{1, 1}, {1, -1}, {0, 2}, {0.5, 0}})
		lesson.Same(t, first, [][]float64{{3, 7, 11}, {-1, -1, -1}, {4, 8, 12}, {0.5, 1.5, 2.5}})
		lesson.Same(t, second, [][]float64{{7.5, 9}, {10, 11}, {12.5, 13}})
	})
}
