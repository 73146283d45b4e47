//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/lectern-go/lectern/kernel/internal/child"
	"github.com/lectern-go/lectern/kernel/jupyter"
)

// A page is the notebook's page in a browser: it shows what the kernel displays, runs the scripts in it, and speaks
// with the kernel as a page in JupyterLab does, but for the server in between.
type page struct {
	mu     sync.Mutex
	post   func(msgType string, content any) error // to the kernel
	seen   chan *jupyter.Message
	chrome *chromium
}

// pageScript is what a page needs to have of JupyterLab: outputs, and a socket to the kernel.
const pageScript = `
globalThis.WebSocket = class {
	constructor(url) { globalThis.kernelSocket = this; setTimeout(() => this.onopen({}), 0); }
	send(text) { toKernel(text); }
	close() { if (this.onclose) this.onclose({}); }
};
globalThis.show = (m) => {
	if (m.header.msg_type.startsWith("comm_")) {
		if (globalThis.kernelSocket) kernelSocket.onmessage({data: JSON.stringify({msg_type: m.header.msg_type, content: m.content})});
		return;
	}
	const id = m.content.transient?.display_id;
	let div = id ? document.querySelector('[data-display="' + id + '"]') : null;
	if (!div) {
		div = document.createElement("div");
		if (id) div.setAttribute("data-display", id);
		document.body.appendChild(div);
	}
	const html = m.content.data["text/html"];
	if (html !== undefined) {
		div.innerHTML = html;
		for (const s of div.querySelectorAll("script")) { // which a browser does not run by itself
			const again = document.createElement("script");
			again.text = s.text;
			s.replaceWith(again);
		}
	}
	const js = m.content.data["text/javascript"];
	if (js !== undefined) new Function(js)();
};
`

// newPage opens a page if a browser is wanted and there is one.
func newPage(t *testing.T, wanted bool) *page {
	p := &page{seen: make(chan *jupyter.Message, 10_000)}
	if !wanted {
		return p
	}
	c, err := startChromium(t)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("no page answers: %v", err)
	}
	p.chrome = c
	c.said = func(text string) {
		var m struct {
			Type    string          `json:"msg_type"`
			Content json.RawMessage `json:"content"`
		}
		if json.Unmarshal([]byte(text), &m) == nil {
			p.mu.Lock()
			post := p.post
			p.mu.Unlock()
			post(m.Type, m.Content)
		}
	}
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			var m *jupyter.Message
			select {
			case m = <-p.seen:
			case <-quit:
				return
			}
			content, _ := json.Marshal(map[string]any{"header": map[string]string{"msg_type": m.Header.Type}, "content": json.RawMessage(m.Content)})
			if err := c.evaluate("show(" + string(content) + ")"); err != nil {
				t.Logf("the page: %v", err)
			}
		}
	}()
	t.Cleanup(func() { close(quit); <-ended })
	return p
}

// posts says how to send messages to the kernel.
func (p *page) posts(f func(msgType string, content any) error) {
	p.mu.Lock()
	p.post = f
	p.mu.Unlock()
}

// see takes what the kernel publishes.
func (p *page) see(m *jupyter.Message) {
	switch m.Header.Type {
	case "display_data", "update_display_data", "execute_result", "comm_msg", "comm_close":
		if p.chrome != nil {
			p.seen <- m
		}
	}
}

// A chromium is a tab of a browser, spoken to through the pipe that is meant for that.
type chromium struct {
	said func(string) // gets what the page sends to the kernel

	mu      sync.Mutex
	to      *os.File
	number  int
	answers map[int]chan json.RawMessage
	session string
}

func startChromium(t *testing.T) (*chromium, error) {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		return nil, errors.New("no Chromium in PATH")
	}
	theirs, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	from, theirOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	args := []string{"--headless", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe", "--user-data-dir=" + t.TempDir(), "--disable-dev-shm-usage"}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox")
	}
	cmd := exec.Command(path, append(args, "about:blank")...)
	cmd.ExtraFiles = []*os.File{theirs, theirOut}
	cmd.SysProcAttr = child.OwnGroup()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	theirs.Close()
	theirOut.Close()
	c := &chromium{to: to, answers: map[int]chan json.RawMessage{}}
	read := make(chan struct{})
	go func() {
		defer close(read)
		c.read(bufio.NewReaderSize(from, 1<<20))
	}()
	t.Cleanup(func() {
		killGroup(cmd.Process.Pid)
		cmd.Wait()
		to.Close()
		<-read
		from.Close()
	})
	// Scripts may do more on a page that a server on this machine has sent.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<!doctype html><body><script>%s</script></body>", pageScript)
	}))
	t.Cleanup(server.Close)
	var target struct {
		ID string `json:"targetId"`
	}
	var session struct {
		ID string `json:"sessionId"`
	}
	if err := c.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target); err != nil {
		return nil, err
	}
	if err := c.call("Target.attachToTarget", map[string]any{"targetId": target.ID, "flatten": true}, &session); err != nil {
		return nil, err
	}
	c.session = session.ID
	for _, step := range []struct {
		method string
		params map[string]any
	}{
		{"Runtime.enable", nil},
		{"Runtime.addBinding", map[string]any{"name": "toKernel"}},
		{"Page.navigate", map[string]any{"url": server.URL}},
	} {
		if err := c.call(step.method, step.params, nil); err != nil {
			return nil, err
		}
	}
	for until := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if err = c.evaluate("show.length"); err == nil {
			return c, nil
		}
		if time.Now().After(until) {
			return nil, err
		}
	}
}

// read handles what the browser says.
func (c *chromium) read(r *bufio.Reader) {
	for {
		b, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			ID     int
			Method string
			Params struct{ Name, Payload string }
		}
		if json.Unmarshal(b[:len(b)-1], &m) != nil {
			continue
		}
		if m.Method == "Runtime.bindingCalled" && m.Params.Name == "toKernel" {
			c.said(m.Params.Payload)
		}
		c.mu.Lock()
		answer := c.answers[m.ID]
		c.mu.Unlock()
		if answer != nil {
			answer <- json.RawMessage(b[:len(b)-1])
		}
	}
}

// call asks the browser for something.
func (c *chromium) call(method string, params map[string]any, result any) error {
	answer := make(chan json.RawMessage, 1)
	c.mu.Lock()
	c.number++
	n := c.number
	c.answers[n] = answer
	m := map[string]any{"id": n, "method": method, "params": params}
	if params == nil {
		m["params"] = map[string]any{}
	}
	if c.session != "" {
		m["sessionId"] = c.session
	}
	b, _ := json.Marshal(m)
	_, err := c.to.Write(append(b, 0))
	c.mu.Unlock()
	defer func() { c.mu.Lock(); delete(c.answers, n); c.mu.Unlock() }()
	if err != nil {
		return err
	}
	select {
	case b := <-answer:
		var a struct {
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(b, &a); err != nil {
			return err
		}
		if a.Error != nil {
			return errors.New(method + ": " + a.Error.Message)
		}
		if result != nil {
			return json.Unmarshal(a.Result, result)
		}
		return nil
	case <-time.After(patience):
		return fmt.Errorf("%s: no answer from the browser", method)
	}
}

// evaluate runs a script in the page.
func (c *chromium) evaluate(script string) error {
	var r struct {
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	err := c.call("Runtime.evaluate", map[string]any{"expression": script}, &r)
	if err == nil && r.ExceptionDetails != nil {
		err = fmt.Errorf("%s %s", r.ExceptionDetails.Text, r.ExceptionDetails.Exception.Description)
	}
	return err
}
