//go:build unix

package packages

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Once the context has ended, Ended returns when the go command has, and no other one begins.
func TestEnded(t *testing.T) {
	defer func(d time.Duration) { grace = d }(grace)
	grace = time.Hour
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt) // or a command would ignore it if we were told to, as jobs in the background are
	defer signal.Stop(signals)
	dir := write(t, map[string]string{
		"go.mod": "module example.org/m\n\ngo 1.26.0\n",
		"bin/go": "#!/bin/sh\ntrap 'echo stops >> \"$NOTES\"; until [ -e \"$NOTES.end\" ]; do sleep 0.05; done; echo ended >> \"$NOTES\"; exit 1' INT\necho $$ >> \"$NOTES\"\nwhile :; do sleep 0.05; done\n",
	})
	if err := os.Chmod(filepath.Join(dir, "bin", "go"), 0o755); err != nil {
		t.Fatal(err)
	}
	notes := filepath.Join(dir, "notes")
	ctx, end := context.WithCancel(t.Context())
	env := append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"), "NOTES="+notes)
	p := New(Config{Dir: dir, Context: ctx, Env: env, Warm: []string{"fmt"}})
	defer p.Wait()
	said := func() []string {
		b, _ := os.ReadFile(notes)
		return strings.Fields(string(b))
	}
	for len(said()) == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	end()
	go func() {
		for len(said()) < 2 {
			time.Sleep(10 * time.Millisecond)
		}
		os.WriteFile(notes+".end", nil, 0o600)
	}()
	p.Ended()
	lines := said()
	if len(lines) != 3 || lines[2] != "ended" {
		t.Fatalf("it didn't wait for the command: %q", lines)
	}
	if pid, err := strconv.Atoi(lines[0]); err != nil || syscall.Kill(pid, 0) == nil {
		t.Errorf("process %s lives", lines[0])
	}
	if _, err := p.Import("fmt"); err == nil {
		t.Error("a package was compiled after the end")
	}
	if again := said(); len(again) != 3 {
		t.Errorf("another command was started: %q", again)
	}
}
