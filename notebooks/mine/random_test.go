// The cases of exercise 15.4. (64f125b51b26)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestRandom(t *testing.T) {
	t.Run("no numbers", func(t *testing.T) {
		got := Random(7, 0)
		lesson.Same(t, got, []float64{})
	})
	t.Run("the first number", func(t *testing.T) {
		got := Random(0, 1)
		lesson.Same(t, got, []float64{0.23606797284446657})
	})
	t.Run("three numbers", func(t *testing.T) {
		got := Random(0, 3)
		lesson.Same(t, got, []float64{0.23606797284446657, 0.278566908556968, 0.8195337599609047})
	})
	t.Run("another seed", func(t *testing.T) {
		got := Random(42, 4)
		lesson.Same(t, got, []float64{0.2523451747838408, 0.08812504541128874, 0.5772811982315034,
			0.22255426598712802})
	})
	t.Run("the largest seed", func(t *testing.T) {
		got := Random(4294967295, 2)
		lesson.Same(t, got, []float64{0.2356804204173386, 0.18786314339376986})
	})
}
