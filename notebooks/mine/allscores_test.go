// The cases of exercise 08.4. (67a814b28b6e)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestAllScores(t *testing.T) {
	t.Run("one number", func(t *testing.T) {
		got := AllScores([][][]float64{{{3}}}, [][][]float64{{{4}}})
		lesson.Same(t, got, [][][]float64{{{12}}})
	})
	t.Run("two vectors", func(t *testing.T) {
		got := AllScores([][][]float64{{{1, 2}}}, [][][]float64{{{3, 4}}})
		lesson.Same(t, got, [][][]float64{{{11}}})
	})
	t.Run("two sequences", func(t *testing.T) {
		got := AllScores([][][]float64{{{1, 2}, {3, 4}}}, [][][]float64{{{1, 0}, {0, 1}}})
		lesson.Same(t, got, [][][]float64{{{1, 2}, {3, 4}}})
	})
	t.Run("sequences of different lengths", func(t *testing.T) {
		got := AllScores([][][]float64{{{1, 2}, {3, 4}}}, [][][]float64{{{1, 0}, {0, 1}, {1, 1}}})
		lesson.Same(t, got, [][][]float64{{{1, 2, 3}, {3, 4, 7}}})
	})
	t.Run("a batch of two", func(t *testing.T) {
		got := AllScores([][][]float64{{{1, 1}}, {{2, 0}}}, [][][]float64{{{1, 2}}, {{5, 9}}})
		lesson.Same(t, got, [][][]float64{{{3}}, {{10}}})
	})
}
