//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lectern-go/lectern/kernel/jupyter"
)

// TestGoNBIsBuiltOnDemand asks for GoNB before setup has built it. Go's own cells don't wait for that.
func TestGoNBIsBuiltOnDemand(t *testing.T) {
	t.Parallel()
	built, err := tools()
	need(t, err)
	bin := t.TempDir()
	if err := os.Symlink(filepath.Join(built, "lectern-kernel"), filepath.Join(bin, "lectern-kernel")); err != nil {
		t.Fatal(err)
	}
	l := startLabIn(t, bin, t.TempDir(), []string{offlineVar + "=1"})
	if outs, _ := l.run("1 + 1"); flat(outs) != "[result]2" {
		t.Fatalf("a cell of Go shows %s", flat(outs))
	}
	if files, _ := os.ReadDir(bin); len(files) != 1 {
		t.Fatalf("a cell of Go has built %v", files)
	}
	ask := func() string {
		outs, _, err := l.try("%version", jupyter.ExecuteOptions{Timeout: 3 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		return flat(outs) + fmt.Sprint(outs[len(outs)-1].data)
	}
	if first := ask(); !strings.Contains(first, "needs GoNB, which is built now") || !strings.Contains(first, "GoNB") {
		t.Errorf("%%version shows %s", first)
	}
	if second := ask(); strings.Contains(second, "built first") || !strings.Contains(second, "GoNB") {
		t.Errorf("%%version shows %s", second)
	}
}
