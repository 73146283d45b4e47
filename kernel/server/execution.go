//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/internal/display"
	"github.com/lectern-go/lectern/kernel/internal/inband"
	"github.com/lectern-go/lectern/kernel/internal/report"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/kernel/persist"
)

// An execution is one cell on its way.
type execution struct {
	k    *kernel
	m    *jupyter.Message // the request
	req  executeRequest
	cell int
	r    *rewrite.Result
	ctx  context.Context // ends when the cell is interrupted
	stop context.CancelFunc

	text     joiner
	outMu    sync.Mutex      // output comes from the cell itself and from GoNB
	out      inband.Splitter // standard output, with its messages
	err      *report.Traces  // standard error, with panics
	copy     *os.File        // of %capture
	fold     *fold           // what the cell shows goes there, unless nil
	steps    *report.Steps
	into     *collected              // what the cell shows goes below this widget, unless nil
	nested   []*collected            // where it went before
	outputs  []*collected            // all of them
	made     bool                    // it has made widgets
	own      *failure                // an error that the cell reported in a message
	line     string                  // the end of what has been printed since the last line break: a prompt, if input is asked for now
	limits   map[string]*outputLimit // of each stream
	displays int                     // that it has shown, or would have
	pages    [][2]string             // what it asked to read, as Markdown and as text

	mu          sync.Mutex
	process     *process  // that runs now
	gonb        *request  // to GoNB, that is being answered now
	interrupted int       // how often
	asked       time.Time // when it was interrupted first
	loaded      bool      // the session is one that was saved
}

func newExecution(k *kernel, m *jupyter.Message, req executeRequest, cell int) *execution {
	e := &execution{k: k, m: m, req: req, cell: cell}
	e.ctx, e.stop = context.WithCancel(context.Background())
	e.text.send = func(stream, text string) {
		e.k.publish(e.m, "stream", map[string]string{"name": stream, "text": text})
	}
	e.limits = map[string]*outputLimit{}
	for _, name := range []string{"stdout", "stderr"} {
		e.limits[name] = &outputLimit{lines: k.lines, show: func(text string) { e.emit(name, text) }}
	}
	e.out = inband.Splitter{Token: k.token, Text: e.print, Say: e.message}
	e.err = &report.Traces{Print: func(s string) { e.stream("stderr", s) }}
	return e
}

// write takes a piece of standard output.
func (e *execution) write(text string) {
	e.outMu.Lock()
	defer e.outMu.Unlock()
	defer survive("output")
	e.out.Write(text)
}

// writeErr takes a piece of standard error.
func (e *execution) writeErr(text string) {
	e.outMu.Lock()
	defer e.outMu.Unlock()
	defer survive("output")
	e.err.Write(text)
}

// captureData copies the text of a display, by kind.
func (e *execution) captureData(data map[string]any) {
	for _, kind := range slices.Sorted(maps.Keys(data)) {
		if s, ok := data[kind].(string); ok && (kind != "text/plain" || len(data) == 1) && !display.Binary(kind) {
			e.copy.WriteString(s)
		}
	}
}

// publish sends an output of the cell, unless the request was silent.
func (e *execution) publish(msgType string, content any) {
	if c, ok := content.(map[string]any); ok && e.copy != nil && strings.HasSuffix(msgType, "display_data") {
		if data, ok := c["data"].(map[string]any); ok {
			e.captureData(data)
		}
	}
	if e.limited(msgType, content) || e.intoWidget(msgType, content) {
		return
	}
	if c, ok := content.(map[string]any); ok && e.fold != nil && (msgType == "display_data" || msgType == "execute_result") {
		if data, ok := c["data"].(map[string]any); ok && data[viewType] == nil && e.fold.Add(data) {
			return
		}
	}
	if !e.req.Silent {
		e.text.flush()
		e.k.publish(e.m, msgType, content)
	}
}

// stream takes text that the cell prints.
func (e *execution) stream(name, text string) {
	if text == "" {
		return
	}
	if e.copy != nil {
		e.copy.WriteString(text)
	}
	e.limits[name].write(text)
}

