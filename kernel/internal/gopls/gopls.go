// Package gopls talks to gopls, the Go language server, about one file: completion and documentation for the program
// that a notebook makes.
package gopls

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lectern-go/lectern/kernel/internal/calls"
)

// A Client is a running gopls. Its methods are safe for concurrent use; requests about the file are answered one at a
// time.
type Client struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	uri   string
	calls *calls.Conn[reply]

	file    sync.Mutex // guards the file's state at the server
	version int
	text    string
}

type reply struct {
	result json.RawMessage
	err    error
}

// Start runs gopls on the module in dir, whose main.go is the file that all is about. cmd is ready to be started but
// for its pipes.
func Start(ctx context.Context, cmd *exec.Cmd, dir string) (*Client, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start gopls: %w", err)
	}
	c := &Client{cmd: cmd, in: in, uri: fileURI(filepath.Join(dir, "main.go")), calls: calls.New[reply](in)}
	go c.read(out)
	err = c.call(ctx, "initialize", map[string]any{
		"processId": nil, "rootUri": fileURI(dir),
		"workspaceFolders": []map[string]string{{"uri": fileURI(dir), "name": "cell"}},
		"capabilities": map[string]any{
			"workspace": map[string]any{"configuration": true, "workspaceFolders": true},
			"textDocument": map[string]any{
				"completion": map[string]any{"completionItem": map[string]any{"snippetSupport": false, "documentationFormat": []string{"plaintext"}}},
				"hover":      map[string]any{"contentFormat": []string{"markdown"}},
			},
		},
		"initializationOptions": settings,
	}, nil)
	if err != nil {
		c.Kill()
		return nil, err
	}
	return c, c.notify("initialized", map[string]any{})
}

// settings keep gopls from doing what nobody looks at.
var settings = map[string]any{
	"completeUnimported": true, "usePlaceholders": false, "hoverKind": "FullDocumentation", "linksInHover": false, "diagnosticsTrigger": "Save",
	"completionBudget": "100ms", "matcher": "CaseInsensitive", "staticcheck": false, "vulncheck": "Off",
}

