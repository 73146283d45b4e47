package linediff

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	lines := func(s string) []string {
		if s == "" {
			return nil
		}
		return strings.Split(s, " ")
	}
	for _, c := range []struct{ a, b, want string }{
		{"a b c", "a b c", ""},
		{"", "", ""},
		{"", "x", "  + x\n"},
		{"x", "", "  - x\n"},
		{"1 2 3 4 a 5 6 7", "1 2 3 4 b 5 6 7", "    3\n    4\n  - a\n  + b\n    5\n    6\n"},
		{"a b c d", "b c e d", "  - a\n    b\n    c\n  + e\n    d\n"},
	} {
		if got := Of(lines(c.a), lines(c.b)); got != c.want {
			t.Errorf("%q against %q:\n%s\nwant\n%s", c.a, c.b, got, c.want)
		}
	}
	long := strings.Repeat("x", 1000)
	if got := Of([]string{long}, nil); len(got) > 250 || !strings.Contains(got, "840 more characters") {
		t.Errorf("a long line is shown as %d bytes", len(got))
	}
}
