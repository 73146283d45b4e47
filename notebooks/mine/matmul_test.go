// The cases of exercise 07.4. (98581650679d)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestMatmul(t *testing.T) {
	t.Run("one number each", func(t *testing.T) {
		got := Matmul([]float64{3}, []float64{4}, 1, 1, 1)
		lesson.Same(t, got, []float64{12})
	})
	t.Run("a row times a column", func(t *testing.T) {
		got := Matmul([]float64{1, 2, 3}, []float64{4, 5, 6}, 1, 3, 1)
		lesson.Same(t, got, []float64{32})
	})
	t.Run("a column times a row", func(t *testing.T) {
		got := Matmul([]float64{1, 2}, []float64{3, 4, 5}, 2, 1, 3)
		lesson.Same(t, got, []float64{3, 4, 5, 6, 8, 10})
	})
	t.Run("square matrices", func(t *testing.T) {
		got := Matmul([]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2, 2, 2)
		lesson.Same(t, got, []float64{19, 22, 43, 50})
	})
	t.Run("the lesson's matrices", func(t *testing.T) {
		got := Matmul([]float64{1, 2, 3, 4, 5, 6}, []float64{1, 0, 0, 1, 2, 2}, 2, 3, 2)
		lesson.Same(t, got, []float64{7, 8, 16, 17})
	})
	t.Run("three different sizes", func(t *testing.T) {
		got := Matmul([]float64{1, 0, 2, -1, 3, 1}, []float64{1, 2, 3, 4, 5, 6, 7, 8}, 3, 2, 4)
		lesson.Same(t, got, []float64{1, 2, 3, 4, -3, -2, -1, 0, 8, 12, 16, 20})
	})
	t.Run("an inner size of 0", func(t *testing.T) {
		got := Matmul([]float64{}, []float64{}, 2, 0, 2)
		lesson.Same(t, got, []float64{0, 0, 0, 0})
	})
}
