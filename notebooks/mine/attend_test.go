// The cases of exercise 24.4. (0e78e5cb8d3c)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestAttend(t *testing.T) {
	t.Run("a single token", func(t *testing.T) {
		got := Attend([]float64{1, 2}, [][]float64{{0.5, -1}}, [][]float64{{3, 4, 5}})
		lesson.Same(t, got, []float64{3, 4, 5})
	})
	t.Run("equal scores", func(t *testing.T) {
		got := Attend([]float64{1, 0}, [][]float64{{1, 0}, {1, 5}}, [][]float64{{2}, {4}})
		lesson.Same(t, got, []float64{3})
	})
	t.Run("three tokens", func(t *testing.T) {
		got := Attend([]float64{1, -1, 2, 0.5}, [][]float64{{0.1, 0.2, 0.3, 0.4}, {1, 0, -1, 2}, {0.5,
			0.5, 0.5, 0.5}}, [][]float64{{1, 0}, {0, 1}, {2, -2}})
		lesson.Same(t, got, []float64{1.2025151545861927, -0.6382766063220061})
	})
	t.Run("large scores", func(t *testing.T) {
		got := Attend([]float64{30, 40}, [][]float64{{30, 40}, {29, 40}}, [][]float64{{1}, {0}})
		lesson.Same(t, got, []float64{0.9999999993873354})
	})
	t.Run("large negative scores", func(t *testing.T) {
		got := Attend([]float64{-500}, [][]float64{{3}, {3.001}}, [][]float64{{1}, {2}})
		lesson.Same(t, got, []float64{1.3775406687981455})
	})
}
