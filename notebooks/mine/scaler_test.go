// The cases of exercise 21.4. (f3fe407024bc)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestScaler(t *testing.T) {
	t.Run("no steps", func(t *testing.T) {
		first, second := Scaler([]float64{}, 1024, 3)
		lesson.Same(t, first, 1024)
		lesson.Same(t, second, 0)
	})
	t.Run("an overflow", func(t *testing.T) {
		first, second := Scaler([]float64{100}, 1024, 3)
		lesson.Same(t, first, 512)
		lesson.Same(t, second, 1)
	})
	t.Run("growing", func(t *testing.T) {
		first, second := Scaler([]float64{1, 1, 1}, 1024, 3)
		lesson.Same(t, first, 2048)
		lesson.Same(t, second, 0)
	})
	t.Run("not long enough to grow", func(t *testing.T) {
		first, second := Scaler([]float64{1, 1}, 1024, 3)
		lesson.Same(t, first, 1024)
		lesson.Same(t, second, 0)
	})
	t.Run("growing twice", func(t *testing.T) {
		first, second := Scaler([]float64{1, 1, 1, 1, 1}, 8, 2)
		lesson.Same(t, first, 32)
		lesson.Same(t, second, 0)
	})
	t.Run("an overflow restarts the count", func(t *testing.T) {
		first, second := Scaler([]float64{1, 1, 100, 1, 1}, 1024, 3)
		lesson.Same(t, first, 512)
		lesson.Same(t, second, 1)
	})
	t.Run("a scale that became too large", func(t *testing.T) {
		first, second := Scaler([]float64{40, 40, 40, 40, 40}, 1024, 2)
		lesson.Same(t, first, 2048)
		lesson.Same(t, second, 1)
	})
	t.Run("several overflows in a row", func(t *testing.T) {
		first, second := Scaler([]float64{1000, 1000, 1000, 1000, 1000}, 256, 2)
		lesson.Same(t, first, 64)
		lesson.Same(t, second, 3)
	})
	t.Run("exactly the largest float16", func(t *testing.T) {
		first, second := Scaler([]float64{65504}, 1, 2)
		lesson.Same(t, first, 1)
		lesson.Same(t, second, 0)
	})
}
