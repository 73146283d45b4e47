package grading

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lectern-go/lectern/internal/glob"
	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/internal/cellenv"
	"github.com/lectern-go/lectern/kernel/internal/names"
	"github.com/lectern-go/lectern/kernel/internal/sandbox"
	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/notebooks/lesson"
)

// Options say how submissions run.
type Options struct {
	Root   string   // the checkout of Lectern
	Kernel []string // the kernel's program and its arguments, with {connection_file}
	Env    map[string]string
	Trust  bool          // run them as the user who grades, without isolation
	Cell   time.Duration // how long a cell may run; 0 is [CellLimit]
	Total  time.Duration // how long all of a submission may; 0 is [TotalLimit]
	// Programs is a folder in which [Source.Prepare] has put the programs of cells that all submissions have in common.
	Programs string
	Memory   int64 // bytes that a submission may use; 0 is [MemoryLimit]
}

// What submissions may use unless something else is said.
const (
	CellLimit   = 30 * time.Second
	TotalLimit  = 10 * time.Minute
	MemoryLimit = 2 << 30
)

// outputLimit is how many bytes a cell may print and show; outputTotal is how many bytes of all cells the grader keeps
// until it writes the page.
const (
	outputLimit = 1 << 20
	outputTotal = 16 << 20
)

// library are the folders and files of the checkout that cells are built from. Submissions don't see what else is in a
// checkout, such as a teacher's assignments.
var library = append(slices.DeleteFunc(slices.Clone(names.Library), func(folder string) bool { return strings.Contains(folder, "/") }), // in one of the others
	"go.mod", "go.sum", "gpu", "internal", "kernel", "notebooks/lesson", "tools", ".lectern/bin", ".lectern/share", ".lectern/get")

// goPlaces are the folders of Go and of what it has built, found once.
var goPlaces = sync.OnceValues(func() (map[string]string, error) {
	cmd := exec.Command("go", "env", "-json", "GOROOT", "GOCACHE", "GOMODCACHE")
	cmd.Env = cellenv.Offline(os.Environ())
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	places := map[string]string{}
	if err := json.Unmarshal(text, &places); err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	if path, err := exec.LookPath("go"); err == nil {
		places["go"] = filepath.Dir(path)
	}
	return places, nil
})

// A Runner is a kernel for one submission. Its methods are for one goroutine.
type Runner struct {
	o      Options
	kernel *jupyter.Kernel
	base   string // of its folders
	log    tail
	until  time.Time // when the submission's time is over
}

// Start starts the kernel of a submission whose files, except notebooks, are in work; "" means that there are none.
func Start(ctx context.Context, o Options, work string) (*Runner, error) {
	if o.Cell == 0 {
		o.Cell = CellLimit
	}
	if o.Memory == 0 {
		o.Memory = MemoryLimit
	}
	if o.Total == 0 {
		o.Total = TotalLimit
	}
	r := &Runner{o: o, until: time.Now().Add(o.Total)}
	var err error
	if r.base, err = os.MkdirTemp("", "lg-"); err != nil { // sockets have no room for long paths
		return nil, err
	}
	spec := &jupyter.Spec{Argv: o.Kernel, DisplayName: "grading", Language: "go", InterruptMode: "message", Env: o.Env}
	if work, err = r.files(work); err != nil {
		r.Close()
		return nil, err
	}
	start := jupyter.StartOptions{Dir: work, RuntimeDir: filepath.Join(r.base, "r"), Log: &r.log}
	if o.Trust {
		start.Env = append(os.Environ(), "NBGRADER_EXECUTION=", programsVar+"="+o.Programs)
	} else if spec, start.Env, err = r.isolated(spec, work); err != nil {
		r.Close()
		return nil, err
	} else {
		start.Dir, start.GiveFiles = "/", true
	}
	if r.kernel, err = jupyter.Start(ctx, spec, start); err != nil {
		r.Close()
		return nil, fmt.Errorf("%w%s", err, r.log.said())
	}
	return r, nil
}

