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
	f := &File{}
	seen := map[string]int{}
	var m *Message
	began := 0
	part := ""            // what a line in quotes continues
	var continued *string // where it goes
	number := 0
	fail := func(format string, args ...any) error { return &Error{name, number, fmt.Sprintf(format, args...)} }
	end := func() error {
		switch {
		case m == nil:
			return nil
		case part == "" || part == "#| msgid" || part == "msgid":
			return fail("the message that begins at line %d has no msgstr", began)
		case seen[m.ID] > 0:
			return fail("the message on line %d has the same msgid as the one on line %d; keep one", began, seen[m.ID])
		case m.ID == "" && len(f.Messages) > 0:
			return fail("an empty msgid is the header, which comes first")
		}
		seen[m.ID] = began
		f.Messages = append(f.Messages, m)
		m, part, continued = nil, "", nil
		return nil
	}
	if !utf8.Valid(text) {
		return nil, fail("the file is not UTF-8")
	}
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimRight(line, " \t\r\n")
		if line == "" {
			if err := end(); err != nil {
				return nil, err
			}
			continue
		}
		if strings.HasPrefix(line, "#~") {
			continue
		}
		if part == "msgstr" && line[0] != '"' { // no empty line is between two
			if err := end(); err != nil {
				return nil, err
			}
		}
		if m == nil {
			m, began = &Message{}, number
		}
		if line[0] == '#' && !strings.HasPrefix(line, "#|") {
			if part == "msgid" {
				return nil, fail("a comment stands within a message")
			}
			mark, rest := line[:min(2, len(line))], strings.TrimSpace(line[min(2, len(line)):])
			switch mark {
			case "#.":
				m.Kinds = append(m.Kinds, rest)
			case "#:":
				m.References = append(m.References, strings.Fields(rest)...)
			case "#,":
				for flag := range strings.SplitSeq(rest, ",") {
					if flag = strings.TrimSpace(flag); flag != "" {
						m.Flags = append(m.Flags, flag)
					}
				}
			default:
				m.Notes = append(m.Notes, strings.TrimSpace(line[1:]))
			}
			continue
		}
		previous := strings.HasPrefix(line, "#|")
		body := line
		if previous {
			body = strings.TrimSpace(line[2:])
		}
		if !strings.HasPrefix(body, `"`) {
			word, quoted, _ := strings.Cut(body, " ")
			body = strings.TrimSpace(quoted)
			switch {
			case previous && word == "msgid" && part == "":
				part, continued = "#| msgid", &m.Previous
			case !previous && word == "msgid" && (part == "" || part == "#| msgid"):
				part, continued = "msgid", &m.ID
			case !previous && word == "msgstr" && part == "msgid":
				part, continued = "msgstr", &m.Str
			case word == "msgctxt" || word == "msgid_plural" || strings.HasPrefix(word, "msgstr["):
				return nil, fail("%s: catalogues here have neither contexts nor plurals", word)
			default:
				return nil, fail("%q stands where msgid, msgstr or a comment was expected", word)
			}
		} else if continued == nil || previous != (part == "#| msgid") {
			return nil, fail("a text in quotes that belongs to nothing")
		}
		s, ok := unquote(body)
		if !ok {
			return nil, fail("%s isn't a text in quotes", body)
		}
		*continued += s
	}
	number++
	if err := end(); err != nil {
		return nil, err
	}
	return f, nil
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
