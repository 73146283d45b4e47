//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMagicsAreDocumented: docs/kernel.md and %help name every magic.
func TestMagicsAreDocumented(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "kernel.md"))
	if err != nil {
		t.Fatal(err)
	}
	l := startLab(t)
	outs, _ := l.run("%help")
	for _, m := range magics {
		if named := regexp.MustCompile("`" + regexp.QuoteMeta(m.name) + "[^%]*`"); !named.Match(b) {
			t.Errorf("docs/kernel.md says nothing of %s", m.name)
		}
		if !strings.Contains(flat(outs), m.about) {
			t.Errorf("%%help says nothing of %s", m.name)
		}
	}
}

func TestMagicsOfTheKernel(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	l.expect(t, "%who", "ok", "[stdout]no variables yet")
	l.run("b, a := 1, []string{\"x\"}")
	l.expect(t, "%who", "ok", "[stdout]a  b")
	l.expect(t, "%whos", "ok", "a", "[]string")
	l.expect(t, "%timr b", "error", "there is no %timr; did you mean %time?")
	l.expect(t, "%nothingofthekind", "error", "there is no %nothingofthekind; %help lists what there is")
	took := regexp.MustCompile(`%time: ran for [\d.]+.?s \(processors: [\d.]+.?s\), after building for [\d.]+.?s`)
	for _, code := range []string{"%time b + 41", "//gonb:%time\nb + 41"} {
		outs, _ := l.run(code)
		if all := flat(outs); !took.MatchString(all) || !strings.Contains(all, "[result]42") {
			t.Errorf("%q shows %s", code, all)
		}
	}
	l.expect(t, "%time c := b +\n1", "ok", "%time: ran for")
	l.expect(t, "c", "ok", "[result]2")
	l.expect(t, "%time undefined_name", "error", "undefined: undefined_name")
	l.expect(t, "%doc", "error", "write %doc and a name")
	l.expect(t, "strings.ToUpper?", "ok", "ToUpper returns")
	l.expect(t, "?b", "ok", "var b int")
	l.expect(t, "%doc nosuchthing", "error", "nothing is known about nosuchthing")
	l.expect(t, "%doc b\n%doc a\nfmt.Println(b)", "ok", "[stdout]1\n[display]var b int\n\nvar a []string")
	l.expect(t, "%doc b\npanic(1)", "error", "panic: 1", "[display]var b int")
}
