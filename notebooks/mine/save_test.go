// The cases of exercise 20.4. (4afa6a098ad3)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestSave(t *testing.T) {
	t.Run("nothing", func(t *testing.T) {
		got := Save([]string{}, [][]float64{})
		lesson.Same(t, got, []uint8{})
	})
	t.Run("one number", func(t *testing.T) {
		got := Save([]string{"w"}, [][]float64{{1}})
		lesson.Same(t, got, []uint8{1, 0, 0, 0, 119, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 240, 63})
	})
	t.Run("a list without numbers", func(t *testing.T) {
		got := Save([]string{"b"}, [][]float64{{}})
		lesson.Same(t, got, []uint8{1, 0, 0, 0, 98, 0, 0, 0, 0})
	})
	t.Run("an empty name", func(t *testing.T) {
		got := Save([]string{""}, [][]float64{{0.5}})
		lesson.Same(t, got, []uint8{0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 224, 63})
	})
	t.Run("two lists", func(t *testing.T) {
		got := Save([]string{"w", "bias"}, [][]float64{{1, -2}, {0.5}})
		lesson.Same(t, got, []uint8{1, 0, 0, 0, 119, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 240, 63, 0, 0, 0, 0,
			0, 0, 0, 192, 4, 0, 0, 0, 98, 105, 97, 115, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 224, 63})
	})
	t.Run("a name with an umlaut", func(t *testing.T) {
		got := Save([]string{"ä"}, [][]float64{{}})
		lesson.Same(t, got, []uint8{2, 0, 0, 0, 195, 164, 0, 0, 0, 0})
	})
}
