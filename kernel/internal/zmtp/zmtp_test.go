package zmtp

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// listen serves a socket on a port that is free; Close comes by itself.
func listen(t testing.TB, kind Kind, limits Limits) (*Socket, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := Listen(kind, l, limits)
	t.Cleanup(s.Close)
	return s, l.Addr().String()
}

func dial(t testing.TB, kind Kind, address string, limits Limits) *Socket {
	t.Helper()
	s, err := Dial(t.Context(), kind, "tcp", address, []byte("me"), limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// raw opens a connection that sends what it is told.
func raw(t testing.TB, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// isClosed waits until the other side closes the connection.
func isClosed(t testing.TB, c net.Conn) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.Copy(io.Discard, c); err != nil && strings.Contains(err.Error(), "timeout") {
		t.Fatal("the connection stays open")
	}
}

// has waits until the socket has n connections, and those alone.
func has(t testing.TB, s *Socket, n int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		done, half := len(s.conns), len(s.half)
		s.mu.Unlock()
		if done == n && half == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("there are %d connections and %d beginnings of one, want %d", done, half, n)
		}
	}
}

// echoes checks that the socket serves a peer.
func echoes(t testing.TB, s *Socket, address string) {
	t.Helper()
	go func() {
		if m, err := s.Recv(); err == nil {
			s.Send(m)
		}
	}()
	d := dial(t, Dealer, address, Limits{})
	if err := d.Send([][]byte{[]byte("one"), nil, bytes.Repeat([]byte("x"), 300)}); err != nil {
		t.Fatal(err)
	}
	m, err := d.Recv()
	if err != nil || len(m) != 3 || string(m[0]) != "one" || len(m[1]) != 0 || len(m[2]) != 300 {
		t.Fatalf("got %q, %v", m, err)
	}
}

const head = "\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x03\x00NULL\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// ready is what a peer of a kind says of itself.
func ready(kind string, more string) string {
	return string(encodeCommand("READY", []byte("\x0bSocket-Type\x00\x00\x00"+string(rune(len(kind)))+kind+more)))
}

func long(flags byte, size uint64) string {
	return string(binary.BigEndian.AppendUint64([]byte{flags | flagLong}, size))
}

// hostile are bytes that no peer should send, by their mistake; the answer to each is the end of the
// connection.
var hostile = map[string]string{
	"another protocol":                   "GET / HTTP/1.1\r\n\r\n",
	"no signature":                       strings.Repeat("\x00", 64),
	"a signature without its end":        "\xff\x00\x00\x00\x00\x00\x00\x00\x01\x00" + head[10:],
	"version 2":                          head[:10] + "\x01" + head[11:],
	"version 0":                          head[:10] + "\x00" + head[11:],
	"PLAIN":                              head[:12] + "PLAIN" + head[17:],
	"CURVE":                              head[:12] + "CURVE" + head[17:],
	"a mechanism without an end":         head[:12] + strings.Repeat("N", 20) + head[32:],
	"a message before READY":             head + "\x00\x05hello",
	"2^46 bytes before READY":            head + long(0, 1<<46),
	"2^63 bytes before READY":            head + long(0, 1<<63),
	"a command of 2^46 bytes":            head + long(flagCommand, 1<<46),
	"a command of 4097 bytes":            head + long(flagCommand, 4097),
	"a command without a name":           head + "\x04\x00",
	"a command that is shorter":          head + "\x04\x03\x05REA",
	"a command with more":                head + "\x05\x06\x05READY",
	"an unknown command":                 head + string(encodeCommand("HELLO", nil)),
	"an error instead of READY":          head + string(encodeCommand("ERROR", []byte("\x03bad"))),
	"bits that mean nothing":             head + "\xf8\x05hello",
	"READY without a kind":               head + string(encodeCommand("READY", nil)),
	"READY of another kind":              head + ready("PUB", ""),
	"READY of no kind":                   head + ready("\x00\xff\x00", ""),
	"a property without a value":         head + string(encodeCommand("READY", []byte("\x0bSocket-Type"))),
	"a property with half a size":        head + string(encodeCommand("READY", []byte("\x0bSocket-Type\x00\x00"))),
	"a property of 2^32 bytes":           head + string(encodeCommand("READY", []byte("\x0bSocket-Type\xff\xff\xff\xffDEALER"))),
	"a name of 255 bytes that has 3":     head + string(encodeCommand("READY", []byte("\xffabc"))),
	"an identity of 256 bytes":           head + ready("DEALER", "\x08Identity\x00\x00\x01\x00"+strings.Repeat("i", 256)),
	"an identity that begins with 0":     head + ready("DEALER", "\x08Identity\x00\x00\x00\x02\x00a"),
	"a frame of 2^46 bytes":              head + ready("DEALER", "") + long(0, 1<<46),
	"a frame of 2^62 bytes":              head + ready("DEALER", "") + long(0, 1<<62),
	"a frame of 2^63 bytes":              head + ready("DEALER", "") + long(0, 1<<63),
	"a frame of 2^64-1 bytes":            head + ready("DEALER", "") + long(0, 1<<64-1),
	"a frame one above the limit":        head + ready("DEALER", "") + long(0, 1<<20+1),
	"frames that are too much together":  head + ready("DEALER", "") + strings.Repeat(string(appendFrame(nil, flagMore, make([]byte, 1<<18))), 5),
	"frames without end":                 head + ready("DEALER", "") + strings.Repeat("\x01\x00", 5000),
	"a command of 2^46 bytes, later":     head + ready("DEALER", "") + long(flagCommand, 1<<46),
	"a command inside a message":         head + ready("DEALER", "") + "\x01\x01a" + string(encodeCommand("PING", []byte("\x00\x00"))),
	"a PING without a time":              head + ready("DEALER", "") + string(encodeCommand("PING", nil)),
	"a PING with too much":               head + ready("DEALER", "") + string(encodeCommand("PING", make([]byte, 100))),
	"an error":                           head + ready("DEALER", "") + string(encodeCommand("ERROR", []byte("\x03bad"))),
	"a command without a name, later":    head + ready("DEALER", "") + "\x04\x00",
	"bits that mean nothing, later":      head + ready("DEALER", "") + "\x80\x00",
	"a long frame with more and command": head + ready("DEALER", "") + long(flagCommand|flagMore, 8),
}

