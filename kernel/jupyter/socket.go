package jupyter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/lectern-go/lectern/kernel/internal/zmtp"
)

// A Socket carries messages of one channel. Several goroutines may send at once; one receives.
type Socket struct {
	name string
	key  []byte
	z    *zmtp.Socket
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
	if err := s.z.Send(frames); err != nil {
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
	frames, err := s.z.Recv()
	if err != nil {
		return nil, &closedError{s.name, err}
	}
	return frames, nil
}

// Close closes the socket: what was sent before is still delivered, and a Recv that waits returns an error.
func (s *Socket) Close() { s.z.Close() }

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

	heartbeat *Socket // the kernel's side only
}

// Close closes all sockets.
func (s *Sockets) Close() {
	var all sync.WaitGroup
	for _, k := range []*Socket{s.Shell, s.Control, s.Stdin, s.IOPub, s.heartbeat} {
		if k != nil {
			all.Go(k.Close)
		}
	}
	all.Wait()
}

// LimitVariable is the environment variable that says how many megabytes a message may have, if 64 are too few.
const LimitVariable = "LECTERN_MESSAGE_LIMIT"

// limits are what peers may send: anybody may be one, until a signature says who it is.
func limits() (large, input, small zmtp.Limits, err error) {
	if text := os.Getenv(LimitVariable); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1<<20 {
			return large, input, small, fmt.Errorf("jupyter: %s is %q; write megabytes, such as 256", LimitVariable, text)
		}
		large.Message = int64(n) << 20
	}
	return large, zmtp.Limits{Message: 1 << 20}, zmtp.Limits{Message: 4 << 10, Parts: 16, Queue: 64 << 10}, nil
}

// Listen opens a kernel's side of a connection: ROUTER sockets for shell, control and stdin, PUB for iopub,
// and a heartbeat that is answered in the background.
func Listen(info ConnectionInfo) (*Sockets, error) {
	large, input, small, err := limits()
	if err != nil {
		return nil, err
	}
	subscriptions := small
	subscriptions.Queue = 0                         // of outputs as much as elsewhere may wait
	first, _ := strconv.Atoi(os.Getenv(socketsVar)) // only we set it
	os.Unsetenv(socketsVar)
	s := &Sockets{}
	for _, c := range []struct {
		dst    **Socket
		name   string
		kind   zmtp.Kind
		port   *int
		limits zmtp.Limits
	}{
		{&s.IOPub, "iopub", zmtp.Pub, &info.IOPubPort, subscriptions},
		{&s.Control, "control", zmtp.Router, &info.ControlPort, large},
		{&s.Stdin, "stdin", zmtp.Router, &info.StdinPort, input},
		{&s.heartbeat, "heartbeat", zmtp.Rep, &info.HBPort, small},
		// Shell comes last: a client that reaches it finds all the others open.
		{&s.Shell, "shell", zmtp.Router, &info.ShellPort, large},
	} {
		l, err := info.listen(c.port, first)
		if err != nil {
			s.Close()
			_, address := info.address(*c.port)
			return nil, fmt.Errorf("jupyter: listen on %s for %s: %w; is another kernel using the connection file?", address, c.name, err)
		}
		*c.dst = &Socket{name: c.name, key: []byte(info.Key), z: zmtp.Listen(c.kind, l, c.limits)}
	}
	go s.heartbeat.echo()
	return s, nil
}

// echo sends back what the socket receives.
func (s *Socket) echo() {
	for {
		m, err := s.z.Recv()
		if err != nil || s.z.Send(m) != nil {
			return
		}
	}
}

// Dial opens a client's side: DEALER sockets for shell, control and stdin (with one identity, as the protocol asks)
// and SUB for iopub, subscribed to everything. It keeps trying until the kernel listens or ctx ends. A subscription
// takes effect a little after Dial returns: see [Sockets.WaitReady].
func Dial(ctx context.Context, info ConnectionInfo) (*Sockets, error) {
	large, input, _, err := limits()
	if err != nil {
		return nil, err
	}
	s := &Sockets{}
	id := []byte(NewID())
	for _, c := range []struct {
		dst    **Socket
		name   string
		kind   zmtp.Kind
		port   int
		limits zmtp.Limits
	}{
		{&s.IOPub, "iopub", zmtp.Sub, info.IOPubPort, large},
		{&s.Control, "control", zmtp.Dealer, info.ControlPort, large},
		{&s.Stdin, "stdin", zmtp.Dealer, info.StdinPort, input},
		{&s.Shell, "shell", zmtp.Dealer, info.ShellPort, large},
	} {
		network, address := info.address(c.port)
		z, err := zmtp.Dial(ctx, c.kind, network, address, id, c.limits)
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("jupyter: dial %s for %s: %w", address, c.name, err)
		}
		*c.dst = &Socket{name: c.name, key: []byte(info.Key), z: z}
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
