package jupyter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
)

// A Socket carries messages of one channel. Several goroutines may send at once; one receives.
type Socket struct {
	name string
	key  []byte
	z    zmq4.Socket
	send sync.Mutex
}

// Send signs m and sends it. On a ROUTER socket m.Identities choose the receiver.
func (s *Socket) Send(m *Message) error {
	frames, err := m.Encode(s.key)
	if err != nil {
		return err
	}
	return s.SendFrames(frames)
}

// SendFrames sends frames as they are: for messages that are passed on unchanged and are signed with the same key.
func (s *Socket) SendFrames(frames [][]byte) error {
	s.send.Lock()
	defer s.send.Unlock()
	if err := s.z.SendMulti(zmq4.NewMsgFrom(frames...)); err != nil {
		return fmt.Errorf("jupyter: send on %s: %w", s.name, err)
	}
	return nil
}

// Recv returns the next message. A message with a wrong signature or of a wrong form is an error for which [Broken] is
// false: the socket is usable and the next Recv goes on with the message after it.
func (s *Socket) Recv() (*Message, error) {
	frames, err := s.RecvFrames()
	if err != nil {
		return nil, err
	}
	return Decode(frames, s.key)
}

// RecvFrames returns the frames of the next message, unchecked. An error means that the socket is closed; [Broken] is
// true for it.
func (s *Socket) RecvFrames() ([][]byte, error) {
	m, err := s.z.Recv()
	if err != nil {
		return nil, &closedError{s.name, err}
	}
	return m.Frames, nil
}

// Close closes the socket; a Recv that waits returns an error.
func (s *Socket) Close() error { return s.z.Close() }

// closedError is what Recv returns when the connection is gone, as against a message that could not be read.
type closedError struct {
	name string
	err  error
}

func (e *closedError) Error() string { return fmt.Sprintf("jupyter: %s socket: %v", e.name, e.err) }
func (e *closedError) Unwrap() error { return e.err }

// Broken reports whether err, from Recv, means that the socket can receive no more.
func Broken(err error) bool {
	var c *closedError
	return errors.As(err, &c)
}

// Sockets are the channels of one kernel, seen from either side.
type Sockets struct {
	Shell, Control, Stdin, IOPub *Socket

	heartbeat zmq4.Socket // the kernel's side only
	cancel    context.CancelFunc
}

// Close closes all sockets.
func (s *Sockets) Close() {
	s.cancel()
	for _, k := range []*Socket{s.Shell, s.Control, s.Stdin, s.IOPub} {
		if k != nil {
			k.Close()
		}
	}
	if s.heartbeat != nil {
		s.heartbeat.Close()
	}
}

// quiet keeps zmq4 from writing to the terminal; what matters comes back as an error.
var quiet = zmq4.WithLogger(log.New(io.Discard, "", 0))

// Listen opens a kernel's side of a connection: ROUTER sockets for shell, control and stdin, PUB for iopub,
// and a heartbeat that is answered in the background.
func Listen(info ConnectionInfo) (*Sockets, error) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Sockets{cancel: cancel}
	for _, c := range []struct {
		dst  **Socket
		name string
		z    zmq4.Socket
		port int
	}{
		{&s.IOPub, "iopub", zmq4.NewPub(ctx, quiet), info.IOPubPort},
		{&s.Control, "control", zmq4.NewRouter(ctx, quiet), info.ControlPort},
		{&s.Stdin, "stdin", zmq4.NewRouter(ctx, quiet), info.StdinPort},
		{nil, "heartbeat", zmq4.NewRep(ctx, quiet), info.HBPort},
		// Shell comes last: a client that reaches it finds all the others open.
		{&s.Shell, "shell", zmq4.NewRouter(ctx, quiet), info.ShellPort},
	} {
		info.clearSocket(c.port)
		err := c.z.Listen(info.endpoint(c.port))
		if err == nil && info.Transport == "ipc" {
			// Whoever chose the folder may have left it open to others.
			err = os.Chmod(info.socket(c.port), 0o600)
		}
		if err != nil {
			c.z.Close()
			s.Close()
			return nil, fmt.Errorf("jupyter: listen on %s for %s: %w; is another kernel using the connection file?", info.endpoint(c.port), c.name, err)
		}
		if c.dst == nil {
			s.heartbeat = c.z
			go echo(c.z)
			continue
		}
		*c.dst = &Socket{name: c.name, key: []byte(info.Key), z: c.z}
	}
	return s, nil
}

func echo(z zmq4.Socket) {
	for {
		m, err := z.Recv()
		if err != nil {
			return
		}
		if z.Send(m) != nil {
			return
		}
	}
}

