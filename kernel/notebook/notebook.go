// Package notebook reads and writes Jupyter notebooks (nbformat 4.5).
//
// What it writes is canonical, byte for byte what Jupyter itself writes: keys sorted, indented by one space, texts as
// lists of lines, a newline at the end. So a notebook saved by JupyterLab and by `go run ./kernel run` differ only
// where their content does. Fields that the package does not know are kept.
package notebook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lectern-go/lectern/internal/atomicfile"
)

// An Object is a JSON object. Its values are string, bool, nil, json.Number, []any, Object's underlying map, or for
// values set by a program also int and []string.
type Object = map[string]any

// GuessType is the MIME type of what lesson.Guess shows: a question to the reader.
const GuessType = "application/vnd.lectern.guess+json"

// StepsType is the MIME type of the record of a cell's steps, which render asks the kernel for.
const StepsType = "application/vnd.lectern.steps+json"

// WidgetType is the MIME type of a widget. It names a model that a kernel and a page share, and that ends with them.
const WidgetType = "application/vnd.jupyter.widget-view+json"

// A Notebook is a whole .ipynb file.
type Notebook struct {
	Cells    []*Cell
	Metadata Object
	Minor    int    // of nbformat 4: at least 5 once parsed, since every cell gets an ID
	Extra    Object // top-level fields that the format does not know
}

// A Cell is one cell.
type Cell struct {
	ID          string
	Type        string // "code", "markdown" or "raw"
	Source      string
	Metadata    Object
	Attachments Object    // markdown and raw cells; nil if absent
	Count       int       // execution_count of a code cell; 0 is null
	Outputs     []*Output // of a code cell
	Extra       Object    // fields that the format does not know
}

// An Output is one output of a code cell. Which fields are used depends on Type.
type Output struct {
	Type      string   // "stream", "display_data", "execute_result" or "error"
	Name      string   // stream: "stdout" or "stderr"
	Text      string   // stream
	Data      Object   // display_data, execute_result: by MIME type; a string unless the type is JSON
	Metadata  Object   // display_data, execute_result
	Count     int      // execute_result: execution_count; 0 is null
	EName     string   // error
	EValue    string   // error
	Traceback []string // error
	Extra     Object
}

// Tags returns the cell's tags (metadata.tags).
func (c *Cell) Tags() []string {
	var tags []string
	switch l := c.Metadata["tags"].(type) {
	case []string:
		tags = l
	case []any:
		for _, t := range l {
			if s, ok := t.(string); ok {
				tags = append(tags, s)
			}
		}
	}
	return tags
}

// HasTag reports whether the cell has the tag.
func (c *Cell) HasTag(tag string) bool { return slices.Contains(c.Tags(), tag) }

// Plain returns the text/plain form of a display, or the text of a stream; "" if there is none.
func (o *Output) Plain() string {
	if o.Type == "stream" {
		return o.Text
	}
	s, _ := o.Data["text/plain"].(string)
	return s
}

// SetKernel writes the kernelspec and language into the notebook's metadata.
func (n *Notebook) SetKernel(name, display, language string) {
	if n.Metadata == nil {
		n.Metadata = Object{}
	}
	n.Metadata["kernelspec"] = Object{"name": name, "display_name": display, "language": language}
}

// An Error reports a file that is not a valid notebook.
type Error struct {
	File string
	Cell int // counted from 1; 0 is the notebook as a whole
	Msg  string
}

func (e *Error) Error() string {
	if e.Cell == 0 {
		return fmt.Sprintf("notebook %s: %s", e.File, e.Msg)
	}
	return fmt.Sprintf("notebook %s, cell %d: %s", e.File, e.Cell, e.Msg)
}

// Read reads a notebook file.
func Read(path string) (*Notebook, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("notebook: %w", err)
	}
	return Parse(path, b)
}

