// The cases of exercise 01.6. (fd05e2773c40)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestEncode(t *testing.T) {
	t.Run("an empty text", func(t *testing.T) {
		got := Encode("", [][2]int{{97, 97}})
		lesson.Same(t, got, []int{})
	})
	t.Run("no merges", func(t *testing.T) {
		got := Encode("ab", [][2]int{})
		lesson.Same(t, got, []int{97, 98})
	})
	t.Run("the lesson's fox", func(t *testing.T) {
		got := Encode("the quick brown fox", [][2]int{{116, 104}, {256, 101}, {257, 32}})
		lesson.Same(t, got, []int{258, 113, 117, 105, 99, 107, 32, 98, 114, 111, 119, 110, 32, 102, 111,
			120})
	})
	t.Run("the first merge wins", func(t *testing.T) {
		got := Encode("abc", [][2]int{{98, 99}, {97, 98}})
		lesson.Same(t, got, []int{97, 256})
	})
	t.Run("learned in the other order", func(t *testing.T) {
		got := Encode("abc", [][2]int{{97, 98}, {98, 99}})
		lesson.Same(t, got, []int{256, 99})
	})
	t.Run("pairs that overlap", func(t *testing.T) {
		got := Encode("aaaaa", [][2]int{{97, 97}})
		lesson.Same(t, got, []int{256, 256, 97})
	})
	t.Run("merges of merges", func(t *testing.T) {
		got := Encode("ababab", [][2]int{{97, 98}, {256, 256}})
		lesson.Same(t, got, []int{257, 256})
	})
	t.Run("bytes, not characters", func(t *testing.T) {
		got := Encode("🌍", [][2]int{{240, 159}, {256, 140}, {257, 141}})
		lesson.Same(t, got, []int{258})
	})
}
