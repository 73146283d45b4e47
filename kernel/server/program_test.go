//go:build unix

package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLateReader: what a program has printed is shown even if nobody comes to read it before long after its end, as on
// a busy machine. What it has left running can't keep the cell from ending.
func TestLateReader(t *testing.T) {
	t.Parallel()
	for _, after := range []string{"", "yes &"} {
		text, late := strings.Repeat("0123456789abcde\n", 100_000/16), false
		var got strings.Builder
		p, err := start(exec.Command("sh", "-c", "cat "+fileOf(t, text)+"\n"+after), func(s string) {
			if !late {
				time.Sleep(3 * lateOutput) // the rest fits into the pipe, and the program ends meanwhile
			}
			late = true
			got.WriteString(s)
		}, func(s string) { t.Errorf("standard error: %s", s) })
		if err != nil {
			t.Fatal(err)
		}
		<-p.done
		p.signal(syscall.SIGKILL)
		if !strings.HasPrefix(got.String(), text) || after == "" && got.Len() != len(text) {
			t.Errorf("%q: %d bytes came of %d", after, got.Len(), len(text))
		}
	}
}

// fileOf is the name of a file with a text.
func fileOf(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"text": text})
	return dir + "/text"
}
