// The cases of exercise 24.6. (b72d97c82d6d)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestMultiHead(t *testing.T) {
	t.Run("a single token", func(t *testing.T) {
		got := MultiHead([][]float64{{1, 2}}, [][]float64{{3, 4}}, [][]float64{{5, 6}}, 2)
		lesson.Same(t, got, [][]float64{{5, 6}}, 1e-09)
	})
	t.Run("one head, equal scores", func(t *testing.T) {
		got := MultiHead([][]float64{{0, 0}, {0, 0}}, [][]float64{{1, 2}, {3, 4}}, [][]float64{{1, 2},
			{3, 4}}, 1)
		lesson.Same(t, got, [][]float64{{1, 2}, {2, 3}}, 1e-09)
	})
	t.Run("one head", func(t *testing.T) {
		got := MultiHead([][]float64{{1, 2}, {0, 1}, {-1, 0.5}}, [][]float64{{0.5, 1}, {1, 0}, {2, -1}},
			[][]float64{{1, 2}, {3, 4}, {5, 6}}, 1)
		lesson.Same(t, got, [][]float64{{1, 2}, {1.6604769013466862, 2.6604769013466862},
			{2.003131429557964, 3.003131429557964}}, 1e-09)
	})
	t.Run("two heads of one feature", func(t *testing.T) {
		got := MultiHead([][]float64{{1, 2}, {0, 1}, {-1, 0.5}}, [][]float64{{0.5, 1}, {1, 0}, {2, -1}},
			[][]float64{{1, 2}, {3, 4}, {5, 6}}, 2)
		lesson.Same(t, got, [][]float64{{1, 2}, {2, 2.5378828427399904}, {2.150804530087098,
			3.359686664340387}}, 1e-09)
	})
	t.Run("two heads of two features", func(t *testing.T) {
		got := MultiHead([][]float64{{1, 0, 2, 1}, {0, 1, -1, 1}}, [][]float64{{1, 1, 0, 0}, {2, 0, 1,
			1}}, [][]float64{{1, 2, 3, 4}, {-1, 0, 1, 2}}, 2)
		lesson.Same(t, got, [][]float64{{1, 2, 3, 4}, {0.33952309865331376, 1.3395230986533138, 2, 3}},
			1e-09)
	})
}
