// The cases of exercise 04.4. (2297f1bd2834)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestPaysOff(t *testing.T) {
	t.Run("exactly even", func(t *testing.T) {
		got := PaysOff(100, 10, 10, 5)
		lesson.Same(t, got, 2)
	})
	t.Run("the first product is enough", func(t *testing.T) {
		got := PaysOff(1e+09, 6.4e+10, 1, 0.01)
		lesson.Same(t, got, 1)
	})
	t.Run("the first product just isn't enough", func(t *testing.T) {
		got := PaysOff(6.4e+10, 6.4e+10, 1, 0.001)
		lesson.Same(t, got, 2)
	})
	t.Run("the lesson's matrix and one token", func(t *testing.T) {
		got := PaysOff(2.415919104e+09, 6.4e+10, 0.00786, 0.00072)
		lesson.Same(t, got, 6)
	})
	t.Run("a slower link", func(t *testing.T) {
		got := PaysOff(4e+09, 2.5e+10, 0.016, 0.0001)
		lesson.Same(t, got, 11)
	})
}
