// The cases of exercise 05.5. (55c75fd891c1)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestStrides(t *testing.T) {
	t.Run("a vector", func(t *testing.T) {
		got := Strides([]int{7})
		lesson.Same(t, got, []int{1})
	})
	t.Run("a matrix", func(t *testing.T) {
		got := Strides([]int{4, 4})
		lesson.Same(t, got, []int{4, 1})
	})
	t.Run("a matrix that is not square", func(t *testing.T) {
		got := Strides([]int{3, 8})
		lesson.Same(t, got, []int{8, 1})
	})
	t.Run("three axes", func(t *testing.T) {
		got := Strides([]int{2, 3, 5})
		lesson.Same(t, got, []int{15, 5, 1})
	})
	t.Run("an axis of size 1", func(t *testing.T) {
		got := Strides([]int{3, 1, 2})
		lesson.Same(t, got, []int{2, 2, 1})
	})
	t.Run("no axes", func(t *testing.T) {
		got := Strides([]int{})
		lesson.Same(t, got, []int{})
	})
	t.Run("five axes", func(t *testing.T) {
		got := Strides([]int{2, 3, 4, 5, 6})
		lesson.Same(t, got, []int{360, 120, 30, 6, 1})
	})
}
