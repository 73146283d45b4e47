// The cases of exercise 24.5. (92985ad7e315)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestRotate(t *testing.T) {
	t.Run("position 0", func(t *testing.T) {
		got := Rotate([]float64{1, 2, 3, 4}, 0, 10000)
		lesson.Same(t, got, []float64{1, 2, 3, 4}, 1e-09)
	})
	t.Run("one pair", func(t *testing.T) {
		got := Rotate([]float64{1, 0}, 1, 10000)
		lesson.Same(t, got, []float64{0.5403023058681398, 0.8414709848078965}, 1e-09)
	})
	t.Run("two pairs", func(t *testing.T) {
		got := Rotate([]float64{1, 2, 3, 4}, 3, 10000)
		lesson.Same(t, got, []float64{-1.27223251272018, -1.8388649851410237, 2.87866810043698,
			4.088186635603437}, 1e-09)
	})
	t.Run("another theta", func(t *testing.T) {
		got := Rotate([]float64{1, 2, 3, 4, 5, 6}, 17, 100)
		lesson.Same(t, got, []float64{1.6476316457075166, -1.5117241679827507, -0.6112411538037161,
			-4.962497783565923, -0.7356629273257642, 7.775525709388304}, 1e-09)
	})
	t.Run("far away", func(t *testing.T) {
		got := Rotate([]float64{0.5, -0.5, 0.25, 2, 1, 0, 0, 1}, 1000, 500000)
		lesson.Same(t, got, []float64{0.6946293084113527, 0.1322502321206498, 0.4348108961207653,
			1.9681055572846333, 0.1559436947653746, 0.9877659459927355, -0.05315789182745448,
			0.9985861197395348}, 1e-09)
	})
}
