package jupyter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lectern-go/lectern/kernel/internal/child"
	"github.com/lectern-go/lectern/kernel/internal/private"
	"github.com/lectern-go/lectern/kernel/internal/zmtp"
)

// StartOptions say how [Start] runs a kernel. The zero value is usable.
type StartOptions struct {
	Dir        string         // the kernel's working directory; "" is ours
	Env        []string       // the environment below the spec's; nil is ours
	RuntimeDir string         // where the connection file and the sockets are; "" is the system's temporary folder
	Log        io.Writer      // receives what the kernel writes to its own stdout and stderr; nil discards it
	Published  func(*Message) // receives all that the kernel publishes, for all clients; it must not block
	GiveFiles  bool           // the kernel gets its sockets already open, and needs no permission to make any
	Ready      time.Duration  // how long the kernel may take to answer first; 0 is a minute

	endGrace time.Duration // how long a kernel that has closed a connection may take to end; 0 is 10 seconds
}

// A Kernel is a running kernel process and the connection to it. Execute runs one piece of code at a time;
// Interrupt, Shutdown and Kill may be called from other goroutines meanwhile.
type Kernel struct {
	Info *Message // the kernel_info_reply

	spec     *Spec
	proc     *child.Process
	sockets  *Sockets
	session  string
	folders  []string // of the connection file and the sockets, removed at the end
	stderr   *tail
	endGrace time.Duration

	executing sync.Mutex
	mu        sync.Mutex
	waiting   map[string]chan *Message // by the ID of the request that they answer
	closeOnce sync.Once
	broke     atomic.Pointer[zmtp.Error] // what the kernel sent that exceeded a limit or was no message; then it was killed
}

// Start runs the kernel of spec and waits until it can execute. If ctx ends first, or the kernel dies, no process is
// left.
func Start(ctx context.Context, spec *Spec, o StartOptions) (*Kernel, error) {
	if o.Ready == 0 {
		o.Ready = time.Minute
	}
	if o.endGrace == 0 {
		o.endGrace = 10 * time.Second
	}
	k := &Kernel{spec: spec, endGrace: o.endGrace, session: NewID(), waiting: map[string]chan *Message{}, stderr: &tail{next: o.Log}}
	if o.RuntimeDir != "" {
		if err := os.MkdirAll(o.RuntimeDir, 0o700); err != nil {
			return nil, fmt.Errorf("jupyter: runtime folder: %w", err)
		}
	}
	folder, err := k.newFolder(o.RuntimeDir)
	if err != nil {
		return nil, err
	}
	sockets := folder
	if !FitsSockets(folder) && FitsSockets(shortTemp) { // a socket's address has no room for long paths
		if sockets, err = k.newFolder(shortTemp); err != nil {
			return nil, err
		}
	}
	info, err := NewConnectionInfo(sockets)
	if err != nil {
		k.removeFolders()
		return nil, err
	}
	// GoNB finds the kernel's ID in the file's name, so it must look as Jupyter's do.
	connection := filepath.Join(folder, "kernel-"+NewID()+".json")
	if err := info.WriteFile(connection); err != nil {
		k.removeFolders()
		return nil, err
	}
	env := o.Env
	if env == nil {
		env = os.Environ()
	}
	argv, environ := spec.Command(connection, env)
	var files []*os.File
	if o.GiveFiles {
		if files, err = info.open(); err != nil {
			k.removeFolders()
			return nil, err
		}
		environ = append(environ, socketsVar+"=3")
	}
	k.proc, err = child.Start(argv, environ, o.Dir, k.stderr, files...)
	for _, f := range files {
		f.Close()
	}
	if err != nil {
		k.removeFolders()
		return nil, fmt.Errorf("jupyter: start %s: %w; is the kernel installed? (go run ./kernel setup)", argv[0], err)
	}

	ready, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(o.Ready, func() {
		cancel(fmt.Errorf("no answer from the kernel within %v", o.Ready))
	})
	defer late.Stop()
	go func() {
		select {
		case <-k.proc.Exited():
			cancel(k.dead())
		case <-ready.Done():
		}
	}()
	fail := func(err error) (*Kernel, error) {
		k.Kill()
		return nil, fmt.Errorf("jupyter: start %s: %w", filepath.Base(argv[0]), err)
	}
	if k.sockets, err = Dial(ready, info); err != nil {
		return fail(err)
	}
	if k.Info, err = k.sockets.WaitReady(ready, k.session); err != nil {
		return fail(err)
	}
	for _, s := range []*Socket{k.sockets.Shell, k.sockets.Control, k.sockets.Stdin, k.sockets.IOPub} {
		if s == k.sockets.IOPub && o.Published != nil {
			go k.deliver(s, o.Published)
		} else {
			go k.deliver(s, func(*Message) {})
		}
	}
	return k, nil
}

