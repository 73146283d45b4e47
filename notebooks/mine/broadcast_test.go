// The cases of exercise 06.4. (b99b04c2ec56)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestBroadcast(t *testing.T) {
	t.Run("equal shapes", func(t *testing.T) {
		got := Broadcast([]int{2, 3}, []int{2, 3})
		lesson.Same(t, got, []int{2, 3})
	})
	t.Run("a row", func(t *testing.T) {
		got := Broadcast([]int{2, 3}, []int{3})
		lesson.Same(t, got, []int{2, 3})
	})
	t.Run("the shorter shape first", func(t *testing.T) {
		got := Broadcast([]int{3}, []int{2, 3})
		lesson.Same(t, got, []int{2, 3})
	})
	t.Run("a column and a row", func(t *testing.T) {
		got := Broadcast([]int{3, 1}, []int{4})
		lesson.Same(t, got, []int{3, 4})
	})
	t.Run("a plain number", func(t *testing.T) {
		got := Broadcast([]int{}, []int{5, 2})
		lesson.Same(t, got, []int{5, 2})
	})
	t.Run("sizes that differ", func(t *testing.T) {
		got := Broadcast([]int{2, 3}, []int{2})
		lesson.Same(t, got, nil)
	})
	t.Run("sizes that differ in front", func(t *testing.T) {
		got := Broadcast([]int{2, 1, 3}, []int{4, 5, 3})
		lesson.Same(t, got, nil)
	})
	t.Run("ones on both sides", func(t *testing.T) {
		got := Broadcast([]int{1, 7, 1, 5}, []int{8, 1, 6, 1})
		lesson.Same(t, got, []int{8, 7, 6, 5})
	})
	t.Run("a size of 0", func(t *testing.T) {
		got := Broadcast([]int{1, 3}, []int{0, 3})
		lesson.Same(t, got, []int{0, 3})
	})
}
