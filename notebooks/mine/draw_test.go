// The cases of exercise 30.4. (085347760077)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestDraw(t *testing.T) {
	t.Run("the first of two", func(t *testing.T) {
		got := Draw([]float64{0, 0}, 1, 0.3)
		lesson.Same(t, got, 0)
	})
	t.Run("the second of two", func(t *testing.T) {
		got := Draw([]float64{0, 0}, 1, 0.7)
		lesson.Same(t, got, 1)
	})
	t.Run("u is 0", func(t *testing.T) {
		got := Draw([]float64{1, 2, 3}, 1, 0)
		lesson.Same(t, got, 0)
	})
	t.Run("probabilities of 1/7, 2/7 and 4/7", func(t *testing.T) {
		got := Draw([]float64{0, 0.6931471805599453, 1.3862943611198906}, 1, 0.41)
		lesson.Same(t, got, 1)
	})
	t.Run("the same, cold", func(t *testing.T) {
		got := Draw([]float64{0, 0.6931471805599453, 1.3862943611198906}, 0.5, 0.3)
		lesson.Same(t, got, 2)
	})
	t.Run("the same, hot", func(t *testing.T) {
		got := Draw([]float64{0, 0.6931471805599453, 1.3862943611198906}, 2, 0.2)
		lesson.Same(t, got, 0)
	})
	t.Run("a temperature of 0", func(t *testing.T) {
		got := Draw([]float64{1, 3, 2}, 0, 0.99)
		lesson.Same(t, got, 1)
	})
	t.Run("large logits", func(t *testing.T) {
		got := Draw([]float64{1000, 1001}, 1, 0.5)
		lesson.Same(t, got, 1)
	})
	t.Run("the last one", func(t *testing.T) {
		got := Draw([]float64{0, 0, 0}, 1, 0.999999)
		lesson.Same(t, got, 2)
	})
}
