//go:build unix

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lectern-go/lectern/kernel/internal/gotools"
	"github.com/lectern-go/lectern/kernel/jupyter"
)

// A debugger answers the debugger of Jupyter's front ends. What they ask about a cell that stands still is Delve's to
// answer, see debuggedCell; breakpoints and the texts of cells are remembered here. A front end knows a cell by a path
// that it makes of a hash of the cell's text.
type debugger struct {
	k    *kernel
	last chan struct{} // closed when the request before has been answered

	mu     sync.Mutex
	on     bool                    // somebody debugs
	panics bool                    // a panic is to stop the cell
	texts  map[string]string       // of cells, by path
	points map[string][]breakpoint // by path
	values map[string]string       // of variables when a debugged cell ended, by name
	cell   *debuggedCell           // that runs, or nil
	seq    int
}

// A breakpoint is what a front end wants.
type breakpoint struct {
	Line         int    `json:"line"`
	Condition    string `json:"condition,omitempty"`
	HitCondition string `json:"hitCondition,omitempty"`
}

// A debugRequest is the content of a debug_request, a request of the Debug Adapter Protocol.
type debugRequest struct {
	Seq       int             `json:"seq"`
	Command   string          `json:"command"`
	Arguments json.RawMessage `json:"arguments"`
}

// read reads the arguments; what is missing stays zero.
func (r *debugRequest) read(v any) error {
	if len(r.Arguments) == 0 {
		return nil
	}
	if err := json.Unmarshal(r.Arguments, v); err != nil {
		return fmt.Errorf("arguments of %s: %w", r.Command, err)
	}
	return nil
}

func newDebugger(k *kernel) *debugger {
	answered := make(chan struct{})
	close(answered)
	return &debugger{k: k, last: answered, texts: map[string]string{}, points: map[string][]breakpoint{}, values: map[string]string{}}
}

// receive answers a debug_request when those before it are answered.
func (d *debugger) receive(m *jupyter.Message) {
	before, done := d.last, make(chan struct{})
	d.last = done
	go func() {
		defer close(done)
		<-before
		d.k.publishStatus(m, "busy")
		defer d.k.publishStatus(m, "idle")
		d.k.jupyter.Control.Send(m.Reply("debug_reply", d.answer(m)))
	}()
}

// withoutAnswer are the bodies of replies that have nothing to say: front ends look into them unasked.
var withoutAnswer = map[string]map[string]any{
	"setBreakpoints": {"breakpoints": []any{}}, "stackTrace": {"stackFrames": []any{}, "totalFrames": 0}, "scopes": {"scopes": []any{}},
	"variables": {"variables": []any{}}, "inspectVariables": {"variables": []any{}}, "threads": {"threads": []any{}}, "modules": {"modules": []any{}, "totalModules": 0},
	"richInspectVariables": {"data": map[string]any{}, "metadata": map[string]any{}},
}

// answer returns the content of the reply.
func (d *debugger) answer(m *jupyter.Message) (reply map[string]any) {
	var req debugRequest
	d.mu.Lock()
	d.seq++
	seq := d.seq
	d.mu.Unlock()
	refuse := func(reason string) map[string]any {
		body := withoutAnswer[req.Command]
		if body == nil {
			body = map[string]any{}
		}
		return map[string]any{"type": "response", "seq": seq, "request_seq": req.Seq, "command": req.Command, "success": false, "message": reason, "body": body}
	}
	defer func() {
		if p := recover(); p != nil {
			f := ourMistake(p)
			fmt.Fprintln(os.Stderr, "lectern-kernel: debug_request:", strings.Join(f.Lines, "\n"))
			reply = refuse(f.Value)
		}
	}()
	err := m.DecodeContent(&req)
	var body any
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), debugAnswer)
		defer cancel()
		body, err = d.do(ctx, &req)
	}
	if err != nil {
		return refuse(err.Error())
	}
	if body == nil {
		body = map[string]any{}
	}
	return map[string]any{"type": "response", "seq": seq, "request_seq": req.Seq, "command": req.Command, "success": true, "body": body}
}

// debugAnswer is how long Delve may take to answer.
const debugAnswer = 30 * time.Second

