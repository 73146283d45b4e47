// Package zmtp speaks ZeroMQ's wire protocol, ZMTP 3 without encryption, as far as Jupyter's channels need it: ROUTER,
// PUB and REP, which listen, and DEALER and SUB, which dial.
//
// When bytes arrive, their sender is not authenticated yet, and to a TCP port any user of the machine can send some. So
// everything that a peer sends is bounded before it is stored: a frame costs the memory of what has arrived, not of
// what its header claims; messages, their parts, connections, and peers that have not said yet who they are have
// limits; and a peer that exceeds one is disconnected. The others can go on as before.
//
// It replaces github.com/go-zeromq/zmq4 v0.17.0, which allocates the memory that a frame claims, greets one peer after
// another, waits for a subscriber that doesn't read, and keeps connections whose handshake has failed. What would fix
// it there: a limit in Conn.read before the frame's memory is made, a goroutine and a deadline for each Open in
// socket.accept, Close of the connection where that fails, and a queue for each peer of pubMWriter.
package zmtp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A Kind is a kind of socket.
type Kind string

// The kinds of sockets. Router and Rep put the sender's identity before a message that they receive, and send a message
// to the peer that its first part names.
const (
	Router Kind = "ROUTER"
	Pub    Kind = "PUB"
	Rep    Kind = "REP"
	Dealer Kind = "DEALER"
	Sub    Kind = "SUB"
)

// peers says who may talk to whom.
var peers = map[Kind][]string{
	Router: {"DEALER", "REQ", "ROUTER"}, Pub: {"SUB", "XSUB"}, Rep: {"REQ", "DEALER"},
	Dealer: {"ROUTER", "REP", "DEALER"}, Sub: {"PUB", "XPUB"},
}

// Limits say what peers may do. The zero value of a field is that of [Default].
type Limits struct {
	Message   int64         // bytes of a message, all parts together; what has arrived and is not received yet may be twice as much
	Parts     int           // of a message
	Conns     int           // connections
	HalfOpen  int           // of connections whose handshake is not done; another one ends the oldest
	Handshake time.Duration // how long one may take
	Queue     int           // bytes that wait for a peer that doesn't read
	Patience  time.Duration // how long senders wait for a peer that reads nothing before they drop it
}

// Default are the limits unless something else is said.
var Default = Limits{Message: 64 << 20, Parts: 4096, Conns: 100, HalfOpen: 20, Handshake: 30 * time.Second, Queue: 4 << 20, Patience: 30 * time.Second}

func (l Limits) withDefaults() Limits {
	or := func(x *int, d int) {
		if *x == 0 {
			*x = d
		}
	}
	or(&l.Parts, Default.Parts)
	or(&l.Conns, Default.Conns)
	or(&l.HalfOpen, Default.HalfOpen)
	or(&l.Queue, Default.Queue)
	if l.Message == 0 {
		l.Message = Default.Message
	}
	if l.Handshake == 0 {
		l.Handshake = Default.Handshake
	}
	if l.Patience == 0 {
		l.Patience = Default.Patience
	}
	return l
}

// An Error reports a peer that broke the protocol or exceeded a limit; it was disconnected.
type Error struct{ Reason string }

func (e *Error) Error() string { return "zmtp: " + e.Reason }

