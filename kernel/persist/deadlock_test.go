package persist

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lectern-go/lectern/kernel/internal/cellenv"
)

func TestInspect(t *testing.T) {
	const ours = "goroutine 7 [sleep]:\nx()\ncreated by github.com/lectern-go/lectern/kernel/persist.watchInterrupt in goroutine 1\n\t/x.go:3\n\n" +
		"goroutine 8 [syscall]:\nos/signal.signal_recv()\n\t/x.go:3\nos/signal.loop()\n\n"
	for _, c := range []struct {
		name, stack string
		stuck       bool
		user        string
	}{
		{"lock", ours + "goroutine 1 [sync.Mutex.Lock]:\nmain.main()\n", true, "goroutine 1 [sync.Mutex.Lock]:\nmain.main()"},
		{"channel", ours + "goroutine 1 [chan receive, 2 minutes, locked to thread]:\nmain.main()\n", true, "goroutine 1 [chan receive]:\nmain.main()"},
		{"works", ours + "goroutine 1 [chan receive]:\nmain.main()\n\ngoroutine 9 [running]:\nmain.f()\n", false, ""},
		{"sleeps", ours + "goroutine 1 [sleep]:\nmain.main()\n", false, ""},
		{"network", ours + "goroutine 1 [IO wait]:\nmain.main()\n", false, ""},
		{"both", "goroutine 1 [sync.WaitGroup.Wait]:\nmain.main()\n\n" + ours + "goroutine 9 [chan send (scan)]:\nmain.f()\n", true,
			"goroutine 1 [sync.WaitGroup.Wait]:\nmain.main()\n\ngoroutine 9 [chan send]:\nmain.f()"},
		{"a user's signal_recv", ours + "goroutine 1 [syscall]:\nmain.signal_recv()\n", false, ""},
		{"nobody", ours, true, ""},
		{"cut off", ours + "goroutine 1 [chan rec", false, ""},
	} {
		if stuck, user := inspect([]byte(c.stack), []byte("x")); stuck != c.stuck || string(user) != c.user {
			t.Errorf("%s: stuck %v, %q; want %v, %q", c.name, stuck, user, c.stuck, c.user)
		}
	}
}

// buildWaits builds testdata/waits as cells are built, and returns its path and its programs.
func buildWaits(t *testing.T) (exe string, ends, stuck []string) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the programs are built with the go command, which is not in PATH")
	}
	exe = filepath.Join(t.TempDir(), "waits.exe")
	cmd := exec.Command("go", "build", "-o", exe, "./testdata/waits")
	cmd.Env = append(os.Environ(), "GOFLAGS="+cellenv.Flags())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(exe, "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	a, b, _ := strings.Cut(strings.TrimSpace(string(out)), "\n\n")
	return exe, strings.Split(a, "\n"), strings.Split(b, "\n")
}

// outcome is how one of the programs ended.
type outcome struct {
	stdout, stderr string
	code           int
	looks          []string // what was found at each look at it, if it ended in a deadlock
	saved          bool     // what it had defined before
}

func runWaits(t *testing.T, exe, name string) (o outcome) {
	fail := func(err error) outcome { return outcome{stderr: err.Error(), code: -1} }
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), exe, name)
	cmd.Env = append(os.Environ(), DirVar+"="+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return fail(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fail(err)
	}
	if err := cmd.Start(); err != nil {
		return fail(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch found, ended := strings.CutPrefix(lines.Text(), "looks: "); {
		case ended:
			o.looks = strings.Split(found, "; ")
		case lines.Text() == "wants a line":
			io.WriteString(in, "a line\n")
		default:
			o.stdout += lines.Text() + "\n"
		}
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fail(err)
	}
	o.stderr, o.code = stderr.String(), cmd.ProcessState.ExitCode()
	if m, err := ReadManifest(dir); err == nil {
		_, o.saved = m.Vars["x"]
	}
	return o
}

// TestDeadlocks runs programs that wait, as cells: those for which something will come finish, the others are reported
// after a few looks.
func TestDeadlocks(t *testing.T) {
	exe, ends, stuck := buildWaits(t)
	if len(ends) < 15 || len(stuck) < 8 {
		t.Fatalf("%d programs that end, %d that don't", len(ends), len(stuck))
	}
	var all sync.WaitGroup // they do nothing but wait, so all at once
	outcomes := make([]outcome, len(ends)+len(stuck))
	for i, name := range slices.Concat(ends, stuck) {
		all.Go(func() { outcomes[i] = runWaits(t, exe, name) })
	}
	all.Wait()
	for i, name := range ends {
		if o := outcomes[i]; o.code != 0 || o.stdout != "waits\nends\n" || o.stderr != "" || !o.saved {
			t.Errorf("%s: %+v", name, o)
		}
	}
	most, slowest := 0, ""
	for i, name := range stuck {
		o := outcomes[len(ends)+i]
		want := "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 ["
		if name == "Goexit" {
			want = "fatal error: no goroutines (main called runtime.Goexit) - deadlock!\n"
		}
		if o.code != 2 || o.stdout != "waits\n" || !strings.HasPrefix(o.stderr, want) || o.saved == strings.Contains(name, "saving") {
			t.Errorf("%s: %+v", name, o)
		}
		if strings.Contains(o.stderr, "persist.") || strings.Contains(o.stderr, "signal") {
			t.Errorf("%s: the report names goroutines of ours:\n%s", name, o.stderr)
		}
		// Three looks at a program in which nothing happens are enough, but the garbage collector may be at work in between.
		n := 0
		for _, found := range o.looks {
			if found != works {
				n++
			}
		}
		if n > 20 {
			t.Errorf("%s is reported after %d looks that find it waiting: %q", name, n, o.looks)
		}
		if n > most {
			most, slowest = n, name
		}
	}
	t.Logf("%d programs end, %d deadlocks are reported, after %d looks at most (%s)", len(ends), len(stuck), most, slowest)
}

// TestGoroutinesLeft: goroutines that a cell leaves behind end with it, and it says how many.
func TestGoroutinesLeft(t *testing.T) {
	exe, _, _ := buildWaits(t)
	o := runWaits(t, exe, "two that go on")
	if o.code != 0 || !o.saved || o.stdout != "waits\nends\n" || !strings.Contains(o.stderr, "2 goroutines were still running when the cell ended") {
		t.Errorf("%+v", o)
	}
}

// atWork runs a goroutine that does nothing but work.
func atWork(t testing.TB) {
	var stop atomic.Bool
	t.Cleanup(func() { stop.Store(true) })
	go func() {
		for !stop.Load() {
		}
	}()
}

// A program that works is seen at work, and a look at it takes no memory.
func TestLookAtWork(t *testing.T) {
	atWork(t)
	w := newWatch()
	for w.look() != works { // the other goroutine may just have been interrupted
		time.Sleep(time.Millisecond)
	}
	if n := testing.AllocsPerRun(100, func() { w.idle() }); n > 0 {
		t.Errorf("a look allocates %v times", n)
	}
}

// BenchmarkLook is what the watch costs a program that works: one of these every 250 milliseconds.
func BenchmarkLook(b *testing.B) {
	atWork(b)
	w := newWatch()
	for b.Loop() {
		w.idle()
	}
}