// Parse reads a notebook from b; file is used in errors only. Cells without an ID get one that depends only on their
// content, so parsing the same bytes gives the same IDs.
func Parse(file string, b []byte) (*Notebook, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var top Object
	if err := d.Decode(&top); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			line := 1 + bytes.Count(b[:min(int(syntax.Offset), len(b))], []byte("\n"))
			return nil, &Error{File: file, Msg: fmt.Sprintf("line %d is not JSON: %v", line, err)}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, &Error{File: file, Msg: "the file is empty or cut off"}
		}
		return nil, &Error{File: file, Msg: "not JSON: " + err.Error()}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, &Error{File: file, Msg: "there is more text after the notebook's closing brace"}
	}
	p := parser{file: file}
	n := p.notebook(top)
	if p.err != nil {
		return nil, p.err
	}
	return n, nil
}

// parser turns generic JSON into a Notebook and keeps the first error.
type parser struct {
	file string
	cell int
	err  error
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = &Error{File: p.file, Cell: p.cell, Msg: fmt.Sprintf(format, args...)}
	}
}

// take removes key from o and returns its value as a T; a missing or null value is the zero T.
func take[T any](p *parser, o Object, key string) (v T) {
	raw, ok := o[key]
	delete(o, key)
	if !ok || raw == nil {
		return v
	}
	v, ok = raw.(T)
	if !ok {
		p.fail("%s is %s, want %s", key, kind(raw), kind(any(v)))
	}
	return v
}

// number removes an integer field; a missing or null one is 0.
func (p *parser) number(o Object, key string) int {
	s := take[json.Number](p, o, key)
	if s == "" {
		return 0
	}
	n, err := strconv.Atoi(s.String())
	if err != nil {
		p.fail("%s is %s, want an integer", key, s)
	}
	return n
}

// text removes a field that is a string or a list of lines.
func (p *parser) text(o Object, key string) string {
	v := o[key]
	delete(o, key)
	s, ok := joined(v)
	if !ok {
		p.fail("%s is %s, want a string or a list of strings", key, kind(v))
	}
	return s
}

func joined(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case []any:
		var b strings.Builder
		for _, l := range v {
			s, ok := l.(string)
			if !ok {
				return "", false
			}
			b.WriteString(s)
		}
		return b.String(), true
	}
	return "", false
}

func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case []any:
		return "a list"
	}
	return "an object"
}

// rest returns what has not been taken, or nil.
func rest(o Object) Object {
	if len(o) == 0 {
		return nil
	}
	return o
}

var validID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func (p *parser) notebook(o Object) *Notebook {
	_, known := o["nbformat"]
	if _, cells := o["cells"]; !known && !cells {
		p.fail("it has neither nbformat nor cells: not a notebook")
		return nil
	}
	if major := p.number(o, "nbformat"); major != 4 && p.err == nil {
		p.fail("nbformat %d is not supported, only 4; open and save it once with a current JupyterLab", major)
	}
	n := &Notebook{Minor: max(5, p.number(o, "nbformat_minor")), Metadata: take[Object](p, o, "metadata")}
	cells := take[[]any](p, o, "cells")
	seen := map[string]int{}
	for i, v := range cells {
		p.cell = i + 1
		co, ok := v.(Object)
		if !ok {
			p.fail("it is %s, want an object", kind(v))
			return n
		}
		c := p.parseCell(co)
		if c.ID != "" {
			if !validID.MatchString(c.ID) {
				p.fail("id %q is not valid: 1 to 64 letters, digits, - and _", c.ID)
			}
			if first, twice := seen[c.ID]; twice {
				p.fail("id %q is also that of cell %d; change one of them", c.ID, first)
			}
			seen[c.ID] = p.cell
		}
		n.Cells = append(n.Cells, c)
	}
	p.cell = 0
	n.Extra = rest(o)
	for _, c := range n.Cells {
		if c.ID == "" {
			c.ID = c.NewID(func(id string) bool { return seen[id] != 0 })
			seen[c.ID] = -1
		}
	}
	return n
}

