//go:build unix

package main

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lectern-go/lectern/kernel/internal/quick"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/jupyter"
)

// byteOffset turns a cursor of Jupyter's into an offset. Since protocol 5.2 it counts code points, before that UTF-16
// units.
func byteOffset(code string, cursor int, m *jupyter.Message) int {
	n := 0
	for i, r := range code {
		if n >= cursor {
			return i
		}
		n++
		if r > 0xffff && oldCursor(m) {
			n++
		}
	}
	return len(code)
}

// cursorAt is the inverse of byteOffset.
func cursorAt(code string, off int, m *jupyter.Message) int {
	if oldCursor(m) {
		return len(utf16.Encode([]rune(code[:off])))
	}
	return utf8.RuneCountInString(code[:off])
}

func oldCursor(m *jupyter.Message) bool {
	var major, minor int
	fmt.Sscanf(m.Header.Version, "%d.%d", &major, &minor)
	return major > 0 && (major < 5 || major == 5 && minor < 2)
}

// cursorRequest is the content of complete_request and inspect_request.
type cursorRequest struct {
	Code   string `json:"code"`
	Cursor int    `json:"cursor_pos"`
	Detail int    `json:"detail_level"`
}

func (k *kernel) onComplete(m *jupyter.Message) {
	var req cursorRequest
	m.DecodeContent(&req)
	off := byteOffset(req.Code, req.Cursor, m)
	start := off
	matches, kinds := []string{}, []map[string]any{}
	add := func(text, kind, detail string) {
		if rewrite.Reserved(text) {
			return
		}
		for _, old := range matches {
			if old == text {
				return
			}
		}
		matches = append(matches, text)
		kinds = append(kinds, map[string]any{"text": text, "type": kind, "signature": rewrite.UserNames(detail)})
	}
	line := req.Code[strings.LastIndexByte(req.Code[:off], '\n')+1 : off]
	if strings.HasPrefix(line, "%") && !strings.Contains(line, " ") {
		start = off - len(line)
		for _, m := range magics {
			if strings.HasPrefix(m.name, line) {
				add(m.name, "magic", m.args)
			}
		}
	} else if begin, ok := rewrite.ImportPath(req.Code, off); ok {
		start = begin
		for _, path := range k.packages.Paths() {
			if strings.HasPrefix(path, req.Code[begin:off]) {
				add(path, "module", "")
			}
		}
	} else if c, ok := k.session.Current().Cursor(req.Code, off); ok && !rewrite.IsText(req.Code, off) {
		place := func(at int) {
			if at, ok := c.Cell(at); ok && at <= off {
				start = at
			}
		}
		items, from := quick.Complete(c.Text.String(), c.Off, k.packages, k.packages.Names())
		for _, it := range items {
			place(from)
			add(it.Text, it.Kind, it.Detail)
		}
	}
	from, to := cursorAt(req.Code, start, m), cursorAt(req.Code, off, m)
	for _, x := range kinds {
		x["start"], x["end"] = from, to
	}
	k.answer(m, "complete_reply", map[string]any{"status": "ok", "matches": matches, "cursor_start": from, "cursor_end": to,
		"metadata": map[string]any{"_jupyter_types_experimental": kinds}})
}

func (k *kernel) onInspect(m *jupyter.Message) {
	var req cursorRequest
	m.DecodeContent(&req)
	data := map[string]any{}
	doc := k.hover(req.Code, byteOffset(req.Code, req.Cursor, m))
	if doc != "" {
		data["text/markdown"], data["text/plain"] = doc, plainDoc(doc)
	}
	k.answer(m, "inspect_reply", map[string]any{"status": "ok", "found": len(data) > 0, "data": data, "metadata": map[string]any{}})
}

// hover describes the name at an offset, in Markdown; for a value it includes the documentation of its type.
func (k *kernel) hover(code string, off int) string {
	at, ok := rewrite.Callee(code, off)
	if !ok {
		return ""
	}
	c, ok := k.session.Current().Cursor(code, at)
	if !ok {
		return ""
	}
	d, ok := quick.Describe(c.Text.String(), c.Off, k.packages)
	if !ok {
		return ""
	}
	about := d.TypeComment
	if dir := k.packages.Dir(d.TypePath); dir != "" {
		_, about = quick.Documentation(dir, d.TypePath, d.TypeName)
	}
	return rewrite.UserNames(strings.TrimSpace(k.describe(d) + "\n\n" + about))
}

// describe writes a description in Markdown; the documentation of a package's name is in its source.
func (k *kernel) describe(d quick.Description) string {
	text := d.Comment
	if dir := k.packages.Dir(d.Path); dir != "" {
		var declaration string
		declaration, text = quick.Documentation(dir, d.Path, d.Name)
		switch {
		case declaration == "": // it is in no file that was found
		case strings.HasPrefix(d.Declaration, "type "): // which is easier to read as it was written
			d.Declaration = "type " + declaration
		case d.Path == "builtin" || d.Name == "": // of which types know nothing
			d.Declaration = declaration
		}
	}
	return "```go\n" + d.Declaration + "\n```\n\n" + strings.TrimSpace(text)
}

var docLink = regexp.MustCompile(`\[([^\[\]]+)\]\(https?://[^()\s]*\)`)

// plainDoc is Markdown for a terminal: without the fences around code, and with links as they are in the source.
func plainDoc(s string) string {
	s = docLink.ReplaceAllString(s, "[$1]")
	var lines []string
	for _, l := range strings.Split(s, "\n") {
		if !strings.HasPrefix(l, "```") && l != "---" {
			lines = append(lines, l)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
