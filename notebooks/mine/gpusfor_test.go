// The cases of exercise 00.5. (14b4c78b58f9)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestGPUsFor(t *testing.T) {
	t.Run("the lesson's run", func(t *testing.T) {
		got := GPUsFor(7e+10, 1.5e+13, 144)
		lesson.Same(t, got, 1024)
	})
	t.Run("in a month", func(t *testing.T) {
		got := GPUsFor(7e+10, 1.5e+13, 30)
		lesson.Same(t, got, 4913)
	})
	t.Run("a larger model", func(t *testing.T) {
		got := GPUsFor(4.05e+11, 1.5e+13, 60)
		lesson.Same(t, got, 14212)
	})
	t.Run("a model that just fits", func(t *testing.T) {
		got := GPUsFor(4e+10, 1e+09, 365)
		lesson.Same(t, got, 8)
	})
	t.Run("memory decides", func(t *testing.T) {
		got := GPUsFor(4.01e+10, 1e+09, 365)
		lesson.Same(t, got, 9)
	})
	t.Run("one is enough", func(t *testing.T) {
		got := GPUsFor(1e+06, 1e+06, 1)
		lesson.Same(t, got, 1)
	})
}
