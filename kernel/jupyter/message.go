package jupyter

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/lectern-go/lectern/internal/humanize"
)

// ProtocolVersion is the version of the messaging protocol written into new headers.
const ProtocolVersion = "5.4"

// delimiter separates the routing identities from the signed part of a message.
const delimiter = "<IDS|MSG>"

// A Header names one message. Fields that this package does not know (a newer protocol's subshell_id, say) are kept in
// Extra, so that a message that is only passed on loses nothing.
type Header struct {
	ID       string // msg_id
	Type     string // msg_type
	Session  string
	Username string
	Date     string // ISO 8601
	Version  string // of the protocol
	Extra    map[string]json.RawMessage
}

// fields lists the known header fields in the order in which they are written.
func (h *Header) fields() []struct {
	name  string
	value *string
} {
	return []struct {
		name  string
		value *string
	}{
		{"msg_id", &h.ID}, {"msg_type", &h.Type}, {"session", &h.Session},
		{"username", &h.Username}, {"date", &h.Date}, {"version", &h.Version},
	}
}

// MarshalJSON writes the header; a header without an ID is the empty object, as the protocol wants for "no parent".
func (h Header) MarshalJSON() ([]byte, error) {
	if h.ID == "" {
		return []byte("{}"), nil
	}
	m := make(map[string]any, 6+len(h.Extra))
	for k, v := range h.Extra {
		m[k] = v
	}
	for _, f := range h.fields() {
		m[f.name] = *f.value
	}
	return json.Marshal(m)
}

// UnmarshalJSON reads a header and keeps the fields it does not know in Extra.
func (h *Header) UnmarshalJSON(b []byte) error {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	*h = Header{}
	for _, f := range h.fields() {
		raw, ok := m[f.name]
		if !ok {
			continue
		}
		delete(m, f.name)
		if err := json.Unmarshal(raw, f.value); err != nil {
			return fmt.Errorf("header field %s: %w", f.name, err)
		}
	}
	if len(m) > 0 {
		h.Extra = m
	}
	return nil
}

// A Message is one Jupyter message. Metadata and Content are JSON objects; nil is written as {}.
type Message struct {
	Identities [][]byte // ROUTER's routing prefix, or a PUB topic
	Header     Header
	Parent     Header // zero if the message answers nothing
	Metadata   json.RawMessage
	Content    json.RawMessage
	Buffers    [][]byte // raw binary parts; not signed
}

// NewMessage returns a message of the given type with a fresh ID. content is marshalled to JSON; nil means {}.
// It panics if content cannot be marshalled, which is a mistake of the program and not of its input.
func NewMessage(session, msgType string, content any) *Message {
	m := &Message{Header: Header{
		ID:       NewID(),
		Type:     msgType,
		Session:  session,
		Username: "lectern",
		Date:     time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"),
		Version:  ProtocolVersion,
	}}
	m.SetContent(content)
	return m
}

// Size is how many bytes of the message its sender has chosen: its content, metadata and buffers.
func (m *Message) Size() int {
	n := len(m.Content) + len(m.Metadata)
	for _, b := range m.Buffers {
		n += len(b)
	}
	return n
}

// Reply returns a new message that has m as its parent and m's routing identities, so that it goes back to m's sender.
// To publish it on iopub instead, replace Identities with a topic.
func (m *Message) Reply(msgType string, content any) *Message {
	r := NewMessage(m.Header.Session, msgType, content)
	r.Parent = m.Header
	r.Identities = m.Identities
	return r
}

// SetContent replaces the content with v marshalled to JSON. It panics if v cannot be marshalled.
func (m *Message) SetContent(v any) {
	if v == nil {
		m.Content = nil
		return
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("jupyter: content of %s: %v", m.Header.Type, err))
	}
	m.Content = b
}

// DecodeContent reads the content into v, a pointer, as json.Unmarshal does.
func (m *Message) DecodeContent(v any) error {
	if err := json.Unmarshal(object(m.Content), v); err != nil {
		return fmt.Errorf("jupyter: content of %s: %w", m.Header.Type, err)
	}
	return nil
}

// ErrSignature reports a message whose signature does not match its parts: it was not written by a holder of the key.
var ErrSignature = errors.New("jupyter: message with a wrong signature")

// Decode reads a message from the frames that a socket received. An empty key means that messages are not signed.
// The message shares the frames' memory. It returns ErrSignature for a message that was not signed with key.
func Decode(frames [][]byte, key []byte) (*Message, error) {
	at := -1
	for i, f := range frames {
		if string(f) == delimiter {
			at = i
			break
		}
	}
	if at < 0 {
		return nil, fmt.Errorf("jupyter: %s without the %s delimiter: not a Jupyter message", humanize.Count(len(frames), "frame"), delimiter)
	}
	if n := len(frames) - at - 1; n < 5 {
		return nil, fmt.Errorf("jupyter: message with %s after the delimiter; a signature and 4 parts are needed", humanize.Count(n, "frame"))
	}
	parts := frames[at+2 : at+6]
	if len(key) > 0 && !hmac.Equal([]byte(Sign(parts, key)), frames[at+1]) {
		return nil, ErrSignature
	}
	m := &Message{Identities: frames[:at], Metadata: parts[2], Content: parts[3], Buffers: frames[at+6:]}
	if err := json.Unmarshal(object(parts[0]), &m.Header); err != nil {
		return nil, fmt.Errorf("jupyter: header: %w", err)
	}
	if err := json.Unmarshal(object(parts[1]), &m.Parent); err != nil {
		return nil, fmt.Errorf("jupyter: parent header of %s: %w", m.Header.Type, err)
	}
	return m, nil
}

// Encode returns the frames of m, signed with key (an empty key writes an empty signature).
func (m *Message) Encode(key []byte) ([][]byte, error) {
	header, err := json.Marshal(m.Header)
	if err != nil {
		return nil, fmt.Errorf("jupyter: header of %s: %w", m.Header.Type, err)
	}
	parent, err := json.Marshal(m.Parent)
	if err != nil {
		return nil, fmt.Errorf("jupyter: parent header of %s: %w", m.Header.Type, err)
	}
	parts := [][]byte{header, parent, object(m.Metadata), object(m.Content)}
	frames := make([][]byte, 0, len(m.Identities)+6+len(m.Buffers))
	frames = append(frames, m.Identities...)
	frames = append(frames, []byte(delimiter), []byte(Sign(parts, key)))
	frames = append(frames, parts...)
	return append(frames, m.Buffers...), nil
}

// Sign returns the hex HMAC-SHA256 of header, parent header, metadata and content; "" for an empty key.
func Sign(parts [][]byte, key []byte) string {
	if len(key) == 0 {
		return ""
	}
	mac := hmac.New(sha256.New, key)
	for _, p := range parts {
		mac.Write(p)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// NewID returns a random identifier in UUID form, as Jupyter uses for messages, sessions and kernels.
func NewID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// object returns b, or the empty object where b is blank.
func object(b []byte) []byte {
	if len(bytes.TrimSpace(b)) == 0 {
		return []byte("{}")
	}
	return b
}
