// Package inband carries messages from a running cell to the kernel inside the cell's standard output.
//
// A display must appear between the lines that were printed before and after it. A second channel could not promise
// that, so a message is an escape sequence among the printed bytes, and the kernel takes it out of the stream again:
//
//	ESC ] lectern ; token ; base64 BEL
//
// The token is a random word that the kernel gives to its cells through the environment: text that a program prints is
// never mistaken for a message. The payload is a list of strings, each after its length; the first is the kind of the
// message.
package inband

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"sync"
)

// TokenVar is the environment variable in which the kernel announces itself and its token.
const TokenVar = "LECTERN_TOKEN"

const (
	prefix = "\x1b]lectern;"
	suffix = "\x07"
)

var (
	token = os.Getenv(TokenVar)
	out   = os.Stdout // what the program prints to, even if it replaces os.Stdout later
)

// The programs that a cell starts are not cells: nothing reads their displays.
func init() { os.Unsetenv(TokenVar) }

// On reports whether this process is a cell of a notebook whose kernel understands messages.
func On() bool { return token != "" }

// Send writes one message. It is a single write, so that messages and lines from several goroutines don't mix.
func Send(kind string, fields ...string) error {
	b := buffers.Get().(*buffer)
	defer buffers.Put(b)
	b.encode(token, kind, fields)
	_, err := out.Write(b.sequence)
	return err
}

// Encode returns the escape sequence of a message.
func Encode(token, kind string, fields ...string) string {
	var b buffer
	b.encode(token, kind, fields)
	return string(b.sequence)
}

// A buffer is where a message is written. Without buffers, a cell that says much in a short time would spend most of it
// on memory.
type buffer struct{ payload, sequence []byte }

var buffers = sync.Pool{New: func() any { return new(buffer) }}

func (b *buffer) encode(token, kind string, fields []string) {
	b.payload = appendString(b.payload[:0], kind)
	for _, f := range fields {
		b.payload = appendString(b.payload, f)
	}
	b.sequence = append(append(append(b.sequence[:0], prefix...), token...), ';')
	b.sequence = append(base64.StdEncoding.AppendEncode(b.sequence, b.payload), suffix...)
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decode reads the payload of a message.
func decode(text string) ([]string, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	var fields []string
	for len(b) > 0 {
		n, k := binary.Uvarint(b)
		if k <= 0 || n > uint64(len(b)-k) {
			return nil, errors.New("inband: message cut short")
		}
		fields = append(fields, string(b[k:k+int(n)]))
		b = b[k+int(n):]
	}
	if len(fields) == 0 {
		return nil, errors.New("inband: empty message")
	}
	return fields, nil
}

// A Splitter separates messages from text. The stream may be cut into chunks anywhere.
type Splitter struct {
	Token string
	Text  func(string)                       // gets the printed text, never an empty string
	Say   func(kind string, fields []string) // gets the messages, in order with the text

	rest string // a sequence, or what may become one, that has not ended yet
}

// Write takes the next chunk.
func (s *Splitter) Write(chunk string) {
	start := prefix + s.Token + ";"
	text := s.rest + chunk
	s.rest = ""
	for text != "" {
		i := strings.Index(text, start)
		if i < 0 {
			k := overlap(text, start)
			s.text(text[:len(text)-k])
			s.rest = text[len(text)-k:]
			return
		}
		s.text(text[:i])
		body := text[i+len(start):]
		j := strings.Index(body, suffix)
		if j < 0 {
			s.rest = text[i:]
			return
		}
		if fields, err := decode(body[:j]); err != nil {
			s.text(text[i : i+len(start)+j+len(suffix)])
		} else {
			s.Say(fields[0], fields[1:])
		}
		text = body[j+len(suffix):]
	}
}

// Close hands out what was held back, as text: the stream has ended.
func (s *Splitter) Close() {
	s.text(s.rest)
	s.rest = ""
}

func (s *Splitter) text(t string) {
	if t != "" {
		s.Text(t)
	}
}

// overlap returns how many bytes at the end of text may be the beginning of start.
func overlap(text, start string) int {
	for n := min(len(start)-1, len(text)); n > 0; n-- {
		if strings.HasPrefix(start, text[len(text)-n:]) {
			return n
		}
	}
	return 0
}