// files copies what lies beside the notebook, and returns the folder of the copy: a student's files may be readable for
// the user who grades, but not for the user that the kernel runs as; and what can't be read is known before anything
// runs.
func (r *Runner) files(work string) (string, error) {
	dir := filepath.Join(r.base, "w")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	if work == "" {
		return dir, nil
	}
	return dir, sandbox.CopyFiles(work, dir, r.o.Memory/8)
}

// isolated wraps the kernel's program.
func (r *Runner) isolated(spec *jupyter.Spec, work string) (*jupyter.Spec, []string, error) {
	places, err := goPlaces()
	if err != nil {
		return nil, nil, err
	}
	c := sandbox.Config{Mount: filepath.Join(r.base, "m"), Given: filepath.Join(r.base, "r"), Files: 5, Work: work,
		Memory: r.o.Memory, Disk: r.o.Memory / 4, Processes: 500, CPU: int(4*r.o.Cell/time.Second) + 60}
	for _, dir := range []string{c.Mount, c.Given} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, nil, err
		}
	}
	for _, name := range library {
		c.Read = append(c.Read, filepath.Join(r.o.Root, filepath.FromSlash(name)))
	}
	index, _ := glob.In(filepath.Join(r.o.Root, ".lectern"), "packages-*.json")
	c.Read = append(c.Read, index...)
	if r.o.Programs != "" {
		c.Read = append(c.Read, r.o.Programs)
	}
	for _, dir := range places {
		c.Read = append(c.Read, dir)
	}
	argv, variable, value, err := c.Command(spec.Argv...)
	if err != nil {
		return nil, nil, err
	}
	isolated := *spec
	isolated.Argv = argv
	env := []string{variable + "=" + value, "HOME=" + sandbox.Home, "TMPDIR=/tmp", "GOCACHE=" + places["GOCACHE"], "GOMODCACHE=" + places["GOMODCACHE"], "LECTERN_OFFLINE=1", programsVar + "=" + r.o.Programs,
		"GOTELEMETRY=off", "PATH=" + strings.Join([]string{places["go"], "/usr/local/bin", "/usr/bin", "/bin"}, ":")}
	for _, name := range []string{"LANG", "LC_ALL", "TZ"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return &isolated, env, nil
}

// programsVar tells a kernel the folder of programs that are built already.
const programsVar = "LECTERN_PROGRAMS"

// Prepare runs what students get, and puts the programs of its cells into the folder o.Programs: most cells of a
// submission are as they were handed out, and need not be built again. The teacher's own code is trusted.
func (s *Source) Prepare(ctx context.Context, o Options) error {
	o.Trust = true
	r, err := Start(ctx, o, "")
	if err != nil {
		return err
	}
	defer r.Close()
	for _, c := range s.Release().Cells {
		if m, _ := marksOf(c); c.Type != "code" || m.Grade {
			continue
		}
		var limit *LimitError
		if _, err := r.Cell(ctx, c.Source, func(*jupyter.Message) {}); err != nil && !errors.As(err, &limit) {
			return err
		}
	}
	return nil
}

// Close ends the kernel and all that it has started.
func (r *Runner) Close() {
	if r.kernel != nil {
		r.kernel.Kill()
	}
	os.RemoveAll(r.base)
}

// Interrupt stops the cell that runs.
func (r *Runner) Interrupt() { r.kernel.Interrupt() }

// A LimitError says which limit ended a cell.
type LimitError struct{ Reason string }

func (e *LimitError) Error() string { return e.Reason }

