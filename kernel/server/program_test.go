//go:build unix

package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLateReader: the output is complete even if it is read long after the program has exited, as on a busy machine. A
// process that the program leaves running doesn't keep the cell from ending.
func TestLateReader(t *testing.T) {
	t.Parallel()
	for _, after := range []string{"", "yes &"} {
		text, late := strings.Repeat("\x00", 100_000), false
		var got strings.Builder
		p, err := start(exec.Command("sh", "-c", "head -c 100000 /dev/zero\n"+after), func(s string) {
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