// deliver hands the messages of s to the calls that wait for them. An answer without a waiting call is dropped.
func (k *Kernel) deliver(s *Socket, each func(*Message)) {
	for {
		m, err := s.Recv()
		if Broken(err) {
			// We can't talk to the kernel any more; if it has only ended, it needs nothing from us.
			var bad *zmtp.Error
			if !errors.As(err, &bad) {
				if k.proc.WaitExit(k.endGrace) {
					return
				}
				bad = &zmtp.Error{Reason: "it closed its " + s.name + " connection"}
			}
			k.broke.CompareAndSwap(nil, bad)
			k.proc.Kill()
			return
		}
		if err != nil {
			continue // not written by our kernel: another key, or no Jupyter message at all
		}
		each(m)
		k.mu.Lock()
		ch := k.waiting[m.Parent.ID]
		k.mu.Unlock()
		if ch == nil {
			continue
		}
		select {
		case ch <- m:
		case <-k.proc.Exited():
			return
		}
	}
}

// ask sends a request and returns the channel of everything that answers it; forget ends the deliveries.
func (k *Kernel) ask(s *Socket, m *Message) (answers <-chan *Message, forget func(), err error) {
	ch := make(chan *Message, 64)
	k.mu.Lock()
	k.waiting[m.Header.ID] = ch
	k.mu.Unlock()
	forget = func() {
		k.mu.Lock()
		delete(k.waiting, m.Header.ID)
		k.mu.Unlock()
		for { // a delivery may be under way
			select {
			case <-ch:
			default:
				return
			}
		}
	}
	if err := s.Send(m); err != nil {
		forget()
		return nil, nil, err
	}
	return ch, forget, nil
}

// ExecuteOptions say how [Kernel.Execute] runs code. The zero value runs it without limit and drops its outputs.
type ExecuteOptions struct {
	Timeout time.Duration // 0 is no limit
	Grace   time.Duration // how long code may take to obey an interrupt before the kernel is killed; 0 is 8 seconds
	// Output gets every message published while the code runs, in order: stream, display_data, update_display_data,
	// execute_result, clear_output, error, status, execute_input. What the reply wants the reader to see, such as the
	// answer to ?name, comes last, as a display_data: JupyterLab does the same.
	Output func(*Message)
	// Input answers code that asks for a line of input; nil makes asking an [InputError].
	Input func(prompt string, password bool) (string, error)
	// Steps asks a kernel of ours to record the cell's steps, and to publish the record as a display.
	Steps bool
	// Cell is the ID of the cell, which clients for notebooks send, so that the kernel knows when a cell is run again.
	Cell string
}

// A Result is the kernel's reply to executed code. An error that the code caused is part of it, not a Go error.
type Result struct {
	Status    string   `json:"status"` // "ok", "error" or "aborted"
	Count     int      `json:"execution_count"`
	EName     string   `json:"ename"`
	EValue    string   `json:"evalue"`
	Traceback []string `json:"traceback"`
}

