package jupyter_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lectern-go/lectern/internal/testenv"
	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/jupyter/fakekernel"
)

func TestMain(m *testing.M) {
	fakekernel.Hook()
	os.Exit(m.Run())
}

// patience ends a test that would never end; none needs it to be short.
const patience = 5 * time.Minute

func start(t *testing.T, interruptMode string) *jupyter.Kernel {
	t.Helper()
	spec, err := fakekernel.Spec(interruptMode)
	if err != nil {
		t.Fatal(err)
	}
	k, err := jupyter.Start(t.Context(), spec, jupyter.StartOptions{RuntimeDir: t.TempDir(), Ready: patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Kill)
	return k
}

// text runs code and returns everything it wrote to its streams.
func text(t *testing.T, k *jupyter.Kernel, code string, o jupyter.ExecuteOptions) (string, jupyter.Result, error) {
	t.Helper()
	var b strings.Builder
	o.Output = func(m *jupyter.Message) {
		var c struct{ Text string }
		if m.Header.Type == "stream" {
			if err := m.DecodeContent(&c); err != nil {
				t.Error(err)
			}
			b.WriteString(c.Text)
		}
	}
	r, err := k.Execute(t.Context(), code, o)
	return b.String(), r, err
}

func TestExecuteGetsEveryOutputInOrder(t *testing.T) {
	k := start(t, "message")
	var want strings.Builder
	for i := range 2000 {
		fmt.Fprintln(&want, i)
	}
	for n := 1; n <= 3; n++ {
		got, r, err := text(t, k, "many 2000\nprint end", jupyter.ExecuteOptions{})
		if err != nil || r.Status != "ok" || r.Count != n {
			t.Fatalf("run %d: %+v, %v", n, r, err)
		}
		if got != want.String()+"end\n" {
			t.Fatalf("run %d: %d bytes came, want %d, in order", n, len(got), want.Len()+4)
		}
	}
}

// TestPage: what a reply wants to be seen is the last of the outputs, unless the cell has failed.
func TestPage(t *testing.T) {
	k := start(t, "message")
	for _, c := range []struct{ code, want string }{
		{"page about it\nprint a", "stream: a\n; display_data: about it"},
		{"print b", "stream: b\n"},
		{"page lost\nfail so", "error: "},
	} {
		var got []string
		_, err := k.Execute(t.Context(), c.code, jupyter.ExecuteOptions{Output: func(m *jupyter.Message) {
			var o struct {
				Text string
				Data map[string]string
			}
			if err := m.DecodeContent(&o); err != nil {
				t.Error(err)
			}
			if typ := m.Header.Type; typ != "status" && typ != "execute_input" {
				got = append(got, typ+": "+o.Text+o.Data["text/plain"])
			}
		}})
		if all := strings.Join(got, "; "); err != nil || all != c.want {
			t.Errorf("%q shows %q, %v; want %q", c.code, all, err, c.want)
		}
	}
}

func TestExecuteReportsTheCodesError(t *testing.T) {
	k := start(t, "message")
	_, r, err := text(t, k, "print a\nfail no such thing", jupyter.ExecuteOptions{})
	if err != nil || r.Status != "error" || r.EValue != "no such thing" || len(r.Traceback) != 1 {
		t.Errorf("got %+v, %v", r, err)
	}
	if got, r, err := text(t, k, "print b", jupyter.ExecuteOptions{}); got != "b\n" || r.Status != "ok" || err != nil {
		t.Errorf("after an error: got %q, %+v, %v; want the kernel to go on", got, r, err)
	}
}

func TestTimeLimit(t *testing.T) {
	modes := []string{"message", "signal"}
	if runtime.GOOS == "windows" {
		modes = modes[:1]
	}
	for _, mode := range modes {
		k := start(t, mode)
		// A cell that is deaf, or an interrupt that is lost, ends in the kernel's death after the grace.
		_, _, err := text(t, k, "print a\nwait", jupyter.ExecuteOptions{Timeout: 200 * time.Millisecond, Grace: patience})
		var limit *jupyter.TimeoutError
		if !errors.As(err, &limit) || !limit.Alive {
			t.Fatalf("%s: got %v, want a TimeoutError of a kernel that lives", mode, err)
		}
		if got, _, err := text(t, k, "print b", jupyter.ExecuteOptions{}); got != "b\n" || err != nil {
			t.Errorf("%s: after the limit: got %q, %v; want the kernel to go on", mode, got, err)
		}
	}
}

func TestDeafKernelIsKilledAtTheLimit(t *testing.T) {
	k := start(t, "message")
	_, _, err := text(t, k, "hang", jupyter.ExecuteOptions{Timeout: 100 * time.Millisecond, Grace: 300 * time.Millisecond})
	var limit *jupyter.TimeoutError
	if !errors.As(err, &limit) || limit.Alive {
		t.Fatalf("got %v, want a TimeoutError of a kernel that was killed", err)
	}
	if _, _, err := text(t, k, "print b", jupyter.ExecuteOptions{}); !errors.As(err, new(*jupyter.DeadError)) {
		t.Errorf("after the kill: got %v, want a DeadError", err)
	}
}

func TestDeathIsNoticed(t *testing.T) {
	k := start(t, "message")
	got, _, err := text(t, k, "print last words\ndie 3", jupyter.ExecuteOptions{})
	var dead *jupyter.DeadError
	if !errors.As(err, &dead) || dead.State != "exit status 3" || !strings.Contains(err.Error(), "told to die") {
		t.Fatalf("got %v, want a DeadError with exit status 3 and what the kernel wrote", err)
	}
	_ = got // the process may end before the text is on the wire
	if err := k.Shutdown(time.Second); err != nil {
		t.Errorf("shutdown of a dead kernel: %v", err)
	}
}

// A kernel that closes one of its connections and lives on would never answer: it is killed, and the error says why.
func TestClosedConnection(t *testing.T) {
	spec, err := fakekernel.Spec("message")
	if err != nil {
		t.Fatal(err)
	}
	o := jupyter.StartOptions{RuntimeDir: t.TempDir(), Ready: patience}
	o.SetEndGrace(10 * time.Millisecond)
	for _, name := range []string{"shell", "iopub"} {
		k, err := jupyter.Start(t.Context(), spec, o)
		if err != nil {
			t.Fatal(err)
		}
		defer k.Kill()
		_, _, err = text(t, k, "close "+name, jupyter.ExecuteOptions{})
		var dead *jupyter.DeadError
		if !errors.As(err, &dead) || !strings.Contains(err.Error(), "it closed its "+name+" connection") {
			t.Errorf("%s: got %v, want a DeadError that names the connection", name, err)
		}
	}
}

func TestInput(t *testing.T) {
	k := start(t, "message")
	_, _, err := text(t, k, "ask name?", jupyter.ExecuteOptions{})
	var in *jupyter.InputError
	if !errors.As(err, &in) || in.Prompt != "name?" {
		t.Fatalf("got %v, want an InputError with the prompt", err)
	}
	got, r, err := text(t, k, "ask name?", jupyter.ExecuteOptions{Input: func(prompt string, password bool) (string, error) {
		return prompt + " Ada", nil
	}})
	if got != "name? Ada\n" || r.Status != "ok" || err != nil {
		t.Errorf("answered: got %q, %+v, %v", got, r, err)
	}
}

func TestEndOfContext(t *testing.T) {
	k := start(t, "message")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	_, err := k.Execute(ctx, "sleep 1h", jupyter.ExecuteOptions{})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context.Canceled", err)
	}
	if err := k.Shutdown(patience); err != nil {
		t.Error(err)
	}
	select {
	case <-k.Exited():
	default:
		t.Error("the kernel still runs after Shutdown")
	}
}

