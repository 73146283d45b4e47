// The cases of exercise 07.5. (8341f02edaeb)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestAddTile(t *testing.T) {
	t.Run("one tile is everything", func(t *testing.T) {
		got := AddTile([]float64{0, 0, 0, 0}, []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2, 0, 0, 0,
			2)
		lesson.Same(t, got, []float64{19, 22, 43, 50})
	})
	t.Run("a sum so far", func(t *testing.T) {
		got := AddTile([]float64{1, 2, 3, 4}, []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2, 0, 0, 0,
			2)
		lesson.Same(t, got, []float64{20, 24, 46, 54})
	})
	t.Run("tiles of one number", func(t *testing.T) {
		got := AddTile([]float64{0, 0, 0, 0}, []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2, 1, 0, 1,
			1)
		lesson.Same(t, got, []float64{0, 0, 28, 0})
	})
	t.Run("a tile in the middle", func(t *testing.T) {
		got := AddTile([]float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, []float64{1, 2, 3, 4,
			5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, []float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 0, 0,
			3, 4}, 4, 0, 2, 2, 2)
		lesson.Same(t, got, []float64{0, 0, 15, 22, 0, 0, 31, 46, 0, 0, 0, 0, 0, 0, 0, 0})
	})
	t.Run("tiles at the edge", func(t *testing.T) {
		got := AddTile([]float64{0, 0, 0, 0, 0, 0, 0, 0, 0}, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9},
			[]float64{1, 1, 1, 1, 1, 1, 2, 3, 4}, 3, 2, 0, 2, 2)
		lesson.Same(t, got, []float64{0, 0, 0, 0, 0, 0, 18, 27, 0})
	})
}
