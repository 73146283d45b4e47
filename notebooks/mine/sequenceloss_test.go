// The cases of exercise 25.5. (86f6850ca590)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestSequenceLoss(t *testing.T) {
	t.Run("two equal logits", func(t *testing.T) {
		got := SequenceLoss([][]float64{{0, 0}}, []int{1})
		lesson.Same(t, got, 0.6931471805599453, 1e-09)
	})
	t.Run("equal logits, two positions", func(t *testing.T) {
		got := SequenceLoss([][]float64{{2, 2, 2, 2}, {0, 0, 0, 0}}, []int{0, 3})
		lesson.Same(t, got, 1.3862943611198908, 1e-09)
	})
	t.Run("right once, wrong once", func(t *testing.T) {
		got := SequenceLoss([][]float64{{0, 2, -1}, {1, 0, 0.5}}, []int{1, 2})
		lesson.Same(t, got, 0.6750578450990101, 1e-09)
	})
	t.Run("a vocabulary of one", func(t *testing.T) {
		got := SequenceLoss([][]float64{{5}, {7}}, []int{0, 0})
		lesson.Same(t, got, 0, 1e-09)
	})
	t.Run("large logits", func(t *testing.T) {
		got := SequenceLoss([][]float64{{1000, 999, 0}}, []int{1})
		lesson.Same(t, got, 1.3132616875182066, 1e-09)
	})
	t.Run("very negative logits", func(t *testing.T) {
		got := SequenceLoss([][]float64{{-1000, -1001}, {0, 5}}, []int{0, 0})
		lesson.Same(t, got, 2.6599885180036624, 1e-09)
	})
}
