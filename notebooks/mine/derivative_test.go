// The cases of exercise 11.4. (66172b33a3e3)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestDerivative(t *testing.T) {
	t.Run("add", func(t *testing.T) {
		first, second := Derivative("add", 2, 3, 1)
		lesson.Same(t, first, 1)
		lesson.Same(t, second, 1)
	})
	t.Run("add with a gradient from above", func(t *testing.T) {
		first, second := Derivative("add", 2, 3, -4)
		lesson.Same(t, first, -4)
		lesson.Same(t, second, -4)
	})
	t.Run("mul", func(t *testing.T) {
		first, second := Derivative("mul", 2, 3, 1)
		lesson.Same(t, first, 3)
		lesson.Same(t, second, 2)
	})
	t.Run("mul with a gradient from above", func(t *testing.T) {
		first, second := Derivative("mul", -2, 5, 0.5)
		lesson.Same(t, first, 2.5)
		lesson.Same(t, second, -1)
	})
	t.Run("pow", func(t *testing.T) {
		first, second := Derivative("pow", 3, 2, 1)
		lesson.Same(t, first, 6)
		lesson.Same(t, second, 0)
	})
	t.Run("pow with a negative exponent", func(t *testing.T) {
		first, second := Derivative("pow", 2, -1, 4)
		lesson.Same(t, first, -1)
		lesson.Same(t, second, 0)
	})
	t.Run("exp", func(t *testing.T) {
		first, second := Derivative("exp", 0, 0, 3)
		lesson.Same(t, first, 3)
		lesson.Same(t, second, 0)
	})
	t.Run("exp of a negative number", func(t *testing.T) {
		first, second := Derivative("exp", -1, 0, 2)
		lesson.Same(t, first, 0.7357588823428847)
		lesson.Same(t, second, 0)
	})
	t.Run("relu above zero", func(t *testing.T) {
		first, second := Derivative("relu", 1.5, 0, 7)
		lesson.Same(t, first, 7)
		lesson.Same(t, second, 0)
	})
	t.Run("relu below zero", func(t *testing.T) {
		first, second := Derivative("relu", -1.5, 0, 7)
		lesson.Same(t, first, 0)
		lesson.Same(t, second, 0)
	})
}
