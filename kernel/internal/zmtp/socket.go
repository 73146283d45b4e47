package zmtp

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"net"
	"os"
	"slices"
	"sync"
	"time"
)

// A Socket sends and receives messages. All methods may be called from several goroutines at once.
type Socket struct {
	kind   Kind
	limits Limits
	listen net.Listener // nil for one that dials
	in     chan [][]byte
	done   chan struct{} // closed with the socket, or when the peer of one that dials is gone

	mu     sync.Mutex
	err    error   // why done is closed
	half   []*conn // whose handshakes are under way, oldest first
	conns  []*conn
	held   int64 // bytes of messages that have arrived and are not received
	closed bool
}

// A conn is the connection to a peer.
type conn struct {
	s    *Socket
	net  net.Conn
	id   string
	held int64 // of the socket's; under its lock
	gone chan struct{}
	once sync.Once

	mu      sync.Mutex
	change  *sync.Cond // of what follows
	topics  topics
	queue   net.Buffers
	queued  int  // bytes, with those that are being written
	waiting int  // senders, for the queue to get shorter
	ending  bool // when the queue is empty
}

func newSocket(kind Kind, limits Limits) *Socket {
	return &Socket{kind: kind, limits: limits.withDefaults(), in: make(chan [][]byte), done: make(chan struct{})}
}

func (s *Socket) newConn(c net.Conn) *conn {
	k := &conn{s: s, net: c, topics: topics{}, gone: make(chan struct{})}
	k.change = sync.NewCond(&k.mu)
	return k
}

// Listen serves a ROUTER, PUB or REP socket on l, which it closes in the end.
func Listen(kind Kind, l net.Listener, limits Limits) *Socket {
	s := newSocket(kind, limits)
	s.listen = l
	go s.accept()
	return s
}

func (s *Socket) accept() {
	pause := time.Millisecond
	for {
		c, err := s.listen.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // too many open files, perhaps
			select {
			case <-time.After(pause):
			case <-s.done:
				return
			}
			pause = min(2*pause, time.Second)
			continue
		}
		pause = time.Millisecond
		k := s.newConn(c)
		s.mu.Lock()
		var oldest *conn
		if len(s.half) >= s.limits.HalfOpen {
			oldest = s.half[0]
			s.half = s.half[1:]
		}
		if s.closed {
			oldest = k
		} else {
			s.half = append(s.half, k)
		}
		s.mu.Unlock()
		if oldest != nil {
			oldest.shut()
		}
		go k.serve()
	}
}

// serve is the life of a connection that a peer has opened.
func (c *conn) serve() {
	defer c.shut()
	defer c.release()
	c.net.SetDeadline(time.Now().Add(c.s.limits.Handshake))
	r := c.reader()
	id, err := r.handshake(c.net, c.s.kind, nil)
	if err != nil {
		return
	}
	c.net.SetDeadline(time.Time{})
	if c.id = id; id == "" {
		c.id = "\x00" + rand.Text()
	}
	s := c.s
	s.mu.Lock()
	at := slices.Index(s.half, c)
	full := at < 0 || len(s.conns) >= s.limits.Conns || s.closed
	if at >= 0 {
		s.half = slices.Delete(s.half, at, at+1)
	}
	if !full {
		s.conns = append(s.conns, c)
	}
	s.mu.Unlock()
	if full {
		return
	}
	go c.write()
	c.receive(r)
}

