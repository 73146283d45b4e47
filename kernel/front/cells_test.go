package main

import (
	"os"
	"strings"
	"testing"
)

func TestFile(t *testing.T) {
	b, err := os.ReadFile(os.Getenv("CELLS"))
	if err != nil {
		t.Skip("CELLS names no file of cells")
	}
	l := startLab(t)
	for _, c := range strings.Split(string(b), "\n---\n") {
		outs, r := l.run(c)
		t.Logf("In [%d]: %s\n%s %s", r.Count, c, r.Status, flat(outs))
	}
}
