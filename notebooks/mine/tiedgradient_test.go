// The cases of exercise 25.6. (726487c98673)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestTiedGradient(t *testing.T) {
	t.Run("the embedding alone", func(t *testing.T) {
		got := TiedGradient(2, []int{1}, [][]float64{{1, 2}}, [][]float64{{0, 0}}, [][]float64{{5, 6}})
		lesson.Same(t, got, [][]float64{{0, 0}, {1, 2}})
	})
	t.Run("the output layer alone", func(t *testing.T) {
		got := TiedGradient(2, []int{0}, [][]float64{{0, 0}}, [][]float64{{1, 2}}, [][]float64{{3, -1}})
		lesson.Same(t, got, [][]float64{{3, 6}, {-1, -2}})
	})
	t.Run("the same token twice", func(t *testing.T) {
		got := TiedGradient(3, []int{2, 2}, [][]float64{{1, 0}, {10, 1}}, [][]float64{{0, 0}, {0, 0}},
			[][]float64{{1, 1, 1}, {1, 1, 1}})
		lesson.Same(t, got, [][]float64{{0, 0}, {0, 0}, {11, 1}})
	})
	t.Run("both ends", func(t *testing.T) {
		got := TiedGradient(3, []int{0, 2, 0}, [][]float64{{1, 2}, {3, 4}, {5, 6}}, [][]float64{{1, 0},
			{0, 1}, {1, 1}}, [][]float64{{0.5, -0.5, 0}, {0.25, 0.25, -0.5}, {-1, 0.5, 0.5}})
		lesson.Same(t, got, [][]float64{{5.5, 7.25}, {0, 0.75}, {3.5, 4}})
	})
}
