package spelling

import "testing"

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"heads", "heads", 0}, {"heads", "head", 1}, {"hads", "heads", 1}, {"heads", "heaps", 1},
		{"haeds", "heads", 1}, {"kitten", "sitting", 3}, {"größe", "grosse", 3}, {"ab", "ba", 1}, {"日本", "日", 1}, {"abc", "cba", 2},
	} {
		if got := Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("from %q to %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if back := Distance(tt.b, tt.a); back != tt.want {
			t.Errorf("from %q to %q: %d, want %d", tt.b, tt.a, back, tt.want)
		}
	}
}
