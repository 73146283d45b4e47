// The cases of exercise 08.5. (9386b10a7dd0)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestSplitHeads(t *testing.T) {
	t.Run("one head", func(t *testing.T) {
		got := SplitHeads([][]float64{{1, 2}, {3, 4}}, 1)
		lesson.Same(t, got, [][][]float64{{{1, 2}, {3, 4}}})
	})
	t.Run("one token", func(t *testing.T) {
		got := SplitHeads([][]float64{{1, 2, 3, 4}}, 2)
		lesson.Same(t, got, [][][]float64{{{1, 2}}, {{3, 4}}})
	})
	t.Run("two heads", func(t *testing.T) {
		got := SplitHeads([][]float64{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}, 2)
		lesson.Same(t, got, [][][]float64{{{1, 2}, {5, 6}, {9, 10}}, {{3, 4}, {7, 8}, {11, 12}}})
	})
	t.Run("heads of one number", func(t *testing.T) {
		got := SplitHeads([][]float64{{1, 2, 3}, {4, 5, 6}}, 3)
		lesson.Same(t, got, [][][]float64{{{1}, {4}}, {{2}, {5}}, {{3}, {6}}})
	})
}
