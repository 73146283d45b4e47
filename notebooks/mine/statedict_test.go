// The cases of exercise 14.5. (768d6c0058e4)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestStateDict(t *testing.T) {
	t.Run("the final layer alone", func(t *testing.T) {
		first, second, third := StateDict(3, 0)
		lesson.Same(t, first, []string{"final.weight", "final.bias"})
		lesson.Same(t, second, [][]int{{3, 1}, {1}})
		lesson.Same(t, third, 4)
	})
	t.Run("one layer", func(t *testing.T) {
		first, second, third := StateDict(2, 1)
		lesson.Same(t, first, []string{"layers.0.weight", "layers.0.bias", "final.weight",
			"final.bias"})
		lesson.Same(t, second, [][]int{{2, 2}, {2}, {2, 1}, {1}})
		lesson.Same(t, third, 9)
	})
	t.Run("the lesson's sizes", func(t *testing.T) {
		first, second, third := StateDict(64, 2)
		lesson.Same(t, first, []string{"layers.0.weight", "layers.0.bias", "layers.1.weight",
			"layers.1.bias", "final.weight", "final.bias"})
		lesson.Same(t, second, [][]int{{64, 64}, {64}, {64, 64}, {64}, {64, 1}, {1}})
		lesson.Same(t, third, 8385)
	})
	t.Run("a dimension of 1", func(t *testing.T) {
		first, second, third := StateDict(1, 1)
		lesson.Same(t, first, []string{"layers.0.weight", "layers.0.bias", "final.weight",
			"final.bias"})
		lesson.Same(t, second, [][]int{{1, 1}, {1}, {1, 1}, {1}})
		lesson.Same(t, third, 4)
	})
	t.Run("more than ten layers", func(t *testing.T) {
		first, second, third := StateDict(1, 11)
		lesson.Same(t, first, []string{"layers.0.weight", "layers.0.bias", "layers.1.weight",
			"layers.1.bias", "layers.2.weight", "layers.2.bias", "layers.3.weight", "layers.3.bias",
			"layers.4.weight", "layers.4.bias", "layers.5.weight", "layers.5.bias", "layers.6.weight",
			"layers.6.bias", "layers.7.weight", "layers.7.bias", "layers.8.weight", "layers.8.bias",
			"layers.9.weight", "layers.9.bias", "layers.10.weight", "layers.10.bias", "final.weight",
			"final.bias"})
		lesson.Same(t, second, [][]int{{1, 1}, {1}, {1, 1}, {1}, {1, 1}, {1}, {1, 1}, {1}, {1, 1}, {1},
			{1, 1}, {1}, {1, 1}, {1}, {1, 1}, {1}, {1, 1}, {1}, {1, 1}, {1}, {1, 1}, {1}, {1, 1}, {1}})
		lesson.Same(t, third, 24)
	})
}