func fileURI(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

// message is one of JSON-RPC.
type message struct {
	Version string           `json:"jsonrpc"`
	ID      *json.RawMessage `json:"id,omitempty"`
	Method  string           `json:"method,omitempty"`
	Params  any              `json:"params,omitempty"`
	Result  any              `json:"result,omitempty"`
}

func (c *Client) send(m message) error {
	m.Version = "2.0"
	return c.calls.Send(m)
}

func (c *Client) notify(method string, params any) error {
	return c.send(message{Method: method, Params: params})
}

// errEnded is what is said of questions that can't be answered any more.
var errEnded = errors.New("gopls has ended")

// call asks and waits for the answer.
func (c *Client) call(ctx context.Context, method string, params, result any) error {
	var id json.RawMessage
	r, err := c.calls.Call(ctx, func(number int) any {
		id = json.RawMessage(strconv.Itoa(number))
		return message{Version: "2.0", ID: &id, Method: method, Params: params}
	})
	switch {
	case err == errEnded:
		return err
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		c.notify("$/cancelRequest", map[string]any{"id": id})
		return err
	case err != nil:
		return fmt.Errorf("gopls: %s: %w", method, err)
	case r.err != nil || result == nil:
		return r.err
	}
	return json.Unmarshal(r.result, result)
}

// read handles what gopls says until it ends.
func (c *Client) read(r io.Reader) {
	c.calls.Read(r, errEnded, func(text []byte) error {
		var m struct {
			ID     *json.RawMessage
			Method string
			Params json.RawMessage
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if json.Unmarshal(text, &m) != nil {
			return nil // it goes on all the same
		}
		switch {
		case m.Method != "" && m.ID != nil:
			c.answer(*m.ID, m.Method, m.Params)
		case m.ID != nil:
			id, _ := strconv.Atoi(string(*m.ID))
			rep := reply{result: m.Result}
			if m.Error != nil {
				rep.err = errors.New("gopls: " + m.Error.Message)
			}
			c.calls.Answer(id, rep)
		}
		return nil
	})
}

// answer replies to the server's own questions.
func (c *Client) answer(id json.RawMessage, method string, params json.RawMessage) {
	var result any
	if method == "workspace/configuration" {
		var p struct{ Items []any }
		json.Unmarshal(params, &p)
		list := make([]any, len(p.Items))
		for i := range list {
			list[i] = settings
		}
		result = list
	} else {
		result = json.RawMessage("null")
	}
	c.send(message{ID: &id, Result: result})
}

// Kill ends gopls.
func (c *Client) Kill() {
	c.in.Close()
	c.cmd.Process.Kill()
	c.cmd.Wait()
}

// set makes text the content of the file.
func (c *Client) set(text string) error {
	c.version++
	c.text = text
	doc := map[string]any{"uri": c.uri, "version": c.version}
	if c.version == 1 {
		doc["languageId"], doc["text"] = "go", text
		return c.notify("textDocument/didOpen", map[string]any{"textDocument": doc})
	}
	return c.notify("textDocument/didChange", map[string]any{"textDocument": doc, "contentChanges": []map[string]string{{"text": text}}})
}

// position is a place in the file as the protocol counts: lines from 0, columns in UTF-16 units.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

func positionOf(text string, off int) position {
	bol := strings.LastIndexByte(text[:off], '\n') + 1
	return position{strings.Count(text[:off], "\n"), len(utf16.Encode([]rune(text[bol:off])))}
}

func offsetOf(text string, p position) int {
	off := 0
	for range p.Line {
		i := strings.IndexByte(text[off:], '\n')
		if i < 0 {
			return len(text)
		}
		off += i + 1
	}
	for n := 0; n < p.Character && off < len(text) && text[off] != '\n'; {
		r, size := utf8.DecodeRuneInString(text[off:])
		n += len(utf16.Encode([]rune{r}))
		off += size
	}
	return off
}

// An Item is one completion.
type Item struct {
	Text   string // to be inserted
	Start  int    // byte offset from which on it replaces what is there
	Kind   string // "function", "variable", …
	Detail string // a type or signature
}

var itemKinds = map[int]string{2: "function", 3: "function", 4: "class", 5: "property", 6: "instance", 7: "class", 8: "interface", 9: "module", 14: "keyword", 21: "constant", 22: "class"}

// Complete lists what can stand at an offset of the program text.
func (c *Client) Complete(ctx context.Context, text string, off int) ([]Item, error) {
	c.file.Lock()
	defer c.file.Unlock()
	if err := c.set(text); err != nil {
		return nil, err
	}
	var r struct {
		Items []struct {
			Label, InsertText, SortText, Detail string
			Kind                                int
			TextEdit                            *struct {
				NewText string
				Range   struct{ Start position }
				Insert  *struct{ Start position }
			}
		}
	}
	if err := c.call(ctx, "textDocument/completion", c.at(off), &r); err != nil {
		return nil, err
	}
	var items []Item
	for _, x := range r.Items {
		it := Item{Text: x.InsertText, Start: off, Kind: itemKinds[x.Kind], Detail: x.Detail}
		if it.Text == "" {
			it.Text = x.Label
		}
		if e := x.TextEdit; e != nil {
			it.Text = e.NewText
			start := e.Range.Start
			if e.Insert != nil {
				start = e.Insert.Start
			}
			it.Start = offsetOf(text, start)
		}
		items = append(items, it)
	}
	return items, nil
}

// Hover returns the documentation of what stands at an offset of the program text, as Markdown; "" if there is none.
func (c *Client) Hover(ctx context.Context, text string, off int) (string, error) {
	c.file.Lock()
	defer c.file.Unlock()
	if err := c.set(text); err != nil {
		return "", err
	}
	var r *struct{ Contents struct{ Value string } }
	if err := c.call(ctx, "textDocument/hover", c.at(off), &r); err != nil || r == nil {
		return "", err
	}
	return r.Contents.Value, nil
}

func (c *Client) at(off int) map[string]any {
	return map[string]any{"textDocument": map[string]string{"uri": c.uri}, "position": positionOf(c.text, off)}
}
