// The cases of exercise 01.4. (790a8c23f0be)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestMerge(t *testing.T) {
	t.Run("an empty list", func(t *testing.T) {
		got := Merge([]int{}, 1, 2, 256)
		lesson.Same(t, got, []int{})
	})
	t.Run("no such pair", func(t *testing.T) {
		got := Merge([]int{2, 1, 3}, 1, 2, 256)
		lesson.Same(t, got, []int{2, 1, 3})
	})
	t.Run("one pair", func(t *testing.T) {
		got := Merge([]int{7, 1, 2, 7}, 1, 2, 256)
		lesson.Same(t, got, []int{7, 256, 7})
	})
	t.Run("pairs at both ends", func(t *testing.T) {
		got := Merge([]int{1, 2, 3, 1, 2}, 1, 2, 4)
		lesson.Same(t, got, []int{4, 3, 4})
	})
	t.Run("left at the very end", func(t *testing.T) {
		got := Merge([]int{1, 2, 1}, 1, 2, 256)
		lesson.Same(t, got, []int{256, 1})
	})
	t.Run("pairs that overlap", func(t *testing.T) {
		got := Merge([]int{5, 5, 5, 5, 5}, 5, 5, 9)
		lesson.Same(t, got, []int{9, 9, 5})
	})
}
