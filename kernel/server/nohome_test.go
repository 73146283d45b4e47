//go:build unix

package main

import (
	"strings"
	"testing"
)

// Without a home Go can't build: each cell with Go says so in one sentence, and the others work.
func TestNoHome(t *testing.T) {
	t.Parallel()
	bin, err := tools()
	need(t, err)
	l := startLabIn(t, bin, t.TempDir(), []string{"HOME=", "XDG_CACHE_HOME=", "XDG_CONFIG_HOME=", "GOCACHE=", "GOPATH=", "GOMODCACHE=", "GOENV=off"})
	for _, code := range []string{"1+1", "x := tensor.Of(1)", "import \"example.org/none\"", "}"} {
		if outs, _ := l.run(code); len(outs) != 1 || code != "}" && !strings.Contains(flat(outs), "HOME is not set, so Go has no folder for what it builds") {
			t.Errorf("%q: %s", code, flat(outs))
		}
	}
	if outs, _ := l.run("!echo a"); flat(outs) != "[stdout]a\n" {
		t.Errorf("a shell line: %s", flat(outs))
	}
}
