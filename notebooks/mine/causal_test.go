// The cases of exercise 06.6. (edea6d093b7e)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestCausal(t *testing.T) {
	t.Run("one token", func(t *testing.T) {
		got := Causal([][]float64{{7}})
		lesson.Same(t, got, [][]float64{{1}})
	})
	t.Run("two tokens", func(t *testing.T) {
		got := Causal([][]float64{{0, 0}, {0, 0}})
		lesson.Same(t, got, [][]float64{{1, 0}, {0.5, 0.5}})
	})
	t.Run("a large score in the future", func(t *testing.T) {
		got := Causal([][]float64{{0, 900}, {0, 0}})
		lesson.Same(t, got, [][]float64{{1, 0}, {0.5, 0.5}})
	})
	t.Run("three tokens", func(t *testing.T) {
		got := Causal([][]float64{{1, 5, 9}, {1, 2, 9}, {1, 2, 3}})
		lesson.Same(t, got, [][]float64{{1, 0, 0}, {0.2689414213699951, 0.7310585786300049, 0},
			{0.09003057317038046, 0.24472847105479764, 0.6652409557748218}})
	})
}
