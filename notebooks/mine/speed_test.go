// The cases of exercise 10.4. (1258a8928e81)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestSpeed(t *testing.T) {
	t.Run("one run", func(t *testing.T) {
		got := Speed(10, 20, 30, []float64{0.5}, 0)
		lesson.Same(t, got, 24000)
	})
	t.Run("three runs", func(t *testing.T) {
		got := Speed(10, 10, 10, []float64{2, 1, 4}, 0)
		lesson.Same(t, got, 1000)
	})
	t.Run("a warm-up", func(t *testing.T) {
		got := Speed(10, 10, 10, []float64{100, 50, 2, 1, 4}, 2)
		lesson.Same(t, got, 1000)
	})
	t.Run("an even number of runs", func(t *testing.T) {
		got := Speed(10, 10, 10, []float64{4, 1, 9, 3, 1}, 1)
		lesson.Same(t, got, 1000)
	})
	t.Run("a run that was disturbed", func(t *testing.T) {
		got := Speed(1024, 256, 64, []float64{9, 0.0001, 1.5, 0.0001}, 1)
		lesson.Same(t, got, 3.3554432e+11)
	})
	t.Run("nothing but warm-up", func(t *testing.T) {
		got := Speed(10, 10, 10, []float64{1, 2}, 2)
		lesson.Same(t, got, 0)
	})
	t.Run("a large product", func(t *testing.T) {
		got := Speed(16384, 32768, 8192, []float64{0.01}, 0)
		lesson.Same(t, got, 8.796093022208e+14)
	})
}
