// The cases of exercise 00.4. (746cdc67ec0a)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestTrainingTime(t *testing.T) {
	t.Run("the lesson's run", func(t *testing.T) {
		got := TrainingTime(7e+10, 1.5e+13, 1024, 1.979e+15, 0.5)
		lesson.Same(t, got, 143.92659381842682)
	})
	t.Run("an MFU of 1", func(t *testing.T) {
		got := TrainingTime(1e+09, 1e+09, 1, 2e+15, 1)
		lesson.Same(t, got, 0.06944444444444445)
	})
	t.Run("another MFU", func(t *testing.T) {
		got := TrainingTime(8e+09, 1.5e+13, 256, 1.979e+15, 0.4)
		lesson.Same(t, got, 82.2437678962439)
	})
	t.Run("another GPU", func(t *testing.T) {
		got := TrainingTime(7e+09, 2e+12, 64, 6.24e+14, 0.3)
		lesson.Same(t, got, 162.29671177587844)
	})
	t.Run("less than a day", func(t *testing.T) {
		got := TrainingTime(1e+09, 2e+10, 8, 1.979e+15, 0.5)
		lesson.Same(t, got, 0.35090674302397395)
	})
}
