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
		tests := testLink.FindAllStringSubmatch(cells[2], -1)
		if len(tests) == 0 {
			t.Errorf("line %d names no test:%s", i+1, cells[0])
		}
		if rest := strings.Trim(testLink.ReplaceAllString(cells[2], ""), ", "); rest != "" {
			t.Errorf("line %d: %q among the tests is no link to one", i+1, rest)
		}
		for _, m := range tests {
			name, file := m[1], filepath.FromSlash(m[2])
			source, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", file))
			if err != nil {
				t.Errorf("line %d: %v", i+1, err)
				continue
			}
			if !strings.HasSuffix(file, "_test.go") || !regexp.MustCompile(`(?m)^func `+name+`\(\w+ \*testing\.[TF]\) `).Match(source) {
				t.Errorf("line %d: %s is not a test in %s", i+1, name, file)
			}
		}
	}
	if rows < 15 {
		t.Errorf("%d threats were found: has the table another form now?", rows)
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

// Whoever takes over an action can move its tags, but not give another text to a commit.
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
