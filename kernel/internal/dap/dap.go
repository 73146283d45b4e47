// Package dap speaks the Debug Adapter Protocol with a debugger.
package dap

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/lectern-go/lectern/kernel/internal/calls"
)

// A Client is a connection to a debugger. Its methods may be called from several goroutines.
type Client struct {
	conn   io.ReadWriteCloser
	calls  *calls.Conn[response]
	events chan Event
	closed chan struct{}
	once   sync.Once
}

// An Event is what the debugger says unasked.
type Event struct {
	Event string          `json:"event"`
	Body  json.RawMessage `json:"body"`
}

// A Refusal is a request that the debugger does not fulfil.
type Refusal struct{ Command, Reason string }

func (r *Refusal) Error() string { return r.Reason }

// errEnded is what requests get that the debugger can't answer any more.
var errEnded = errors.New("the debugger has ended")

type response struct {
	Type       string          `json:"type"`
	RequestSeq int             `json:"request_seq"`
	Success    bool            `json:"success"`
	Command    string          `json:"command"`
	Message    string          `json:"message"`
	Body       json.RawMessage `json:"body"`
	Event      string          `json:"event"`
}

// NewClient returns a client on a connection, which it closes when it is closed itself.
func NewClient(conn io.ReadWriteCloser) *Client {
	c := &Client{conn: conn, calls: calls.New[response](conn), events: make(chan Event, 16), closed: make(chan struct{})}
	go c.read()
	return c
}

// Events is closed when the connection has ended. What comes meanwhile has to be received: the answers stand behind it.
func (c *Client) Events() <-chan Event { return c.events }

// Close ends the connection.
func (c *Client) Close() {
	c.once.Do(func() {
		close(c.closed)
		c.conn.Close()
	})
}

// Call sends a request and waits for its answer, whose body goes to result, a pointer or nil. The error is a [*Refusal]
// if the debugger says no.
func (c *Client) Call(ctx context.Context, command string, arguments, result any) error {
	if arguments == nil {
		arguments = struct{}{}
	}
	r, err := c.calls.Call(ctx, func(number int) any {
		return map[string]any{"type": "request", "seq": number, "command": command, "arguments": arguments}
	})
	switch {
	case err == errEnded || ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return err
	case err != nil:
		return fmt.Errorf("dap: %s: %w", command, err)
	case !r.Success:
		return &Refusal{command, r.reason()}
	case result == nil:
		return nil
	}
	return json.Unmarshal(r.Body, result)
}

// reason is what the debugger says about a failure, the longer of its two texts.
func (r *response) reason() string {
	var body struct{ Error struct{ Format string } }
	json.Unmarshal(r.Body, &body) // a response without a body has the message alone
	return cmp.Or(body.Error.Format, r.Message, "no reason given")
}

// read hands on what the debugger says until it ends.
func (c *Client) read() {
	defer close(c.events)
	c.calls.Read(c.conn, errEnded, func(message []byte) error {
		var m response
		if err := json.Unmarshal(message, &m); err != nil {
			return err
		}
		switch m.Type {
		case "event":
			select {
			case c.events <- Event{m.Event, m.Body}:
			case <-c.closed:
			}
		case "response":
			c.calls.Answer(m.RequestSeq, m)
		}
		return nil
	})
}
