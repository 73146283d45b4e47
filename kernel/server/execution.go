//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lectern-go/lectern/internal/humanize"
	"github.com/lectern-go/lectern/kernel/internal/report"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/internal/runner"
	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/kernel/persist"
)

// An execution is one cell on its way.
type execution struct {
	*runner.Cell
	*output
	req   executeRequest
	ctx   context.Context // ends when the cell is interrupted
	stop  context.CancelFunc
	pages [][2]string // what it asked to read, as Markdown and as text

	mu          sync.Mutex
	process     *process  // that runs now
	gonb        *request  // to GoNB, that is being answered now
	interrupted int       // how often
	asked       time.Time // when it was interrupted first
	loaded      bool      // the session is one that was saved
}

func newExecution(k *kernel, m *jupyter.Message, req executeRequest, cell int) *execution {
	e := &execution{req: req, output: newOutput(k, m, req.Silent)}
	e.Cell = runner.New(e, cell, k.token, &k.widgets.Widgets)
	e.Root = k.c.local()
	e.ctx, e.stop = context.WithCancel(context.Background())
	return e
}

// stdout and stderr take pieces of output: a mistake of ours in there does not end the kernel.
func (e *execution) stdout(text string) {
	defer survive("output")
	e.Stdout(text)
}

func (e *execution) stderr(text string) {
	defer survive("output")
	e.Stderr(text)
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
		return commands{e}.document(name)
	}
	e.takeRecorded()
	k.packages.Refresh()
	before := k.session.Current()
	if fail := e.understand(before); fail != nil {
		return fail
	}
	for _, n := range e.Result.Notes {
		e.note(n)
	}
	if len(e.Result.Errors) > 0 {
		e.missMine()
		return report.Mistakes(e.Result)
	}
	undo := e.dropValues()
	defer func() {
		if k.session.Current() == before { // it has not begun to run
			undo()
		}
	}()
	defer func() {
		if e.copy != nil {
			if err := e.copy.Close(); err != nil && fail == nil {
				fail = said("capture", err.Error())
			}
		}
	}()
	if e.Result.Whole != "" {
		fail = commands{e}.wholeCell()
	} else {
		fail = commands{e}.obey(e.Result.Commands)
	}
	if fail == nil && e.Result.Program != nil {
		return e.runProgram()
	}
	e.Result.Next.Settle() // what it would have defined is not there
	k.session.Set(e.Result.Next)
	e.remember()
	return fail
}

// dropValues forgets the values of variables that the cell removes or declares anew. What it returns brings them back.
func (e *execution) dropValues() (undo func()) {
	dir, resets := e.k.session.Dir, e.resets()
	if !resets && len(e.Result.Forget) == 0 {
		return func() {}
	}
	was := e.k.session.Manifest()
	if resets {
		if err := persist.Reset(dir); err != nil {
			e.note(fmt.Sprintf("not all could be forgotten: %v", err))
		}
	}
	if err := persist.Forget(dir, e.Result.Forget...); err != nil {
		e.note(fmt.Sprintf("values could not be forgotten: %v", err))
	}
	return func() {
		if err := was.Undo(dir); err != nil {
			e.note(fmt.Sprintf("values could not be brought back: %v", err))
		}
	}
}

// understand rewrites the cell, after fetching packages that it needs if that is wanted.
func (e *execution) understand(before *rewrite.Session) *failure {
	if e.req.Steps {
		before = before.Stepped(true)
	}
	e.Result = before.Rewrite(e.Number, e.req.Code)
	if err := e.k.packages.NoHome(); err != nil && (e.Result.Program != nil || len(e.Result.Errors) > 0) {
		f := said("no home", err.Error())
		f.NotRun = true
		return f
	}
	fetched := false
	for _, c := range e.Result.Commands { // first of all, since the cell may import what it fetches
		if c.Name == "%get" {
			fetched = true
			if f := (commands{e}).get(c); f != nil {
				return f
			}
		}
	}
	if fetched {
		e.Result = before.Rewrite(e.Number, e.req.Code)
	}
	for tried := map[string]bool{}; e.Result.Missing != "" && !tried[e.Result.Missing]; e.Result = before.Rewrite(e.Number, e.req.Code) {
		ok, hint := e.k.mayFetch(e.Result.Missing)
		if !ok {
			if hint != "" {
				e.Result.Errors[0].Hint = hint
			}
			break
		}
		tried[e.Result.Missing] = true
		hint, f := e.autoget(e.Result.Missing)
		if f != nil {
			return f
		}
		if hint != "" {
			e.Result.Errors[0].Hint = hint
			break
		}
	}
	return nil
}

