// The cases of exercise 22.5. (4b27e4aa6781)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestAttainable(t *testing.T) {
	t.Run("below the ridge", func(t *testing.T) {
		got := Attainable(1, 4, 1000, 10)
		lesson.Same(t, got, 2.5)
	})
	t.Run("above the ridge", func(t *testing.T) {
		got := Attainable(1e+06, 10, 1000, 10)
		lesson.Same(t, got, 1000)
	})
	t.Run("on the ridge", func(t *testing.T) {
		got := Attainable(100, 1, 1000, 10)
		lesson.Same(t, got, 1000)
	})
	t.Run("ReLU on an H100", func(t *testing.T) {
		got := Attainable(1.048576e+06, 4.194304e+06, 9.895e+14, 3.35e+12)
		lesson.Same(t, got, 8.375e+11)
	})
	t.Run("no bytes", func(t *testing.T) {
		got := Attainable(5, 0, 1000, 10)
		lesson.Same(t, got, 1000)
	})
	t.Run("no FLOPs", func(t *testing.T) {
		got := Attainable(0, 8, 1000, 10)
		lesson.Same(t, got, 0)
	})
}