func TestNoProcessIsLeft(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux can tell whose a process of another group is")
	}
	runtimeDir := t.TempDir()
	spec, err := fakekernel.Spec("message")
	if err != nil {
		t.Fatal(err)
	}
	k, err := jupyter.Start(t.Context(), spec, jupyter.StartOptions{RuntimeDir: runtimeDir, Ready: patience})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pid")
	if _, r, err := text(t, k, "child "+file, jupyter.ExecuteOptions{}); err != nil || r.Status != "ok" {
		t.Fatalf("%+v, %v", r, err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(string(b))
	if err != nil {
		t.Fatal(err)
	}
	if !alive(child) {
		t.Fatal("the child does not run: the test would prove nothing")
	}
	if err := k.Shutdown(patience); err != nil {
		t.Error(err)
	}
	for deadline := time.Now().Add(patience); alive(child); {
		if time.Now().After(deadline) {
			if p, err := os.FindProcess(child); err == nil {
				p.Kill()
			}
			t.Fatalf("process %d, which the kernel started in a group of its own, still runs", child)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if left, _ := os.ReadDir(runtimeDir); len(left) > 0 {
		t.Errorf("left in the runtime folder: %v", left)
	}
}

// alive reports whether pid is a process that runs; a zombie does not.
func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, ok := strings.Cut(string(b), ") ")
	return ok && !strings.HasPrefix(after, "Z")
}

func TestStartFails(t *testing.T) {
	for _, c := range []struct {
		name string
		spec *jupyter.Spec
		want string
	}{
		{"no such program", &jupyter.Spec{Argv: []string{"/no/such/kernel"}}, "kernel setup"},
		{"ends at once", &jupyter.Spec{Argv: testenv.Argv(os.Args[0], "-test.run=NoSuchTest")}, "died (exit status 0)"},
	} {
		_, err := jupyter.Start(t.Context(), c.spec, jupyter.StartOptions{RuntimeDir: t.TempDir(), Ready: patience})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
	spec, err := fakekernel.Spec("message")
	if err != nil {
		t.Fatal(err)
	}
	spec.Env[fakekernel.Variable] = "child" // a process that runs but never answers
	_, err = jupyter.Start(t.Context(), spec, jupyter.StartOptions{RuntimeDir: t.TempDir(), Ready: 200 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("a silent kernel: got %v", err)
	}
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "../..") }
