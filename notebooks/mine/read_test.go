// The cases of exercise 05.6. (3b860d02aed6)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestRead(t *testing.T) {
	t.Run("a matrix in order", func(t *testing.T) {
		got := Read([]float64{1, 2, 3, 4, 5, 6}, 0, []int{2, 3}, []int{3, 1})
		lesson.Same(t, got, []float64{1, 2, 3, 4, 5, 6})
	})
	t.Run("a transpose", func(t *testing.T) {
		got := Read([]float64{1, 2, 3, 4, 5, 6}, 0, []int{3, 2}, []int{1, 3})
		lesson.Same(t, got, []float64{1, 4, 2, 5, 3, 6})
	})
	t.Run("a block that starts inside", func(t *testing.T) {
		got := Read([]float64{0, 1, 2, 3, 4, 5, 6, 7, 8}, 4, []int{2, 2}, []int{3, 1})
		lesson.Same(t, got, []float64{4, 5, 7, 8})
	})
	t.Run("a stride of 0", func(t *testing.T) {
		got := Read([]float64{5, 6}, 0, []int{3, 2}, []int{0, 1})
		lesson.Same(t, got, []float64{5, 6, 5, 6, 5, 6})
	})
	t.Run("a column, one axis", func(t *testing.T) {
		got := Read([]float64{1, 2, 3, 4, 5, 6}, 1, []int{2}, []int{3})
		lesson.Same(t, got, []float64{2, 5})
	})
	t.Run("a negative stride", func(t *testing.T) {
		got := Read([]float64{1, 2, 3}, 2, []int{3}, []int{-1})
		lesson.Same(t, got, []float64{3, 2, 1})
	})
	t.Run("three axes", func(t *testing.T) {
		got := Read([]float64{0, 1, 2, 3, 4, 5, 6, 7}, 0, []int{2, 2, 2}, []int{1, 4, 2})
		lesson.Same(t, got, []float64{0, 2, 4, 6, 1, 3, 5, 7})
	})
	t.Run("no axes", func(t *testing.T) {
		got := Read([]float64{1, 2, 3}, 1, []int{}, []int{})
		lesson.Same(t, got, []float64{2})
	})
	t.Run("an axis of size 0", func(t *testing.T) {
		got := Read([]float64{1, 2, 3}, 0, []int{2, 0}, []int{3, 1})
		lesson.Same(t, got, []float64{})
	})
}
