// The cases of exercise 29.6. (bf3b4031e1e1)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestAccumulateSteps(t *testing.T) {
	t.Run("all at once", func(t *testing.T) {
		got := AccumulateSteps(8192, 1024, 8, 1)
		lesson.Same(t, got, 1)
	})
	t.Run("one GPU", func(t *testing.T) {
		got := AccumulateSteps(8192, 1024, 1, 2)
		lesson.Same(t, got, 4)
	})
	t.Run("it doesn't divide evenly", func(t *testing.T) {
		got := AccumulateSteps(10240, 1024, 1, 3)
		lesson.Same(t, got, 4)
	})
	t.Run("more GPUs than sequences", func(t *testing.T) {
		got := AccumulateSteps(4096, 1024, 16, 2)
		lesson.Same(t, got, 1)
	})
	t.Run("a large run", func(t *testing.T) {
		got := AccumulateSteps(4194304, 8192, 64, 3)
		lesson.Same(t, got, 3)
	})
}
