package humanize

import (
	"math"
	"testing"
	"unicode/utf8"
)

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -999: "-999", -1000: "-1,000", 503316480: "503,316,480",
		math.MaxInt: "9,223,372,036,854,775,807", math.MinInt: "-9,223,372,036,854,775,808"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d is written %q, want %q", n, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int]string{0: "0 bytes", 12: "12 bytes", 1023: "1,023 bytes", 1024: "1 KiB", 1 << 30: "1 GiB", 10239: "10,239 bytes", 10240: "10 KiB", 10250: "10.0 KiB", 2304 << 20: "2,304 MiB",
		3 << 29: "1,536 MiB", 80 << 30: "80 GiB", 1 << 47: "128 TiB", -20480: "-20 KiB", math.MaxInt: "8 EiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
}

func TestShorten(t *testing.T) {
	for _, tt := range []struct {
		s    string
		most int
		want string
	}{{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"äöü", 3, "äöü"}, {"äöüß", 3, "äö…"}, {"a bcd", 3, "a…"}} {
		got := Shorten(tt.s, tt.most)
		if got != tt.want || utf8.RuneCountInString(got) > tt.most {
			t.Errorf("%q in %d characters is %q, want %q", tt.s, tt.most, got, tt.want)
		}
	}
}

func TestSignificant(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 2.5: "2.5", 1234567: "1230000", 6.3e24: "6.3e24", 0.00012345: "0.000123", 0.00001: "1e-05"} {
		if got := Significant(x, 3); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for _, tt := range []struct {
		n          int
		noun, want string
	}{
		{0, "element", "0 elements"}, {1, "element", "1 element"}, {2, "element", "2 elements"}, {-1, "step", "-1 steps"}, {4096, "row", "4096 rows"},
		{1, "axis", "1 axis"}, {3, "axis", "3 axes"}, {2, "index", "2 indices"}, {2, "matrix", "2 matrices"}, {2, "entry", "2 entries"},
		{2, "key", "2 keys"}, {2, "class", "2 classes"}, {2, "box", "2 boxes"}, {2, "batch", "2 batches"},
	} {
		if got := Count(tt.n, tt.noun); got != tt.want {
			t.Errorf("%d of %q are %q, want %q", tt.n, tt.noun, got, tt.want)
		}
	}
}
