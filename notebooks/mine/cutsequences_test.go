// The cases of exercise 16.5. (674d12c68c4f)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestCutSequences(t *testing.T) {
	t.Run("no ids", func(t *testing.T) {
		first, second := CutSequences([]int{}, 2)
		lesson.Same(t, first, [][]int{})
		lesson.Same(t, second, [][]int{})
	})
	t.Run("a sequence without a last target", func(t *testing.T) {
		first, second := CutSequences([]int{1, 2, 3}, 3)
		lesson.Same(t, first, [][]int{})
		lesson.Same(t, second, [][]int{})
	})
	t.Run("a single pair", func(t *testing.T) {
		first, second := CutSequences([]int{1, 2, 3, 4}, 3)
		lesson.Same(t, first, [][]int{{1, 2, 3}})
		lesson.Same(t, second, [][]int{{2, 3, 4}})
	})
	t.Run("pairs without a remainder", func(t *testing.T) {
		first, second := CutSequences([]int{9, 8, 7, 6, 5}, 2)
		lesson.Same(t, first, [][]int{{9, 8}, {7, 6}})
		lesson.Same(t, second, [][]int{{8, 7}, {6, 5}})
	})
	t.Run("pairs with a remainder", func(t *testing.T) {
		first, second := CutSequences([]int{0, 1, 2, 3, 4, 5, 6, 7}, 3)
		lesson.Same(t, first, [][]int{{0, 1, 2}, {3, 4, 5}})
		lesson.Same(t, second, [][]int{{1, 2, 3}, {4, 5, 6}})
	})
	t.Run("sequences of one id", func(t *testing.T) {
		first, second := CutSequences([]int{4, 4, 2}, 1)
		lesson.Same(t, first, [][]int{{4}, {4}})
		lesson.Same(t, second, [][]int{{4}, {2}})
	})
}
