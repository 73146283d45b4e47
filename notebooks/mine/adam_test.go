// The cases of exercise 17.5. (a619b9931693)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestAdam(t *testing.T) {
	t.Run("no step", func(t *testing.T) {
		got := Adam(4, []float64{}, 0.1)
		lesson.Same(t, got, 4, 1e-09)
	})
	t.Run("gradients of zero", func(t *testing.T) {
		got := Adam(1, []float64{0, 0}, 0.1)
		lesson.Same(t, got, 1, 1e-09)
	})
	t.Run("the first step", func(t *testing.T) {
		got := Adam(4, []float64{4}, 0.1)
		lesson.Same(t, got, 3.90000000025, 1e-09)
	})
	t.Run("three steps", func(t *testing.T) {
		got := Adam(4, []float64{4, 3.9, 3.8}, 0.1)
		lesson.Same(t, got, 3.700273929336003, 1e-09)
	})
	t.Run("gradients that change sign", func(t *testing.T) {
		got := Adam(0, []float64{1, -1, 1, -1}, 0.01)
		lesson.Same(t, got, -0.012305301877335414, 1e-09)
	})
	t.Run("tiny gradients", func(t *testing.T) {
		got := Adam(-2, []float64{0.0001, 0.0001}, 0.5)
		lesson.Same(t, got, -2.9999000099989965, 1e-09)
	})
	t.Run("gradients of very different sizes", func(t *testing.T) {
		got := Adam(1, []float64{1000, -0.001, 5}, 0.2)
		lesson.Same(t, got, 0.5617590711017008, 1e-09)
	})
}
