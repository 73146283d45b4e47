package tokenizer

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lectern-go/lectern/internal/humanize"
)

// FileError reports a file that holds no vocabulary, or one that makes no sense.
type FileError struct {
	Path string // or the name of the format if there is no path
	Line int    // counted from 1; 0 when the problem has no line
	Err  error
}

func (e *FileError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("tokenizer: %s:%d: %v", e.Path, e.Line, e.Err)
	}
	return fmt.Sprintf("tokenizer: %s: %v", e.Path, e.Err)
}

func (e *FileError) Unwrap() error { return e.Err }

// inFile says in which file err happened. Errors of the system already name their file.
func inFile(path string, err error) error {
	var located *FileError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &located):
		located.Path = path
		return located
	}
	return &FileError{Path: path, Err: err}
}

// fileFormat names the layout of our own files.
const fileFormat = "lectern bpe 1"

// fileJSON is a vocabulary as Save writes it. It has either Merges or Ranks.
type fileJSON struct {
	Format  string           `json:"format"`
	Pattern *string          `json:"pattern"` // null: the whole text is one piece
	Special map[string]int32 `json:"special"`
	Bytes   []int32          `json:"bytes,omitempty"` // the token of each byte, if it is not the byte itself
	Merges  [][3]int32       `json:"merges,omitempty"`
	Ranks   []rankJSON       `json:"ranks,omitempty"` // of a tiktoken vocabulary
}

// Save writes the vocabulary as JSON: pattern, special tokens and merges, one per line. Load reads it back. The
// file appears under its name only when it is complete.
func (t *BPE) Save(path string) error {
	return writeFile(path, func(w *bufio.Writer) error { return t.WriteJSON(w) })
}

// Load reads a vocabulary that Save wrote. A file that holds none gives a *FileError.
func Load(path string) (*BPE, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: load: %w", err)
	}
	t, err := parseJSON(text)
	return t, inFile(path, err)
}

// WriteJSON writes what Save does.
func (t *BPE) WriteJSON(w io.Writer) error {
	b := bufio.NewWriter(w)
	value := func(v any) string {
		var text bytes.Buffer
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			panic(err) // strings, numbers and maps of them always encode
		}
		return string(bytes.TrimSpace(text.Bytes()))
	}
	var pattern *string
	if t.pattern != nil {
		pattern = &t.pattern.expr
	}
	fmt.Fprintf(b, "{\n\"format\": %s,\n\"pattern\": %s,\n\"special\": %s", value(fileFormat), value(pattern), value(t.Special()))
	if !t.ranked && t.byteID != identityBytes() {
		fmt.Fprintf(b, ",\n\"bytes\": %s", value(t.byteID))
	}
	lines := func(name string, n int, line func(i int) string) {
		fmt.Fprintf(b, ",\n%q: [", name)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString("\n" + line(i))
		}
		b.WriteString("\n]")
	}
	if t.ranked {
		ids := t.usedIDs()
		lines("ranks", len(ids), func(i int) string {
			return fmt.Sprintf("[%q, %d]", base64.StdEncoding.EncodeToString(t.tokens.at(ids[i])), ids[i])
		})
	} else {
		lines("merges", len(t.merges), func(i int) string {
			m := t.merges[i]
			return fmt.Sprintf("[%d, %d, %d]", m.Left, m.Right, m.ID)
		})
	}
	b.WriteString("\n}\n")
	return b.Flush()
}

// ReadJSON reads what WriteJSON wrote.
func ReadJSON(r io.Reader) (*BPE, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: load: %w", err)
	}
	t, err := parseJSON(text)
	return t, inFile("JSON", err)
}

func parseJSON(text []byte) (*BPE, error) {
	var f fileJSON
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, jsonError(text, err)
	}
	if f.Format != fileFormat {
		return nil, fmt.Errorf("its format is %q, not %q; GPT-2's vocab.json is read by LoadGPT2, .tiktoken files by LoadTiktoken", f.Format, fileFormat)
	}
	if d.More() {
		return nil, errors.New("something follows the vocabulary")
	}
	var pattern *Pattern
	if f.Pattern != nil {
		var err error
		if pattern, err = Compile(*f.Pattern); err != nil {
			return nil, err
		}
	}
	if f.Ranks != nil {
		if f.Merges != nil || f.Bytes != nil {
			return nil, errors.New("it has ranks and also merges or bytes, which contradict each other")
		}
		tokens := make([]rankedToken, len(f.Ranks))
		for i, r := range f.Ranks {
			tokens[i] = rankedToken(r)
		}
		return newRanked(tokens, pattern, f.Special)
	}
	byteID := identityBytes()
	if f.Bytes != nil {
		if len(f.Bytes) != 256 {
			return nil, fmt.Errorf("bytes has %s and needs 256", humanize.Count(len(f.Bytes), "id"))
		}
		copy(byteID[:], f.Bytes)
	}
	merges := make([]Merge, len(f.Merges))
	for i, m := range f.Merges {
		merges[i] = Merge{Left: m[0], Right: m[1], ID: m[2]}
	}
	return newBPE(byteID, merges, pattern, f.Special)
}

// jsonError adds the line to an error of encoding/json.
func jsonError(text []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	offset := int64(len(text))
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	case errors.Is(err, io.EOF):
		err = errors.New("the file is empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("the file ends in the middle; was it cut off?")
	default:
		return err
	}
	line := 1 + bytes.Count(text[:min(offset, int64(len(text)))], []byte("\n"))
	return &FileError{Line: line, Err: err}
}

// rankJSON is [base64 of the bytes, id].
type rankJSON rankedToken

func (r *rankJSON) UnmarshalJSON(text []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	if len(list) != 2 {
		return fmt.Errorf("a rank has %s and needs 2, [base64, id]", humanize.Count(len(list), "item"))
	}
	if err := json.Unmarshal(list[0], &r.bytes); err != nil { // encoding/json reads []byte from base64
		return err
	}
	return json.Unmarshal(list[1], &r.id)
}

// sharedBytes returns two tokens that spell the same bytes, for the formats that name tokens by their bytes.
func (t *BPE) sharedBytes() (a, b int32, shared bool) {
	_, a, b, shared = newByteTable(&t.tokens)
	return a, b, shared
}
