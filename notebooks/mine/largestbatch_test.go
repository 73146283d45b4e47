// The cases of exercise 18.5. (3e52700e5822)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestLargestBatch(t *testing.T) {
	t.Run("it just fits", func(t *testing.T) {
		got := LargestBatch([]int{4, 4, 4, 1}, 1, 496)
		lesson.Same(t, got, 2)
	})
	t.Run("a byte too little", func(t *testing.T) {
		got := LargestBatch([]int{4, 4, 4, 1}, 1, 495)
		lesson.Same(t, got, 1)
	})
	t.Run("no room for an example", func(t *testing.T) {
		got := LargestBatch([]int{4, 4, 4, 1}, 1, 463)
		lesson.Same(t, got, 0)
	})
	t.Run("no room for the model", func(t *testing.T) {
		got := LargestBatch([]int{4, 4, 4, 1}, 2, 500)
		lesson.Same(t, got, 0)
	})
	t.Run("widths that differ", func(t *testing.T) {
		got := LargestBatch([]int{8, 32, 2}, 1, 10000)
		lesson.Same(t, got, 48)
	})
	t.Run("a gibibyte", func(t *testing.T) {
		got := LargestBatch([]int{1024, 4096, 1024}, 2, 1073741824)
		lesson.Same(t, got, 57344)
	})
}
