// The cases of exercise 30.3. (7dac581f05cb)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestClip(t *testing.T) {
	t.Run("short enough", func(t *testing.T) {
		first, second := Clip([][]float64{{0.3, -0.4}}, 1)
		lesson.Same(t, first, [][]float64{{0.3, -0.4}})
		lesson.Same(t, second, 0.5)
	})
	t.Run("too long", func(t *testing.T) {
		first, second := Clip([][]float64{{3, 4}}, 1)
		lesson.Same(t, first, [][]float64{{0.6, 0.8}})
		lesson.Same(t, second, 5)
	})
	t.Run("just long enough", func(t *testing.T) {
		first, second := Clip([][]float64{{0, -2}}, 2)
		lesson.Same(t, first, [][]float64{{0, -2}})
		lesson.Same(t, second, 2)
	})
	t.Run("one norm for all rows", func(t *testing.T) {
		first, second := Clip([][]float64{{1, 2}, {-2}}, 1.5)
		lesson.Same(t, first, [][]float64{{0.5, 1}, {-1}})
		lesson.Same(t, second, 3)
	})
	t.Run("another limit", func(t *testing.T) {
		first, second := Clip([][]float64{{-6}, {8}}, 20)
		lesson.Same(t, first, [][]float64{{-6}, {8}})
		lesson.Same(t, second, 10)
	})
	t.Run("a gradient of zeros", func(t *testing.T) {
		first, second := Clip([][]float64{{0, 0}, {0}}, 1)
		lesson.Same(t, first, [][]float64{{0, 0}, {0}})
		lesson.Same(t, second, 0)
	})
	t.Run("an explosion", func(t *testing.T) {
		first, second := Clip([][]float64{{3e+10, 4e+10}}, 5)
		lesson.Same(t, first, [][]float64{{3, 4}})
		lesson.Same(t, second, 5e+10)
	})
}
