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

func TestNearest(t *testing.T) {
	words := []string{"ab", "中国", "matmul", "mean", "median", "means"}
	for _, c := range []struct {
		name  string
		limit int
		want  string
	}{
		{"matmull", 2, "matmul"},
		{"mena", 2, "mean"},  // nearer than means
		{"meas", 1, "mean"},  // the first of two
		{"mean", 2, "means"}, // not itself
		{"mdian", 0, ""},     // too far
		{"xb", 2, "ab"},      // half of it
		{"xy", 2, ""},        // more than half
		{"日本", 2, ""},        // letters, not bytes
		{"transpose", 2, ""},
	} {
		if got := Nearest(c.name, words, c.limit); got != c.want {
			t.Errorf("nearest to %q within %d: %q, want %q", c.name, c.limit, got, c.want)
		}
	}
}
