// The cases of exercise 03.6. (b7d286982f9c)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestQuantize(t *testing.T) {
	t.Run("a scale of 1", func(t *testing.T) {
		first, second := Quantize([]float64{6, -3, 1, 0.4})
		lesson.Same(t, first, 1)
		lesson.Same(t, second, []float64{6, -3, 1, 0.5})
	})
	t.Run("a small scale", func(t *testing.T) {
		first, second := Quantize([]float64{1.2, 0.1, -0.6, 0.37})
		lesson.Same(t, first, 0.2)
		lesson.Same(t, second, []float64{1.2, 0.1, -0.6, 0.4})
	})
	t.Run("the largest is negative", func(t *testing.T) {
		first, second := Quantize([]float64{-12, 5.4})
		lesson.Same(t, first, 2)
		lesson.Same(t, second, []float64{-12, 6})
	})
	t.Run("zeros", func(t *testing.T) {
		first, second := Quantize([]float64{0, 0, 0})
		lesson.Same(t, first, 0)
		lesson.Same(t, second, []float64{0, 0, 0})
	})
	t.Run("an outlier", func(t *testing.T) {
		first, second := Quantize([]float64{600, 1, 20, -80})
		lesson.Same(t, first, 100)
		lesson.Same(t, second, []float64{600, 0, 0, -100})
	})
	t.Run("an empty block", func(t *testing.T) {
		first, second := Quantize([]float64{})
		lesson.Same(t, first, 0)
		lesson.Same(t, second, []float64{})
	})
}
