// The cases of exercise 04.5. (1b61e99eb48e)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestPlaceLayers(t *testing.T) {
	t.Run("no layers", func(t *testing.T) {
		got := PlaceLayers([]int{}, 80)
		lesson.Same(t, got, []int{})
	})
	t.Run("one GPU is enough", func(t *testing.T) {
		got := PlaceLayers([]int{20, 30, 30}, 80)
		lesson.Same(t, got, []int{0, 0, 0})
	})
	t.Run("two GPUs", func(t *testing.T) {
		got := PlaceLayers([]int{50, 40, 30}, 80)
		lesson.Same(t, got, []int{0, 1, 1})
	})
	t.Run("a GPU for each layer", func(t *testing.T) {
		got := PlaceLayers([]int{80, 80, 80}, 80)
		lesson.Same(t, got, []int{0, 1, 2})
	})
	t.Run("a small layer after a large one", func(t *testing.T) {
		got := PlaceLayers([]int{50, 60, 10, 10, 70}, 80)
		lesson.Same(t, got, []int{0, 1, 1, 1, 2})
	})
	t.Run("many equal layers", func(t *testing.T) {
		got := PlaceLayers([]int{3, 3, 3, 3, 3, 3, 3}, 10)
		lesson.Same(t, got, []int{0, 0, 0, 1, 1, 1, 2})
	})
}