// Execute runs code and returns when the kernel has replied and is idle again, so that every output has been given to
// o.Output. The errors are [DeadError], [TimeoutError], [InputError] or the cause of ctx's end. After a TimeoutError
// with Alive false and a DeadError the kernel is gone; after an end of ctx the code may still run: call Interrupt or
// Shutdown.
func (k *Kernel) Execute(ctx context.Context, code string, o ExecuteOptions) (Result, error) {
	k.executing.Lock()
	defer k.executing.Unlock()
	if o.Grace == 0 {
		o.Grace = interruptGrace
	}
	content := map[string]any{
		"code": code, "silent": false, "store_history": true, "user_expressions": map[string]any{},
		"allow_stdin": o.Input != nil, "stop_on_error": true,
	}
	if o.Steps {
		content["lectern_steps"] = true
	}
	req := NewMessage(k.session, "execute_request", content)
	if o.Cell != "" {
		req.Metadata, _ = json.Marshal(map[string]string{"cellId": o.Cell}) // strings always can be
	}
	if k.proc.HasExited() {
		return Result{}, k.dead()
	}
	answers, forget, err := k.ask(k.sockets.Shell, req)
	if err != nil {
		if k.proc.WaitExit(time.Second) {
			err = k.dead()
		}
		return Result{}, err
	}
	defer forget()

	run := execution{opts: o}
	var limit <-chan time.Time
	if o.Timeout > 0 {
		t := time.NewTimer(o.Timeout)
		defer t.Stop()
		limit = t.C
	}
	reading := time.NewTicker(stdinCheck)
	defer reading.Stop()
	for {
		select {
		case m := <-answers:
			asked, err := run.take(m)
			if err != nil {
				return Result{}, err
			}
			if asked {
				if err := k.answerInput(m, o.Input); err != nil {
					k.stopCode(&run, answers)
					return Result{}, err
				}
			}
		case <-reading.C:
			if k.proc.ReadsStdin() {
				k.stopCode(&run, answers)
				return Result{}, &InputError{}
			}
		case <-limit:
			return Result{}, &TimeoutError{Limit: o.Timeout, Alive: k.stopCode(&run, answers)}
		case <-k.proc.Exited():
			run.drain(answers)
			return Result{}, k.dead()
		case <-ctx.Done():
			return Result{}, context.Cause(ctx)
		}
		if run.replied && run.idle {
			if run.page != nil && o.Output != nil {
				o.Output(run.page)
			}
			return run.result, nil
		}
	}
}

// stdinCheck is how often a running cell is looked at to see whether it waits for input that cannot come.
const stdinCheck = time.Second

// interruptGrace is the default of ExecuteOptions.Grace. GoNB itself kills a cell 5 seconds after an interrupt.
const interruptGrace = 8 * time.Second

// stopCode interrupts the running code and waits for its end; a kernel that does not react is killed. It reports
// whether the kernel lives.
func (k *Kernel) stopCode(run *execution, answers <-chan *Message) bool {
	late := time.After(run.opts.Grace)
	if err := k.Interrupt(); err != nil {
		k.Kill()
		return false
	}
	for !run.replied || !run.idle {
		select {
		case m := <-answers:
			run.take(m) // a message that cannot be read ends nothing here: the limit is what we report
		case <-k.proc.Exited():
			return false
		case <-late:
			k.Kill()
			return false
		}
	}
	return true
}

// execution is the state of a running execute_request.
type execution struct {
	opts    ExecuteOptions
	result  Result
	page    *Message // what the reply wants to be seen, or nil
	replied bool
	idle    bool
}

// take notes one answer and passes outputs on; it reports whether the answer asks for input.
func (e *execution) take(m *Message) (asked bool, err error) {
	switch m.Header.Type {
	case "execute_reply":
		e.replied = true
		if err := m.DecodeContent(&e.result); err != nil {
			return false, err
		}
		e.page, err = pageOf(m)
		return false, err
	case "input_request":
		return true, nil
	}
	e.idle = e.idle || isIdle(m)
	if e.opts.Output != nil {
		e.opts.Output(m)
	}
	return false, nil
}

// pageOf turns the page that a reply carries into a display, or returns nil if there is none.
func pageOf(reply *Message) (*Message, error) {
	var c struct {
		Status  string `json:"status"`
		Payload []struct {
			Source string         `json:"source"`
			Data   map[string]any `json:"data"`
		} `json:"payload"`
	}
	if err := reply.DecodeContent(&c); err != nil || c.Status != "ok" {
		return nil, err
	}
	for _, p := range c.Payload {
		if p.Source == "page" {
			m := NewMessage(reply.Header.Session, "display_data", map[string]any{"data": p.Data, "metadata": map[string]any{}, "transient": map[string]any{}})
			m.Parent = reply.Parent
			return m, nil
		}
	}
	return nil, nil
}

// drain takes what has already arrived.
func (e *execution) drain(answers <-chan *Message) {
	for {
		select {
		case m := <-answers:
			e.take(m)
		default:
			return
		}
	}
}

