// Package calls asks another program, such as a language server, over a pair of streams. Every message is
// JSON behind a header with its length; answers come in any order and name the number of their question. What else
// stands in a message is the protocol's.
package calls

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"sync"
)

// A Conn is our end of the connection; answers are of type A. Its methods may be called from several goroutines.
type Conn[A any] struct {
	write sync.Mutex
	w     io.Writer

	mu    sync.Mutex
	last  int // number of a question
	calls map[int]chan A
	over  chan struct{} // closed when nothing can be answered any more
	err   error         // why, set before that
}

// New returns a connection that writes to w. Whoever reads the other stream calls [Conn.Read].
func New[A any](w io.Writer) *Conn[A] {
	return &Conn[A]{w: w, calls: map[int]chan A{}, over: make(chan struct{})}
}

// Send writes one message.
func (c *Conn[A]) Send(message any) error {
	b, err := json.Marshal(message)
	if err != nil {
		return err
	}
	c.write.Lock()
	defer c.write.Unlock()
	_, err = fmt.Fprintf(c.w, "Content-Length: %d\r\n\r\n%s", len(b), b)
	return err
}

// Call sends the question that gets a number, and waits for its answer, the end of ctx, or that of the
// connection, whose error is that of [Conn.Read].
func (c *Conn[A]) Call(ctx context.Context, question func(number int) any) (answer A, err error) {
	c.mu.Lock()
	select {
	case <-c.over:
		c.mu.Unlock()
		return answer, c.err
	default:
	}
	c.last++
	number := c.last
	arrived := make(chan A, 1)
	c.calls[number] = arrived
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.calls, number)
		c.mu.Unlock()
	}()
	if err := c.Send(question(number)); err != nil {
		return answer, err
	}
	select {
	case answer = <-arrived:
		return answer, nil
	case <-ctx.Done():
		return answer, context.Cause(ctx)
	case <-c.over:
	}
	select {
	case answer = <-arrived: // the last thing that was said
		return answer, nil
	default:
		return answer, c.err
	}
}

// Answer hands an answer to whoever asked the question of a number; nobody may be waiting for it any more.
func (c *Conn[A]) Answer(number int, a A) {
	c.mu.Lock()
	arrived := c.calls[number]
	delete(c.calls, number)
	c.mu.Unlock()
	if arrived != nil {
		arrived <- a
	}
}

// largest is how long a message may be: a program that says more has lost its way.
const largest = 64 << 20

// Read calls handle with each message until the stream ends, is none of messages, or handle returns an error. All who
// wait for an answer then get ended, as does whoever asks later. It is called once.
func (c *Conn[A]) Read(r io.Reader, ended error, handle func(message []byte) error) {
	br := bufio.NewReaderSize(r, 1<<16)
	for {
		message, err := receive(br)
		if err != nil || handle(message) != nil {
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = ended
	close(c.over)
}

// receive reads one message.
func receive(br *bufio.Reader) ([]byte, error) {
	h, err := textproto.NewReader(br).ReadMIMEHeader()
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(h.Get("Content-Length"))
	if err != nil || n < 0 || n > largest {
		return nil, fmt.Errorf("a message of %q bytes", h.Get("Content-Length"))
	}
	b := make([]byte, n)
	_, err = io.ReadFull(br, b)
	return b, err
}
