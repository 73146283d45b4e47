// Package po reads and writes catalogues of translations in gettext's PO format, which translators' programs (Poedit,
// Weblate) know. A message's key is its English text, so that a changed sentence can't keep an old translation.
//
// It is our own because the Go libraries drop comments and references that are not lines of a file, in which we keep
// the places of texts. Contexts and plurals are left out: none of our texts needs them.
package po

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Message is a text and its translation.
type Message struct {
	Notes      []string // "# …": what translators say to each other
	Kinds      []string // "#. …": what the text is: a heading, a hint
	References []string // "#: …": where it is, such as 05-storage-strides-views#05-12
	Flags      []string // "#, …": "fuzzy" if the English changed after it was translated
	Previous   string   // "#| …": the English that a fuzzy translation was made from
	ID         string   // the English text
	Str        string   // its translation; "" if there is none yet
}

// Fuzzy reports whether the translation was made from a different English text.
func (m *Message) Fuzzy() bool { return slices.Contains(m.Flags, "fuzzy") }

// Valid reports whether the translation may be shown.
func (m *Message) Valid() bool { return m.Str != "" && !m.Fuzzy() }

// A File is a catalogue. Its first message may be the header, whose ID is empty.
type File struct{ Messages []*Message }

// Header returns a field of the header, such as Language; "" if it is not there.
func (f *File) Header(field string) string {
	if len(f.Messages) == 0 || f.Messages[0].ID != "" {
		return ""
	}
	for line := range strings.Lines(f.Messages[0].Str) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(strings.TrimSpace(name), field) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// An Error is a line that is not PO, or that our catalogues don't allow.
type Error struct {
	File string
	Line int
	Msg  string
}

func (e *Error) Error() string { return fmt.Sprintf("%s, line %d: %s", e.File, e.Line, e.Msg) }

// Parse reads a catalogue; name is for errors. Messages that are commented out (#~) are left out.
func Parse(name string, text []byte) (*File, error) {
	p := &parser{name: name, seen: map[string]int{}}
	if !utf8.Valid(text) {
		return nil, p.fail("the file is not UTF-8")
	}
	for line := range strings.Lines(string(text)) {
		p.number++
		if err := p.line(strings.TrimRight(line, " \t\r\n")); err != nil {
			return nil, err
		}
	}
	p.number++
	if err := p.end(); err != nil {
		return nil, err
	}
	return &p.file, nil
}

// A parser reads a catalogue line by line.
type parser struct {
	name      string
	file      File
	seen      map[string]int // the lines on which messages with these IDs begin
	number    int            // of the line
	m         *Message       // nil between two messages
	began     int            // on which line
	part      string         // what a line in quotes goes on with
	continued *string        // where it goes
}

func (p *parser) fail(format string, args ...any) error {
	return &Error{p.name, p.number, fmt.Sprintf(format, args...)}
}

func (p *parser) line(line string) error {
	if line == "" {
		return p.end()
	}
	if strings.HasPrefix(line, "#~") {
		return nil
	}
	if p.part == "msgstr" && line[0] != '"' { // no empty line stands between two
		if err := p.end(); err != nil {
			return err
		}
	}
	if p.m == nil {
		p.m, p.began = &Message{}, p.number
	}
	if rest, previous := strings.CutPrefix(line, "#|"); previous {
		return p.text(strings.TrimSpace(rest), true)
	}
	if line[0] == '#' {
		return p.comment(line)
	}
	return p.text(line, false)
}

// end takes up the message that ends here, if there is one.
func (p *parser) end() error {
	m := p.m
	switch {
	case m == nil:
		return nil
	case p.part == "" || p.part == "#| msgid" || p.part == "msgid":
		return p.fail("the message that begins at line %d has no msgstr", p.began)
	case p.seen[m.ID] > 0:
		return p.fail("the message on line %d has the same msgid as the one on line %d; keep one", p.began, p.seen[m.ID])
	case m.ID == "" && len(p.file.Messages) > 0:
		return p.fail("an empty msgid is the header, which comes first")
	}
	p.seen[m.ID] = p.began
	p.file.Messages = append(p.file.Messages, m)
	p.m, p.part, p.continued = nil, "", nil
	return nil
}

// comment reads a line that begins with #.
func (p *parser) comment(line string) error {
	if p.part == "msgid" {
		return p.fail("a comment stands within a message")
	}
	mark, rest := line[:min(2, len(line))], strings.TrimSpace(line[min(2, len(line)):])
	switch mark {
	case "#.":
		p.m.Kinds = append(p.m.Kinds, rest)
	case "#:":
		p.m.References = append(p.m.References, strings.Fields(rest)...)
	case "#,":
		for flag := range strings.SplitSeq(rest, ",") {
			if flag = strings.TrimSpace(flag); flag != "" {
				p.m.Flags = append(p.m.Flags, flag)
			}
		}
	default:
		p.m.Notes = append(p.m.Notes, strings.TrimSpace(line[1:]))
	}
	return nil
}

// text reads a text in quotes, behind a keyword or alone; previous is one that stands behind #|.
func (p *parser) text(body string, previous bool) error {
	if !strings.HasPrefix(body, `"`) {
		word, quoted, _ := strings.Cut(body, " ")
		body = strings.TrimSpace(quoted)
		switch {
		case previous && word == "msgid" && p.part == "":
			p.part, p.continued = "#| msgid", &p.m.Previous
		case !previous && word == "msgid" && (p.part == "" || p.part == "#| msgid"):
			p.part, p.continued = "msgid", &p.m.ID
		case !previous && word == "msgstr" && p.part == "msgid":
			p.part, p.continued = "msgstr", &p.m.Str
		case word == "msgctxt" || word == "msgid_plural" || strings.HasPrefix(word, "msgstr["):
			return p.fail("%s: catalogues here have neither contexts nor plurals", word)
		default:
			return p.fail("%q stands where msgid, msgstr or a comment was expected", word)
		}
	} else if p.continued == nil || previous != (p.part == "#| msgid") {
		return p.fail("a text in quotes that belongs to nothing")
	}
	s, ok := unquote(body)
	if !ok {
		return p.fail("%s isn't a text in quotes", body)
	}
	*p.continued += s
	return nil
}

// Bytes writes the catalogue in a fixed form: texts on one line, except for those with several lines.
func (f *File) Bytes() []byte {
	var b bytes.Buffer
	for i, m := range f.Messages {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, s := range m.Notes {
			b.WriteString(strings.TrimRight("# "+s, " ") + "\n")
		}
		for _, s := range m.Kinds {
			b.WriteString("#. " + s + "\n")
		}
		for _, s := range m.References {
			b.WriteString("#: " + s + "\n")
		}
		if len(m.Flags) > 0 {
			b.WriteString("#, " + strings.Join(m.Flags, ", ") + "\n")
		}
		if m.Previous != "" {
			b.WriteString(field("#| ", "msgid", m.Previous))
		}
		b.WriteString(field("", "msgid", m.ID))
		b.WriteString(field("", "msgstr", m.Str))
	}
	return b.Bytes()
}

func field(mark, name, text string) string {
	if !strings.Contains(text, "\n") {
		return mark + name + " " + quote(text) + "\n"
	}
	out := mark + name + ` ""` + "\n"
	for line := range strings.Lines(text) {
		out += mark + quote(line) + "\n"
	}
	return out
}

var quoter = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`)

func quote(s string) string { return `"` + quoter.Replace(s) + `"` }

func unquote(s string) (string, bool) {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return "", false
	}
	s = s[1 : len(s)-1]
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return "", false
		case s[i] != '\\':
			b.WriteByte(s[i])
			continue
		}
		i++
		if i == len(s) {
			return "", false
		}
		at := strings.IndexByte(`\"ntr`, s[i])
		if at < 0 {
			return "", false
		}
		b.WriteByte("\\\"\n\t\r"[at])
	}
	return b.String(), true
}

// Find returns the message for an English text in a catalogue that Bytes has written, without reading the rest; nil
// if there is none. Programs that say one sentence need not read a whole course.
func Find(text []byte, id string) *Message {
	at := bytes.Index(text, []byte("\n"+field("", "msgid", id)))
	if id == "" || at < 0 {
		return nil
	}
	from, to := 0, len(text)
	if i := bytes.LastIndex(text[:at+1], []byte("\n\n")); i >= 0 {
		from = i + 2
	}
	if i := bytes.Index(text[at+1:], []byte("\n\n")); i >= 0 {
		to = at + 1 + i
	}
	f, err := Parse("", text[from:to])
	if err != nil || len(f.Messages) != 1 || f.Messages[0].ID != id {
		return nil
	}
	return f.Messages[0]
}
