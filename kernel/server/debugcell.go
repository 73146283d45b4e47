//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/lectern-go/lectern/kernel/internal/child"
	"github.com/lectern-go/lectern/kernel/internal/dap"
	"github.com/lectern-go/lectern/kernel/internal/private"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/jupyter"
)

// A debuggedCell is a cell whose program runs under Delve. The program is the kernel's child like any other: Delve
// comes to it while it waits for that before its first statement, and leaves it when nobody debugs any more. A nil
// debuggedCell is one that isn't debugged.
type debuggedCell struct {
	d       *debugger
	e       *execution
	dir     string        // of the socket on which Delve comes
	ready   *os.File      // the program says there that it waits,
	goAhead *os.File      // and here that it need not wait any more
	theirs  []*os.File    // the program's ends of both
	dlv     *exec.Cmd     // nil if it could not be started
	exited  chan struct{} // closed when it has ended
	accept  net.Listener
	client  *dap.Client // nil until Delve has come

	settingPoints sync.Mutex

	mu      sync.Mutex
	runs    bool // Delve has let the program run for the first time
	gone    bool // Delve has left, or is about to
	stopped bool
	thread  int
	frames  []debugFrame // that the user sees
	locals  map[int]bool // references to the variables of functions
	step    string       // the command that was given last,
	from    debugFrame   // and where it was given
	repeats int          // how often we have gone on by ourselves since
}

// A debugFrame is a frame of the stack as the protocol has it.
type debugFrame struct {
	ID     int          `json:"id"`
	Name   string       `json:"name"`
	Line   int          `json:"line"`
	Column int          `json:"column"`
	Source *debugSource `json:"source,omitempty"`
}

type debugSource struct {
	Name string `json:"name,omitempty"`
	Path string `json:"path,omitempty"`
}

// waitImports and waitCode let a program wait for Delve before its first statement, and let a process that is not its
// parent be the one that debugs it, which Linux may not allow otherwise.
var waitImports = map[string]string{"lecterndebug": "syscall"}

func waitCode() string {
	allow := ""
	if runtime.GOOS == "linux" { // PR_SET_PTRACER, PR_SET_PTRACER_ANY
		allow = "lecterndebug.RawSyscall(lecterndebug.SYS_PRCTL, 0x59616d61, ^uintptr(0), 0); "
	}
	return "//line " + rewrite.OwnFile + ":1\nfunc init() { " + allow + "b := []byte{0}; lecterndebug.Write(4, b); lecterndebug.Close(4); " +
		"for { if _, err := lecterndebug.Read(3, b); err != lecterndebug.EINTR { break } }; lecterndebug.Close(3) }\n"
}

// debuggable is a program for Delve, with its imports.
func debuggable(r *rewrite.Result) (imports []string, source string) {
	imports = slices.Clone(r.Imports)
	for _, path := range waitImports {
		if !slices.Contains(imports, path) {
			imports = append(imports, path)
		}
	}
	slices.Sort(imports)
	return imports, r.Program.Debugged(waitImports, waitCode())
}

// debug prepares the command of a cell's program for Delve and starts that; it returns nil for a cell that isn't
// debugged.
func (e *execution) debug(cmd *exec.Cmd) *debuggedCell {
	if !e.debugged {
		return nil
	}
	c := &debuggedCell{d: e.k.debugger, e: e, locals: map[int]bool{}}
	if err := c.prepare(cmd); err != nil {
		c.notDebugged(err) // the program still waits until it may go on
	}
	return c
}

func (c *debuggedCell) notDebugged(err error) {
	c.e.note(fmt.Sprintf("the cell runs without breakpoints: %v", err))
}

// prepare gives the program its pipes and starts Delve.
func (c *debuggedCell) prepare(cmd *exec.Cmd) error {
	ready, theirReady, err := os.Pipe()
	if err != nil {
		return err
	}
	theirGo, goAhead, err := os.Pipe()
	if err != nil {
		ready.Close()
		theirReady.Close()
		return err
	}
	c.ready, c.goAhead, c.theirs = ready, goAhead, []*os.File{theirGo, theirReady}
	cmd.ExtraFiles = c.theirs // 3 and 4
	k := c.d.k
	parent := k.f.work
	if !jupyter.FitsSockets(filepath.Join(parent, "dap-0123456789")) {
		parent = "/tmp"
	}
	if c.dir, err = private.MkdirTemp(parent, "dap-"); err != nil {
		return err
	}
	socket := filepath.Join(c.dir, "s")
	if c.accept, err = net.Listen("unix", socket); err != nil {
		return err
	}
	dlv := exec.Command(filepath.Join(k.c.bin, "dlv"), "dap", "--client-addr=unix:"+socket, "--check-go-version=false")
	home := k.f.tmp() // Delve writes its settings at the first start, where nobody wants them
	dlv.Dir, dlv.Env = home, append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home)
	exited, err := child.Begin(dlv)
	if err != nil {
		return fmt.Errorf("the debugger Delve can't be started: %w", err)
	}
	c.dlv, c.exited = dlv, make(chan struct{})
	k.watcher.say(fmt.Sprint("group ", dlv.Process.Pid))
	go func() {
		<-exited
		c.accept.Close()
		close(c.exited)
	}()
	return nil
}

