// The cases of exercise 23.4. (d5d37abcbebf)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestAccumulate(t *testing.T) {
	t.Run("a single piece", func(t *testing.T) {
		got := Accumulate([][]float64{{3, -1}}, []int{8})
		lesson.Same(t, got, []float64{3, -1})
	})
	t.Run("equal pieces", func(t *testing.T) {
		got := Accumulate([][]float64{{1, 0}, {3, 2}}, []int{4, 4})
		lesson.Same(t, got, []float64{2, 1})
	})
	t.Run("four equal pieces", func(t *testing.T) {
		got := Accumulate([][]float64{{1}, {2}, {3}, {6}}, []int{16, 16, 16, 16})
		lesson.Same(t, got, []float64{3})
	})
	t.Run("a smaller piece at the end", func(t *testing.T) {
		got := Accumulate([][]float64{{1, 10}, {5, 20}}, []int{3, 1})
		lesson.Same(t, got, []float64{2, 12.5})
	})
	t.Run("pieces of all sizes", func(t *testing.T) {
		got := Accumulate([][]float64{{1, 1, 1}, {2, 0, -2}, {4, 8, 0}}, []int{5, 2, 1})
		lesson.Same(t, got, []float64{1.625, 1.625, 0.125})
	})
}
