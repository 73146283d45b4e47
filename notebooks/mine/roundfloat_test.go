// The cases of exercise 03.5. (568072949b5e)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestRoundFloat(t *testing.T) {
	t.Run("a number that the format can represent", func(t *testing.T) {
		got := RoundFloat(1.5, 8, 7)
		lesson.Same(t, got, 1.5)
	})
	t.Run("bfloat16, down", func(t *testing.T) {
		got := RoundFloat(1.003, 8, 7)
		lesson.Same(t, got, 1)
	})
	t.Run("bfloat16, up", func(t *testing.T) {
		got := RoundFloat(1.005, 8, 7)
		lesson.Same(t, got, 1.0078125)
	})
	t.Run("bfloat16, a large number", func(t *testing.T) {
		got := RoundFloat(1001, 8, 7)
		lesson.Same(t, got, 1000)
	})
	t.Run("a negative number in E4M3", func(t *testing.T) {
		got := RoundFloat(-0.3, 4, 3)
		lesson.Same(t, got, -0.3125)
	})
	t.Run("up to the next power of two", func(t *testing.T) {
		got := RoundFloat(1.99, 4, 3)
		lesson.Same(t, got, 2)
	})
	t.Run("a tie that goes down", func(t *testing.T) {
		got := RoundFloat(2.5, 2, 1)
		lesson.Same(t, got, 2)
	})
	t.Run("a tie that goes up", func(t *testing.T) {
		got := RoundFloat(3.5, 2, 1)
		lesson.Same(t, got, 4)
	})
	t.Run("a subnormal number in E4M3", func(t *testing.T) {
		got := RoundFloat(0.0066, 4, 3)
		lesson.Same(t, got, 0.005859375)
	})
	t.Run("underflow in float16", func(t *testing.T) {
		got := RoundFloat(1e-08, 5, 10)
		lesson.Same(t, got, 0)
	})
	t.Run("zero", func(t *testing.T) {
		got := RoundFloat(0, 5, 2)
		lesson.Same(t, got, 0)
	})
}
