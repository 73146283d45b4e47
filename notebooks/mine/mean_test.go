// The cases of exercise 0.2. (412493fa6e4e)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestMean(t *testing.T) {
	t.Run("two values", func(t *testing.T) {
		got := Mean([]float64{1, 2})
		lesson.Same(t, got, 1.5)
	})
	t.Run("one value", func(t *testing.T) {
		got := Mean([]float64{7})
		lesson.Same(t, got, 7)
	})
	t.Run("a negative mean", func(t *testing.T) {
		got := Mean([]float64{-4, 1, 0, -1})
		lesson.Same(t, got, -1)
	})
	t.Run("no values", func(t *testing.T) {
		got := Mean([]float64{})
		lesson.Same(t, got, 0)
	})
}
