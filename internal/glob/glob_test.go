package glob

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestIn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "CS336 [2026", "a*b]")
	var want []string
	for _, name := range []string{"b.go", "a.go", "c.txt", filepath.Join("zh", "site.po")} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Skip("the system has no such names: ", err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		want = append(want, path)
	}
	for pattern, want := range map[string][]string{"*.go": {want[1], want[0]}, "*/site.po": {want[3]}, "*.po": nil} {
		if got, err := In(dir, pattern); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", pattern, got, err, want)
		}
	}
	if got, err := In(filepath.Join(dir, "gone"), "*"); err != nil || len(got) > 0 {
		t.Errorf("in no folder: %q, %v", got, err)
	}
	if _, err := In(dir, "[a"); err == nil {
		t.Error("a malformed pattern is taken")
	}
	t.Chdir(dir)
	if got, err := In("", "*.go"); err != nil || !slices.Equal(got, []string{"a.go", "b.go"}) {
		t.Errorf("here: %q, %v", got, err)
	}
}