// Dial connects a DEALER socket with an identity, or a SUB socket that is subscribed to everything. It tries until
// somebody listens, or ctx ends.
func Dial(ctx context.Context, kind Kind, network, address string, identity []byte, limits Limits) (*Socket, error) {
	s := newSocket(kind, limits)
	for {
		err := s.dial(ctx, network, address, identity)
		var bad *Error
		switch {
		case err == nil:
			return s, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.As(err, &bad):
			return nil, err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (s *Socket) dial(ctx context.Context, network, address string, identity []byte) error {
	var d net.Dialer
	n, err := d.DialContext(ctx, network, address)
	if err != nil {
		return err
	}
	c := s.newConn(n)
	stop := context.AfterFunc(ctx, c.shut)
	r := c.reader()
	_, err = r.handshake(n, s.kind, identity)
	if err == nil && s.kind == Sub {
		_, err = n.Write(encode([][]byte{{1}}))
	}
	if !stop() && err == nil {
		err = ErrClosed
	}
	if err != nil {
		c.release()
		c.shut()
		return err
	}
	s.mu.Lock()
	s.conns = []*conn{c}
	s.mu.Unlock()
	go c.write()
	go func() {
		err := c.receive(r)
		c.release()
		c.shut()
		s.end(err)
	}()
	return nil
}

// reader reads from the peer; what it holds counts.
func (c *conn) reader() *reader {
	return &reader{r: bufio.NewReader(c.net), limit: c.s.limits, hold: c.hold}
}

// hold counts memory for a message that arrives. If all of them take too much, the connection with the most ends.
func (c *conn) hold(n int) error {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c.held += int64(n)
	s.held += int64(n)
	for s.held > 2*s.limits.Message {
		most := c
		for _, k := range slices.Concat(s.conns, s.half) {
			if k.held > most.held {
				most = k
			}
		}
		s.held -= most.held
		most.held = 0
		if most == c {
			return broken("messages of more than %d bytes in all", 2*s.limits.Message)
		}
		go most.shut()
	}
	return nil
}

// release is called when the message was received, or dropped.
func (c *conn) release() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.held -= c.held
	c.held = 0
}

// receive takes messages until the connection ends.
func (c *conn) receive(r *reader) error {
	for {
		parts, command, err := r.next()
		if err != nil {
			return err
		}
		switch {
		case command == "ERROR":
			return broken("the peer reports an error")
		case command == "PING":
			if len(parts[0]) < 2 || len(parts[0]) > 18 { // how long it lives, and what it wants to have back
				return broken("a PING with %d bytes", len(parts[0]))
			}
			c.enqueue(encodeCommand("PONG", parts[0][2:]), false) // it is dropped where much else is on its way
		case c.s.kind == Pub:
			c.mu.Lock()
			err := c.topics.change(command, parts)
			c.mu.Unlock()
			if err != nil {
				return err
			}
		case command != "": // of a version that we don't know
		default:
			if c.s.kind == Router || c.s.kind == Rep {
				parts = slices.Insert(parts, 0, []byte(c.id))
			}
			select {
			case c.s.in <- parts:
			case <-c.gone:
				return ErrClosed
			}
		}
		c.release()
	}
}

// Recv returns the next message. An error means that there will be none: [ErrClosed], or the [Error] of a peer that was
// dialed.
func (s *Socket) Recv() ([][]byte, error) {
	select {
	case parts := <-s.in:
		return parts, nil
	case <-s.done:
		return nil, s.err
	}
}

// Send sends a message. On a ROUTER or REP socket its first part names the receiver; a message for a peer that is gone
// is dropped. Of several connections with that name the newest gets it: a client that connects anew with its old name
// may do so before we learn that its old connection has ended. If a peer reads nothing of what it is sent, Send waits a
// while, then drops the peer.
func (s *Socket) Send(parts [][]byte) error {
	if len(parts) == 0 {
		return errors.New("zmtp: a message without parts")
	}
	s.mu.Lock()
	conns := slices.Clone(s.conns)
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return ErrClosed
	}
	first := parts[0]
	if s.kind == Router || s.kind == Rep {
		if parts = parts[1:]; len(parts) == 0 {
			return errors.New("zmtp: a message without parts")
		}
	}
	if s.listen == nil && len(conns) == 0 {
		return ErrClosed
	}
	text := encode(parts)
	for _, c := range slices.Backward(conns) {
		switch s.kind {
		case Router, Rep:
			if c.id != string(first) {
				continue
			}
		case Pub:
			c.mu.Lock()
			wanted := c.topics.match(first)
			c.mu.Unlock()
			if !wanted {
				continue
			}
		}
		err := c.enqueue(text, s.kind != Rep)
		switch {
		case err == errFull:
			go c.shut()
		case err != nil && s.listen == nil:
			return err
		}
		if s.kind != Pub {
			return nil
		}
	}
	return nil
}

// errFull says that too much is queued.
var errFull = errors.New("zmtp: the queue is full")

// enqueue has bytes written to the peer. If much is queued it waits until half of that has gone, or else returns
// errFull.
func (c *conn) enqueue(text []byte, wait bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.queued > c.s.limits.Queue {
		if !wait {
			return errFull
		}
		c.waiting++
		for c.queued > c.s.limits.Queue/2 && !c.ending {
			c.change.Wait()
		}
		c.waiting--
	}
	if c.ending {
		return ErrClosed
	}
	c.queue = append(c.queue, text)
	c.queued += len(text)
	c.change.Broadcast()
	return nil
}

// write writes the queue, and ends the connection if a sender waits for a peer that reads nothing of it.
func (c *conn) write() {
	defer c.shut()
	var batch net.Buffers
	for {
		if len(batch) == 0 {
			if batch = c.take(); len(batch) == 0 {
				return
			}
		}
		c.net.SetWriteDeadline(time.Now().Add(c.s.limits.Patience))
		n, err := batch.WriteTo(c.net)
		c.mu.Lock()
		c.queued -= int(n)
		deaf := n == 0 && c.waiting > 0
		c.change.Broadcast()
		c.mu.Unlock()
		if err != nil && (deaf || !errors.Is(err, os.ErrDeadlineExceeded)) {
			return
		}
	}
}

// take waits for something to write and takes a piece of it: those who wait for room see each piece that has gone. It
// returns nothing when the connection ends.
func (c *conn) take() (batch net.Buffers) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.queue) == 0 && !c.ending {
		c.change.Wait()
	}
	for left := piece; left > 0 && len(c.queue) > 0; {
		n := min(left, len(c.queue[0]))
		batch = append(batch, c.queue[0][:n])
		left -= n
		if c.queue[0] = c.queue[0][n:]; len(c.queue[0]) == 0 {
			c.queue = c.queue[1:]
		}
	}
	return batch
}

