// The cases of exercise 01.5. (13a2c51259c0)

package mine

import (
	"testing"

	"github.com/lectern-go/lectern/notebooks/lesson"
)

func TestTrainBPE(t *testing.T) {
	t.Run("an empty text", func(t *testing.T) {
		got := TrainBPE("", 2)
		lesson.Same(t, got, [][2]int{})
	})
	t.Run("no merges", func(t *testing.T) {
		got := TrainBPE("the cat", 0)
		lesson.Same(t, got, [][2]int{})
	})
	t.Run("one merge", func(t *testing.T) {
		got := TrainBPE("aaaa", 1)
		lesson.Same(t, got, [][2]int{{97, 97}})
	})
	t.Run("equally frequent pairs", func(t *testing.T) {
		got := TrainBPE("abcd", 1)
		lesson.Same(t, got, [][2]int{{97, 98}})
	})
	t.Run("the lesson's text", func(t *testing.T) {
		got := TrainBPE("the cat in the hat", 3)
		lesson.Same(t, got, [][2]int{{116, 104}, {256, 101}, {257, 32}})
	})
	t.Run("Wikipedia's example", func(t *testing.T) {
		got := TrainBPE("aaabdaaabac", 3)
		lesson.Same(t, got, [][2]int{{97, 97}, {256, 97}, {257, 98}})
	})
	t.Run("merges of merges", func(t *testing.T) {
		got := TrainBPE("abababab", 3)
		lesson.Same(t, got, [][2]int{{97, 98}, {256, 256}, {257, 257}})
	})
	t.Run("fewer pairs than merges", func(t *testing.T) {
		got := TrainBPE("ab", 3)
		lesson.Same(t, got, [][2]int{{97, 98}})
	})
	t.Run("bytes, not characters", func(t *testing.T) {
		got := TrainBPE("🌍🌍", 3)
		lesson.Same(t, got, [][2]int{{240, 159}, {256, 140}, {257, 141}})
	})
}
