// The cases of exercise 30.2. (c9f0ebfd86d8)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestBigramStep(t *testing.T) {
	t.Run("one pair", func(t *testing.T) {
		first, second := BigramStep([][]float64{{0, 0}, {0, 0}}, []int{0}, []int{1}, 1)
		lesson.Same(t, first, [][]float64{{-0.5, 0.5}, {0, 0}})
		lesson.Same(t, second, 0.6931471805599453)
	})
	t.Run("a rate of 0", func(t *testing.T) {
		first, second := BigramStep([][]float64{{1, 2}, {3, 4}}, []int{0, 1}, []int{1, 1}, 0)
		lesson.Same(t, first, [][]float64{{1, 2}, {3, 4}})
		lesson.Same(t, second, 0.31326168751822286)
	})
	t.Run("two rows", func(t *testing.T) {
		first, second := BigramStep([][]float64{{0, 0}, {1, -1}}, []int{0, 1}, []int{1, 0}, 0.5)
		lesson.Same(t, first, [][]float64{{-0.125, 0.125}, {1.0298007305055294, -1.0298007305055294}})
		lesson.Same(t, second, 0.41003759580145893)
	})
	t.Run("the same token twice", func(t *testing.T) {
		first, second := BigramStep([][]float64{{0, 0}, {0, 0}}, []int{0, 0}, []int{0, 1}, 1)
		lesson.Same(t, first, [][]float64{{0, 0}, {0, 0}})
		lesson.Same(t, second, 0.6931471805599453)
	})
	t.Run("the same pair twice", func(t *testing.T) {
		first, second := BigramStep([][]float64{{0, 1}, {2, 0}}, []int{1, 1, 0}, []int{0, 0, 1}, 2)
		lesson.Same(t, first, [][]float64{{-0.17929428091333008, 1.17929428091333}, {2.1589372293628237,
			-0.1589372293628234}})
		lesson.Same(t, second, 0.1890392365347227)
	})
	t.Run("three tokens", func(t *testing.T) {
		first, second := BigramStep([][]float64{{0, 1, 2}, {2, 0, -1}, {0, 0, 0}}, []int{0, 2, 1, 2},
			[]int{1, 0, 2, 2}, 0.3)
		lesson.Same(t, first, [][]float64{{-0.006752292987778534, 1.0566453646708902,
			1.9501069283168884}, {1.9367153949138995, -0.008564639953844587, -0.928150754960055},
			{0.025000000000000005, -0.049999999999999996, 0.025000000000000005}})
		lesson.Same(t, second, 1.6936691403342214)
	})
}
