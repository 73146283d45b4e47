// The cases of exercise 17.4. (6c75156da49f)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestSGD(t *testing.T) {
	t.Run("no steps", func(t *testing.T) {
		got := SGD(4, []float64{}, 0.1, 0.9)
		lesson.Same(t, got, 4)
	})
	t.Run("one step", func(t *testing.T) {
		got := SGD(4, []float64{4}, 0.03, 0)
		lesson.Same(t, got, 3.88)
	})
	t.Run("steps without momentum", func(t *testing.T) {
		got := SGD(1, []float64{20, 8, -2}, 0.03, 0)
		lesson.Same(t, got, 0.22)
	})
	t.Run("the first step with momentum", func(t *testing.T) {
		got := SGD(1, []float64{20}, 0.03, 0.9)
		lesson.Same(t, got, 0.4)
	})
	t.Run("steps with momentum", func(t *testing.T) {
		got := SGD(1, []float64{20, 8, -2}, 0.03, 0.9)
		lesson.Same(t, got, -1.022)
	})
	t.Run("gradients of zero after a step", func(t *testing.T) {
		got := SGD(0, []float64{1, 0, 0}, 1, 0.5)
		lesson.Same(t, got, -1.75)
	})
}
