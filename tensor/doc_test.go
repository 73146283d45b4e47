package tensor_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocNamesFiles: the package comment leads to files that are there, to all of them, and its reading order stays
// short.
func TestDocNamesFiles(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{"doc.go": true}
	for _, name := range regexp.MustCompile(`[a-z_/0-9]+\.go\b`).FindAllString(string(doc), -1) {
		named[name] = true
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	all, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if !named[name] && !strings.HasSuffix(name, "_test.go") {
			t.Errorf("doc.go does not say what %s is for", name)
		}
	}
	order := regexp.MustCompile(`(?m)^//\t(\S+\.go) `).FindAllSubmatch(doc, -1)
	lines := 0
	for _, m := range order {
		text, err := os.ReadFile(string(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		lines += bytes.Count(text, []byte{'\n'})
	}
	if len(order) == 0 || len(order) > 14 || lines >= 4000 {
		t.Errorf("the reading order has %d files of %d lines, want at most 14 of fewer than 4000", len(order), lines)
	}
	t.Logf("%d files of %d lines", len(order), lines)
}
