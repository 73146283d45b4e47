// The cases of exercise 29.2. (a496bcf0dde3)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestKeptPerToken(t *testing.T) {
	t.Run("no blocks", func(t *testing.T) {
		got := KeptPerToken(0, 8, 2, 32, 10, 4)
		lesson.Same(t, got, 26)
	})
	t.Run("one block, one token", func(t *testing.T) {
		got := KeptPerToken(1, 8, 2, 32, 10, 1)
		lesson.Same(t, got, 158)
	})
	t.Run("a longer context", func(t *testing.T) {
		got := KeptPerToken(1, 8, 2, 32, 10, 4)
		lesson.Same(t, got, 170)
	})
	t.Run("GPT-2 small", func(t *testing.T) {
		got := KeptPerToken(12, 768, 12, 3072, 50257, 1024)
		lesson.Same(t, got, 494161)
	})
	t.Run("GPT-2 XL", func(t *testing.T) {
		got := KeptPerToken(48, 1600, 25, 6400, 50257, 1024)
		lesson.Same(t, got, 3739857)
	})
}
