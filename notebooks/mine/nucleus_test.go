// The cases of exercise 27.4. (5fa4d02e7792)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestNucleus(t *testing.T) {
	t.Run("one is enough", func(t *testing.T) {
		got := Nucleus([]float64{0.1, 0.7, 0.2}, 0.5)
		lesson.Same(t, got, []int{1})
	})
	t.Run("two are needed", func(t *testing.T) {
		got := Nucleus([]float64{0.1, 0.7, 0.2}, 0.8)
		lesson.Same(t, got, []int{1, 2})
	})
	t.Run("at least one", func(t *testing.T) {
		got := Nucleus([]float64{0.25, 0.5, 0.25}, 0)
		lesson.Same(t, got, []int{1})
	})
	t.Run("all of them", func(t *testing.T) {
		got := Nucleus([]float64{0.25, 0.5, 0.25}, 1)
		lesson.Same(t, got, []int{1, 0, 2})
	})
	t.Run("exactly enough", func(t *testing.T) {
		got := Nucleus([]float64{0.25, 0.125, 0.5, 0.125}, 0.75)
		lesson.Same(t, got, []int{2, 0})
	})
	t.Run("equal ones", func(t *testing.T) {
		got := Nucleus([]float64{0.125, 0.25, 0.125, 0.25, 0.25}, 0.6)
		lesson.Same(t, got, []int{1, 3, 4})
	})
}
