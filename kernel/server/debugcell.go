//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lectern-go/lectern/kernel/internal/child"
	"github.com/lectern-go/lectern/kernel/internal/dap"
	"github.com/lectern-go/lectern/kernel/internal/private"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/persist"
)

// A debuggedCell is a cell whose program runs under Delve. The program is the kernel's child like any other: Delve comes
// to it while it waits for that before its first statement, and leaves it when nobody debugs any more. A nil debuggedCell
// is one that isn't debugged.
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

// debug prepares the command of a cell's program for Delve and starts that; it returns nil for a cell that isn't debugged.
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
		return fmt.Errorf("Delve can't be started: %w", err)
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

// comeTime is how long a program may take to wait for Delve, and Delve to come to it: both are busy for a second at most
// where there is nothing else to do.
const comeTime = 60 * time.Second

// attach brings Delve to the program and sets the breakpoints.
func (c *debuggedCell) attach(p *process) error {
	ctx, cancel := context.WithTimeoutCause(c.e.ctx, comeTime, errors.New("Delve does not answer"))
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
		return errors.New("Delve does not start")
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

// setBreakpoints tells Delve the breakpoints of a source, which are those of all runs of the cell that the program has
// something of.
func (c *debuggedCell) setBreakpoints(ctx context.Context, path string) {
	if c == nil {
		return
	}
	c.settingPoints.Lock()
	defer c.settingPoints.Unlock()
	c.d.mu.Lock()
	points := slices.Clone(c.d.points[path])
	c.d.mu.Unlock()
	if points == nil {
		points = []breakpoint{}
	}
	program := c.e.r.Program
	for _, src := range program.Sources() {
		if c.d.path(src.Code) != path {
			continue
		}
		there := slices.DeleteFunc(slices.Clone(points), func(p breakpoint) bool { return !program.HasLine(src, p.Line) })
		c.sendBreakpoints(ctx, src, there)
	}
	if !strings.HasPrefix(path, c.d.prefix()) { // of a package that cells import
		c.client.Call(ctx, "setBreakpoints", map[string]any{"source": debugSource{Path: path}, "breakpoints": points}, nil)
	}
}

// sendBreakpoints sets the breakpoints of a cell. The compiler may have made nothing of a line: then the next one that it
// has made something of is meant.
func (c *debuggedCell) sendBreakpoints(ctx context.Context, src *rewrite.Source, points []breakpoint) {
	last := strings.Count(src.Code, "\n") + 1
	for range last {
		var set struct {
			Breakpoints []struct{ Verified bool }
		}
		args := map[string]any{"source": debugSource{Path: programFile(src.Cell)}, "breakpoints": points}
		if err := c.client.Call(ctx, "setBreakpoints", args, &set); err != nil || len(set.Breakpoints) != len(points) {
			return
		}
		again := false
		for i, s := range set.Breakpoints {
			taken := slices.ContainsFunc(points, func(p breakpoint) bool { return p.Line == points[i].Line+1 })
			if !s.Verified && points[i].Line < last && !taken && c.e.r.Program.HasLine(src, points[i].Line+1) {
				points[i].Line++
				again = true
			}
		}
		if !again {
			return
		}
	}
}

// programFile is what the program calls a cell.
func programFile(cell int) string { return fmt.Sprintf("cell[%d]", cell) }

var inCell = regexp.MustCompile(`(?:^|/)cell\[(\d+)\]$`)

// cellOf returns the number of the cell in whose text a frame is.
func cellOf(f debugFrame) (n int, ok bool) {
	if f.Source == nil {
		return 0, false
	}
	m := inCell.FindStringSubmatch(f.Source.Path)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil
}

func isCell(f debugFrame) bool { _, ok := cellOf(f); return ok }

// setPanics tells Delve whether to stop at panics.
func (c *debuggedCell) setPanics(ctx context.Context) {
	if c == nil {
		return
	}
	c.d.mu.Lock()
	filters := []string{}
	if c.d.panics {
		filters = []string{"unrecovered-panic", "runtime-fatal-throw"}
	}
	c.d.mu.Unlock()
	c.client.Call(ctx, "setExceptionBreakpoints", map[string]any{"filters": filters}, nil) // of a running program it is refused: it holds for the next
}

// listen handles what Delve says.
func (c *debuggedCell) listen() {
	for ev := range c.client.Events() {
		if ev.Event == "stopped" {
			go c.halted(ev.Body)
		}
	}
}

// mostRepeats is how often we go on by ourselves before the user is shown where that has led.
const mostRepeats = 300

// halted is called when Delve has stopped the program: where the user has something to see there, or wants to be.
func (c *debuggedCell) halted(body json.RawMessage) {
	defer survive("debugger")
	var s struct {
		Reason      string `json:"reason"`
		Description string `json:"description,omitempty"`
		Text        string `json:"text,omitempty"`
		Thread      int    `json:"threadId"`
		All         bool   `json:"allThreadsStopped"`
	}
	if err := json.Unmarshal(body, &s); err != nil {
		return
	}
	s.All = true
	ctx, cancel := context.WithTimeout(context.Background(), debugAnswer)
	defer cancel()
	if s.Reason == "function breakpoint" {
		c.d.remember(c.globals(ctx))
	}
	frames := c.stack(ctx, s.Thread)
	if s.Reason == "pause" && !slices.ContainsFunc(frames, isCell) {
		s.Thread, frames = c.threadOfCell(ctx, s.Thread, frames)
	}
	c.mu.Lock()
	if c.gone {
		c.mu.Unlock()
		return
	}
	if next := c.onward(s.Reason, s.Description, frames); next != "" && c.repeats < mostRepeats {
		c.repeats++
		c.mu.Unlock()
		c.client.Call(ctx, next, map[string]any{"threadId": s.Thread}, nil) // if it fails, the cell has ended
		return
	}
	c.stopped, c.thread, c.frames = true, s.Thread, c.shown(frames)
	clear(c.locals)
	c.mu.Unlock()
	c.e.text.flush()
	c.d.event("stopped", s)
}

// onward is the command with which to leave a place that is not for the user, or "". It needs c.mu.
func (c *debuggedCell) onward(reason, description string, frames []debugFrame) string {
	switch reason {
	case "exception":
		if description == "panic" || description == "fatal error" {
			return ""
		}
		return "continue" // a step that was given while another one was not done: Delve does that first
	case "unknown", "function breakpoint": // the program is about to end
		return "continue"
	case "step":
	default:
		return ""
	}
	switch {
	case len(frames) == 0:
		return "continue"
	case isCell(frames[0]):
		if f := frames[0]; c.step == "stepIn" && c.repeats > 0 && c.from.Line == f.Line && c.from.Name == f.Name && *c.from.Source == *f.Source {
			return "stepIn" // the call led nowhere
		}
		return ""
	case isOwn(frames[0]):
		return "next"
	case !slices.ContainsFunc(frames, isCell): // main has returned
		return "continue"
	case c.step == "stepIn" && c.visits(frames[0]):
		return ""
	}
	return "stepOut"
}

// isOwn reports whether a frame is in code of ours.
func isOwn(f debugFrame) bool {
	return f.Source != nil && filepath.Base(f.Source.Path) == rewrite.OwnFile
}

// visits reports whether a package is one into which steps lead: the cells' own and those that they import, but neither
// Go's library nor what keeps and shows values.
func (c *debuggedCell) visits(f debugFrame) bool {
	if f.Source == nil || !filepath.IsAbs(f.Source.Path) {
		return false
	}
	k := c.d.k
	tools, err := k.packages.Toolchain()
	within := func(dir string) bool { return strings.HasPrefix(f.Source.Path, dir+string(filepath.Separator)) }
	return err == nil && !within(tools.Root) && !within(filepath.Join(k.c.root, "kernel"))
}

// stack asks for the stack of a goroutine; it is empty if Delve has nothing to say.
func (c *debuggedCell) stack(ctx context.Context, thread int) []debugFrame {
	var r struct{ StackFrames []debugFrame }
	if c.client.Call(ctx, "stackTrace", map[string]any{"threadId": thread, "levels": mostFrames}, &r) != nil {
		return nil
	}
	return r.StackFrames
}

// threadOfCell looks for a goroutine that runs code of cells; where there is none it keeps the one that it was given.
func (c *debuggedCell) threadOfCell(ctx context.Context, thread int, frames []debugFrame) (int, []debugFrame) {
	var r struct{ Threads []struct{ ID int } }
	if c.client.Call(ctx, "threads", nil, &r) != nil {
		return thread, frames
	}
	for _, t := range r.Threads {
		if f := c.stack(ctx, t.ID); slices.ContainsFunc(f, isCell) {
			return t.ID, f
		}
	}
	return thread, frames
}

// shown are the frames that the user sees, in the user's words.
func (c *debuggedCell) shown(frames []debugFrame) []debugFrame {
	list := []debugFrame{}
	for _, f := range frames {
		n, ok := cellOf(f)
		switch {
		case ok:
			src := c.e.r.Next.Source(n)
			if src == nil {
				continue
			}
			f.Source = &debugSource{Name: cellName(n), Path: c.d.path(src.Code)}
			f.Name = shownName(f.Name, n)
		case !c.visits(f):
			continue
		}
		f.Column = max(f.Column, 1)
		list = append(list, f)
	}
	if len(list) == 0 {
		return frames
	}
	return list
}

// shownName is what a function of a cell is called.
func shownName(name string, cell int) string {
	name = strings.TrimPrefix(name, "main.")
	switch {
	case name == "main":
		return cellName(cell)
	case strings.HasPrefix(name, persist.LiteralName):
		return "func literal"
	case strings.HasPrefix(name, "lecternMain"):
		return "main"
	}
	return name
}

func (c *debuggedCell) stackTrace() (any, error) {
	if !c.stands() {
		return nil, errRuns
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return map[string]any{"stackFrames": c.frames, "totalFrames": len(c.frames)}, nil
}

// globalsReference stands for the variables at the top level of cells; Delve counts its references from 1000.
const globalsReference = 1

// scopes are the variables of a function, and those at the top level of cells.
func (c *debuggedCell) scopes(ctx context.Context, req *debugRequest) (any, error) {
	var a struct {
		FrameID int `json:"frameId"`
	}
	if err := req.read(&a); err != nil {
		return nil, err
	}
	locals, err := c.localScope(ctx, a.FrameID)
	if err != nil {
		return nil, err
	}
	return map[string]any{"scopes": []map[string]any{
		{"name": "Locals", "variablesReference": locals, "expensive": false},
		{"name": "Globals", "variablesReference": globalsReference, "expensive": false},
	}}, nil
}

func (c *debuggedCell) localScope(ctx context.Context, frame int) (reference int, err error) {
	if !c.stands() {
		return 0, errRuns
	}
	var r struct {
		Scopes []struct {
			Reference int `json:"variablesReference"`
		}
	}
	if err := c.client.Call(ctx, "scopes", map[string]any{"frameId": frame}, &r); err != nil {
		return 0, err
	}
	if len(r.Scopes) == 0 {
		return 0, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.locals[r.Scopes[0].Reference] = true
	return r.Scopes[0].Reference, nil
}

// variables are those of a scope, or the parts of one.
func (c *debuggedCell) variables(ctx context.Context, req *debugRequest) (any, error) {
	var a struct {
		Reference int `json:"variablesReference"`
	}
	if err := req.read(&a); err != nil {
		return nil, err
	}
	list, err := c.variablesOf(ctx, a.Reference, req.Arguments)
	if err != nil {
		return nil, err
	}
	return map[string]any{"variables": list}, nil
}

func (c *debuggedCell) variablesOf(ctx context.Context, reference int, arguments any) ([]debugVariable, error) {
	if reference == globalsReference {
		return c.globals(ctx), nil
	}
	r := struct{ Variables []debugVariable }{[]debugVariable{}}
	if reference == 0 {
		return r.Variables, nil
	}
	if err := c.client.Call(ctx, "variables", arguments, &r); err != nil {
		return nil, err
	}
	c.mu.Lock()
	local := c.locals[reference]
	c.mu.Unlock()
	if local {
		r.Variables = slices.DeleteFunc(r.Variables, func(v debugVariable) bool {
			return strings.HasPrefix(v.Name, "lectern") || strings.HasPrefix(v.Name, "~")
		})
	}
	return r.Variables, nil
}

// globals are the variables at the top level of cells that the program has.
func (c *debuggedCell) globals(ctx context.Context) []debugVariable {
	list := []debugVariable{}
	names := slices.Concat(c.e.r.Restores, c.e.r.Defines)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		for _, prefix := range []string{"main.", "main." + rewrite.HiddenPrefix} {
			if v, err := c.evaluate(ctx, prefix+name, 0); err == nil {
				list = append(list, debugVariable{Name: name, Value: v.Result, Type: v.Type, Reference: v.Reference, Indexed: v.Indexed, Named: v.Named, EvaluateName: prefix + name})
				break
			}
		}
	}
	return list
}

// allVariables are those of the frame where the cell stands.
func (c *debuggedCell) allVariables(ctx context.Context) (any, error) {
	c.mu.Lock()
	frames := c.frames
	c.mu.Unlock()
	list := c.globals(ctx)
	if len(frames) > 0 {
		locals, err := c.localScope(ctx, frames[0].ID)
		if err == nil {
			more, err := c.variablesOf(ctx, locals, map[string]any{"variablesReference": locals})
			if err == nil {
				list = append(list, more...)
			}
		}
	}
	return map[string]any{"variables": list}, nil
}

// An evaluated is what an expression comes to.
type evaluated struct {
	Result    string `json:"result"`
	Type      string `json:"type"`
	Reference int    `json:"variablesReference"`
	Indexed   int    `json:"indexedVariables"`
	Named     int    `json:"namedVariables"`
}

// evaluate evaluates an expression in a frame; 0 is the one where the cell stands.
func (c *debuggedCell) evaluate(ctx context.Context, expression string, frame int) (v evaluated, err error) {
	c.mu.Lock()
	if frame == 0 && len(c.frames) > 0 {
		frame = c.frames[0].ID
	}
	c.mu.Unlock()
	err = c.client.Call(ctx, "evaluate", map[string]any{"expression": expression, "frameId": frame, "context": "repl"}, &v)
	return v, err
}

// evaluateThere answers a request to evaluate an expression.
func (c *debuggedCell) evaluateThere(ctx context.Context, req *debugRequest) (any, error) {
	var a struct {
		Expression string
		FrameID    int `json:"frameId"`
	}
	if err := req.read(&a); err != nil {
		return nil, err
	}
	if !c.stands() {
		return nil, errRuns
	}
	return c.evaluate(ctx, a.Expression, a.FrameID)
}

// forward lets Delve answer a request.
func (c *debuggedCell) forward(ctx context.Context, req *debugRequest) (any, error) {
	if !c.stands() {
		return nil, errRuns
	}
	var body json.RawMessage
	err := c.client.Call(ctx, req.Command, req.Arguments, &body)
	return body, err
}

// resume lets the cell go on, to its next stop or one step.
func (c *debuggedCell) resume(ctx context.Context, req *debugRequest) (any, error) {
	if !c.stands() {
		return nil, errRuns
	}
	c.mu.Lock()
	c.step, c.repeats = req.Command, 0
	c.from = debugFrame{}
	thread := c.thread
	c.mu.Unlock()
	if frames := c.stack(ctx, thread); len(frames) > 0 && frames[0].Source != nil {
		c.mu.Lock()
		c.from = frames[0]
		c.mu.Unlock()
	}
	c.goOn()
	if err := c.client.Call(ctx, req.Command, map[string]any{"threadId": thread}, nil); err != nil {
		return nil, err
	}
	return map[string]any{"allThreadsContinued": true}, nil
}

// pause stops a cell that runs.
func (c *debuggedCell) pause(ctx context.Context) error {
	runs := false
	if c != nil {
		c.mu.Lock()
		runs = c.runs && !c.gone
		c.mu.Unlock()
	}
	if !runs {
		return errors.New("no cell runs under the debugger")
	}
	if c.stands() {
		return nil
	}
	return c.client.Call(ctx, "pause", map[string]any{"threadId": 1}, nil)
}
