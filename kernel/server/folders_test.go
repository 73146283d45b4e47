//go:build unix

package main

import "testing"

func TestKeepLimit(t *testing.T) {
	for in, want := range map[string]string{"1000": "1000", "4k": "4096", "2M": "2097152", "1GB": "1073741824"} {
		t.Setenv("LECTERN_KEEP_LIMIT", in)
		if got := keepLimit(t.TempDir()); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