func broken(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// ErrClosed reports a socket that was closed, or whose peer is gone.
var ErrClosed = errors.New("zmtp: the connection is closed")

// Bits of a frame's first byte.
const (
	flagMore    = 1
	flagLong    = 2
	flagCommand = 4
)

const (
	commandLimit = 4096    // bytes of a command; READY is the largest, with an identity of at most 255
	topicsLimit  = 1 << 16 // bytes of all that a peer subscribes to
	piece        = 1 << 16 // a frame's memory grows by at least this, and doubles; and no more is written at once
)

// greeting begins a connection: a signature, version 3.0, the mechanism NULL, which is none, and zeros.
func greeting() []byte {
	g := make([]byte, 64)
	g[0], g[9], g[10] = 0xff, 0x7f, 3
	copy(g[12:], "NULL")
	return g
}

func checkGreeting(g []byte) error {
	if g[0] != 0xff || g[9]&1 == 0 {
		return broken("the peer speaks something other than ZeroMQ")
	}
	if g[10] < 3 {
		return broken("the peer speaks version %d of ZeroMQ's protocol; 3 is needed", g[10])
	}
	if m := strings.TrimRight(string(g[12:32]), "\x00"); m != "NULL" {
		return broken("the peer wants the mechanism %.20q; only NULL is supported", m)
	}
	return nil
}

// appendFrame appends a frame to b.
func appendFrame(b []byte, flags byte, body []byte) []byte {
	if len(body) > 255 {
		b = binary.BigEndian.AppendUint64(append(b, flags|flagLong), uint64(len(body)))
	} else {
		b = append(b, flags, byte(len(body)))
	}
	return append(b, body...)
}

// encode writes a message.
func encode(parts [][]byte) []byte {
	size := 0
	for _, p := range parts {
		size += 9 + len(p)
	}
	b := make([]byte, 0, size)
	for i, p := range parts {
		flags := byte(flagMore)
		if i == len(parts)-1 {
			flags = 0
		}
		b = appendFrame(b, flags, p)
	}
	return b
}

func encodeCommand(name string, data []byte) []byte {
	return appendFrame(nil, flagCommand, append(append([]byte{byte(len(name))}, name...), data...))
}

// encodeReady is the command with which each side says what it is.
func encodeReady(kind Kind, identity []byte) []byte {
	var data []byte
	add := func(name string, value []byte) {
		data = append(append(data, byte(len(name))), name...)
		data = append(binary.BigEndian.AppendUint32(data, uint32(len(value))), value...)
	}
	add("Socket-Type", []byte(kind))
	if kind != Pub && kind != Sub {
		add("Identity", identity)
	}
	return encodeCommand("READY", data)
}

// parseReady returns what the peer says about itself.
func parseReady(data []byte) (kind, identity string, err error) {
	bad := broken("the peer's READY is damaged")
	for len(data) > 0 {
		n := int(data[0])
		if len(data) < 1+n+4 {
			return "", "", bad
		}
		name := string(data[1 : 1+n])
		size := binary.BigEndian.Uint32(data[1+n:])
		data = data[1+n+4:]
		if uint64(size) > uint64(len(data)) {
			return "", "", bad
		}
		value := string(data[:size])
		data = data[size:]
		switch strings.ToLower(name) {
		case "socket-type":
			kind = value
		case "identity":
			identity = value
		}
	}
	if len(identity) > 255 || strings.HasPrefix(identity, "\x00") {
		return "", "", broken("the peer's identity has %d bytes, or begins with a zero; at most 255 are allowed", len(identity))
	}
	return kind, identity, nil
}

// A reader takes frames off a connection. hold is told about memory before it is allocated, and may refuse.
type reader struct {
	r     io.Reader
	limit Limits
	hold  func(n int) error
}

// frame reads one. left is how many bytes it may have; a command has a limit of its own.
func (r *reader) frame(left int64) (flags byte, body []byte, err error) {
	var head [9]byte
	if _, err := io.ReadFull(r.r, head[:2]); err != nil {
		return 0, nil, err
	}
	flags = head[0]
	if flags&^(flagMore|flagLong|flagCommand) != 0 || flags&flagCommand != 0 && flags&flagMore != 0 {
		return 0, nil, broken("a frame can't begin with %#x", flags)
	}
	size := uint64(head[1])
	if flags&flagLong != 0 {
		if _, err := io.ReadFull(r.r, head[2:]); err != nil {
			return 0, nil, err
		}
		size = binary.BigEndian.Uint64(head[1:])
	}
	if flags&flagCommand != 0 {
		left = commandLimit
	}
	if size > uint64(left) {
		return 0, nil, broken("a frame of %d bytes, where %d are allowed", size, left)
	}
	for uint64(len(body)) < size {
		n := int(min(size-uint64(len(body)), uint64(max(piece, len(body)))))
		if err := r.hold(n); err != nil {
			return 0, nil, err
		}
		at := len(body)
		body = slices.Grow(body, n)[:at+n]
		if _, err := io.ReadFull(r.r, body[at:]); err != nil {
			return 0, nil, err
		}
	}
	return flags, body, nil
}

// next reads a message, or a command with its data.
func (r *reader) next() (parts [][]byte, command string, err error) {
	left := r.limit.Message
	for {
		flags, body, err := r.frame(left)
		if err != nil {
			return nil, "", err
		}
		if flags&flagCommand != 0 {
			if len(parts) > 0 {
				return nil, "", broken("a command inside a message")
			}
			if len(body) == 0 || len(body) < 1+int(body[0]) {
				return nil, "", broken("a command without a name")
			}
			n := 1 + int(body[0])
			return [][]byte{body[n:]}, string(body[1:n]), nil
		}
		left -= int64(len(body))
		if parts = append(parts, body); flags&flagMore == 0 {
			return parts, "", nil
		}
		if len(parts) >= r.limit.Parts {
			return nil, "", broken("a message with more than %d parts", r.limit.Parts)
		}
	}
}

// handshake greets the peer, and returns its identity.
func (r *reader) handshake(w io.Writer, kind Kind, identity []byte) (string, error) {
	if _, err := w.Write(greeting()); err != nil {
		return "", err
	}
	var theirs [64]byte
	for _, part := range [][]byte{theirs[:1], theirs[1:]} { // what isn't ZeroMQ need not send 64 bytes to be recognized
		if _, err := io.ReadFull(r.r, part); err != nil {
			return "", err
		}
		if theirs[0] != 0xff {
			return "", broken("the peer speaks something other than ZeroMQ")
		}
	}
	if err := checkGreeting(theirs[:]); err != nil {
		return "", err
	}
	if _, err := w.Write(encodeReady(kind, identity)); err != nil {
		return "", err
	}
	early := *r
	early.limit.Message = 0 // no message before we know who it is
	parts, command, err := early.next()
	if err != nil {
		return "", err
	}
	if command != "READY" {
		return "", broken("the peer begins with %.20q instead of READY", command)
	}
	theirKind, theirID, err := parseReady(parts[0])
	if err == nil && !slices.Contains(peers[kind], theirKind) {
		err = broken("the peer's socket is a %.20q, which does not fit a %s", theirKind, kind)
	}
	return theirID, err
}

// topics are what a peer of a PUB socket has subscribed to.
type topics map[string]bool

// change takes a subscription, as a message of version 3.0 or a command of 3.1. Anything else is ignored.
func (t topics) change(command string, parts [][]byte) error {
	body := parts[0]
	add := command == "SUBSCRIBE"
	switch {
	case add || command == "CANCEL":
	case command == "" && len(parts) == 1 && len(body) > 0 && body[0] <= 1:
		add, body = body[0] == 1, body[1:]
	default:
		return nil
	}
	if !add {
		delete(t, string(body))
		return nil
	}
	t[string(body)] = true
	size := 0
	for topic := range t {
		size += len(topic) + 16
	}
	if size > topicsLimit {
		return broken("subscriptions of more than %d bytes", topicsLimit)
	}
	return nil
}

func (t topics) match(first []byte) bool {
	for topic := range t {
		if bytes.HasPrefix(first, []byte(topic)) {
			return true
		}
	}
	return false
}
