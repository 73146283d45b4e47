//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lectern-go/lectern/kernel/internal/child"
	"github.com/lectern-go/lectern/kernel/internal/gopls"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/jupyter"
)

// A completer answers questions about code that is being edited, through a gopls of its own: GoNB's would answer only
// when no cell runs, and knows nothing of the kernel's variables.
type completer struct {
	k      *kernel
	once   sync.Once
	ready  chan struct{} // closed when gopls has started, or failed to
	client *gopls.Client
	err    error
	warm   atomic.Bool // it has answered once
	ctx    context.Context
	cancel context.CancelFunc
}

const (
	warmAfter   = time.Second      // of rest; before that the processors belong to the cells
	firstAnswer = 30 * time.Second // gopls may still be loading the library
	laterAnswer = 5 * time.Second
)

func newCompleter(k *kernel) *completer {
	c := &completer{k: k, ready: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	go func() { // warm it while the user is still reading; a notebook that is run by a program never rests, and never needs it
		if !k.queue.untilResting(c.ctx, warmAfter) {
			return
		}
		if missing(c.gopls()) {
			return
		}
		c.start()
		if c.client != nil {
			ctx, cancel := context.WithTimeout(c.ctx, time.Minute)
			defer cancel()
			text := "package main\n\nimport (\n\t\"fmt\"\n\t\"math\"\n\t\"strings\"\n)\n\nfunc main() {\n\tfmt.P\n}\n"
			if _, err := c.client.Complete(ctx, text, strings.Index(text, "fmt.P")+5); err == nil {
				c.warm.Store(true)
			}
		}
	}()
	return c
}

// missing reports whether a tool is not there: setup builds them last, while cells run already.
func missing(tool string) bool {
	_, err := os.Stat(tool)
	return err != nil
}

func (c *completer) gopls() string { return filepath.Join(c.k.c.bin, "gopls") }

// start runs gopls once.
func (c *completer) start() {
	c.once.Do(func() {
		defer close(c.ready)
		cmd := exec.Command(c.gopls(), "serve")
		cmd.Dir, cmd.Env = c.k.f.check(), toolEnv(os.Environ(), c.k.c.bin, c.k.f.tmp())
		cmd.SysProcAttr = child.OwnGroup()
		c.client, c.err = gopls.Start(c.ctx, cmd, c.k.f.check())
		if cmd.Process != nil {
			spare(cmd.Process.Pid)
			c.k.watcher.say(fmt.Sprint("group ", cmd.Process.Pid))
			lowerPriority(cmd.Process.Pid)
		}
	})
}

func (c *completer) stop() {
	c.cancel()
	c.once.Do(func() { close(c.ready) })
	<-c.ready
	if c.client != nil {
		c.client.Kill()
		c.client = nil
	}
}

// ask runs f with gopls, once that is there.
func (c *completer) ask(f func(context.Context, *gopls.Client) error) error {
	if missing(c.gopls()) {
		return fmt.Errorf("gopls is not installed, or still being built: run `%s setup`", setupCommand())
	}
	go c.start()
	limit := firstAnswer
	if c.warm.Load() {
		limit = laterAnswer
	}
	ctx, cancel := context.WithTimeoutCause(c.ctx, limit, errors.New("gopls does not answer in time"))
	defer cancel()
	select {
	case <-c.ready:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if c.client == nil {
		return c.err
	}
	return f(ctx, c.client)
}

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

// current is the session as the last cell left it.
func (k *kernel) current() *rewrite.Session {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.session
}

func (k *kernel) onComplete(m *jupyter.Message) {
	var req cursorRequest
	m.DecodeContent(&req)
	off := byteOffset(req.Code, req.Cursor, m)
	start := off
	matches, kinds := []string{}, []map[string]any{}
	add := func(text, kind, detail string) {
		for _, old := range matches {
			if old == text {
				return
			}
		}
		matches = append(matches, text)
		kinds = append(kinds, map[string]any{"text": text, "type": kind, "signature": detail})
	}
	line := req.Code[strings.LastIndexByte(req.Code[:off], '\n')+1 : off]
	if strings.HasPrefix(line, "%") && !strings.Contains(line, " ") {
		start = off - len(line)
		for _, m := range magics {
			if strings.HasPrefix(m.name, line) {
				add(m.name, "magic", m.args)
			}
		}
	} else if c, ok := k.current().Cursor(req.Code, off); ok {
		err := k.helper.ask(func(ctx context.Context, g *gopls.Client) error {
			items, err := g.Complete(ctx, c.Text.String(), c.Off)
			for _, it := range items {
				if at, ok := c.Cell(it.Start); ok && at <= off {
					start = at
				}
				add(it.Text, it.Kind, it.Detail)
			}
			return err
		})
		if err != nil && len(matches) == 0 && os.Getenv("LECTERN_TRACE") != "" {
			fmt.Fprintln(os.Stderr, "lectern-kernel: completion:", err)
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
	doc, err := k.hover(req.Code, byteOffset(req.Code, req.Cursor, m))
	if err != nil && os.Getenv("LECTERN_TRACE") != "" {
		fmt.Fprintln(os.Stderr, "lectern-kernel: help:", err)
	}
	if doc != "" {
		data["text/markdown"], data["text/plain"] = doc, plainDoc(doc)
	}
	k.answer(m, "inspect_reply", map[string]any{"status": "ok", "found": len(data) > 0, "data": data, "metadata": map[string]any{}})
}

// hover returns what is known of the name at an offset, in Markdown.
func (k *kernel) hover(code string, off int) (doc string, err error) {
	at, ok := rewrite.Callee(code, off)
	if !ok {
		return "", nil
	}
	c, ok := k.current().Cursor(code, at)
	if !ok {
		return "", nil
	}
	err = k.helper.ask(func(ctx context.Context, g *gopls.Client) (err error) {
		doc, err = g.Hover(ctx, c.Text.String(), c.Off)
		return err
	})
	return doc, err
}

// plainDoc is gopls's Markdown for a terminal: without the fences around code.
func plainDoc(s string) string {
	var lines []string
	for _, l := range strings.Split(s, "\n") {
		if !strings.HasPrefix(l, "```") && l != "---" {
			lines = append(lines, l)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
