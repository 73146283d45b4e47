// The cases of exercise 25.3. (71fec2d51057)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestRMSNorm(t *testing.T) {
	t.Run("equal features", func(t *testing.T) {
		got := RMSNorm([]float64{5, 5, 5}, []float64{1, 1, 1}, 0)
		lesson.Same(t, got, []float64{1, 1, 1}, 1e-09)
	})
	t.Run("two features", func(t *testing.T) {
		got := RMSNorm([]float64{3, 4}, []float64{1, 1}, 0)
		lesson.Same(t, got, []float64{0.848528137423857, 1.131370849898476}, 1e-09)
	})
	t.Run("gains", func(t *testing.T) {
		got := RMSNorm([]float64{1, 2, 3, 4}, []float64{1, 0.5, 2, -1}, 1e-05)
		lesson.Same(t, got, []float64{0.3651481282381064, 0.3651481282381064, 2.1908887694286383,
			-1.4605925129524255}, 1e-09)
	})
	t.Run("nothing but zeros", func(t *testing.T) {
		got := RMSNorm([]float64{0, 0, 0}, []float64{1, 2, 3}, 1e-05)
		lesson.Same(t, got, []float64{0, 0, 0}, 1e-09)
	})
	t.Run("small features", func(t *testing.T) {
		got := RMSNorm([]float64{0.001, -0.002}, []float64{1, 1}, 1e-05)
		lesson.Same(t, got, []float64{0.282842712474619, -0.565685424949238}, 1e-09)
	})
}
