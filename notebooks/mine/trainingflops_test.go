// The cases of exercise 26.4. (f17b209f297b)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestTrainingFLOPs(t *testing.T) {
	t.Run("the output layer alone", func(t *testing.T) {
		got := TrainingFLOPs(0, 8, 16, 10, 4)
		lesson.Same(t, got, 480)
	})
	t.Run("no context", func(t *testing.T) {
		got := TrainingFLOPs(1, 8, 16, 10, 0)
		lesson.Same(t, got, 4320)
	})
	t.Run("one block", func(t *testing.T) {
		got := TrainingFLOPs(1, 8, 16, 10, 4)
		lesson.Same(t, got, 4704)
	})
	t.Run("a large model", func(t *testing.T) {
		got := TrainingFLOPs(48, 1600, 6400, 50257, 1024)
		lesson.Same(t, got, 13222665600)
	})
}
