package command

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var testLink = regexp.MustCompile(`\[(\w+)\]\(([^)]+)\)`)

// Every threat names tests, and every test that is named exists where it is said to be.
func TestThreatsHaveTests(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for i, line := range strings.Split(string(b), "\n") {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| somebody tries to |") {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) != 3 {
			t.Errorf("line %d has %d columns, want threat, defence and tests", i+1, len(cells))
			continue
		}
		testsExist(t, i+1, cells[0], cells[2])
	}
	if rows < 15 {
		t.Errorf("%d threats were found: has the table another form now?", rows)
	}
}

// testsExist looks whether a cell of a table in docs names tests, and whether each of them is where it is said to be.
func testsExist(t *testing.T, line int, of, cell string) {
	t.Helper()
	tests := testLink.FindAllStringSubmatch(cell, -1)
	if len(tests) == 0 {
		t.Errorf("line %d names no test:%s", line, of)
	}
	if rest := strings.Trim(testLink.ReplaceAllString(cell, ""), ", "); rest != "" {
		t.Errorf("line %d: %q among the tests is no link to one", line, rest)
	}
	for _, m := range tests {
		name, file := m[1], filepath.FromSlash(m[2])
		source, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", file))
		if err != nil {
			t.Errorf("line %d: %v", line, err)
			continue
		}
		if !strings.HasSuffix(file, "_test.go") || !regexp.MustCompile(`(?m)^func `+name+`\(\w+ \*testing\.[TF]\) `).Match(source) {
			t.Errorf("line %d: %s is not a test in %s", line, name, file)
		}
	}
}

// What leans on Go's inside has a place and tests, all of which exist; whatever reaches for names of Go's own that the
// linker would not give to others is among it.
func TestWhatLeansOnGo(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	b, err := os.ReadFile(filepath.Join(root, "docs", "go.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(b), "\n|---|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	named := map[string]bool{}
	anyLink := regexp.MustCompile(`\]\(([^)]+)\)`)
	for _, line := range strings.Split(table, "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) != 4 {
			t.Errorf("%d columns, want four: %s", len(cells), line)
			continue
		}
		for _, m := range anyLink.FindAllStringSubmatch(cells[0]+cells[2], -1) {
			file := filepath.Join(root, "docs", filepath.FromSlash(m[1]))
			if _, err := os.Stat(file); err != nil {
				t.Error(err)
			}
			named[file] = true
		}
		number := 1 + strings.Count(string(b)[:strings.Index(string(b), line)], "\n")
		testsExist(t, number, cells[0], cells[3])
	}
	if len(named) < 15 {
		t.Errorf("%d files are named: has the table another form now?", len(named))
	}
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if strings.Contains(string(source), "\n//go:linkname ") && !named[path] {
			t.Errorf("%s uses go:linkname, and docs/go.md doesn't name it", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// The policy and the table lead to each other, also by the headings that they name.
func TestSecurityDocumentsAreLinked(t *testing.T) {
	policy, err := os.ReadFile(filepath.Join("..", "..", "..", "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"](docs/security.md)", "](docs/security.md#other-users-of-the-machine)"} {
		if !strings.Contains(string(policy), want) {
			t.Errorf("SECURITY.md has no link %s", want)
		}
	}
	for _, want := range []string{"](../SECURITY.md)", "\n## Other users of the machine\n"} {
		if !strings.Contains(string(table), want) {
			t.Errorf("docs/security.md has no %q", want)
		}
	}
}

// An attacker who takes over an action can move its tags, but not give another text to a commit.
func TestActionsArePinned(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", ".github", "workflows", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	pinned := regexp.MustCompile(`^\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if _, action, ok := strings.Cut(line, "uses: "); ok && !pinned.MatchString(action) {
				t.Errorf("%s:%d: %s; want owner/name@COMMIT # vVERSION", file, i+1, action)
			}
		}
	}
}