// A peer costs a listening socket at most one connection, whatever it sends; others are served before and after.
func TestHostilePeers(t *testing.T) {
	s, address := listen(t, Router, Limits{Message: 1 << 20})
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			c := raw(t, address)
			go c.Write([]byte(text))
			isClosed(t, c)
		})
	}
	echoes(t, s, address)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != 0 || len(s.half) != 0 {
		t.Errorf("%d bytes and %d connections are kept of peers that are gone", s.held, len(s.half))
	}
}

// What a frame claims costs nothing: memory is taken as bytes arrive.
func TestClaimsCostNothing(t *testing.T) {
	s, address := listen(t, Router, Limits{Message: 1 << 40})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 10 {
		c := raw(t, address)
		c.Write([]byte(head + ready("DEALER", "") + long(0, 1<<39) + "x"))
	}
	echoes(t, s, address)
	runtime.ReadMemStats(&after)
	if grew := after.TotalAlloc - before.TotalAlloc; grew > 64<<20 {
		t.Errorf("%d bytes for frames that only claim to be large", grew)
	}
}

// Messages that are under way may take twice the limit of one together: then the largest ends, not the newest.
func TestUnfinishedMessagesAreBounded(t *testing.T) {
	s, address := listen(t, Router, Limits{Message: 1 << 20})
	var open []net.Conn
	for range 8 {
		c := raw(t, address)
		c.SetDeadline(time.Now().Add(time.Minute))
		c.Write([]byte(head + ready("DEALER", "") + long(0, 1<<20)))
		c.Write(make([]byte, 900<<10)) // the other side may be gone
		open = append(open, c)
	}
	ended := make(chan bool, len(open))
	for _, c := range open {
		go func() {
			io.Copy(io.Discard, c)
			ended <- true
		}()
	}
	for range 5 { // at most two can stay
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatal("they stay open")
		}
	}
	echoes(t, s, address)
}

// Who has connected and says nothing makes room for others; who has said too little has a limit of time.
func TestHalfOpenConnections(t *testing.T) {
	s, address := listen(t, Router, Limits{HalfOpen: 3})
	first := raw(t, address)
	first.Write([]byte(head[:30]))
	for range 10 {
		raw(t, address)
	}
	isClosed(t, first)
	echoes(t, s, address)

	_, address = listen(t, Router, Limits{Handshake: 10 * time.Millisecond})
	isClosed(t, raw(t, address))
}

// There are not more connections than allowed; one that ends makes room.
func TestConnectionsAreCounted(t *testing.T) {
	s, address := listen(t, Router, Limits{Conns: 2})
	var open []*Socket
	for range 2 {
		open = append(open, dial(t, Dealer, address, Limits{}))
	}
	has(t, s, 2)
	third := raw(t, address)
	third.Write([]byte(head + ready("DEALER", "")))
	isClosed(t, third)
	open[0].Close()
	has(t, s, 1)
	echoes(t, s, address)
}

// The end of a peer is the end of its connection here: 300 that come and go leave none.
func TestPeersThatAreGoneAreClosed(t *testing.T) {
	s, address := listen(t, Pub, Limits{})
	for i := range 300 {
		c := raw(t, address)
		c.Write([]byte(head + ready("SUB", "") + "\x00\x01\x01")[:i%80])
		c.Close()
	}
	has(t, s, 0)
}

