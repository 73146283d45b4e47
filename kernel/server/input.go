//go:build unix

package main

import (
	"encoding/binary"
	"io"
	"os"
	"sync"
	"time"

	"github.com/lectern-go/lectern/kernel/jupyter"
)

// input carries lines that the user types to a cell that reads them, through a named pipe.
type input struct {
	path string

	mu      sync.Mutex
	waiting *execution     // that has asked
	into    io.WriteCloser // what the shell line that runs reads
	secret  bool           // it is a password
}

// ask asks the user for a line.
func (in *input) ask(e *execution, prompt string) {
	if !isTrue(e.req.AllowStdin) {
		e.Stream("stderr", "note: the cell reads its input, but nobody is there to type: the input ends at once\n")
		in.send(nil, true)
		return
	}
	m := e.m.Reply("input_request", map[string]any{"prompt": prompt, "password": false})
	in.mu.Lock()
	in.waiting = e
	in.mu.Unlock()
	e.k.jupyter.Stdin.Send(m)
}

// send writes a line into the pipe, or the end of the input.
func (in *input) send(line []byte, end bool) {
	// Opened for both ways, so that this never waits for a reader.
	f, err := os.OpenFile(in.path, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer f.Close()
	head := make([]byte, 5, 5+len(line))
	if !end {
		head[0] = 1
	}
	binary.BigEndian.PutUint32(head[1:], uint32(len(line)))
	f.Write(append(head, line...))
}

// cancel forgets a question: the cell is being interrupted.
func (in *input) cancel() {
	in.mu.Lock()
	in.waiting = nil
	in.mu.Unlock()
}

// onStdin handles the user's answer.
func (k *kernel) onStdin(m *jupyter.Message) {
	k.input.mu.Lock()
	e, into := k.input.waiting, k.input.into
	k.input.waiting = nil
	k.input.mu.Unlock()
	var c struct {
		Value string `json:"value"`
	}
	if e == nil { // asked by GoNB itself
		if g := k.running(); g != nil {
			g.sockets.Stdin.Send(m)
		}
	} else if m.DecodeContent(&c) == nil && into != nil {
		io.WriteString(into, c.Value+"\n")
		k.input.askAgain(e, into)
	} else {
		k.input.send([]byte(c.Value+"\n"), false)
	}
}

// feed lets the user type what a shell line reads, after a short delay: most lines read nothing.
func (in *input) feed(e *execution, into io.WriteCloser, secret bool) {
	in.mu.Lock()
	in.into, in.secret = into, secret
	in.mu.Unlock()
	in.askAgain(e, into)
}

// unfeed says that the shell line has ended.
func (in *input) unfeed() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.into.Close()
	in.into, in.waiting = nil, nil
}

// askAgain asks the user for a line if the shell line still runs a little later.
func (in *input) askAgain(e *execution, into io.WriteCloser) {
	time.AfterFunc(inputAfter, func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		if in.into != into {
			return
		}
		if !isTrue(e.req.AllowStdin) {
			into.Close()
			return
		}
		e.text.flush()
		in.waiting = e
		e.k.jupyter.Stdin.Send(e.m.Reply("input_request", map[string]any{"prompt": " ", "password": in.secret}))
	})
}