// Cell runs a cell of the submission and passes on what it shows. The error is a [LimitError] if a limit ended it.
func (r *Runner) Cell(ctx context.Context, code string, output func(*jupyter.Message)) (jupyter.Result, error) {
	allowed, over := r.o.Cell, fmt.Sprintf("it ran for more than %v", r.o.Cell)
	if left := time.Until(r.until); left < allowed {
		allowed, over = max(left, 0), r.late()
	}
	if allowed == 0 {
		return jupyter.Result{}, &LimitError{over}
	}
	ctx, cancel := context.WithTimeout(ctx, allowed+15*time.Second)
	defer cancel()
	var reason atomic.Pointer[LimitError]
	var stops sync.WaitGroup // an interrupt that is late would hit the next cell
	done := make(chan struct{})
	stop := func(text string) {
		if !reason.CompareAndSwap(nil, &LimitError{text}) {
			return
		}
		for range 2 { // it may not obey at once
			answer, cancel := context.WithTimeout(ctx, 2*time.Second)
			defer cancel()
			r.kernel.Control(answer, "interrupt_request", nil)
			select {
			case <-answer.Done():
			case <-done:
				return
			}
		}
	}
	stops.Add(1)
	late := time.AfterFunc(allowed, func() {
		defer stops.Done()
		stop(over)
	})
	size := 0
	result, err := r.kernel.Execute(ctx, code, jupyter.ExecuteOptions{Output: func(m *jupyter.Message) {
		if m.Header.Type == "status" || m.Header.Type == "execute_input" {
			return
		}
		if size += m.Size(); size > outputLimit {
			stops.Go(func() { stop(fmt.Sprintf("it printed more than %s", humanize.Bytes(outputLimit))) })
			return
		}
		output(m)
	}})
	close(done)
	if late.Stop() {
		stops.Done()
	}
	stops.Wait()
	if limit := reason.Load(); limit != nil {
		if err != nil {
			r.kernel.Kill() // it obeys nothing
		}
		return result, limit
	}
	var asked *jupyter.InputError
	if errors.As(err, &asked) {
		return result, &LimitError{asked.Error()}
	}
	var dead *jupyter.DeadError
	if errors.As(err, &dead) {
		text := "its kernel has ended"
		if said := r.log.said(); strings.Contains(said, "sandbox: ") {
			_, said, _ = strings.Cut(said, "sandbox: ")
			text += ": " + strings.TrimSpace(said)
		} else if strings.Contains(dead.State, "protocol") {
			text += ": it was " + dead.State
		}
		return result, &LimitError{text}
	}
	return result, err
}

// late says that the submission's time is over.
func (r *Runner) late() string { return fmt.Sprintf("the submission ran for more than %v", r.o.Total) }

// isOver says why nothing of the submission can run any more; "" if it still can.
func (r *Runner) isOver(last string) string {
	select {
	case <-r.kernel.Exited():
		return "nothing could run after a cell of yours: " + last
	default:
	}
	if time.Now().After(r.until) {
		return "nothing more ran: " + r.late()
	}
	return ""
}

// Test has the student's functions answer, and compares.
func (r *Runner) Test(ctx context.Context, calls []Call) (Verdict, error) {
	var v Verdict
	for i := range calls {
		answers, problem, err := r.answers(ctx, &calls[i])
		if err != nil {
			return v, err
		}
		p := calls[i].compare(answers, problem)
		v.Parts = append(v.Parts, p)
		v.Points, v.Of = v.Points+p.Points, v.Of+p.Of
	}
	return v, nil
}

// answers has the student's function answer the cases of a call, and says why there are no more answers.
func (r *Runner) answers(ctx context.Context, c *Call) (answers map[int]lesson.Answer, problem string, err error) {
	answers = map[int]lesson.Answer{}
	result, err := r.Cell(ctx, c.code(), func(m *jupyter.Message) {
		var shown struct{ Data map[string]any }
		if m.Header.Type != "display_data" || m.DecodeContent(&shown) != nil {
			return
		}
		text, _ := shown.Data[lesson.AnswerType].(string)
		var a lesson.Answer
		if json.Unmarshal([]byte(text), &a) == nil {
			answers[a.Case] = a
		}
	})
	var limit *LimitError
	switch {
	case errors.As(err, &limit):
		return answers, limit.Reason, nil
	case err == nil && result.Status != "ok":
		problem = result.EValue
	}
	return answers, problem, err
}

// tail keeps the end of what a kernel writes to its log.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if n := len(t.text) - 2000; n > 0 {
		t.text = t.text[n:]
	}
	return len(b), nil
}

func (t *tail) said() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.text) == 0 {
		return ""
	}
	return "\n" + strings.TrimSpace(string(t.text))
}
