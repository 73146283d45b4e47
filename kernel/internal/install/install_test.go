package install

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "copy the files of tools")

// TestModulesAreThoseOfTools keeps the copies equal to what the repository itself builds with.
func TestModulesAreThoseOfTools(t *testing.T) {
	files := Modules()
	if len(files) != 5 {
		t.Errorf("%d files, want 5", len(files))
	}
	for name, have := range files {
		want, err := os.ReadFile(filepath.Join("..", "..", "..", "tools", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(have, want) {
			continue
		}
		if !*update {
			t.Errorf("modules/%s.txt is not tools/%s: go test ./kernel/internal/install -update", name, name)
			continue
		}
		if err := os.WriteFile(filepath.Join("modules", filepath.FromSlash(name)+".txt"), want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
