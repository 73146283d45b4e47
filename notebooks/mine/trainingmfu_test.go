// The cases of exercise 10.5. (4bb0a57a3192)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestTrainingMFU(t *testing.T) {
	t.Run("one second's work", func(t *testing.T) {
		got := TrainingMFU(1e+12, 1000, 1.1574074074074073e-05, 1, 1.2e+16)
		lesson.Same(t, got, 0.5)
	})
	t.Run("several GPUs", func(t *testing.T) {
		got := TrainingMFU(1e+09, 1e+12, 10, 64, 9.895e+14)
		lesson.Same(t, got, 0.10965835719499185)
	})
	t.Run("the napkin's run", func(t *testing.T) {
		got := TrainingMFU(7e+10, 1.5e+13, 143.93, 1024, 9.895e+14)
		lesson.Same(t, got, 0.49998816722860706)
	})
	t.Run("another GPU", func(t *testing.T) {
		got := TrainingMFU(7e+09, 2e+12, 21, 256, 3.12e+14)
		lesson.Same(t, got, 0.5796311134852801)
	})
}
