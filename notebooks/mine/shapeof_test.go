// The cases of exercise 07.6. (66429be9c552)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestShapeOf(t *testing.T) {
	t.Run("two matrices", func(t *testing.T) {
		got := ShapeOf([]int{16, 32}, []int{32, 2})
		lesson.Same(t, got, []int{16, 2})
	})
	t.Run("inner sizes that differ", func(t *testing.T) {
		got := ShapeOf([]int{16, 32}, []int{2, 32})
		lesson.Same(t, got, nil)
	})
	t.Run("a batch on the left", func(t *testing.T) {
		got := ShapeOf([]int{4, 8, 16, 32}, []int{32, 2})
		lesson.Same(t, got, []int{4, 8, 16, 2})
	})
	t.Run("a batch on the right", func(t *testing.T) {
		got := ShapeOf([]int{16, 32}, []int{8, 32, 2})
		lesson.Same(t, got, []int{8, 16, 2})
	})
	t.Run("equal batches", func(t *testing.T) {
		got := ShapeOf([]int{4, 12, 8, 64}, []int{4, 12, 64, 8})
		lesson.Same(t, got, []int{4, 12, 8, 8})
	})
	t.Run("batches that are repeated", func(t *testing.T) {
		got := ShapeOf([]int{4, 1, 16, 32}, []int{8, 32, 2})
		lesson.Same(t, got, []int{4, 8, 16, 2})
	})
	t.Run("batches that differ", func(t *testing.T) {
		got := ShapeOf([]int{3, 16, 32}, []int{4, 32, 2})
		lesson.Same(t, got, nil)
	})
	t.Run("an inner size of 1 is not repeated", func(t *testing.T) {
		got := ShapeOf([]int{5, 1}, []int{3, 2})
		lesson.Same(t, got, nil)
	})
}
