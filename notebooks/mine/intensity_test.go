// The cases of exercise 22.4. (0e076511c772)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestIntensity(t *testing.T) {
	t.Run("one number each", func(t *testing.T) {
		got := Intensity(1, 1, 1, 1)
		lesson.Same(t, got, 0.3333333333333333)
	})
	t.Run("a dot product", func(t *testing.T) {
		got := Intensity(1, 1024, 1, 2)
		lesson.Same(t, got, 0.4995119570522206)
	})
	t.Run("a matrix times a vector", func(t *testing.T) {
		got := Intensity(1024, 1024, 1, 2)
		lesson.Same(t, got, 0.9975633528265108)
	})
	t.Run("square matrices", func(t *testing.T) {
		got := Intensity(1024, 1024, 1024, 2)
		lesson.Same(t, got, 341.1666666666667)
	})
	t.Run("four bytes", func(t *testing.T) {
		got := Intensity(1024, 1024, 1024, 4)
		lesson.Same(t, got, 170.58333333333334)
	})
	t.Run("three sizes", func(t *testing.T) {
		got := Intensity(2, 3, 5, 1)
		lesson.Same(t, got, 1.6129032258064515)
	})
}
