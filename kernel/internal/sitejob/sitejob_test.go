package sitejob

import (
	"strings"
	"testing"
	"time"
)

func TestParseStage(t *testing.T) {
	var b strings.Builder
	Stage(&b, "Go's compiler for the page", 45*time.Second)
	if what, about, ok := ParseStage(b.String()); !ok || what != "Go's compiler for the page" || about != 45*time.Second {
		t.Errorf("%q is read as %q, %v, %v", b.String(), what, about, ok)
	}
	for _, line := range []string{"", "warning: a stage\n", mark, mark + "x y\n", mark + "3\n"} {
		if what, _, ok := ParseStage(line); ok {
			t.Errorf("%q is read as %q", line, what)
		}
	}
}
