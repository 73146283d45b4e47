// The cases of exercise 25.4. (8f6eb1710144)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestSwiGLU(t *testing.T) {
	t.Run("one feature", func(t *testing.T) {
		got := SwiGLU([]float64{2}, [][]float64{{1}}, [][]float64{{1}}, [][]float64{{3}})
		lesson.Same(t, got, []float64{10.569564935734588}, 1e-09)
	})
	t.Run("wider in the middle", func(t *testing.T) {
		got := SwiGLU([]float64{1, -1}, [][]float64{{1, 0}, {0, 1}, {1, 1}}, [][]float64{{1, 2, 3}, {-1,
			0, 1}}, [][]float64{{1, 1}, {2, 0}, {0.5, -0.5}})
		lesson.Same(t, got, []float64{-1.0757656854799804, 0}, 1e-09)
	})
	t.Run("inputs of zero", func(t *testing.T) {
		got := SwiGLU([]float64{0, 0}, [][]float64{{1, 2}}, [][]float64{{1}, {1}}, [][]float64{{1, 1}})
		lesson.Same(t, got, []float64{0, 0}, 1e-09)
	})
	t.Run("a closed gate", func(t *testing.T) {
		got := SwiGLU([]float64{1, 2}, [][]float64{{-100, 0}}, [][]float64{{1}, {1}}, [][]float64{{1,
			1}})
		lesson.Same(t, got, []float64{0, 0}, 1e-09)
	})
	t.Run("three features", func(t *testing.T) {
		got := SwiGLU([]float64{0.5, -1, 2}, [][]float64{{0.1, 0.2, 0.3}, {1, -1, 0}}, [][]float64{{1,
			0}, {0, 1}, {2, -1}}, [][]float64{{-0.5, 0, 1}, {0.3, 0.3, 0.3}})
		lesson.Same(t, got, []float64{0.4808783967350123, 0.5518627714307094, 0.40989402203931524},
			1e-09)
	})
}
