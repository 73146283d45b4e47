package rewrite

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A cell is parsed and type-checked once on its way, and each of its declarations is parsed once more before that, to
// learn what it declares. Only a cell that gives a name another meaning is checked a second time, with that. Taking
// the program apart parses it, and nothing is checked for that.
func TestReadsOfACell(t *testing.T) {
	const earlier = "type point struct{ x, y int }\nfunc (p point) sum() int { return p.x + p.y }\np := point{1, 2}\nkeep := func() int { return p.sum() }"
	for _, c := range []struct {
		name, code     string
		parses, checks int64
	}{
		{"statements", "for i := range 3 {\n\tfmt.Println(p.sum() + i)\n}\nkeep()", 1, 1},
		{"with a function", "func twice(n int) int { return 2 * n }\nq := twice(p.x)\nh := func() int { return q }\nh()", 2, 1},
		{"with three declarations and an import", "import \"strings\"\ntype t int\nconst c = 3\nfunc (t) m() string { return strings.Repeat(\"a\", c) }\nt(1).m()", 5, 1},
		{"a name once more, of the same type", "p := point{3, 4}\np", 1, 1},
		{"of another type", "p := 3\np", 1 + 1, 1 + 1},
		{"with steps", "//step\ns := 0\nfor i := range 3 {\n\ts += i\n}\ns", 1, 1},
		{"with a mistake", "q := undefined(p)", 1, 1},
	} {
		nb := newNotebook(t)
		nb.run(earlier)
		before := [2]int64{parses.Load(), typeChecks.Load()}
		r := nb.s.rewrite(2, c.code).r // the explanation of a mistake may try proposals
		if got := [2]int64{parses.Load() - before[0], typeChecks.Load() - before[1]}; got != [2]int64{c.parses, c.checks} {
			t.Errorf("%s: parsed %d times and checked %d times, want %d and %d", c.name, got[0], got[1], c.parses, c.checks)
		}
		if len(r.Errors) > 0 {
			continue
		}
		before = [2]int64{parses.Load(), typeChecks.Load()}
		if _, _, err := r.Pieces(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := [2]int64{parses.Load() - before[0], typeChecks.Load() - before[1]}; got != [2]int64{1, 0} {
			t.Errorf("%s: pieces took %d parses and %d checks, want 1 and none", c.name, got[0], got[1])
		}
	}
}

// No cell gets past the counters.
func TestDoors(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if path != "doors.go" && !strings.HasSuffix(path, "_test.go") && regexp.MustCompile(`\bparser\.ParseFile\(|\.Check\("main"`).Match(text) {
			t.Errorf("%s parses or checks a program without ParseFile and TypeCheck, which count that", path)
		}
	}
}
