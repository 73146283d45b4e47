//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/persist"
)

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

// sendBreakpoints sets the breakpoints of a cell. The compiler may have made nothing of a line: then the next one that
// it has made something of is meant.
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
	// Of a running program it is refused: then it holds for the next.
	c.client.Call(ctx, "setExceptionBreakpoints", map[string]any{"filters": filters}, nil)
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
		f := frames[0]
		if c.step == "stepIn" && c.repeats > 0 && c.from.Line == f.Line && c.from.Name == f.Name && *c.from.Source == *f.Source {
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
