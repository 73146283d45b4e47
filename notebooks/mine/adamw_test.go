// The cases of exercise 17.5. (73224a399b1f)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestAdamW(t *testing.T) {
	t.Run("Adam, the first step", func(t *testing.T) {
		first, second, third := AdamW(4, 0, 0, 4, 1, 0.1, 0)
		lesson.Same(t, first, 3.90000000025, 1e-09)
		lesson.Same(t, second, 0.4, 1e-09)
		lesson.Same(t, third, 0.016, 1e-09)
	})
	t.Run("Adam, the second step", func(t *testing.T) {
		first, second, third := AdamW(3.9, 0.4, 0.016, 3.9, 2, 0.1, 0)
		lesson.Same(t, first, 3.800073995081855, 1e-09)
		lesson.Same(t, second, 0.75, 1e-09)
		lesson.Same(t, third, 0.031194, 1e-09)
	})
	t.Run("no gradient, and none before", func(t *testing.T) {
		first, second, third := AdamW(1, 0, 0, 0, 1, 0.1, 0)
		lesson.Same(t, first, 1, 1e-09)
		lesson.Same(t, second, 0, 1e-09)
		lesson.Same(t, third, 0, 1e-09)
	})
	t.Run("no gradient, but means from earlier steps", func(t *testing.T) {
		first, second, third := AdamW(1, 0.5, 0.25, 0, 3, 0.1, 0)
		lesson.Same(t, first, 0.9818099489499902, 1e-09)
		lesson.Same(t, second, 0.45, 1e-09)
		lesson.Same(t, third, 0.24975, 1e-09)
	})
	t.Run("a tiny gradient", func(t *testing.T) {
		first, second, third := AdamW(-2, 0, 0, 0.0001, 1, 0.5, 0)
		lesson.Same(t, first, -2.4999500049995005, 1e-09)
		lesson.Same(t, second, 1e-05, 1e-09)
		lesson.Same(t, third, 1.0000000000000001e-11, 1e-09)
	})
	t.Run("a late step", func(t *testing.T) {
		first, second, third := AdamW(0.5, 0.02, 0.003, 0.05, 1000, 0.01, 0)
		lesson.Same(t, first, 0.49666061492372116, 1e-09)
		lesson.Same(t, second, 0.023000000000000003, 1e-09)
		lesson.Same(t, third, 0.0029995, 1e-09)
	})
	t.Run("decay alone", func(t *testing.T) {
		first, second, third := AdamW(2, 0, 0, 0, 1, 0.1, 0.01)
		lesson.Same(t, first, 1.998, 1e-09)
		lesson.Same(t, second, 0, 1e-09)
		lesson.Same(t, third, 0, 1e-09)
	})
	t.Run("decay with a large gradient", func(t *testing.T) {
		first, second, third := AdamW(2, 0, 0, 1000, 1, 0.1, 0.5)
		lesson.Same(t, first, 1.800000000001, 1e-09)
		lesson.Same(t, second, 100, 1e-09)
		lesson.Same(t, third, 1000, 1e-09)
	})
}
