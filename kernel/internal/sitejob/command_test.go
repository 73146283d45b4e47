//go:build unix

package sitejob

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"testing"
)

// A shell tells how it was ended: the site program must be able to stop its children.
func TestCommandIsInterrupted(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell to interrupt")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd, err := new(Job).Command(ctx, sh)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = nil
	cmd.Args = append(cmd.Args, "-c", "trap 'echo interrupted; exit 0' INT; echo ready; while :; do sleep 0.01; done")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	lines := bufio.NewScanner(r)
	lines.Scan()
	cancel()
	if lines.Scan(); lines.Text() != "interrupted" {
		t.Errorf("when the context ends, the program says %q, want that it was interrupted", lines.Text())
	}
	cmd.Wait()
}