// alwaysAnswered are the requests that are answered before somebody debugs.
var alwaysAnswered = []string{"initialize", "debugInfo", "inspectVariables", "richInspectVariables", "modules", "copyToGlobals", "disconnect"}

// do does what a request asks for and returns the body of the reply.
func (d *debugger) do(ctx context.Context, req *debugRequest) (body any, err error) {
	d.mu.Lock()
	on, cell := d.on, d.cell
	d.mu.Unlock()
	if !on && !slices.Contains(alwaysAnswered, req.Command) {
		return nil, errors.New("nobody debugs: initialize comes first")
	}
	switch req.Command {
	case "initialize":
		d.mu.Lock()
		d.on = true
		d.mu.Unlock()
		return map[string]any{
			"supportsConfigurationDoneRequest": true, "supportsConditionalBreakpoints": true, "supportsHitConditionalBreakpoints": true,
			"supportsEvaluateForHovers": true, "supportsModulesRequest": false,
			"exceptionBreakpointFilters": []map[string]any{{"filter": panicFilter, "label": "Panics", "default": false}},
		}, nil
	case "attach":
		d.event("initialized", map[string]any{})
		return nil, nil
	case "configurationDone":
		return nil, nil
	case "disconnect":
		d.disconnect()
		return nil, nil
	case "debugInfo":
		return d.info(), nil
	case "dumpCell":
		return d.dump(req)
	case "setBreakpoints":
		return d.setBreakpoints(ctx, req)
	case "setExceptionBreakpoints":
		return d.setPanics(ctx, req)
	case "source":
		return d.source(req)
	case "modules":
		return d.modules(), nil
	case "copyToGlobals":
		return nil, errors.New("a Go program can't get another variable while it runs")
	case "inspectVariables":
		if cell.stands() {
			return cell.allVariables(ctx)
		}
		return map[string]any{"variables": d.kept()}, nil
	case "richInspectVariables":
		return d.inspect(ctx, cell, req)
	case "variables":
		if !cell.stands() {
			return withoutAnswer["variables"], nil
		}
		return cell.variables(ctx, req)
	case "threads":
		if !cell.stands() {
			return withoutAnswer["threads"], nil
		}
		return cell.forward(ctx, req)
	case "stackTrace":
		return cell.stackTrace()
	case "scopes":
		return cell.scopes(ctx, req)
	case "evaluate":
		return cell.evaluateThere(ctx, req)
	case "continue", "next", "stepIn", "stepOut":
		return cell.resume(ctx, req)
	case "pause":
		return nil, cell.pause(ctx)
	}
	return nil, fmt.Errorf("%s is nothing that this debugger does", req.Command)
}

// panicFilter is what front ends call panics when they ask to stop at them.
const panicFilter = "panic"

// event publishes an event.
func (d *debugger) event(name string, body any) {
	d.mu.Lock()
	d.seq++
	seq := d.seq
	d.mu.Unlock()
	d.k.mu.Lock()
	var parent *jupyter.Message
	if e := d.k.run; e != nil {
		parent = e.m
	}
	d.k.mu.Unlock()
	d.k.publish(parent, "debug_event", map[string]any{"type": "event", "seq": seq, "event": name, "body": body})
}

// disconnect ends debugging. A cell that stands still runs on.
func (d *debugger) disconnect() {
	d.mu.Lock()
	cell := d.cell
	d.on, d.panics = false, false
	clear(d.points)
	d.mu.Unlock()
	cell.detach()
}

// interrupt interrupts a cell's process. One that stands still hears nothing, and Delve had better not leave one that
// is about to stop to keep its values: so Delve leaves first. A second interrupt waits for nobody.
func (d *debugger) interrupt(p *process, again bool) {
	d.mu.Lock()
	cell := d.cell
	d.mu.Unlock()
	if cell == nil || again {
		p.interrupt(again)
		return
	}
	go func() {
		cell.detach()
		if !p.ended() {
			p.interrupt(false)
		}
	}()
}

// Of the paths of cells: the folder and hashSeed are told to front ends.
const (
	cellSuffix = ".go"
	hashSeed   = 0xc70f6907
)

func (d *debugger) prefix() string { return d.k.f.cells() + string(filepath.Separator) }