// emit shows text where the cell's output goes.
func (e *execution) emit(name, text string) {
	if e.into != nil {
		e.into.print(name, text)
	} else if e.fold != nil && name == "stdout" {
		e.fold.Print(text)
	} else if !e.req.Silent {
		e.text.write(name, text)
	}
}

func (e *execution) note(text string) {
	stream := "stderr"
	if os.Getenv(nbgraderVar) != "" { // which takes all that stands there for an error
		stream = "stdout"
	}
	text = "note: " + text + "\n"
	if e.copy != nil {
		e.copy.WriteString(text)
	}
	e.emit(stream, text)
}

// do runs the cell to its end and returns what went wrong, or nil.
func (e *execution) do() (fail *failure) {
	defer e.stop()
	defer e.text.flush()
	defer func() {
		e.endOutput()
		if n := e.lostDisplays(); n > 0 {
			e.note(humanize.Count(n, "more display") + "; %output 0 shows all")
		}
	}()
	k := e.k
	if name := rewrite.Question(e.req.Code); name != "" {
		return e.document(name)
	}
	e.takeRecorded()
	k.packages.Refresh()
	before := k.current()
	if fail := e.understand(before); fail != nil {
		return fail
	}
	for _, n := range e.r.Notes {
		e.note(n)
	}
	if len(e.r.Errors) > 0 {
		e.missMine()
		return report.Mistakes(e.r)
	}
	if e.resets() {
		if err := persist.Reset(k.f.keep()[0]); err != nil {
			e.note(fmt.Sprintf("not all could be forgotten: %v", err))
		}
	}
	if len(e.r.Forget) > 0 {
		if err := persist.Forget(k.f.keep()[0], e.r.Forget...); err != nil {
			e.note(fmt.Sprintf("values could not be forgotten: %v", err))
		}
	}
	defer func() {
		if e.copy != nil {
			if err := e.copy.Close(); err != nil && fail == nil {
				fail = said("capture", err.Error())
			}
		}
	}()
	if e.r.Whole != "" {
		fail = e.wholeCell()
	} else {
		fail = e.obey(e.r.Commands)
	}
	if fail == nil && e.r.Program != nil {
		return e.run()
	}
	e.r.Next.Settle() // what it would have defined is not there
	k.setSession(e.r.Next)
	e.remember()
	return fail
}

// understand rewrites the cell, and fetches packages that it needs first if that is wanted.
func (e *execution) understand(before *rewrite.Session) *failure {
	if e.req.Steps {
		before = before.Stepped(true)
	}
	e.r = before.Rewrite(e.cell, e.req.Code)
	if err := e.k.packages.NoHome(); err != nil && (e.r.Program != nil || len(e.r.Errors) > 0) {
		f := said("no home", err.Error())
		f.NotRun = true
		return f
	}
	fetched := false
	for _, c := range e.r.Commands { // first of all, since the cell may import what it fetches
		if c.Name == "%get" {
			fetched = true
			if f := e.get(c); f != nil {
				return f
			}
		}
	}
	if fetched {
		e.r = before.Rewrite(e.cell, e.req.Code)
	}
	for tried := map[string]bool{}; e.r.Missing != "" && !tried[e.r.Missing]; e.r = before.Rewrite(e.cell, e.req.Code) {
		ok, hint := e.k.mayFetch(e.r.Missing)
		if !ok {
			if hint != "" {
				e.r.Errors[0].Hint = hint
			}
			break
		}
		tried[e.r.Missing] = true
		hint, f := e.autoget(e.r.Missing)
		if f != nil {
			return f
		}
		if hint != "" {
			e.r.Errors[0].Hint = hint
			break
		}
	}
	return nil
}

