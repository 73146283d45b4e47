// The cases of exercise 28.3. (cb5be09cb000)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestRankBytes(t *testing.T) {
	t.Run("a single rank", func(t *testing.T) {
		got := RankBytes(0, 1, 1000)
		lesson.Same(t, got, 0)
	})
	t.Run("stage 0", func(t *testing.T) {
		got := RankBytes(0, 4, 1000)
		lesson.Same(t, got, 1500)
	})
	t.Run("stage 1", func(t *testing.T) {
		got := RankBytes(1, 8, 8000)
		lesson.Same(t, got, 14000)
	})
	t.Run("stage 2", func(t *testing.T) {
		got := RankBytes(2, 2, 1000)
		lesson.Same(t, got, 1000)
	})
	t.Run("stage 3", func(t *testing.T) {
		got := RankBytes(3, 4, 1000)
		lesson.Same(t, got, 2250)
	})
	t.Run("a single rank, divided", func(t *testing.T) {
		got := RankBytes(3, 1, 1000)
		lesson.Same(t, got, 0)
	})
}
