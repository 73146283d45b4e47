// The cases of exercise 20.5. (e257e8458202)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestLoad(t *testing.T) {
	t.Run("an empty file", func(t *testing.T) {
		first, second, third := Load([]uint8{})
		lesson.Same(t, first, []string{})
		lesson.Same(t, second, [][]float64{})
		lesson.Same(t, third, true)
	})
	t.Run("one number", func(t *testing.T) {
		first, second, third := Load([]uint8{1, 0, 0, 0, 119, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 240, 63})
		lesson.Same(t, first, []string{"w"})
		lesson.Same(t, second, [][]float64{{1}})
		lesson.Same(t, third, true)
	})
	t.Run("two lists", func(t *testing.T) {
		first, second, third := Load([]uint8{1, 0, 0, 0, 119, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 240, 63, 0,
			0, 0, 0, 0, 0, 0, 192, 4, 0, 0, 0, 98, 105, 97, 115, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 224, 63})
		lesson.Same(t, first, []string{"w", "bias"})
		lesson.Same(t, second, [][]float64{{1, -2}, {0.5}})
		lesson.Same(t, third, true)
	})
	t.Run("a list without numbers", func(t *testing.T) {
		first, second, third := Load([]uint8{1, 0, 0, 0, 98, 0, 0, 0, 0})
		lesson.Same(t, first, []string{"b"})
		lesson.Same(t, second, [][]float64{{}})
		lesson.Same(t, third, true)
	})
	t.Run("cut off in a count", func(t *testing.T) {
		first, second, third := Load([]uint8{1, 0})
		lesson.Same(t, first, nil)
		lesson.Same(t, second, nil)
		lesson.Same(t, third, false)
	})
	t.Run("cut off in a name", func(t *testing.T) {
		first, second, third := Load([]uint8{4, 0, 0, 0, 98, 105})
		lesson.Same(t, first, nil)
		lesson.Same(t, second, nil)
		lesson.Same(t, third, false)
	})
	t.Run("cut off after a name", func(t *testing.T) {
		first, second, third := Load([]uint8{1, 0, 0, 0, 119})
		lesson.Same(t, first, nil)
		lesson.Same(t, second, nil)
		lesson.Same(t, third, false)
	})
	t.Run("cut off in a number", func(t *testing.T) {
		first, second, third := Load([]uint8{1, 0, 0, 0, 119, 1, 0, 0, 0, 0, 0, 128})
		lesson.Same(t, first, nil)
		lesson.Same(t, second, nil)
		lesson.Same(t, third, false)
	})
	t.Run("cut off in the second list", func(t *testing.T) {
		first, second, third := Load([]uint8{1, 0, 0, 0, 119, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 240, 63, 1,
			0, 0, 0, 98, 1, 0, 0, 0})
		lesson.Same(t, first, nil)
		lesson.Same(t, second, nil)
		lesson.Same(t, third, false)
	})
	t.Run("a count of four billion", func(t *testing.T) {
		first, second, third := Load([]uint8{1, 0, 0, 0, 119, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 240,
			63})
		lesson.Same(t, first, nil)
		lesson.Same(t, second, nil)
		lesson.Same(t, third, false)
	})
}
