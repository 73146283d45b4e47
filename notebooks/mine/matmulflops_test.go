// The cases of exercise 09.4. (fb465c5d50d4)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestMatmulFLOPs(t *testing.T) {
	t.Run("one number each", func(t *testing.T) {
		got := MatmulFLOPs([]int{1, 1}, []int{1, 1})
		lesson.Same(t, got, 2)
	})
	t.Run("two matrices", func(t *testing.T) {
		got := MatmulFLOPs([]int{16, 32}, []int{32, 2})
		lesson.Same(t, got, 2048)
	})
	t.Run("matrices that are not square", func(t *testing.T) {
		got := MatmulFLOPs([]int{3, 5}, []int{5, 7})
		lesson.Same(t, got, 210)
	})
	t.Run("a batch and a matrix", func(t *testing.T) {
		got := MatmulFLOPs([]int{5, 3, 4}, []int{4, 5})
		lesson.Same(t, got, 600)
	})
	t.Run("two batches", func(t *testing.T) {
		got := MatmulFLOPs([]int{2, 3, 4}, []int{2, 4, 5})
		lesson.Same(t, got, 240)
	})
	t.Run("two batch axes", func(t *testing.T) {
		got := MatmulFLOPs([]int{4, 8, 16, 32}, []int{32, 2})
		lesson.Same(t, got, 65536)
	})
}