// path is what front ends call a cell with a text.
func (d *debugger) path(code string) string {
	return fmt.Sprint(d.prefix(), murmur2(code, hashSeed), cellSuffix)
}

// murmur2 is the hash of that name by Austin Appleby.
func murmur2(text string, seed uint32) uint32 {
	const m = 0x5bd1e995
	h := seed ^ uint32(len(text))
	b := []byte(text)
	for ; len(b) >= 4; b = b[4:] {
		k := binary.LittleEndian.Uint32(b) * m
		k ^= k >> 24
		h = h*m ^ k*m
	}
	if len(b) > 0 {
		for i, x := range b {
			h ^= uint32(x) << (8 * i)
		}
		h *= m
	}
	h ^= h >> 13
	h *= m
	return h ^ h>>15
}

func (d *debugger) info() map[string]any {
	d.mu.Lock()
	defer d.mu.Unlock()
	points := []map[string]any{}
	for _, path := range slices.Sorted(maps.Keys(d.points)) {
		points = append(points, map[string]any{"source": path, "breakpoints": d.points[path]})
	}
	threads := []int{}
	if d.cell.stands() {
		threads = append(threads, d.cell.threadID())
	}
	return map[string]any{"isStarted": d.on, "hashMethod": "Murmur2", "hashSeed": hashSeed, "tmpFilePrefix": d.prefix(), "tmpFileSuffix": cellSuffix,
		"breakpoints": points, "stoppedThreads": threads, "richRendering": true, "exceptionPaths": []string{"Panics"}, "copyToGlobals": false}
}

// dump remembers the text of a cell.
func (d *debugger) dump(req *debugRequest) (any, error) {
	var a struct{ Code string }
	if err := req.read(&a); err != nil {
		return nil, err
	}
	path := d.path(a.Code)
	if err := os.WriteFile(path, []byte(a.Code), 0o600); err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.texts[path] = a.Code
	d.mu.Unlock()
	return map[string]any{"sourcePath": path}, nil
}

// setBreakpoints replaces the breakpoints of a source.
func (d *debugger) setBreakpoints(ctx context.Context, req *debugRequest) (any, error) {
	var a struct {
		Source      struct{ Path string }
		Breakpoints []breakpoint
		Lines       []int
	}
	if err := req.read(&a); err != nil {
		return nil, err
	}
	path := a.Source.Path
	d.mu.Lock()
	points := a.Breakpoints
	if text, ok := d.texts[path]; ok {
		for i, p := range points {
			points[i].Line = statementLine(text, p.Line)
		}
	}
	if len(points) > 0 {
		d.points[path] = points
	} else {
		delete(d.points, path)
	}
	cell := d.cell
	d.mu.Unlock()
	cell.setBreakpoints(ctx, path)
	set := []map[string]any{}
	for _, p := range points {
		set = append(set, map[string]any{"verified": true, "line": p.Line, "source": map[string]string{"path": path}})
	}
	return map[string]any{"breakpoints": set}, nil
}

// statementLine is the first line from a line of a cell on that has code, and not just brackets that close; the line
// itself if there is none.
func statementLine(code string, line int) int {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(code))
	var s scanner.Scanner
	s.Init(file, []byte(code), func(token.Position, string) {}, 0)
	for {
		pos, tok, _ := s.Scan()
		switch tok {
		case token.EOF:
			return line
		case token.RBRACE, token.RPAREN, token.RBRACK, token.SEMICOLON, token.COMMA:
			continue
		}
		if at := fset.Position(pos).Line; at >= line {
			return at
		}
	}
}

func (d *debugger) setPanics(ctx context.Context, req *debugRequest) (any, error) {
	var a struct{ Filters []string }
	if err := req.read(&a); err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.panics = slices.Contains(a.Filters, panicFilter)
	cell := d.cell
	d.mu.Unlock()
	cell.setPanics(ctx)
	return nil, nil
}

// source returns the text of a cell, or of a file that a program was built from.
func (d *debugger) source(req *debugRequest) (any, error) {
	var a struct{ Source struct{ Path string } }
	if err := req.read(&a); err != nil {
		return nil, err
	}
	d.mu.Lock()
	text, ok := d.texts[a.Source.Path]
	d.mu.Unlock()
	if !ok {
		b, err := os.ReadFile(a.Source.Path)
		if err != nil {
			return nil, errors.New("there is no such source")
		}
		text = string(b)
	}
	return map[string]any{"content": text, "mimeType": "text/x-go"}, nil
}

