//go:build unix

package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/lectern-go/lectern/kernel/front/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/internal/inband"
	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/keep"
)

// An execution is one cell on its way.
type execution struct {
	k    *kernel
	m    *jupyter.Message // the request
	req  executeRequest
	cell int
	r    *rewrite.Result

	outMu  sync.Mutex      // output comes from the cell itself and from GoNB
	out    inband.Splitter // standard output, with its messages
	err    *traces         // standard error, with panics
	steps  *stepRecord
	mu     sync.Mutex
	own    *failure       // an error that the cell reported in a message
	gonb   map[string]any // content of GoNB's reply
	silent []string       // lines of GoNB's own that nobody asked for
	line   string         // what has been printed since the last line break: a prompt, if input is asked for now

	replied, idle, gone bool
	interrupted         bool
	cancel              func() // ends what the front itself does for the cell
	done                chan struct{}
}

func newExecution(k *kernel, m *jupyter.Message, req executeRequest, cell int) *execution {
	e := &execution{k: k, m: m, req: req, cell: cell, done: make(chan struct{})}
	e.out = inband.Splitter{Token: k.token, Text: e.print, Say: e.message}
	e.err = &traces{print: func(s string) { e.stream("stderr", s) }}
	return e
}

// write takes a piece of standard output.
func (e *execution) write(text string) {
	e.outMu.Lock()
	defer e.outMu.Unlock()
	e.out.Write(text)
}

// publish sends an output of the cell, unless the request was silent.
func (e *execution) publish(msgType string, content any) {
	if !e.req.Silent {
		e.k.publish(e.m, msgType, content)
	}
}

func (e *execution) stream(name, text string) {
	if text != "" {
		e.publish("stream", map[string]string{"name": name, "text": text})
	}
}

func (e *execution) note(text string) { e.stream("stderr", "note: "+text+"\n") }

// do runs the cell to its end and returns what went wrong, or nil.
func (e *execution) do() *failure {
	k := e.k
	k.packages.Refresh()
	before := k.current()
	e.r = before.Rewrite(e.cell, e.req.Code)
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
	for _, n := range e.r.Notes {
		e.note(n)
	}
	if len(e.r.Errors) > 0 {
		return mistakes(e.r)
	}
	for _, c := range e.r.Commands {
		if c.Name == "%vars" {
			e.listVars()
		}
	}
	if len(e.r.Forget) > 0 {
		for _, d := range k.f.keep()[:1] {
			if err := keep.Forget(d, e.r.Forget...); err != nil {
				e.note(fmt.Sprintf("values could not be forgotten: %v", err))
			}
		}
	}
	if !e.r.Run {
		k.setSession(e.r.Next)
		return nil
	}
	<-k.ready
	k.mu.Lock()
	g, failed := k.gonb, k.failed
	k.mu.Unlock()
	if g == nil {
		return &failure{name: "no kernel", value: fmt.Sprint(failed), lines: []string{fmt.Sprint(failed)}}
	}
	if e.r.Steps {
		e.steps = newStepRecord(e.r.Next.Source(e.cell))
	}
	e.mu.Lock()
	for _, n := range e.r.Removed {
		e.silent = append(e.silent, fmt.Sprintf("key %q not found", n), " "+n+"\n")
	}
	e.mu.Unlock()
	saves := k.manifest().Saves
	g.counter++
	k.ran[g.counter] = ranCell{e.r.Lines, e.r.Text}
	content := map[string]any{"code": e.r.Code, "silent": false, "store_history": true, "user_expressions": map[string]any{},
		"allow_stdin": isTrue(e.req.AllowStdin), "stop_on_error": false}
	m := *e.m
	m.SetContent(content)
	stdout, err := openTap(k.f.output(), e.write)
	if err != nil {
		e.note(fmt.Sprintf("output comes through GoNB: %v", err))
	}
	if err := g.sockets.Shell.Send(&m); err != nil {
		return &failure{name: "no kernel", value: err.Error(), lines: []string{err.Error()}}
	}
	<-e.done
	if stdout != nil {
		stdout.close()
	}
	e.outMu.Lock()
	e.out.Close()
	e.outMu.Unlock()
	e.err.close(e)
	if e.steps != nil {
		e.steps.show(e)
	}
	fail := e.outcome(g)
	if fail != nil && fail.rolledBack {
		return fail // GoNB forgot the cell, and so do we
	}
	e.r.Next.Sent()
	lost := e.r.Next.Settle()
	k.setSession(e.r.Next)
	saved := k.manifest().Saves > saves
	if e.r.Keeps && !saved && !e.r.Pass {
		e.unsaved(lost)
	}
	return fail
}

// setSession makes a cell's session the current one; nothing changes it any more.
func (k *kernel) setSession(s *rewrite.Session) {
	k.mu.Lock()
	k.session = s
	k.mu.Unlock()
}

// unsaved says what is lost when a cell ends without saving.
func (e *execution) unsaved(lost []string) {
	text := "the cell ended before its values were kept"
	if len(e.r.Restores) > 0 {
		text += ": earlier variables have the values from before it"
	}
	if len(lost) > 0 {
		text += "; " + strings.Join(lost, ", ") + " must be defined again"
	}
	e.note(text)
}

// died notes that GoNB is gone.
func (e *execution) died() {
	e.mu.Lock()
	e.gone = true
	e.mu.Unlock()
	e.finished(true, true)
}

