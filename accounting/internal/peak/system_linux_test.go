package peak

import "testing"

func TestCacheSizes(t *testing.T) {
	for text, want := range map[string]int{"32K": 32 << 10, "8192K": 8 << 20, "36M": 36 << 20, "1G": 1 << 30, "512": 512, "": 0, "many": 0} {
		if got := cacheSize(text); got != want {
			t.Errorf("%q is read as %d bytes, want %d", text, got, want)
		}
	}
	if n := lastCaches(); n < 0 || BeyondCaches() < min(n, 1<<30) {
		t.Errorf("caches hold %d bytes, measurements go through %d", n, BeyondCaches())
	}
}
