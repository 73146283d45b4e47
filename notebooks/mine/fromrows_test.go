// The cases of exercise 02.4. (0877be23bcf1)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestFromRows(t *testing.T) {
	t.Run("one number", func(t *testing.T) {
		first, second, third := FromRows([][]float64{{7}})
		lesson.Same(t, first, []float64{7})
		lesson.Same(t, second, []int{1, 1})
		lesson.Same(t, third, true)
	})
	t.Run("a matrix", func(t *testing.T) {
		first, second, third := FromRows([][]float64{{1, 2, 3}, {4, 5, 6}})
		lesson.Same(t, first, []float64{1, 2, 3, 4, 5, 6})
		lesson.Same(t, second, []int{2, 3})
		lesson.Same(t, third, true)
	})
	t.Run("more rows than columns", func(t *testing.T) {
		first, second, third := FromRows([][]float64{{1, 2}, {3, 4}, {5, 6}})
		lesson.Same(t, first, []float64{1, 2, 3, 4, 5, 6})
		lesson.Same(t, second, []int{3, 2})
		lesson.Same(t, third, true)
	})
	t.Run("a row that is too short", func(t *testing.T) {
		first, second, third := FromRows([][]float64{{1, 2, 3}, {4, 5}})
		lesson.Same(t, first, nil)
		lesson.Same(t, second, nil)
		lesson.Same(t, third, false)
	})
	t.Run("a row that is too long", func(t *testing.T) {
		first, second, third := FromRows([][]float64{{1}, {2}, {3, 4}})
		lesson.Same(t, first, nil)
		lesson.Same(t, second, nil)
		lesson.Same(t, third, false)
	})
	t.Run("empty rows", func(t *testing.T) {
		first, second, third := FromRows([][]float64{{}, {}})
		lesson.Same(t, first, []float64{})
		lesson.Same(t, second, []int{2, 0})
		lesson.Same(t, third, true)
	})
	t.Run("no rows", func(t *testing.T) {
		first, second, third := FromRows([][]float64{})
		lesson.Same(t, first, []float64{})
		lesson.Same(t, second, []int{0, 0})
		lesson.Same(t, third, true)
	})
}