// finished notes the reply or the idle status; both end the cell.
func (e *execution) finished(replied, idle bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	was := e.replied && e.idle
	e.replied = e.replied || replied
	e.idle = e.idle || idle
	if !was && e.replied && e.idle {
		close(e.done)
	}
}

// print passes printed text on.
func (e *execution) print(text string) {
	e.stream("stdout", text)
	if e.steps != nil {
		e.steps.print(text)
	}
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		e.line = ""
		text = text[i+1:]
	}
	e.line += text
}

// isBinary names formats whose data is bytes; in Jupyter's messages it is base64.
func isBinary(mime string) bool {
	return strings.HasPrefix(mime, "image/") && mime != "image/svg+xml" || strings.HasPrefix(mime, "audio/") || strings.HasPrefix(mime, "video/") || mime == "application/pdf"
}

// bundle turns pairs of MIME type and data into Jupyter's form.
func bundle(pairs []string) map[string]any {
	data := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		mime, s := pairs[i], pairs[i+1]
		switch {
		case isBinary(mime):
			data[mime] = base64.StdEncoding.EncodeToString([]byte(s))
		case mime == "application/json" || strings.HasSuffix(mime, "+json"):
			var v any
			if json.Unmarshal([]byte(s), &v) == nil {
				data[mime] = v
			} else {
				data[mime] = s
			}
		default:
			data[mime] = s
		}
	}
	return data
}

// message obeys a message of the cell.
func (e *execution) message(kind string, fields []string) {
	empty := map[string]any{}
	switch kind {
	case "display":
		e.publish("display_data", map[string]any{"data": bundle(fields), "metadata": empty, "transient": empty})
	case "result":
		e.publish("execute_result", map[string]any{"data": bundle(fields), "metadata": empty, "execution_count": e.cell})
	case "live", "update":
		if len(fields) > 0 {
			t := map[string]string{"live": "display_data", "update": "update_display_data"}[kind]
			e.publish(t, map[string]any{"data": bundle(fields[1:]), "metadata": empty, "transient": map[string]string{"display_id": fields[0]}})
		}
	case "clear":
		e.publish("clear_output", map[string]any{"wait": len(fields) > 0 && fields[0] == "true"})
	case "input":
		prompt := e.line
		e.line = ""
		go e.k.input.ask(e, prompt)
	case "error":
		if len(fields) == 2 {
			e.own = &failure{name: fields[0], value: fields[1], lines: []string{fields[1]}}
		}
	default:
		if e.steps != nil {
			e.steps.message(kind, fields)
		}
	}
}

// fromIOPub handles what GoNB publishes.
func (k *kernel) fromIOPub(m *jupyter.Message) {
	k.mu.Lock()
	e := k.run
	k.mu.Unlock()
	if e == nil || m.Parent.ID != e.m.Header.ID {
		if m.Header.Type != "status" {
			k.jupyter.IOPub.Send(m)
		}
		return
	}
	switch m.Header.Type {
	case "status":
		var c struct {
			State string `json:"execution_state"`
		}
		if m.DecodeContent(&c) == nil && c.State == "idle" {
			e.finished(false, true)
		}
	case "execute_input", "error": // the front has its own
	case "stream":
		var c struct{ Name, Text string }
		if m.DecodeContent(&c) != nil || e.mute(c.Text) {
			return
		}
		if c.Name == "stderr" {
			e.err.write(c.Text)
		} else {
			e.write(c.Text)
		}
	default:
		if !e.req.Silent {
			k.jupyter.IOPub.Send(m)
		}
	}
}

// mute recognises what GoNB says about commands that the front has given it, and about the end of the program.
func (e *execution) mute(text string) bool {
	if strings.HasPrefix(text, ". removed ") || strings.HasPrefix(text, ". key ") {
		e.mu.Lock()
		silent := e.silent
		e.mu.Unlock()
		for _, s := range silent {
			if strings.Contains(text, s) {
				return true
			}
		}
	}
	text = strings.TrimPrefix(text, "^C\n")
	return strings.HasPrefix(text, "exit status ") && strings.Count(text, "\n") == 1 || strings.HasPrefix(text, "signal: ") && strings.Count(text, "\n") == 1
}

// fromShell handles GoNB's replies.
func (k *kernel) fromShell(m *jupyter.Message) {
	k.mu.Lock()
	e := k.run
	k.mu.Unlock()
	if m.Header.Type != "execute_reply" {
		k.jupyter.Shell.Send(m)
		return
	}
	if e == nil || m.Parent.ID != e.m.Header.ID {
		return
	}
	c := map[string]any{}
	m.DecodeContent(&c)
	e.mu.Lock()
	e.gonb = c
	e.mu.Unlock()
	e.finished(true, false)
}

// interrupt stops the cell that runs. A cell that is still being compiled gets its interrupt when it starts.
func (k *kernel) interrupt() {
	k.mu.Lock()
	e, g := k.run, k.gonb
	k.mu.Unlock()
	if e == nil || g == nil {
		return
	}
	e.mu.Lock()
	again := e.interrupted
	e.interrupted = true
	cancel := e.cancel
	e.mu.Unlock()
	if cancel != nil {
		cancel()
		return
	}
	g.cmd.Process.Signal(interruptSignal)
	k.input.cancel()
	if again {
		return
	}
	go func() {
		for {
			select {
			case <-e.done:
				return
			case <-k.ended:
				return
			case <-time.After(100 * time.Millisecond):
				g.cmd.Process.Signal(interruptSignal)
			}
		}
	}()
}
