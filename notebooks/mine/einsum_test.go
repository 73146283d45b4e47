// The cases of exercise 08.6. (057749299b31)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestEinsum(t *testing.T) {
	t.Run("a dot product", func(t *testing.T) {
		got := Einsum("i,i->", []int{3}, []float64{1, 2, 3}, []float64{4, 5, 6})
		lesson.Same(t, got, []float64{32})
	})
	t.Run("an outer product", func(t *testing.T) {
		got := Einsum("i,j->ij", []int{2, 3}, []float64{1, 2}, []float64{3, 4, 5})
		lesson.Same(t, got, []float64{3, 4, 5, 6, 8, 10})
	})
	t.Run("a matrix product", func(t *testing.T) {
		got := Einsum("ij,jk->ik", []int{2, 3, 2}, []float64{1, 2, 3, 4, 5, 6}, []float64{1, 0, 2, -1,
			0, 3})
		lesson.Same(t, got, []float64{5, 7, 14, 13})
	})
	t.Run("the same, transposed", func(t *testing.T) {
		got := Einsum("ij,jk->ki", []int{2, 3, 2}, []float64{1, 2, 3, 4, 5, 6}, []float64{1, 0, 2, -1,
			0, 3})
		lesson.Same(t, got, []float64{5, 14, 7, 13})
	})
	t.Run("scores of a batch", func(t *testing.T) {
		got := Einsum("bid,bjd->bij", []int{2, 2, 2, 1}, []float64{1, 2, 3, 4, 5, 6, 7, 8}, []float64{1,
			0, 0, 1})
		lesson.Same(t, got, []float64{1, 3, 6, 8})
	})
	t.Run("element by element, summed over the rows", func(t *testing.T) {
		got := Einsum("ij,ij->j", []int{2, 3}, []float64{1, 2, 3, 4, 5, 6}, []float64{1, 1, 1, 2, 2, 2})
		lesson.Same(t, got, []float64{9, 12, 15})
	})
	t.Run("everything summed", func(t *testing.T) {
		got := Einsum("ij,k->", []int{2, 2, 2}, []float64{1, 2, 3, 4}, []float64{10, 1})
		lesson.Same(t, got, []float64{110})
	})
	t.Run("no rows", func(t *testing.T) {
		got := Einsum("ij,j->i", []int{0, 2}, []float64{}, []float64{1, 2})
		lesson.Same(t, got, []float64{})
	})
}
