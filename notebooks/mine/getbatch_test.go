// The cases of exercise 16.4. (505f08fab413)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestGetBatch(t *testing.T) {
	t.Run("no sequences", func(t *testing.T) {
		first, second := GetBatch([]int{1, 2, 3}, 2, []float64{})
		lesson.Same(t, first, [][]int{})
		lesson.Same(t, second, [][]int{})
	})
	t.Run("the first start", func(t *testing.T) {
		first, second := GetBatch([]int{10, 11, 12, 13, 14}, 2, []float64{0})
		lesson.Same(t, first, [][]int{{10, 11}})
		lesson.Same(t, second, [][]int{{11, 12}})
	})
	t.Run("the last start", func(t *testing.T) {
		first, second := GetBatch([]int{10, 11, 12, 13, 14}, 2, []float64{0.999})
		lesson.Same(t, first, [][]int{{12, 13}})
		lesson.Same(t, second, [][]int{{13, 14}})
	})
	t.Run("a single start", func(t *testing.T) {
		first, second := GetBatch([]int{10, 11, 12, 13}, 3, []float64{0.7, 0.1})
		lesson.Same(t, first, [][]int{{10, 11, 12}, {10, 11, 12}})
		lesson.Same(t, second, [][]int{{11, 12, 13}, {11, 12, 13}})
	})
	t.Run("ids that are not in order", func(t *testing.T) {
		first, second := GetBatch([]int{7, 3, 9, 1, 4}, 1, []float64{0.5})
		lesson.Same(t, first, [][]int{{9}})
		lesson.Same(t, second, [][]int{{1}})
	})
	t.Run("equally likely starts", func(t *testing.T) {
		first, second := GetBatch([]int{0, 1, 2, 3, 4, 5}, 2, []float64{0.24, 0.26, 0.49, 0.51, 0.74,
			0.76})
		lesson.Same(t, first, [][]int{{0, 1}, {1, 2}, {1, 2}, {2, 3}, {2, 3}, {3, 4}})
		lesson.Same(t, second, [][]int{{1, 2}, {2, 3}, {2, 3}, {3, 4}, {3, 4}, {4, 5}})
	})
}
