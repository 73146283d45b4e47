// The cases of exercise 27.3. (a245a9cbfb38)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestCacheBytes(t *testing.T) {
	t.Run("one of each", func(t *testing.T) {
		got := CacheBytes(1, 1, 1, 1, 1, 1)
		lesson.Same(t, got, 2)
	})
	t.Run("Llama 3 8B, one token", func(t *testing.T) {
		got := CacheBytes(1, 1, 32, 8, 128, 2)
		lesson.Same(t, got, 131072)
	})
	t.Run("a batch of texts", func(t *testing.T) {
		got := CacheBytes(16, 4096, 32, 8, 128, 2)
		lesson.Same(t, got, 8589934592)
	})
	t.Run("an empty cache", func(t *testing.T) {
		got := CacheBytes(4, 0, 2, 2, 8, 4)
		lesson.Same(t, got, 0)
	})
}