// shut ends the connection.
func (c *conn) shut() {
	c.once.Do(func() {
		s := c.s
		s.mu.Lock()
		same := func(k *conn) bool { return k == c }
		s.conns, s.half = slices.DeleteFunc(s.conns, same), slices.DeleteFunc(s.half, same)
		s.mu.Unlock()
		close(c.gone)
		c.net.Close()
		c.finish()
	})
}

// finish lets the connection end when the queue is empty.
func (c *conn) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = true
	c.change.Broadcast()
}

// end closes done.
func (s *Socket) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.err = err
	var bad *Error
	if !errors.As(err, &bad) {
		s.err = ErrClosed
	}
	close(s.done)
}

// linger is how long Close waits until peers have what was sent.
const linger = time.Second

// Close ends the socket: what was sent before is on its way then, and Recv returns ErrClosed.
func (s *Socket) Close() {
	s.end(ErrClosed)
	s.mu.Lock()
	s.closed = true
	conns, half := slices.Clone(s.conns), slices.Clone(s.half)
	s.mu.Unlock()
	if s.listen != nil {
		s.listen.Close()
	}
	for _, c := range half {
		c.shut()
	}
	late := time.After(linger)
	for _, c := range conns {
		c.finish()
	}
	for _, c := range conns {
		select {
		case <-c.gone:
			continue
		case <-late:
			late = closedTime
		}
		c.shut()
	}
}

// closedTime is a time that has come.
var closedTime = func() <-chan time.Time { c := make(chan time.Time); close(c); return c }()
