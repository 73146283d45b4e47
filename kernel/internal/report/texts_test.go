package report

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRecordedTexts: what the stepper takes for a record's own words is what some recorder writes.
func TestRecordedTexts(t *testing.T) {
	var sources strings.Builder
	for _, pattern := range []string{"*.go", "../../show/*.go", "../../../tensor/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			sources.Write(text)
		}
	}
	list := regexp.MustCompile(`sayLater\("(.*?)"\)`).FindAllStringSubmatch(stepsScript, -1)
	if len(list) == 0 {
		t.Error("the stepper knows none")
	}
	for _, m := range list {
		if text := strings.ReplaceAll(m[1], "{n}", "%d"); !strings.Contains(sources.String(), `"`+text+`"`) {
			t.Errorf("no recorder writes %q", text)
		}
	}
}
