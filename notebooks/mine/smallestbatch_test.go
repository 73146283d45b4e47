// The cases of exercise 22.6. (40f6ab100552)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestSmallestBatch(t *testing.T) {
	t.Run("one is enough", func(t *testing.T) {
		got := SmallestBatch(64, 64, 2, 0.5)
		lesson.Same(t, got, 1)
	})
	t.Run("exactly enough", func(t *testing.T) {
		got := SmallestBatch(2, 1, 1, 0.6)
		lesson.Same(t, got, 1)
	})
	t.Run("a layer on a CPU", func(t *testing.T) {
		got := SmallestBatch(4096, 4096, 4, 10)
		lesson.Same(t, got, 21)
	})
	t.Run("a layer on an H100", func(t *testing.T) {
		got := SmallestBatch(4096, 4096, 2, 295.4)
		lesson.Same(t, got, 346)
	})
	t.Run("a layer that isn't square", func(t *testing.T) {
		got := SmallestBatch(4096, 14336, 2, 295.4)
		lesson.Same(t, got, 326)
	})
	t.Run("a layer that is too small", func(t *testing.T) {
		got := SmallestBatch(256, 256, 2, 295.4)
		lesson.Same(t, got, 0)
	})
}
