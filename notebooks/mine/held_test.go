// The cases of exercise 28.4. (8167906b96e8)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestHeld(t *testing.T) {
	t.Run("nothing divided", func(t *testing.T) {
		got := Held(0, 4, 1000)
		lesson.Same(t, got, 16000)
	})
	t.Run("stage 1", func(t *testing.T) {
		got := Held(1, 4, 1000)
		lesson.Same(t, got, 10000)
	})
	t.Run("stage 2", func(t *testing.T) {
		got := Held(2, 4, 1000)
		lesson.Same(t, got, 7000)
	})
	t.Run("stage 3", func(t *testing.T) {
		got := Held(3, 4, 1000)
		lesson.Same(t, got, 4000)
	})
	t.Run("a single rank", func(t *testing.T) {
		got := Held(3, 1, 1000)
		lesson.Same(t, got, 16000)
	})
	t.Run("a large model", func(t *testing.T) {
		got := Held(3, 64, 70553706496)
		lesson.Same(t, got, 17638426624)
	})
}