// modules lists the cells that have run.
func (d *debugger) modules() map[string]any {
	s := d.k.current()
	list := []map[string]any{}
	for n := range s.Current() + 1 {
		if src := s.Source(n); src != nil {
			list = append(list, map[string]any{"id": n, "name": cellName(n), "path": d.path(src.Code)})
		}
	}
	return map[string]any{"modules": list, "totalModules": len(list)}
}

func cellName(n int) string { return fmt.Sprintf("cell [%d]", n) }

// A debugVariable is a variable as front ends list them.
type debugVariable struct {
	Name         string `json:"name"`
	Value        string `json:"value"`
	Type         string `json:"type,omitempty"`
	Reference    int    `json:"variablesReference"`
	EvaluateName string `json:"evaluateName,omitempty"`
	Indexed      int    `json:"indexedVariables,omitempty"`
	Named        int    `json:"namedVariables,omitempty"`
}

// kept lists the variables that live on from cell to cell: with the values that they had when a debugged cell ended, or
// what else is known without a program that holds them.
func (d *debugger) kept() []debugVariable {
	rows := varRows(d.k.current().Vars(), d.k.manifest())
	d.mu.Lock()
	defer d.mu.Unlock()
	list := []debugVariable{}
	for _, r := range rows {
		if r.typ != "" {
			list = append(list, debugVariable{Name: r.name, Type: r.typ, Value: cmp.Or(d.values[r.name], r.note, r.shape)})
		}
	}
	return list
}

// remember notes the values of variables.
func (d *debugger) remember(list []debugVariable) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, v := range list {
		d.values[v.Name] = v.Value
	}
}

// inspect shows one variable.
func (d *debugger) inspect(ctx context.Context, cell *debuggedCell, req *debugRequest) (any, error) {
	var a struct {
		VariableName string
		FrameID      int `json:"frameId"`
	}
	if err := req.read(&a); err != nil {
		return nil, err
	}
	text := ""
	if cell.stands() {
		v, err := cell.evaluate(ctx, a.VariableName, a.FrameID)
		if err != nil {
			return nil, err
		}
		text = v.Result
	} else {
		list := d.kept()
		i := slices.IndexFunc(list, func(v debugVariable) bool { return v.Name == a.VariableName })
		if i < 0 {
			return nil, fmt.Errorf("there is no variable %s", a.VariableName)
		}
		text = strings.TrimSuffix(list[i].Type+", "+list[i].Value, ", ")
	}
	return map[string]any{"data": map[string]string{"text/plain": text}, "metadata": map[string]any{}}, nil
}

// wants reports whether a cell is to run under Delve, which it builds if it has to.
func (d *debugger) wants(e *execution) bool {
	d.mu.Lock()
	on := d.on
	for _, name := range slices.Concat(e.r.Restores, e.r.Defines) { // which may change now
		delete(d.values, name)
	}
	d.mu.Unlock()
	switch {
	case !on:
		return false
	case len(d.k.flags) > 0 || e.r.Tests || e.r.Race:
		e.note("breakpoints don't stop a cell that the go command builds, for %test, %race or %goflags")
		return false
	case gotools.HasDelve(d.k.c.root, d.k.c.bin):
		return true
	}
	e.note("the debugger, Delve, is built first; that takes a minute, once")
	cmd := gotools.InstallDelve(e.ctx, d.k.c.root, d.k.c.bin)
	if offline() {
		cmd.Env = append(cmd.Env, "GOPROXY=off")
	}
	text, err := cmd.CombinedOutput()
	if err == nil || e.ctx.Err() != nil {
		return err == nil
	}
	why := lastLine(text)
	if why == "" {
		why = err.Error()
	}
	e.note(fmt.Sprintf("the cell runs without breakpoints: Delve can't be built (%s). It is downloaded once, so run a cell with the debugger on where there is a network", why))
	return false
}

// lastLine is the last line of what a program has said.
func lastLine(text []byte) string {
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(bytes.TrimSpace(lines[len(lines)-1]))
}
