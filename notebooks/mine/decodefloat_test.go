// The cases of exercise 03.4. (e0cd1a4c31a2)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestDecodeFloat(t *testing.T) {
	t.Run("one in float32", func(t *testing.T) {
		got := DecodeFloat(1065353216, 8, 23)
		lesson.Same(t, got, 1)
	})
	t.Run("a mantissa", func(t *testing.T) {
		got := DecodeFloat(1084227584, 8, 23)
		lesson.Same(t, got, 5)
	})
	t.Run("a negative number", func(t *testing.T) {
		got := DecodeFloat(3184315597, 8, 23)
		lesson.Same(t, got, -0.10000000149011612)
	})
	t.Run("float16", func(t *testing.T) {
		got := DecodeFloat(22080, 5, 10)
		lesson.Same(t, got, 100)
	})
	t.Run("bfloat16", func(t *testing.T) {
		got := DecodeFloat(16457, 8, 7)
		lesson.Same(t, got, 3.140625)
	})
	t.Run("E5M2", func(t *testing.T) {
		got := DecodeFloat(66, 5, 2)
		lesson.Same(t, got, 3)
	})
	t.Run("zero", func(t *testing.T) {
		got := DecodeFloat(0, 4, 3)
		lesson.Same(t, got, 0)
	})
	t.Run("the largest E4M3, 0 1111 110", func(t *testing.T) {
		got := DecodeFloat(126, 4, 3)
		lesson.Same(t, got, 448)
	})
	t.Run("a subnormal E4M3, 1 0000 011", func(t *testing.T) {
		got := DecodeFloat(131, 4, 3)
		lesson.Same(t, got, -0.005859375)
	})
	t.Run("the smallest E2M1, 0 00 1", func(t *testing.T) {
		got := DecodeFloat(1, 2, 1)
		lesson.Same(t, got, 0.5)
	})
	t.Run("a negative E2M1, 1 11 1", func(t *testing.T) {
		got := DecodeFloat(15, 2, 1)
		lesson.Same(t, got, -6)
	})
}
