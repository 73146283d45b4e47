// The cases of exercise 08.5. (109f0ef1e7c7)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestAttend(t *testing.T) {
	t.Run("one token", func(t *testing.T) {
		got := Attend([][]float64{{5, 1}}, [][]float64{{2, 2}}, [][]float64{{7, 8, 9}})
		lesson.Same(t, got, [][]float64{{7, 8, 9}})
	})
	t.Run("equal scores", func(t *testing.T) {
		got := Attend([][]float64{{0, 0}}, [][]float64{{1, 2}, {3, 4}, {5, 6}}, [][]float64{{3, 0}, {6,
			3}, {0, 9}})
		lesson.Same(t, got, [][]float64{{3, 4}})
	})
	t.Run("the lesson's tokens", func(t *testing.T) {
		got := Attend([][]float64{{1, 0}, {0, 1}}, [][]float64{{1, 0}, {0, 1}}, [][]float64{{1, 2}, {3,
			4}})
		lesson.Same(t, got, [][]float64{{1.6604769013466862, 2.6604769013466862}, {2.3395230986533138,
			3.3395230986533138}})
	})
	t.Run("the root of the length", func(t *testing.T) {
		got := Attend([][]float64{{1, 1, 1, 1}}, [][]float64{{1, 0, 0, 0}, {1, 1, 1, 1}},
			[][]float64{{0}, {1}})
		lesson.Same(t, got, [][]float64{{0.8175744761936437}})
	})
	t.Run("large scores", func(t *testing.T) {
		got := Attend([][]float64{{100, 0}}, [][]float64{{100, 0}, {0, 100}, {99, 0}}, [][]float64{{1},
			{2}, {5}})
		lesson.Same(t, got, [][]float64{{1}})
	})
}