// A client that connects anew with its name gets its messages, also while its old connection lives; and then the old
// one gets it again.
func TestNewConnectionOfTheSamePeer(t *testing.T) {
	s, address := listen(t, Router, Limits{})
	var peers []*Socket
	for range 2 {
		d := dial(t, Dealer, address, Limits{})
		if err := d.Send([][]byte{[]byte("here")}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Recv(); err != nil {
			t.Fatal(err)
		}
		peers = append(peers, d)
	}
	for i, text := range []string{"to the new one", "to the old one"} {
		if err := s.Send([][]byte{[]byte("me"), []byte(text)}); err != nil {
			t.Fatal(err)
		}
		d := peers[1-i]
		if m, err := d.Recv(); err != nil || string(m[0]) != text {
			t.Errorf("got %q, %v, want %q", m, err, text)
		}
		d.Close()
		has(t, s, 1-i)
	}
}

// subscribe connects a subscriber in memory, where nothing is stored on its way; it reads when it is told.
func (p *pipes) subscribe(t *testing.T) (net.Conn, *reader) {
	mine, theirs := net.Pipe()
	p.conns <- theirs
	go mine.Write([]byte(head + ready("SUB", "") + "\x00\x01\x01"))
	if _, err := io.ReadFull(mine, make([]byte, len(head))); err != nil {
		t.Fatal(err)
	}
	r := &reader{r: mine, limit: Default, hold: func(int) error { return nil }}
	if _, command, err := r.next(); err != nil || command != "READY" {
		t.Fatal(command, err)
	}
	synctest.Wait()
	return mine, r
}

// A subscriber that reads nothing is let go when its patience is over, and the others miss nothing.
func TestSubscriberThatReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		s := Listen(Pub, l, Limits{Queue: 1 << 16})
		defer s.Close()
		deaf, _ := l.subscribe(t)
		_, good := l.subscribe(t)
		n, last := 0, ""
		go func() {
			for {
				m, _, err := good.next()
				if err != nil {
					return
				}
				n, last = n+1, string(m[0])
			}
		}()
		began := time.Now()
		for range 10 {
			s.Send([][]byte{make([]byte, 1<<15)})
		}
		s.Send([][]byte{[]byte("end")})
		synctest.Wait()
		if n != 11 || last != "end" {
			t.Errorf("the good one got %d messages, want 11; the last is %.9q", n, last)
		}
		if _, err := deaf.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the deaf one is still connected: %v", err)
		}
		if d := time.Since(began); d != Default.Patience {
			t.Errorf("the deaf one was let go after %v", d)
		}
	})
}

// A subscriber that is slow, but reads, gets everything, however long it takes. Meanwhile it may ask
// whether we live.
func TestSubscriberThatReadsSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		s := Listen(Pub, l, Limits{Queue: 1 << 16})
		defer s.Close()
		slow, r := l.subscribe(t)
		r.r = &slowly{slow}
		sent := make(chan struct{})
		go func() {
			for range 3 {
				s.Send([][]byte{make([]byte, 1<<17)})
			}
			s.Send([][]byte{[]byte("end")})
			close(sent)
		}()
		synctest.Wait()
		slow.Write(encodeCommand("PING", []byte("\x00\x00"))) // whose answer has no place in the queue
		for i := range 4 {
			m, command, err := r.next()
			if err != nil || command != "" || i == 3 && string(m[0]) != "end" {
				t.Fatalf("message %d: %s %.9q, %v", i, command, m, err)
			}
		}
		<-sent
	})
}

// slowly reads a little at a time, shortly before patience ends.
type slowly struct{ r io.Reader }

func (s *slowly) Read(b []byte) (int, error) {
	time.Sleep(Default.Patience - time.Second)
	return s.r.Read(b[:min(len(b), 5000)])
}

// A hostile kernel costs the client that connection, and it says why.
func TestHostileKernels(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			text := strings.ReplaceAll(text, ready("DEALER", ""), ready("ROUTER", ""))
			text = strings.ReplaceAll(text, "DEALER", "ROUTER")
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					go func() {
						c.Write([]byte(text))
						io.Copy(io.Discard, c)
						c.Close()
					}()
				}
			}()
			s, err := Dial(t.Context(), Dealer, "tcp", l.Addr().String(), nil, Limits{Message: 1 << 20})
			if err == nil {
				defer s.Close()
				_, err = s.Recv()
			}
			var bad *Error
			if !errors.As(err, &bad) {
				t.Errorf("got %v, want what is wrong", err)
			}
		})
	}
}

