// The cases of exercise 09.5. (745314cbfb7a)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestModelFLOPs(t *testing.T) {
	t.Run("one layer, one token", func(t *testing.T) {
		got := ModelFLOPs(1, []int{3, 2})
		lesson.Same(t, got, 14)
	})
	t.Run("one layer, several tokens", func(t *testing.T) {
		got := ModelFLOPs(10, []int{3, 2})
		lesson.Same(t, got, 140)
	})
	t.Run("two layers", func(t *testing.T) {
		got := ModelFLOPs(10, []int{4, 8, 2})
		lesson.Same(t, got, 1140)
	})
	t.Run("three layers", func(t *testing.T) {
		got := ModelFLOPs(32, []int{16, 16, 16, 1})
		lesson.Same(t, got, 35872)
	})
	t.Run("no layers", func(t *testing.T) {
		got := ModelFLOPs(5, []int{7})
		lesson.Same(t, got, 0)
	})
	t.Run("no tokens", func(t *testing.T) {
		got := ModelFLOPs(0, []int{3, 2})
		lesson.Same(t, got, 0)
	})
}
