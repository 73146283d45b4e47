// Package dap speaks the Debug Adapter Protocol with a debugger.
package dap

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"sync"
)

// A Client is a connection to a debugger. Its methods may be called from several goroutines.
type Client struct {
	conn   io.ReadWriteCloser
	events chan Event
	closed chan struct{}
	once   sync.Once

	write sync.Mutex
	mu    sync.Mutex
	seq   int
	calls map[int]chan response
	err   error // why nothing can be asked any more
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
	c := &Client{conn: conn, events: make(chan Event, 16), closed: make(chan struct{}), calls: map[int]chan response{}}
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
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return c.err
	}
	c.seq++
	seq := c.seq
	answer := make(chan response, 1)
	c.calls[seq] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.calls, seq)
		c.mu.Unlock()
	}()
	if arguments == nil {
		arguments = struct{}{}
	}
	b, err := json.Marshal(map[string]any{"type": "request", "seq": seq, "command": command, "arguments": arguments})
	if err != nil {
		return fmt.Errorf("dap: %s: %w", command, err)
	}
	c.write.Lock()
	_, err = fmt.Fprintf(c.conn, "Content-Length: %d\r\n\r\n%s", len(b), b)
	c.write.Unlock()
	if err != nil {
		return fmt.Errorf("dap: %s: %w", command, err)
	}
	select {
	case r, ok := <-answer:
		switch {
		case !ok:
			return errEnded
		case !r.Success:
			return &Refusal{command, r.reason()}
		case result == nil:
			return nil
		}
		return json.Unmarshal(r.Body, result)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
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
	br := bufio.NewReaderSize(c.conn, 1<<16)
	for {
		m, err := receive(br)
		if err != nil {
			break
		}
		switch m.Type {
		case "event":
			select {
			case c.events <- Event{m.Event, m.Body}:
			case <-c.closed:
			}
		case "response":
			c.mu.Lock()
			answer := c.calls[m.RequestSeq]
			delete(c.calls, m.RequestSeq)
			c.mu.Unlock()
			if answer != nil {
				answer <- m
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = errEnded
	for seq, answer := range c.calls {
		close(answer)
		delete(c.calls, seq)
	}
}

// largest is how long a message may be: a debugger that says more has lost its way.
const largest = 64 << 20

// receive reads one message.
func receive(br *bufio.Reader) (m response, err error) {
	h, err := textproto.NewReader(br).ReadMIMEHeader()
	if err != nil {
		return m, err
	}
	n, err := strconv.Atoi(h.Get("Content-Length"))
	if err != nil || n < 0 || n > largest {
		return m, fmt.Errorf("dap: a message of %q bytes", h.Get("Content-Length"))
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(br, b); err != nil {
		return m, err
	}
	return m, json.Unmarshal(b, &m)
}