// Dial opens a client's side: DEALER sockets for shell, control and stdin (with one identity, as the protocol asks)
// and SUB for iopub, subscribed to everything. It keeps trying until the kernel listens or ctx ends. A subscription
// takes effect a little after Dial returns: see [Sockets.WaitReady].
func Dial(ctx context.Context, info ConnectionInfo) (*Sockets, error) {
	life, cancel := context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, cancel) // ends the retries below, but not the sockets once Dial has returned
	s := &Sockets{cancel: cancel}
	id := zmq4.WithID(zmq4.SocketIdentity(NewID()))
	retry := zmq4.WithDialerRetry(5 * time.Millisecond)
	forever := zmq4.WithDialerMaxRetries(-1)
	sub := zmq4.NewSub(life, retry, forever, quiet)
	if err := sub.SetOption(zmq4.OptionSubscribe, ""); err != nil {
		s.Close()
		return nil, fmt.Errorf("jupyter: subscribe to iopub: %w", err)
	}
	for _, c := range []struct {
		dst  **Socket
		name string
		z    zmq4.Socket
		port int
	}{
		{&s.IOPub, "iopub", sub, info.IOPubPort},
		{&s.Control, "control", zmq4.NewDealer(life, id, retry, forever, quiet), info.ControlPort},
		{&s.Stdin, "stdin", zmq4.NewDealer(life, id, retry, forever, quiet), info.StdinPort},
		{&s.Shell, "shell", zmq4.NewDealer(life, id, retry, forever, quiet), info.ShellPort},
	} {
		*c.dst = &Socket{name: c.name, key: []byte(info.Key), z: c.z}
		if err := c.z.Dial(info.endpoint(c.port)); err != nil {
			s.Close()
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return nil, fmt.Errorf("jupyter: dial %s for %s: %w", info.endpoint(c.port), c.name, err)
		}
	}
	if !stop() {
		s.Close()
		return nil, fmt.Errorf("jupyter: dial: %w", context.Cause(ctx))
	}
	return s, nil
}

// WaitReady waits until the kernel answers on shell and our subscription to iopub works, and returns the content of
// the kernel_info_reply. What was published before a subscription reached the kernel is lost, so a client must not
// execute anything earlier. It receives on Shell and IOPub itself and must end before anyone else does; answers to its
// own requests may still arrive after it.
func (s *Sockets) WaitReady(ctx context.Context, session string) (*Message, error) {
	type arrival struct {
		m   *Message
		pub bool
	}
	arrivals := make(chan arrival)
	done := make(chan struct{})
	var wg sync.WaitGroup
	marker := NewMessage(session, "kernel_info_request", nil)
	// Each reader takes messages off its socket until it has seen what the last request, the marker, caused on it,
	// so nothing of the handshake is left for the caller.
	read := func(k *Socket, pub bool) {
		defer wg.Done()
		for {
			m, err := k.Recv()
			if Broken(err) {
				return
			}
			if err != nil {
				continue
			}
			select {
			case arrivals <- arrival{m, pub}:
			case <-done:
			}
			if m.Parent.ID == marker.Header.ID && (!pub || isIdle(m)) {
				return
			}
		}
	}
	wg.Add(2)
	go read(s.Shell, false)
	go read(s.IOPub, true)
	defer close(done)

	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var info *Message
	published, marked, markerReplied, markerIdle := false, false, false, false
	ask := func() error { return s.Shell.Send(NewMessage(session, "kernel_info_request", nil)) }
	if err := ask(); err != nil {
		return nil, err
	}
	for {
		if info != nil && published && !marked {
			marked = true
			if err := s.Shell.Send(marker); err != nil {
				return nil, err
			}
		}
		if markerReplied && markerIdle {
			wg.Wait()
			return info, nil
		}
		select {
		case a := <-arrivals:
			mine := a.m.Parent.ID == marker.Header.ID
			switch {
			case a.pub:
				published = true
				markerIdle = markerIdle || mine && isIdle(a.m)
			case a.m.Header.Type == "kernel_info_reply":
				info = a.m
				markerReplied = markerReplied || mine
			}
		case <-tick.C:
			// Ask again only after an answer: a kernel that is slow to start must not find a pile of requests.
			if info != nil && !published {
				if err := ask(); err != nil {
					return nil, err
				}
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// isIdle reports whether m says that the kernel has finished the work on its parent.
func isIdle(m *Message) bool {
	var c struct {
		State string `json:"execution_state"`
	}
	return m.Header.Type == "status" && m.DecodeContent(&c) == nil && c.State == "idle"
}
