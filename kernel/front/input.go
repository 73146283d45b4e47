//go:build unix

package main

import (
	"encoding/binary"
	"os"
	"sync"

	"github.com/lectern-go/lectern/kernel/jupyter"
)

// input carries lines that the user types to a cell that reads them, through a named pipe.
type input struct {
	path string

	mu      sync.Mutex
	waiting *execution // that has asked
	request string     // the ID of its input_request
}

// ask asks the user for a line.
func (in *input) ask(e *execution, prompt string) {
	if !isTrue(e.req.AllowStdin) {
		e.stream("stderr", "note: the cell reads its input, but nobody is there to type: it gets the end of the input\n")
		in.send(nil, true)
		return
	}
	m := e.m.Reply("input_request", map[string]any{"prompt": prompt, "password": false})
	in.mu.Lock()
	in.waiting, in.request = e, m.Header.ID
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
	e := k.input.waiting
	k.input.waiting = nil
	k.input.mu.Unlock()
	if e == nil { // asked by GoNB itself
		k.mu.Lock()
		g := k.gonb
		k.mu.Unlock()
		if g != nil {
			g.sockets.Stdin.Send(m)
		}
		return
	}
	var c struct {
		Value string `json:"value"`
	}
	if m.DecodeContent(&c) == nil {
		k.input.send([]byte(c.Value+"\n"), false)
	}
}

// fromStdin passes on GoNB's own questions, of shell lines after %with_inputs.
func (k *kernel) fromStdin(m *jupyter.Message) { k.jupyter.Stdin.Send(m) }
