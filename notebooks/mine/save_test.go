// The cases of exercise 20.4. (3e1f5698fcd3)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestSave(t *testing.T) {
	t.Run("nothing", func(t *testing.T) {
		got := Save([]string{}, [][]float32{})
		lesson.Same(t, got, []uint8{})
	})
	t.Run("one number", func(t *testing.T) {
		got := Save([]string{"w"}, [][]float32{{1}})
		lesson.Same(t, got, []uint8{1, 0, 0, 0, 119, 1, 0, 0, 0, 0, 0, 128, 63})
	})
	t.Run("a list without numbers", func(t *testing.T) {
		got := Save([]string{"b"}, [][]float32{{}})
		lesson.Same(t, got, []uint8{1, 0, 0, 0, 98, 0, 0, 0, 0})
	})
	t.Run("a name without characters", func(t *testing.T) {
		got := Save([]string{""}, [][]float32{{0.5}})
		lesson.Same(t, got, []uint8{0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 63})
	})
	t.Run("two lists", func(t *testing.T) {
		got := Save([]string{"w", "bias"}, [][]float32{{1, -2}, {0.5}})
		lesson.Same(t, got, []uint8{1, 0, 0, 0, 119, 2, 0, 0, 0, 0, 0, 128, 63, 0, 0, 0, 192, 4, 0, 0,
			0, 98, 105, 97, 115, 1, 0, 0, 0, 0, 0, 0, 63})
	})
	t.Run("a name with an umlaut", func(t *testing.T) {
		got := Save([]string{"ä"}, [][]float32{{}})
		lesson.Same(t, got, []uint8{2, 0, 0, 0, 195, 164, 0, 0, 0, 0})
	})
}