// Dial waits for a listener that comes later, and ends with its context.
func TestDialWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	if len(path) > 100 {
		t.Skip("the temporary folder has too long a path for sockets")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := Dial(ctx, Dealer, "unix", path, nil, Limits{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	go func() {
		time.Sleep(10 * time.Millisecond)
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Error(err)
			return
		}
		s := Listen(Router, l, Limits{})
		m, _ := s.Recv()
		s.Send(m)
		s.Close() // with what was sent
	}()
	d, err := Dial(t.Context(), Dealer, "unix", path, nil, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Send([][]byte{[]byte("x")}); err != nil {
		t.Fatal(err)
	}
	if m, err := d.Recv(); err != nil || string(m[0]) != "x" {
		t.Errorf("%q, %v", m, err)
	}
	if _, err := d.Recv(); !errors.Is(err, ErrClosed) {
		t.Errorf("after the other side has closed: %v", err)
	}
}

func TestTopics(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		change     []string // messages, or commands after a slash
	}{
		{"none", "", nil},
		{"all", "stream status", []string{"\x01"}},
		{"one", "status", []string{"\x01sta"}},
		{"taken back", "", []string{"\x01sta", "\x00sta"}},
		{"commands", "stream", []string{"/SUBSCRIBE str", "/SUBSCRIBE sta", "/CANCEL sta"}},
		{"what means nothing", "", []string{"", "\x02sta", "sta", "/JOIN sta"}},
		{"more than one could want", "error", []string{"\x01" + strings.Repeat("x", 1<<17)}},
	} {
		set, got := topics{}, ""
		for _, c := range tt.change {
			name, body := "", c
			if strings.HasPrefix(c, "/") {
				name, body, _ = strings.Cut(c[1:], " ")
			}
			if set.change(name, [][]byte{[]byte(body)}) != nil {
				got = " error"
			}
		}
		for _, topic := range []string{"stream", "status"} {
			if set.match([]byte(topic)) {
				got += " " + topic
			}
		}
		if strings.TrimSpace(got) != tt.want {
			t.Errorf("%s: got%s, want %s", tt.name, got, tt.want)
		}
	}
}

// Whatever a peer sends, the socket serves the next one, and nothing of the first is kept.
func FuzzPeer(f *testing.F) {
	for _, text := range hostile {
		f.Add([]byte(text), uint8(0))
	}
	f.Add([]byte(head+ready("SUB", "")+"\x00\x01\x01\x00\x01\x00"), uint8(1))
	f.Add([]byte(head+ready("REQ", "")+"\x01\x00\x00\x04ping"), uint8(2))
	f.Fuzz(func(t *testing.T, text []byte, kind uint8) {
		k := []Kind{Router, Pub, Rep}[kind%3]
		l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		s := Listen(k, l, Limits{Message: 1 << 16, Parts: 100})
		go func() {
			for {
				m, err := s.Recv()
				if err != nil || s.Send(m) != nil {
					return
				}
			}
		}()
		mine, theirs := net.Pipe()
		l.conns <- theirs
		go io.Copy(io.Discard, mine)
		mine.SetWriteDeadline(time.Now().Add(10 * time.Second))
		mine.Write(text)
		mine.Close()
		mine, theirs = net.Pipe()
		l.conns <- theirs
		answered := make(chan error, 1)
		go func() {
			b := make([]byte, 64+2)
			_, err := io.ReadFull(mine, b)
			answered <- err
		}()
		mine.Write([]byte(head))
		if err := <-answered; err != nil {
			t.Fatalf("the next one isn't greeted: %v", err)
		}
		mine.Close()
		s.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.held > 2<<16 {
			t.Fatalf("%d bytes are held", s.held)
		}
	})
}

// A written message is read again, part by part.
func FuzzMessage(f *testing.F) {
	f.Add([]byte("a|b||c"), false)
	f.Add(bytes.Repeat([]byte("x"), 300), true)
	f.Fuzz(func(t *testing.T, text []byte, damaged bool) {
		parts := bytes.Split(text, []byte("|"))
		wire := encode(parts)
		if damaged {
			wire = text
		}
		var held int
		r := &reader{r: bytes.NewReader(wire), limit: Limits{Message: 1 << 16, Parts: 100}, hold: func(n int) error { held += n; return nil }}
		got, command, err := r.next()
		if held > len(wire)+2*piece {
			t.Fatalf("%d bytes of memory for %d that came", held, len(wire))
		}
		if damaged || len(text) > 1<<16 || len(parts) > 100 {
			return
		}
		if err != nil || command != "" || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", parts) {
			t.Fatalf("%q was read as %q, %v", parts, got, err)
		}
	})
}

// pipes is a listener whose connections are in memory.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.done)
	return nil
}

func (p *pipes) Addr() net.Addr { return nil }
