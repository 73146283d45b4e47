// The cases of exercise 30.1. (a90c93b5191a)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestCrossEntropy(t *testing.T) {
	t.Run("two equal logits", func(t *testing.T) {
		first, second := CrossEntropy([]float64{0, 0}, 0)
		lesson.Same(t, first, 0.6931471805599453)
		lesson.Same(t, second, []float64{-0.5, 0.5})
	})
	t.Run("four equal logits", func(t *testing.T) {
		first, second := CrossEntropy([]float64{3, 3, 3, 3}, 2)
		lesson.Same(t, first, 1.3862943611198906)
		lesson.Same(t, second, []float64{0.25, 0.25, -0.75, 0.25})
	})
	t.Run("a model that is right", func(t *testing.T) {
		first, second := CrossEntropy([]float64{0, 2, -1}, 1)
		lesson.Same(t, first, 0.16984601955628567)
		lesson.Same(t, second, []float64{0.11419519938459449, -0.15620526551866054,
			0.04201006613406605})
	})
	t.Run("a model that is wrong", func(t *testing.T) {
		first, second := CrossEntropy([]float64{0, 2, -1}, 2)
		lesson.Same(t, first, 3.1698460195562856)
		lesson.Same(t, second, []float64{0.11419519938459449, 0.8437947344813395, -0.9579899338659339})
	})
	t.Run("a single token", func(t *testing.T) {
		first, second := CrossEntropy([]float64{5}, 0)
		lesson.Same(t, first, 0)
		lesson.Same(t, second, []float64{0})
	})
	t.Run("large logits", func(t *testing.T) {
		first, second := CrossEntropy([]float64{1000, 999, 0}, 1)
		lesson.Same(t, first, 1.3132616875182228)
		lesson.Same(t, second, []float64{0.7310585786300049, -0.7310585786300049, 0})
	})
	t.Run("very negative logits", func(t *testing.T) {
		first, second := CrossEntropy([]float64{-1000, -1001}, 0)
		lesson.Same(t, first, 0.31326168751822286)
		lesson.Same(t, second, []float64{-0.2689414213699951, 0.2689414213699951})
	})
}
