// The cases of exercise 11.5. (f29b3f89333e)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestBackward(t *testing.T) {
	t.Run("one operation", func(t *testing.T) {
		got := Backward([]float64{2, 3}, []lesson.Op{{Name: "mul", A: 0, B: 1}})
		lesson.Same(t, got, []float64{3, 2})
	})
	t.Run("two in a row", func(t *testing.T) {
		got := Backward([]float64{2, 3}, []lesson.Op{{Name: "mul", A: 0, B: 1},
			{Name: "exp", A: 2, B: 0}})
		lesson.Same(t, got, []float64{1210.2863804782053, 806.8575869854702})
	})
	t.Run("an input that is used twice", func(t *testing.T) {
		got := Backward([]float64{3}, []lesson.Op{{Name: "mul", A: 0, B: 0}, {Name: "add", A: 1, B: 0}})
		lesson.Same(t, got, []float64{7})
	})
	t.Run("an input that is not used", func(t *testing.T) {
		got := Backward([]float64{2, 5, -1}, []lesson.Op{{Name: "add", A: 0, B: 2}})
		lesson.Same(t, got, []float64{1, 0, 1})
	})
	t.Run("the loss of this lesson", func(t *testing.T) {
		got := Backward([]float64{1, 2, 3, 1, 1, 1, -5, 2, 0.5}, []lesson.Op{{Name: "mul", A: 0, B: 3},
			{Name: "mul", A: 1, B: 4}, {Name: "mul", A: 2, B: 5}, {Name: "add", A: 9, B: 10},
			{Name: "add", A: 12, B: 11}, {Name: "add", A: 13, B: 6}, {Name: "pow", A: 14, B: 7},
			{Name: "mul", A: 15, B: 8}})
		lesson.Same(t, got, []float64{1, 1, 1, 1, 2, 3, 1, 0, 1})
	})
	t.Run("a result that is used twice", func(t *testing.T) {
		got := Backward([]float64{2, 3}, []lesson.Op{{Name: "mul", A: 0, B: 1},
			{Name: "relu", A: 2, B: 0}, {Name: "mul", A: 2, B: 3}, {Name: "add", A: 4, B: 2}})
		lesson.Same(t, got, []float64{39, 26})
	})
}