// run builds and runs the cell's program and settles what the cells after it know.
func (e *execution) run() *failure {
	k := e.k
	if e.r.Steps {
		e.steps = report.NewSteps(e.r, e.r.Next.Source(e.cell))
	}
	k.plain = e.r.Plain
	saves := k.manifest().Saves
	var fail *failure
	switch e.r.GoNB {
	case "":
		if e.r.Wasm {
			fail = e.runInPage()
		} else {
			fail = e.runDirectly()
		}
	case "gonbui":
		k.fallbacks[e.r.GoNB]++
		fail = e.runUnderGoNB()
	default:
		k.fallbacks[e.r.GoNB]++
		fail = e.runByGoNB()
	}
	e.outMu.Lock()
	e.out.Close()
	e.endOutput()
	e.outMu.Unlock()
	if f := e.fold; f != nil {
		e.fold = nil
		if data := f.display(); data != nil {
			e.show(data)
		}
	}
	if e.steps != nil {
		e.steps.Fail(fail)
		if e.req.Steps {
			if record := e.steps.Record(); record != nil {
				e.show(map[string]any{notebook.StepsType: record})
			}
		} else if data := e.steps.Display(e.cell); data != nil {
			e.show(data)
		}
	}
	if fail != nil && fail.NotRun {
		return fail
	}
	if e.made {
		e.r.Next.KeepWidgets(e.cell)
	}
	lost := e.r.Next.Settle()
	k.setSession(e.r.Next)
	e.remember()
	switch saved := k.manifest().Saves != saves; {
	case e.r.Keeps && !saved:
		e.unsaved(lost)
	case saved && fail != nil && e.wasInterrupted() != nil:
		fail.Lines = append(fail.Lines, "Variables have the values that they had at that moment.")
	}
	return fail
}

// build builds the program; with the go command if the user has given it flags.
func (e *execution) build() (exe string, f *failure) {
	build := func(r *rewrite.Result) (err error) {
		e.r = r
		if len(e.k.flags) == 0 && !r.Tests && !r.Race && !r.Cgo {
			exe, err = e.k.builder.build(e.ctx, r, e.k.dir)
		} else {
			exe = filepath.Join(e.k.f.build(), "flagged")
			args := append([]string{"-o", exe}, e.k.flags...)
			if r.Race {
				args = append(args, "-race")
			}
			env := []string(nil)
			if r.Cgo {
				if err := compilesC(); err != nil {
					return err
				}
				env = []string{"CGO_ENABLED=1"}
			}
			err = e.goBuild(env, args...)
		}
		return err
	}
	first := e.r
	err := build(first)
	var refused *compileError
	if errors.As(err, &refused) && first.Steps { // perhaps by what was added to record them
		if r := e.k.current().Stepped(false).Rewrite(e.cell, e.req.Code); len(r.Errors) == 0 && r.Program != nil && build(r) == nil {
			e.note("the steps of this cell can't be recorded: Go's compiler refuses the code for that (" + refused.first() + "). This is a mistake of Lectern's: please report the cell")
			return exe, nil
		}
		e.r = first
	}
	if errors.As(err, &refused) {
		if r := sparing(e.k.current(), first, e.cell, e.req.Code, refused, build); r != nil {
			for _, n := range r.Notes {
				if !slices.Contains(first.Notes, n) {
					e.note(n)
				}
			}
			r.Next.Whole(covers(e.k.flags))
			err = nil
		} else {
			e.r = first
		}
	}
	if err != nil {
		return "", e.notBuilt(err)
	}
	return exe, nil
}

// runDirectly builds the program and runs it.
func (e *execution) runDirectly() *failure {
	var watch stopwatch
	watch.begun = time.Now()
	exe, f := e.build()
	if f != nil {
		return f
	}
	args, err := splitArgs(e.r.Args)
	if err != nil {
		f := said("arguments", err.Error())
		f.NotRun = true
		return f
	}
	cmd := exec.Command(exe, args...)
	cmd.Dir, cmd.Env = e.k.dir, e.k.cellEnv()
	watch.built = time.Now()
	p, err := start(cmd, e.write, e.writeErr)
	if err != nil {
		return said("not started", err.Error())
	}
	e.watch(p)
	if e.r.Timed {
		watch.say(e, p)
	}
	if e.r.Tests && !p.cmd.ProcessState.Success() && !e.err.Held() && e.wasInterrupted() == nil {
		return said("test", "a test failed")
	}
	return e.outcome(p.cmd.ProcessState.String())
}

// watch waits for the end of a process, which an interrupt reaches in the meantime.
func (e *execution) watch(p *process) {
	e.mu.Lock()
	e.process = p
	if e.interrupted > 0 { // before it was there
		p.interrupt(false)
	}
	e.mu.Unlock()
	<-p.done
	e.mu.Lock()
	e.process = nil
	e.mu.Unlock()
	e.outMu.Lock()
	defer e.outMu.Unlock()
	if p.cmd.ProcessState.Success() || !e.err.Held() {
		e.err.Flush()
	}
}

