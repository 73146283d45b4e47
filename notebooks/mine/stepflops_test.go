// The cases of exercise 12.5. (e94f6f580d92)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestStepFLOPs(t *testing.T) {
	t.Run("no layers", func(t *testing.T) {
		first, second := StepFLOPs(5, []int{7}, []bool{})
		lesson.Same(t, first, 0)
		lesson.Same(t, second, 0)
	})
	t.Run("one layer", func(t *testing.T) {
		first, second := StepFLOPs(1, []int{3, 2}, []bool{true})
		lesson.Same(t, first, 12)
		lesson.Same(t, second, 12)
	})
	t.Run("nothing is trained", func(t *testing.T) {
		first, second := StepFLOPs(10, []int{4, 4, 4}, []bool{false, false})
		lesson.Same(t, first, 640)
		lesson.Same(t, second, 0)
	})
	t.Run("the lesson's network", func(t *testing.T) {
		first, second := StepFLOPs(1024, []int{256, 256, 64}, []bool{true, true})
		lesson.Same(t, first, 167772160)
		lesson.Same(t, second, 201326592)
	})
	t.Run("three layers", func(t *testing.T) {
		first, second := StepFLOPs(10, []int{4, 8, 8, 2}, []bool{true, true, true})
		lesson.Same(t, first, 2240)
		lesson.Same(t, second, 3840)
	})
	t.Run("the last layer alone", func(t *testing.T) {
		first, second := StepFLOPs(10, []int{4, 8, 8, 2}, []bool{false, false, true})
		lesson.Same(t, first, 2240)
		lesson.Same(t, second, 320)
	})
	t.Run("the first layer alone", func(t *testing.T) {
		first, second := StepFLOPs(10, []int{4, 8, 8, 2}, []bool{true, false, false})
		lesson.Same(t, first, 2240)
		lesson.Same(t, second, 2240)
	})
	t.Run("the middle layer alone", func(t *testing.T) {
		first, second := StepFLOPs(10, []int{4, 8, 8, 2}, []bool{false, true, false})
		lesson.Same(t, first, 2240)
		lesson.Same(t, second, 1600)
	})
}