// begin lets Delve come to the program, which has started, and the program run.
func (c *debuggedCell) begin(p *process) {
	if c == nil {
		return
	}
	for _, f := range c.theirs {
		f.Close()
	}
	if c.dlv != nil {
		err := c.attach(p)
		if err != nil && c.e.ctx.Err() == nil && !p.ended() {
			c.notDebugged(err)
		}
		switch {
		case err == nil:
		case c.client != nil:
			c.detach()
		default:
			c.kill()
		}
	}
	if c.goAhead != nil {
		c.ready.Close()
		c.goAhead.Close() // an end is an answer, too
	}
}

// ended reports whether the process has ended.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// comeTime is how long a program may take to wait for Delve, and Delve to come to it: both are busy for a second at
// most where there is nothing else to do.
const comeTime = 60 * time.Second

// attach brings Delve to the program and sets the breakpoints.
func (c *debuggedCell) attach(p *process) error {
	ctx, cancel := context.WithTimeoutCause(c.e.ctx, comeTime, errors.New("the debugger Delve does not answer"))
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		c.accept.Close()
		c.ready.SetReadDeadline(time.Now())
	})()
	if _, err := c.ready.Read(make([]byte, 1)); err != nil {
		return errors.New("its program does not start")
	}
	conn, err := c.accept.Accept()
	if err != nil {
		return errors.New("the debugger Delve does not start")
	}
	c.accept.Close()
	c.client = dap.NewClient(conn)
	go c.listen()
	if err := c.client.Call(ctx, "initialize", map[string]any{"adapterID": "go", "pathFormat": "path", "linesStartAt1": true, "columnsStartAt1": true, "supportsVariableType": true}, nil); err != nil {
		return err
	}
	if err := c.client.Call(ctx, "attach", map[string]any{"mode": "local", "processId": p.cmd.Process.Pid, "stackTraceDepth": mostFrames}, nil); err != nil {
		return err
	}
	c.d.mu.Lock()
	c.d.cell = c
	on := c.d.on
	paths := make([]string, 0, len(c.d.points))
	for path := range c.d.points {
		paths = append(paths, path)
	}
	c.d.mu.Unlock()
	if !on { // no longer
		return errors.New("nobody debugs any more")
	}
	for _, path := range paths {
		c.setBreakpoints(ctx, path)
	}
	c.setPanics(ctx)
	end := map[string]any{"breakpoints": []map[string]string{{"name": savesPath}}}
	c.client.Call(ctx, "setFunctionBreakpoints", end, nil) // refused by a program that keeps nothing
	if err := c.client.Call(ctx, "configurationDone", nil, nil); err != nil {
		return err
	}
	c.mu.Lock()
	c.runs = true
	c.mu.Unlock()
	return nil
}

// savesPath is the function that keeps the values of a program at its end: a place at which to look at them.
const savesPath = "github.com/lectern-go/lectern/kernel/persist.Save"

// mostFrames is how much of a stack is asked for.
const mostFrames = 100

// forget ends what the debugger knows of a cell.
func (d *debugger) forget(c *debuggedCell) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cell == c {
		d.cell = nil
	}
}

// end is called when the program has ended.
func (c *debuggedCell) end() {
	if c == nil {
		return
	}
	c.d.forget(c)
	for _, f := range append(c.theirs, c.ready, c.goAhead) {
		f.Close() // those that are closed already, or never were open, don't mind
	}
	c.goOn()
	c.kill()
	if c.dir != "" {
		os.RemoveAll(c.dir)
	}
}

// kill ends Delve. A program that it stopped goes on.
func (c *debuggedCell) kill() {
	c.mu.Lock()
	c.gone = true
	c.mu.Unlock()
	if c.accept != nil {
		c.accept.Close()
	}
	if c.client != nil {
		c.client.Close()
	}
	if c.dlv == nil {
		return
	}
	select {
	case <-c.exited:
	default:
		killGroup(c.dlv.Process.Pid)
		<-c.exited
	}
}

// detach lets the cell run on without Delve.
func (c *debuggedCell) detach() {
	if c == nil {
		return
	}
	c.mu.Lock()
	gone := c.gone
	c.gone = true
	c.mu.Unlock()
	if gone {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), debugAnswer)
	defer cancel()
	c.client.Call(ctx, "disconnect", map[string]any{"terminateDebuggee": false}, nil) // whatever comes of it, kill ends it
	c.goOn()
	c.d.forget(c)
	c.kill()
}

// goOn notes that the cell stands still no more, and says so.
func (c *debuggedCell) goOn() {
	c.mu.Lock()
	stood, thread := c.stopped, c.thread
	c.stopped, c.frames = false, nil
	c.mu.Unlock()
	if stood {
		c.d.event("continued", map[string]any{"threadId": thread, "allThreadsContinued": true})
	}
}

// stands reports whether the cell stands still.
func (c *debuggedCell) stands() bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopped && !c.gone
}

func (c *debuggedCell) threadID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.thread
}

// errRuns is the answer to questions about a cell that does not stand still.
var errRuns = errors.New("no cell stands still")
