package notebook

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bytes returns the canonical form of the notebook.
func (n *Notebook) Bytes() []byte {
	o := Object{"nbformat": 4, "nbformat_minor": max(5, n.Minor), "metadata": orEmpty(n.Metadata)}
	cells := []any{}
	for _, c := range n.Cells {
		cells = append(cells, c.object())
	}
	o["cells"] = cells
	add(o, n.Extra)
	var w writer
	w.value(o, 0)
	w.WriteByte('\n')
	return []byte(w.String())
}

func (c *Cell) object() Object {
	o := Object{"id": c.ID, "cell_type": c.Type, "source": lines(c.Source), "metadata": orEmpty(c.Metadata)}
	if c.Attachments != nil {
		files := Object{}
		for name, v := range c.Attachments {
			if data, ok := v.(Object); ok {
				v = bundle(data)
			}
			files[name] = v
		}
		o["attachments"] = files
	}
	if c.Type == "code" {
		outputs := []any{}
		for _, out := range c.Outputs {
			outputs = append(outputs, out.object())
		}
		o["outputs"], o["execution_count"] = outputs, count(c.Count)
	}
	add(o, c.Extra)
	return o
}

func (out *Output) object() Object {
	o := Object{"output_type": out.Type}
	switch out.Type {
	case "stream":
		o["name"], o["text"] = out.Name, lines(out.Text)
	case "display_data", "execute_result":
		o["data"], o["metadata"] = bundle(out.Data), orEmpty(out.Metadata)
		if out.Type == "execute_result" {
			o["execution_count"] = count(out.Count)
		}
	case "error":
		tb := []any{}
		for _, l := range out.Traceback {
			tb = append(tb, l)
		}
		o["ename"], o["evalue"], o["traceback"] = out.EName, out.EValue, tb
	}
	add(o, out.Extra)
	return o
}

// bundle returns data with its texts split into lines; pictures in base64 stay whole, as Jupyter leaves them.
func bundle(data Object) Object {
	o := Object{}
	for mime, v := range data {
		if s, ok := v.(string); ok && (strings.HasPrefix(mime, "text/") || mime == "image/svg+xml" || mime == "application/javascript") {
			v = lines(s)
		}
		o[mime] = v
	}
	return o
}

// add copies fields that o does not have.
func add(o, extra Object) {
	for k, v := range extra {
		if _, ok := o[k]; !ok {
			o[k] = v
		}
	}
}

func orEmpty(o Object) Object {
	if o == nil {
		return Object{}
	}
	return o
}

func count(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

// lines splits s after its line ends, as Python's splitlines(True) does, which Jupyter uses.
func lines(s string) []any {
	l := []any{}
	for start, i := 0, 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch r {
		case '\r':
			if i < len(s) && s[i] == '\n' {
				i++
			}
		case '\n', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
		default:
			if i < len(s) {
				continue
			}
		}
		l = append(l, s[start:i])
		start = i
	}
	return l
}

// writer writes JSON as Python's json.dumps(…, sort_keys=True, indent=1, ensure_ascii=False) does.
type writer struct{ strings.Builder }

func (w *writer) value(v any, depth int) {
	switch v := v.(type) {
	case nil:
		w.WriteString("null")
	case bool:
		w.WriteString(strconv.FormatBool(v))
	case string:
		w.text(v)
	case int:
		w.WriteString(strconv.Itoa(v))
	case json.Number:
		w.WriteString(v.String())
	case []string:
		l := make([]any, len(v))
		for i, s := range v {
			l[i] = s
		}
		w.list(l, depth)
	case []any:
		w.list(v, depth)
	case Object:
		w.object(v, depth)
	default:
		// A value that a program put into metadata: JSON decides what it is, and the result is one of the kinds above.
		b, err := json.Marshal(v)
		if err != nil {
			panic(fmt.Sprintf("notebook: a %T cannot be written as JSON: %v", v, err))
		}
		d := json.NewDecoder(strings.NewReader(string(b)))
		d.UseNumber()
		var plain any
		if err := d.Decode(&plain); err != nil {
			panic(fmt.Sprintf("notebook: a %T cannot be written as JSON: %v", v, err))
		}
		w.value(plain, depth)
	}
}

func (w *writer) list(l []any, depth int) {
	if len(l) == 0 {
		w.WriteString("[]")
		return
	}
	w.WriteByte('[')
	for i, v := range l {
		if i > 0 {
			w.WriteByte(',')
		}
		w.newline(depth + 1)
		w.value(v, depth+1)
	}
	w.newline(depth)
	w.WriteByte(']')
}

func (w *writer) object(o Object, depth int) {
	if len(o) == 0 {
		w.WriteString("{}")
		return
	}
	w.WriteByte('{')
	for i, k := range slices.Sorted(maps.Keys(o)) {
		if i > 0 {
			w.WriteByte(',')
		}
		w.newline(depth + 1)
		w.text(k)
		w.WriteString(": ")
		w.value(o[k], depth+1)
	}
	w.newline(depth)
	w.WriteByte('}')
}

func (w *writer) newline(depth int) {
	w.WriteByte('\n')
	for range depth {
		w.WriteByte(' ')
	}
}

func (w *writer) text(s string) {
	w.WriteByte('"')
	for _, r := range s {
		switch r {
		case '"':
			w.WriteString(`\"`)
		case '\\':
			w.WriteString(`\\`)
		case '\n':
			w.WriteString(`\n`)
		case '\r':
			w.WriteString(`\r`)
		case '\t':
			w.WriteString(`\t`)
		case '\b':
			w.WriteString(`\b`)
		case '\f':
			w.WriteString(`\f`)
		default:
			if r < 0x20 {
				fmt.Fprintf(w, `\u%04x`, r)
				continue
			}
			w.WriteRune(r) // bytes that are not UTF-8 become U+FFFD
		}
	}
	w.WriteByte('"')
}
