// The cases of exercise 18.4. (5c389a52e0f2)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestStepBytes(t *testing.T) {
	t.Run("a single matrix", func(t *testing.T) {
		got := StepBytes([]int{3, 2}, 5, 0)
		lesson.Same(t, got, 48)
	})
	t.Run("the lesson's model", func(t *testing.T) {
		got := StepBytes([]int{4, 4, 4, 1}, 2, 1)
		lesson.Same(t, got, 496)
	})
	t.Run("two numbers of state", func(t *testing.T) {
		got := StepBytes([]int{4, 4, 4, 1}, 2, 2)
		lesson.Same(t, got, 640)
	})
	t.Run("a large batch", func(t *testing.T) {
		got := StepBytes([]int{4, 4, 4, 1}, 256, 1)
		lesson.Same(t, got, 8624)
	})
	t.Run("one wide layer", func(t *testing.T) {
		got := StepBytes([]int{8, 32, 2}, 4, 1)
		lesson.Same(t, got, 4352)
	})
	t.Run("layers of all widths", func(t *testing.T) {
		got := StepBytes([]int{2, 3, 5, 7, 1}, 10, 0)
		lesson.Same(t, got, 1104)
	})
}
