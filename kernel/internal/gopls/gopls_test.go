package gopls

import "testing"

func TestPositions(t *testing.T) {
	text := "a\n日😀b\n"
	for off, want := range map[int]position{0: {0, 0}, 1: {0, 1}, 2: {1, 0}, 5: {1, 1}, 9: {1, 3}, 10: {1, 4}, 11: {2, 0}} {
		if got := positionOf(text, off); got != want {
			t.Errorf("offset %d: %v, want %v", off, got, want)
		}
		if got := offsetOf(text, want); got != off {
			t.Errorf("%v: offset %d, want %d", want, got, off)
		}
	}
	if got := offsetOf(text, position{9, 9}); got != len(text) {
		t.Errorf("beyond the end: %d", got)
	}
}
