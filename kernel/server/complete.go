//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lectern-go/lectern/kernel/internal/child"
	"github.com/lectern-go/lectern/kernel/internal/gopls"
	"github.com/lectern-go/lectern/kernel/internal/quick"
	"github.com/lectern-go/lectern/kernel/internal/rewrite"
	"github.com/lectern-go/lectern/kernel/jupyter"
)

// A completer answers questions about code that is being edited, through a gopls of its own: GoNB's would answer only
// when no cell runs, and knows nothing of the kernel's variables. gopls takes ten times the memory of a kernel, and
// seconds until it knows the library. So it is started by the first question, ends when nobody has asked for a while,
// and until it is ready questions are answered from the types alone.
type completer struct {
	k      *kernel
	ctx    context.Context
	cancel context.CancelFunc

	mu     sync.Mutex
	server *server // nil while there is none
}

// A server is a gopls that runs, or is being started.
type server struct {
	ready  chan struct{} // closed when it has started, or failed to
	client *gopls.Client
	err    error
	warm   chan struct{} // closed when it has answered once
	used   time.Time     // last; of completer.mu
}

const (
	answerTime  = 5 * time.Second
	goplsVar    = "LECTERN_GOPLS"
	goplsIdle   = 10 * time.Minute // after that long without a question it ends
	goplsMemory = "GOMEMLIMIT=400MiB"
)

func newCompleter(k *kernel) *completer {
	c := &completer{k: k}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	go func() {
		for c.ctx.Err() == nil {
			select {
			case <-c.ctx.Done():
			case <-time.After(goplsIdle / 10):
				c.endIdle(goplsIdle)
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

// use returns the gopls that runs, or starts one.
func (c *completer) use() *server {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server == nil {
		c.server = &server{ready: make(chan struct{}), warm: make(chan struct{})}
		go c.start(c.server)
	}
	c.server.used = time.Now()
	return c.server
}

// start runs gopls and has it load what cells use.
func (c *completer) start(s *server) {
	cmd := exec.Command(c.gopls(), "serve")
	cmd.Dir, cmd.Env = c.k.f.check(), append(toolEnv(os.Environ(), c.k.c.bin, c.k.f.tmp()), goplsMemory)
	cmd.SysProcAttr = child.OwnGroup()
	s.client, s.err = gopls.Start(c.ctx, cmd, c.k.f.check())
	if cmd.Process != nil {
		spare(cmd.Process.Pid)
		c.k.watcher.say(fmt.Sprint("group ", cmd.Process.Pid))
		child.LowerPriority(cmd.Process.Pid)
		whenOutOfMemory(cmd.Process.Pid, killedFirst)
	}
	close(s.ready)
	if s.client == nil {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, time.Minute)
	defer cancel()
	text := "package main\n\nimport (\n\t\"fmt\"\n\t\"math\"\n\t\"strings\"\n)\n\nfunc main() {\n\tfmt.P\n}\n"
	if _, err := s.client.Complete(ctx, text, strings.Index(text, "fmt.P")+5); err == nil {
		close(s.warm)
	}
}

// endIdle ends gopls if nobody has asked it for some time; the next question starts another.
func (c *completer) endIdle(idle time.Duration) {
	c.mu.Lock()
	s := c.server
	rests := s != nil && time.Since(s.used) >= idle
	c.mu.Unlock()
	if rests {
		c.end(s)
	}
}

// end ends a gopls, if nobody has done so before.
func (c *completer) end(s *server) {
	c.mu.Lock()
	first := c.server == s
	if first {
		c.server = nil
	}
	c.mu.Unlock()
	if !first {
		return
	}
	<-s.ready
	if s.client != nil {
		s.client.Kill()
	}
}

func (c *completer) stop() {
	c.cancel()
	c.endIdle(0)
}

// ask runs f with gopls. asked is false if gopls is switched off, or not built yet, or not ready; then it is on its way
// from now on. After an error, too, the types have to answer.
func (c *completer) ask(f func(context.Context, *gopls.Client) error) (asked bool, err error) {
	if os.Getenv(goplsVar) == "off" || missing(c.gopls()) {
		return false, nil
	}
	s := c.use()
	select {
	case <-s.warm:
	default:
		return false, nil
	}
	ctx, cancel := context.WithTimeoutCause(c.ctx, answerTime, errors.New("gopls does not answer in time"))
	defer cancel()
	err = f(ctx, s.client)
	if err != nil && ctx.Err() == nil { // it has ended, or is confused: the next question starts another
		c.end(s)
	}
	return true, err
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
	matches, kinds, by := []string{}, []map[string]any{}, "kernel"
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
	} else if c, ok := k.current().Cursor(req.Code, off); ok && !rewrite.IsText(req.Code, off) {
		place := func(at int) {
			if at, ok := c.Cell(at); ok && at <= off {
				start = at
			}
		}
		asked, err := k.helper.ask(func(ctx context.Context, g *gopls.Client) error {
			items, err := g.Complete(ctx, c.Text.String(), c.Off)
			for _, it := range items {
				place(it.Start)
				add(it.Text, it.Kind, it.Detail)
			}
			return err
		})
		by = "gopls"
		if !asked || err != nil { // nothing, rather than half an answer, comes with an error
			by = "types"
			items, from := quick.Complete(c.Text.String(), c.Off, k.packages, k.packages.Names())
			for _, it := range items {
				place(from)
				add(it.Text, it.Kind, it.Detail)
			}
		}
		if err != nil && len(matches) == 0 && os.Getenv("LECTERN_TRACE") != "" {
			fmt.Fprintln(os.Stderr, "lectern-kernel: completion:", err)
		}
	}
	from, to := cursorAt(req.Code, start, m), cursorAt(req.Code, off, m)
	for _, x := range kinds {
		x["start"], x["end"] = from, to
	}
	k.answer(m, "complete_reply", map[string]any{"status": "ok", "matches": matches, "cursor_start": from, "cursor_end": to,
		"metadata": map[string]any{"_jupyter_types_experimental": kinds, "lectern_answered_by": by}})
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

// hover returns what is known of the name at an offset, in Markdown: of a value also what is written about its type.
func (k *kernel) hover(code string, off int) (doc string, err error) {
	at, ok := rewrite.Callee(code, off)
	if !ok {
		return "", nil
	}
	c, ok := k.current().Cursor(code, at)
	if !ok {
		return "", nil
	}
	text := c.Text.String()
	asked, err := k.helper.ask(func(ctx context.Context, g *gopls.Client) (err error) {
		doc, err = g.Hover(ctx, text, c.Off)
		return err
	})
	d, known := quick.Describe(text, c.Off, k.packages)
	if known && (!asked || err != nil) {
		doc, err = k.describe(d), nil
	}
	if about := d.TypeComment; doc != "" {
		if dir := k.packages.Dir(d.TypePath); dir != "" {
			_, about = quick.Documentation(dir, d.TypePath, d.TypeName)
		}
		doc = strings.TrimSpace(doc + "\n\n" + about)
	}
	return rewrite.UserNames(doc), err
}

// describe writes in Markdown what is known of a name; the documentation of a package's is in its source.
func (k *kernel) describe(d quick.Description) string {
	text := d.Comment
	if dir := k.packages.Dir(d.Path); dir != "" {
		var declaration string
		declaration, text = quick.Documentation(dir, d.Path, d.Name)
		if d.Path == "builtin" || d.Name == "" { // of which types know nothing
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