// NewID returns an ID for a cell that depends on its type and source and is not in taken.
func (c *Cell) NewID(taken func(id string) bool) string {
	for k := 0; ; k++ {
		if id := contentID(c, k); !taken(id) {
			return id
		}
	}
}

func contentID(c *Cell, k int) string {
	h := sha256.Sum256([]byte(c.Type + "\x00" + c.Source + "\x00" + strconv.Itoa(k)))
	return hex.EncodeToString(h[:4])
}

func (p *parser) parseCell(o Object) *Cell {
	c := &Cell{
		ID:          take[string](p, o, "id"),
		Type:        take[string](p, o, "cell_type"),
		Source:      p.text(o, "source"),
		Metadata:    take[Object](p, o, "metadata"),
		Attachments: take[Object](p, o, "attachments"),
	}
	delete(c.Metadata, "trusted") // whether this user's Jupyter trusts the cell: never stored, as in Jupyter
	for _, file := range c.Attachments {
		if data, ok := file.(Object); ok {
			p.rejoin(data, "attachment")
		}
	}
	switch c.Type {
	case "code":
		c.Count = p.number(o, "execution_count")
		for i, v := range take[[]any](p, o, "outputs") {
			oo, ok := v.(Object)
			if !ok {
				p.fail("output %d is %s, want an object", i+1, kind(v))
				break
			}
			c.Outputs = append(c.Outputs, p.parseOutput(i+1, oo))
		}
	case "markdown", "raw":
		if l, _ := o["outputs"].([]any); len(l) > 0 {
			p.fail("a %s cell cannot have outputs", c.Type)
		}
		delete(o, "outputs")
		delete(o, "execution_count")
	default:
		p.fail(`cell_type is %q, want "code", "markdown" or "raw"`, c.Type)
	}
	c.Extra = rest(o)
	return c
}

func (p *parser) parseOutput(number int, o Object) *Output {
	out := &Output{Type: take[string](p, o, "output_type")}
	switch out.Type {
	case "stream":
		out.Name, out.Text = take[string](p, o, "name"), p.text(o, "text")
	case "display_data", "execute_result":
		out.Data, out.Metadata = take[Object](p, o, "data"), take[Object](p, o, "metadata")
		p.rejoin(out.Data, fmt.Sprintf("output %d", number))
		if out.Type == "execute_result" {
			out.Count = p.number(o, "execution_count")
		}
	case "error":
		out.EName, out.EValue = take[string](p, o, "ename"), take[string](p, o, "evalue")
		for _, l := range take[[]any](p, o, "traceback") {
			s, ok := l.(string)
			if !ok {
				p.fail("output %d: a line of the traceback is %s, want a string", number, kind(l))
			}
			out.Traceback = append(out.Traceback, s)
		}
	default:
		p.fail("output %d: output_type %q is not known", number, out.Type)
	}
	out.Extra = rest(o)
	return out
}

// rejoin turns lists of lines in a MIME bundle back into strings.
func (p *parser) rejoin(data Object, where string) {
	for mime, v := range data {
		if isJSON(mime) {
			continue
		}
		s, ok := joined(v)
		if !ok {
			p.fail("%s: %s is %s, want a string or a list of strings", where, mime, kind(v))
		}
		data[mime] = s
	}
}

// isJSON reports whether a MIME type holds JSON, which is not split into lines.
func isJSON(mime string) bool {
	return mime == "application/json" || strings.HasPrefix(mime, "application/") && strings.HasSuffix(mime, "+json")
}

// Write writes the notebook to path as a whole or not at all: into a new file in the same folder, which then takes
// path's place.
func (n *Notebook) Write(path string) error {
	b := n.Bytes()
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, b) {
		return nil // an editor that watches the file need not reload it
	}
	if err := atomicfile.Write(path, func(w io.Writer) error { _, err := w.Write(b); return err }); err != nil {
		return fmt.Errorf("notebook: %w", err)
	}
	return nil
}
