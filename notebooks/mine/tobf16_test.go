// The cases of exercise 21.5. (57e6cb126fd7)

package mine

import (
	"math"
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestToBF16(t *testing.T) {
	t.Run("a number that bfloat16 can represent", func(t *testing.T) {
		got := ToBF16(1.5)
		lesson.Same(t, got, 1.5, 1e-07)
	})
	t.Run("zero", func(t *testing.T) {
		got := ToBF16(0)
		lesson.Same(t, got, 0, 1e-07)
	})
	t.Run("down", func(t *testing.T) {
		got := ToBF16(1.001)
		lesson.Same(t, got, 1, 1e-07)
	})
	t.Run("up", func(t *testing.T) {
		got := ToBF16(1.007)
		lesson.Same(t, got, 1.0078125, 1e-07)
	})
	t.Run("a negative number", func(t *testing.T) {
		got := ToBF16(-3.3)
		lesson.Same(t, got, -3.296875, 1e-07)
	})
	t.Run("the middle, with an even number below", func(t *testing.T) {
		got := ToBF16(1.0039062)
		lesson.Same(t, got, 1, 1e-07)
	})
	t.Run("the middle, with an even number above", func(t *testing.T) {
		got := ToBF16(1.0117188)
		lesson.Same(t, got, 1.015625, 1e-07)
	})
	t.Run("up to the next power of two", func(t *testing.T) {
		got := ToBF16(1.999)
		lesson.Same(t, got, 2, 1e-07)
	})
	t.Run("a large number", func(t *testing.T) {
		got := ToBF16(1e+30)
		lesson.Same(t, got, 1.00025555e+30, 1e-07)
	})
	t.Run("beyond the largest", func(t *testing.T) {
		got := ToBF16(3.4e+38)
		lesson.Same(t, got, float32(math.Inf(1)), 1e-07)
	})
}