func (k *Kernel) answerInput(m *Message, input func(string, bool) (string, error)) error {
	var q struct {
		Prompt   string `json:"prompt"`
		Password bool   `json:"password"`
	}
	if err := m.DecodeContent(&q); err != nil {
		return err
	}
	if input == nil {
		return &InputError{Prompt: q.Prompt}
	}
	line, err := input(q.Prompt, q.Password)
	if err != nil {
		return err
	}
	reply := NewMessage(k.session, "input_reply", map[string]string{"status": "ok", "value": line})
	reply.Parent = m.Header
	return k.sockets.Stdin.Send(reply)
}

// Interrupt asks the kernel to stop the code it runs, in the way its spec says. It does not wait for the code to end.
func (k *Kernel) Interrupt() error {
	if k.spec.InterruptMode == "message" {
		return k.sockets.Control.Send(NewMessage(k.session, "interrupt_request", nil))
	}
	return k.proc.Interrupt()
}

// Request sends a request of the given type on shell and returns the first reply (complete_request, inspect_request
// and the like).
func (k *Kernel) Request(ctx context.Context, msgType string, content any) (*Message, error) {
	return k.request(ctx, k.sockets.Shell, msgType, content)
}

// Control sends a request of the given type on control, which kernels answer while code runs, and returns the first
// reply.
func (k *Kernel) Control(ctx context.Context, msgType string, content any) (*Message, error) {
	return k.request(ctx, k.sockets.Control, msgType, content)
}

func (k *Kernel) request(ctx context.Context, s *Socket, msgType string, content any) (*Message, error) {
	answers, forget, err := k.ask(s, NewMessage(k.session, msgType, content))
	if err != nil {
		return nil, err
	}
	defer forget()
	for {
		select {
		case m := <-answers:
			if m.Header.Type != "status" {
				return m, nil
			}
		case <-k.proc.Exited():
			return nil, k.dead()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Post sends a message that has no answer on shell, such as comm_msg.
func (k *Kernel) Post(msgType string, content any) error {
	return k.sockets.Shell.Send(NewMessage(k.session, msgType, content))
}

// Exited is closed when the kernel's process has ended.
func (k *Kernel) Exited() <-chan struct{} { return k.proc.Exited() }

// Pid returns the kernel's process ID.
func (k *Kernel) Pid() int { return k.proc.Pid() }

// dead describes the end of the process.
func (k *Kernel) dead() error {
	e := &DeadError{State: k.proc.State(), Stderr: k.stderr.String()}
	if bad := k.broke.Load(); bad != nil {
		e.State = "killed, since it broke the protocol: " + bad.Reason
	}
	return e
}

// Shutdown asks the kernel to end and kills it, with everything it started, if it has not done so within grace.
// The kernel is gone when Shutdown returns.
func (k *Kernel) Shutdown(grace time.Duration) error {
	if k.proc.HasExited() {
		k.Kill()
		return nil
	}
	err := k.sockets.Control.Send(NewMessage(k.session, "shutdown_request", map[string]bool{"restart": false}))
	ended := err == nil && k.proc.WaitExit(grace)
	k.Kill()
	if err == nil && !ended {
		err = errors.New("jupyter: the kernel did not answer a shutdown request and was killed")
	}
	return err
}

// Kill ends the kernel and all processes it started, closes the connection and removes its file. It may be called more
// than once.
func (k *Kernel) Kill() {
	k.closeOnce.Do(func() {
		k.proc.Kill()
		if k.sockets != nil {
			k.sockets.Close()
		}
		k.removeFolders()
	})
}

// shortTemp is a temporary folder with a short path, where the user's own has a long one.
const shortTemp = "/tmp"

// newFolder creates a private folder that is removed when the kernel has ended; if it can't, it removes those that it
// created before.
func (k *Kernel) newFolder(parent string) (string, error) {
	dir, err := private.MkdirTemp(parent, "kernel-")
	if err != nil {
		k.removeFolders()
		return "", fmt.Errorf("jupyter: runtime folder: %w", err)
	}
	k.folders = append(k.folders, dir)
	return dir, nil
}

func (k *Kernel) removeFolders() {
	for _, dir := range k.folders {
		os.RemoveAll(dir)
	}
}

// tail passes all writes on and keeps the end of them.
type tail struct {
	mu   sync.Mutex
	buf  []byte
	next io.Writer
}

const tailSize = 16 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if n := len(t.buf) - tailSize; n > 0 {
		t.buf = append(t.buf[:0], t.buf[n:]...)
	}
	if t.next != nil {
		return t.next.Write(p)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