// setSession makes a cell's session the current one; nothing changes it any more.
func (k *kernel) setSession(s *rewrite.Session) {
	k.mu.Lock()
	k.session = s
	k.mu.Unlock()
}

// unsaved says what is lost when a cell ends without saving.
func (e *execution) unsaved(lost []string) {
	if len(e.r.Restores)+len(lost) == 0 { // nothing but settings of its process
		return
	}
	text := "the cell ended before its values were kept"
	if len(e.r.Restores) > 0 {
		text += ": earlier variables have the values from before it"
		m := e.k.manifest()
		if slices.ContainsFunc(e.r.Restores, func(n string) bool { return len(m.Groups[m.Vars[n].Group].Arrays) > 0 }) {
			text += ", but for large arrays, which keep what was written into them"
		}
	}
	if len(lost) > 0 {
		text += "; " + strings.Join(lost, ", ") + " must be defined again"
	}
	e.note(text)
}

// print passes printed text on.
func (e *execution) print(text string) {
	e.stream("stdout", text)
	if e.steps != nil {
		e.steps.Print(text)
	}
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		e.line = ""
		text = text[i+1:]
	}
	if e.line += text; len(e.line) > mostPrompt {
		e.line = ""
	}
}

// mostPrompt is how many bytes of a line may be a question.
const mostPrompt = 500

// prompt is what the user is asked: the line that the cell has begun, as far as it does not stand in the output yet.
func (e *execution) prompt() string {
	line := e.line
	e.line = ""
	if seen := e.text.prompt(line); e.into == nil && e.fold == nil && !e.limits["stdout"].over {
		return seen
	}
	return line
}

// message obeys a message of the cell.
func (e *execution) message(kind string, fields []string) {
	if t, content := display.Message(kind, fields, e.cell); t != "" {
		e.publish(t, content)
		return
	}
	switch kind {
	case "fold":
		if len(fields) == 1 && e.fold == nil && foldsIn(e.k.dir) {
			e.fold = &fold{summary: fields[0]}
		}
	case "mine":
		if len(fields) == 2 {
			e.keepMine(fields[0], fields[1])
		}
	case "input":
		prompt := e.prompt()
		go e.k.input.ask(e, prompt)
	case "widget":
		e.widget(fields)
	case "error":
		if len(fields) == 2 {
			e.own = &failure{Name: fields[0], Value: fields[1], Lines: []string{fields[1]}}
		}
	default:
		if e.steps != nil {
			e.steps.Message(kind, fields)
		}
	}
}

// doubleClick is how soon after an interrupt another one means the same: a cell that is asked to end needs a moment to
// keep its values.
const doubleClick = 2 * time.Second

// interrupt stops the cell that runs, wherever it is. Asking again, later, is more than asking.
func (k *kernel) interrupt() {
	k.mu.Lock()
	e := k.run
	k.mu.Unlock()
	if e == nil {
		return
	}
	e.mu.Lock()
	if e.interrupted++; e.interrupted == 1 {
		e.asked = time.Now()
	}
	p, g, again := e.process, e.gonb, time.Since(e.asked) > doubleClick
	e.mu.Unlock()
	e.stop() // what the kernel itself does for the cell
	k.input.cancel()
	switch {
	case p != nil:
		p.interrupt(again)
	case g != nil:
		g.interrupt()
	}
}

// wasInterrupted is the failure of an interrupted cell, or nil.
func (e *execution) wasInterrupted() *failure {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.interrupted == 0 {
		return nil
	}
	return said("interrupted", "the cell was interrupted")
}

// notBuilt says why there is no program.
func (e *execution) notBuilt(err error) *failure {
	var c *compileError
	f := e.wasInterrupted()
	switch {
	case f != nil:
		f.Lines = append(f.Lines, "It had not begun to run: variables are as they were.")
	case errors.As(err, &c):
		f = e.place().Compiler(c.said)
	default:
		f = said("not built", err.Error())
	}
	f.NotRun = true
	return f
}