// runProgram builds and runs the cell's program and settles what the cells after it know.
func (e *execution) runProgram() *failure {
	k := e.k
	e.Begin(&k.session)
	k.plain = e.Result.Plain
	var fail *failure
	switch e.Result.GoNB {
	case "":
		if e.Result.Wasm {
			fail = e.runInPage()
		} else {
			fail = e.runDirectly()
		}
	case "gonbui":
		k.fallbacks[e.Result.GoNB]++
		fail = e.runUnderGoNB()
	default:
		k.fallbacks[e.Result.GoNB]++
		fail = e.runByGoNB()
	}
	e.Close(e.endOutput)
	if f := e.fold; f != nil {
		e.fold = nil
		if data := f.display(); data != nil {
			e.show(data)
		}
	}
	if record := e.EndSteps(fail, e.req.Steps); record != nil {
		e.show(map[string]any{notebook.StepsType: record})
	}
	if fail != nil && fail.NotRun {
		return fail
	}
	lost, saved := k.session.End(e.Cell)
	e.remember()
	switch {
	case e.Result.Keeps && !saved:
		e.unsaved(lost, fail == nil)
	case saved && fail != nil && e.wasInterrupted() != nil:
		fail.Lines = append(fail.Lines, "Variables have the values that they had at that moment.")
	}
	return fail
}

// build builds the program; with the go command if the user has given it flags.
func (e *execution) build() (exe string, f *failure) {
	build := func(r *rewrite.Result) (err error) {
		e.Result = r
		if len(e.k.flags) == 0 && !r.Tests && !r.Race && !r.Cgo {
			exe, err = e.k.builder.build(e.ctx, r)
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
	first := e.Result
	err := build(first)
	var refused *compileError
	if errors.As(err, &refused) && first.Steps { // perhaps by what was added to record them
		if r := e.k.session.Current().Stepped(false).Rewrite(e.Number, e.req.Code); len(r.Errors) == 0 && r.Program != nil && build(r) == nil {
			e.note("the steps of this cell can't be recorded: Go's compiler refuses the code for that (" + refused.first() + "). This is a bug in Lectern: please report the cell")
			return exe, nil
		}
		e.Result = first
	}
	if errors.As(err, &refused) {
		if r := keepingLess(e.k.session.Current(), first, e.Number, e.req.Code, refused, build); r != nil {
			for _, n := range r.Notes {
				if !slices.Contains(first.Notes, n) {
					e.note(n)
				}
			}
			r.Next.Whole(covers(e.k.flags))
			err = nil
		} else {
			e.Result = first
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
	args, err := splitArgs(e.Result.Args)
	if err != nil {
		f := said("arguments", err.Error())
		f.NotRun = true
		return f
	}
	cmd := exec.Command(exe, args...)
	cmd.Dir, cmd.Env = e.k.dir, e.k.cellEnv()
	watch.built = time.Now()
	p, f := e.run(cmd)
	if f != nil {
		return f
	}
	if e.Result.Timed {
		watch.say(e, p)
	}
	if e.Result.Tests && !p.cmd.ProcessState.Success() && !e.Panicked() && e.wasInterrupted() == nil {
		return said("test", "a test failed")
	}
	return e.Outcome(p.cmd.ProcessState.String(), e.wasInterrupted())
}

// run runs the cell's program to its end.
func (e *execution) run(cmd *exec.Cmd) (*process, *failure) {
	p, err := start(cmd, e.stdout, e.stderr)
	if err != nil {
		return nil, said("not started", err.Error())
	}
	e.watch(p)
	return p, nil
}

// watch waits for the end of a process, which interrupts reach in the meantime.
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
	e.Exited(!p.cmd.ProcessState.Success())
}

// unsaved names the values that are lost when a cell ends without saving. If well is true, its program reported no
// failure.
func (e *execution) unsaved(lost []string, well bool) {
	if len(e.Result.Restores)+len(lost) == 0 { // nothing but settings of its process
		if well {
			e.note(report.EndedEarly)
		}
		return
	}
	text := report.NotKept
	if len(e.Result.Restores) > 0 {
		text += ": earlier variables have the values from before it"
		m := e.k.session.Manifest()
		if slices.ContainsFunc(e.Result.Restores, func(n string) bool { return len(m.Groups[m.Vars[n].Group].Arrays) > 0 }) {
			text += ", except for large arrays, which keep what was written into them"
		}
	}
	if len(lost) > 0 {
		text += "; " + strings.Join(lost, ", ") + " must be defined again"
	}
	e.note(text)
}

// Ask asks the user for a line. What the output shows already is not a prompt.
func (e *execution) Ask(prompt string) {
	if seen := e.text.prompt(prompt); e.into == nil && e.fold == nil && !e.limits["stdout"].over {
		prompt = seen
	}
	go e.k.input.ask(e, prompt)
}

// Obey obeys the messages that a page doesn't know.
func (e *execution) Obey(kind string, fields []string) bool {
	switch {
	case kind == "fold" && len(fields) == 1:
		if e.fold == nil && foldsIn(e.k.dir) {
			e.fold = &fold{summary: fields[0]}
		}
	case kind == "mine" && len(fields) == 2:
		e.keepMine(fields[0], fields[1])
	default:
		return false
	}
	return true
}

// doubleClick is how soon after an interrupt another one counts as the same: a cell that is asked to end needs a moment
// to keep its values.
const doubleClick = 2 * time.Second

// interrupt stops the running cell, wherever it is. A second, later interrupt is more than a request.
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
		f = e.Place().Compiler(c.said)
	default:
		f = said("not built", err.Error())
	}
	f.NotRun = true
	return f
}
