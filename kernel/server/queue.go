//go:build unix

package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/lectern-go/lectern/kernel/jupyter"
)

// queue runs execute requests one after the other: rewriting a cell needs to know what the one before has kept. After
// an error the requests that were already waiting are not run, so that running all cells stops at the first failing
// one.
type queue struct {
	k       *kernel
	mu      sync.Mutex
	waiting []*jupyter.Message
	ended   time.Time // when the last cell ended, before anybody was told how
	before  int       // how many waited then
	wake    chan struct{}
}

// straggle is how long after an error requests may still arrive that were sent before their client could know of the
// error; the dates in their headers say which those are.
const straggle = 30 * time.Millisecond

func newQueue(k *kernel) *queue {
	return &queue{k: k, wake: make(chan struct{}, 1)}
}

// add puts a request at the end.
func (q *queue) add(m *jupyter.Message) {
	q.mu.Lock()
	q.waiting = append(q.waiting, m)
	q.mu.Unlock()
	q.nudge()
}

// nudge has the queue check whether there is something to do.
func (q *queue) nudge() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *queue) next() *jupyter.Message {
	for {
		q.mu.Lock()
		if len(q.waiting) > 0 {
			m := q.waiting[0]
			q.waiting = q.waiting[1:]
			q.mu.Unlock()
			return m
		}
		q.mu.Unlock()
		if m := q.k.widgets.next(); m != nil {
			return m
		}
		select {
		case <-q.wake:
		case <-q.k.ended:
			return nil
		}
	}
}

// run executes requests until the kernel ends.
func (q *queue) run() {
	for {
		m := q.next()
		if m == nil {
			return
		}
		if m.Header.Type == "comm_msg" {
			q.k.react(m)
		} else if !q.k.execute(m) {
			q.abort()
		}
	}
}

// mark notes that a cell has ended.
func (q *queue) mark() {
	q.mu.Lock()
	q.ended, q.before = time.Now(), len(q.waiting)
	q.mu.Unlock()
}

// abort answers without running them the requests that were sent before anybody could know of the failure: those that
// waited then, and those that arrive late, by the date in their headers.
func (q *queue) abort() {
	q.mu.Lock()
	failed := q.ended
	waiting := q.waiting[:q.before]
	q.waiting = q.waiting[q.before:]
	q.mu.Unlock()
	for _, m := range waiting {
		q.refuse(m)
	}
	for deadline := failed.Add(straggle); ; {
		q.mu.Lock()
		waiting, q.waiting = q.sentBefore(failed)
		stay := len(q.waiting)
		q.mu.Unlock()
		for _, m := range waiting {
			q.refuse(m)
		}
		if stay > 0 || time.Now().After(deadline) {
			return
		}
		select {
		case <-q.wake:
		case <-time.After(time.Until(deadline)):
		case <-q.k.ended:
			return
		}
	}
}

// sentBefore splits the waiting requests by the dates in their headers.
func (q *queue) sentBefore(t time.Time) (before, after []*jupyter.Message) {
	for _, m := range q.waiting {
		if sent, err := time.Parse(time.RFC3339Nano, m.Header.Date); err == nil && sent.Before(t) {
			before = append(before, m)
		} else {
			after = append(after, m)
		}
	}
	return before, after
}

// refuse answers a request that is not run.
func (q *queue) refuse(m *jupyter.Message) {
	q.k.publishStatus(m, "busy")
	q.k.jupyter.Shell.Send(m.Reply("execute_reply", map[string]any{"status": "aborted", "execution_count": q.k.count,
		"ename": "aborted", "evalue": "a cell before this one failed", "traceback": []string{}}))
	q.k.publishStatus(m, "idle")
}

// executeRequest is the content of an execute_request.
type executeRequest struct {
	Code        string            `json:"code"`
	Silent      bool              `json:"silent"`
	History     *bool             `json:"store_history"`
	StopOnError *bool             `json:"stop_on_error"`
	AllowStdin  *bool             `json:"allow_stdin"`
	Expressions map[string]string `json:"user_expressions"`
	Steps       bool              `json:"lectern_steps"` // record them, and publish the record alone
}

// unrecorded is added to the numbers of cells that aren't in the history: clients don't count those, but what they
// declare must not be taken for the last counted cell's.
const unrecorded = 1 << 20

func isTrue(b *bool) bool { return b == nil || *b }

// execute runs one request to its end. It reports whether waiting requests may run.
func (k *kernel) execute(m *jupyter.Message) bool {
	var req executeRequest
	if err := m.DecodeContent(&req); err != nil {
		k.jupyter.Shell.Send(m.Reply("execute_reply", map[string]any{"status": "error", "ename": "bad request", "evalue": err.Error(), "traceback": []string{}, "execution_count": k.count}))
		return true
	}
	k.publishStatus(m, "busy")
	defer k.publishStatus(m, "idle")
	k.mu.Lock()
	var number int
	if isTrue(req.History) && !req.Silent {
		k.count++
		number = k.count
		k.history = append(k.history, historyEntry{number, req.Code})
	} else {
		k.unrecorded++
		number = unrecorded + k.unrecorded
	}
	cell := k.count // as clients count
	r := newExecution(k, m, req, number)
	k.run = r
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		k.run = nil
		k.mu.Unlock()
	}()
	k.runAgain(m, number)
	if !req.Silent {
		k.publish(m, "execute_input", map[string]any{"code": req.Code, "execution_count": cell})
	}
	fail := k.c.translated(r.guard(r.do))
	k.queue.mark()
	reply := map[string]any{"status": "ok", "execution_count": cell, "payload": []any{}, "user_expressions": map[string]any{}}
	page := r.page()
	if fail != nil {
		if page != nil { // no client looks for it in the answer of a cell that has failed
			r.show(page)
		}
		if !req.Silent {
			k.publish(m, "error", fail.Content())
		}
		reply = fail.Content()
		reply["status"], reply["execution_count"] = "error", cell
	} else if page != nil {
		reply["payload"] = []any{map[string]any{"source": "page", "start": 0, "data": page}}
	}
	if fail == nil && len(req.Expressions) > 0 {
		out := map[string]any{}
		for name := range req.Expressions {
			out[name] = map[string]any{"status": "error", "ename": "not supported", "evalue": fmt.Sprintf("user expressions are not evaluated: run %s as a cell", name), "traceback": []string{}}
		}
		reply["user_expressions"] = out
	}
	a := m.Reply("execute_reply", reply)
	a.Metadata = []byte(`{}`)
	k.jupyter.Shell.Send(a)
	return fail == nil || !isTrue(req.StopOnError)
}
