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
		if stuck, user := inspect(c.stack); stuck != c.stuck || user != c.user {
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
	took           time.Duration // from the beginning of its wait
	saved          bool          // what it had defined before
}

func runWaits(t *testing.T, exe, name string) (o outcome) {
	fail := func(err error) outcome { return outcome{stderr: err.Error(), code: -1} }
	dir := t.TempDir()
	cmd := exec.Command(exe, name)
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
	kill := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer kill.Stop()
	r := bufio.NewReader(out)
	first, _ := r.ReadString('\n')
	begun := time.Now()
	input := time.AfterFunc(1500*time.Millisecond, func() { io.WriteString(in, "a line\n") })
	defer input.Stop()
	rest, _ := io.ReadAll(r)
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fail(err)
	}
	o = outcome{first + string(rest), stderr.String(), cmd.ProcessState.ExitCode(), time.Since(begun), false}
	if m, err := ReadManifest(dir); err == nil {
		_, o.saved = m.Vars["x"]
	}
	return o
}

// busyness is how many times longer a program takes that does nothing but work than its work takes: 1 if the machine
// has a processor for it.
func busyness(t *testing.T, exe string) float64 {
	cmd := exec.Command(exe, "to work")
	begun := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return float64(time.Since(begun)) / float64(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
}

// TestDeadlocks runs programs that wait, as cells: those for which something will come finish, the others are reported
// within two seconds.
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
	const limit = 2 * time.Second
	var slowest time.Duration
	for i, name := range stuck {
		o := outcomes[len(ends)+i]
		for try := 0; o.took > limit && try < 3; try++ { // a busy machine may be late
			o = runWaits(t, exe, name)
		}
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
		if o.took > limit {
			if busy := busyness(t, exe); busy > 1.5 {
				t.Logf("%s is reported after %v, but programs take %.1f times as long as their work on this machine now", name, o.took, busy)
				continue
			}
			t.Errorf("%s is reported after %v", name, o.took)
		}
		slowest = max(slowest, o.took)
	}
	t.Logf("%d programs end, %d deadlocks are reported, the slowest after %.2f s", len(ends), len(stuck), slowest.Seconds())
}

// TestDeadlockCost: the watch costs at most a thousandth of the time of a program that works, on one processor or
// several.
func TestDeadlockCost(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	w := newWatch()
	var times []time.Duration
	for range 200 {
		time.Sleep(time.Millisecond)
		begun := time.Now()
		if _, waiting := w.idle(); waiting {
			continue // the other goroutine has been interrupted
		}
		times = append(times, time.Since(begun))
	}
	if len(times) < 20 {
		t.Fatalf("a program that works seems to wait: %d of 200 looks say that it works", len(times))
	}
	slices.Sort(times)
	median := times[len(times)/2]
	if limit := deadlockCheck / 1000; median > limit {
		t.Errorf("a look takes %v, more than %v", median, limit)
	}
	t.Logf("a look takes %v, %.4f %% of the time between two", median, 100*float64(median)/float64(deadlockCheck))
}
