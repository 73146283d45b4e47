package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/websocket"

	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// A student is a browser with a page open in it, and its reader.
type student struct {
	name   string
	base   string // the address of the student's server, with a slash at the end
	lesson *lesson
	think  time.Duration
	random *rand.Rand

	client *http.Client
	kernel string // its id
	socket *websocket.Conn
	heard  chan *message
	lost   error // why nothing more is heard, once heard is closed

	cells, complete, interrupt []time.Duration
	failures                   []string
}

// A lesson is what students open: the copy in their homes is the same.
type lesson struct {
	path  string // in the home
	cells []string
}

// readLesson takes those cells of a lesson that run unchanged.
func (o *options) readLesson() (*lesson, error) {
	file := o.lesson + ".ipynb"
	n, err := notebook.Read(filepath.Join(o.root, ".lectern", "lessons", file))
	if err != nil {
		return nil, fmt.Errorf("the lesson %s: %w", o.lesson, err)
	}
	l := &lesson{path: "lessons/" + file}
	for _, c := range n.Cells {
		if c.Type == "code" && strings.TrimSpace(c.Source) != "" && !c.HasTag("exercise") && !c.HasTag("raises-exception") && !c.HasTag("skip-execution") {
			l.cells = append(l.cells, c.Source)
		}
	}
	if len(l.cells) == 0 {
		return nil, fmt.Errorf("%s has no cells that run unchanged", file)
	}
	return l, nil
}

// newStudent logs in, waits for the server, opens the lesson and starts its kernel.
func newStudent(ctx context.Context, h *hub, i int, l *lesson, think time.Duration) (*student, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	s := &student{name: userName(i), lesson: l, think: think, random: rand.New(rand.NewPCG(1, uint64(i))), client: &http.Client{Jar: jar}, heard: make(chan *message, 64)}
	s.base = h.url + "/user/" + s.name + "/"
	if err := s.logIn(ctx, h); err != nil {
		return nil, fmt.Errorf("%s: log in: %w", s.name, err)
	}
	if err := s.open(ctx); err != nil {
		return nil, fmt.Errorf("%s: open %s: %w", s.name, l.path, err)
	}
	return s, nil
}

func (s *student) logIn(ctx context.Context, h *hub) error {
	if _, err := s.do(ctx, "GET", h.url+"/hub/login", nil); err != nil {
		return err
	}
	form := url.Values{"username": {s.name}, "password": {h.password}, "_xsrf": {s.cookie(h.url+"/hub/", "_xsrf")}}
	req, err := http.NewRequestWithContext(ctx, "POST", h.url+"/hub/login?next=%2Fhub%2Fhome", strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if _, err := s.send(req); err != nil {
		return err
	}
	for began := time.Now(); time.Since(began) < patience; { // thirty servers start a few at a time
		page, err := s.send(request(ctx, "GET", s.base+"lab/tree/"+s.lesson.path, nil))
		switch {
		case err == nil && strings.HasPrefix(page.path, "/user/"+s.name+"/lab"):
			return nil
		case err == nil: // a page that asks for patience
		case !isStatus(err):
			return err
		default: // there is no server, or none yet; the hub refuses to start more than a few at a time
			if _, err := s.send(request(ctx, "GET", h.url+"/hub/spawn", nil)); err != nil && !isStatus(err, http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusInternalServerError) {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
	return fmt.Errorf("the student's server did not start within %v", patience)
}

// isStatus reports whether a server has answered and, if codes are given, with one of these.
func isStatus(err error, codes ...int) bool {
	var status *statusError
	return errors.As(err, &status) && (len(codes) == 0 || slices.Contains(codes, status.code))
}

func (s *student) open(ctx context.Context) error {
	if _, err := s.do(ctx, "GET", s.base+"api/contents/"+s.lesson.path, nil); err != nil {
		return err
	}
	b, err := s.do(ctx, "POST", s.base+"api/sessions", map[string]any{"path": s.lesson.path, "name": filepath.Base(s.lesson.path), "type": "notebook", "kernel": map[string]string{"name": "lectern"}})
	if err != nil {
		return err
	}
	var session struct{ Kernel struct{ ID string } }
	if err := json.Unmarshal(b, &session); err != nil || session.Kernel.ID == "" {
		return fmt.Errorf("the server's answer names no kernel: %s", b)
	}
	s.kernel = session.Kernel.ID
	address := s.base + "api/kernels/" + s.kernel + "/channels?session_id=" + s.name
	config, err := websocket.NewConfig("ws"+strings.TrimPrefix(address, "http"), s.base)
	if err != nil {
		return err
	}
	at, err := url.Parse(address)
	if err != nil {
		return err
	}
	for _, c := range s.client.Jar.Cookies(at) {
		config.Header.Add("Cookie", c.String())
	}
	if s.socket, err = config.DialContext(ctx); err != nil {
		return fmt.Errorf("the kernel's channel: %w", err)
	}
	go func() {
		defer close(s.heard)
		for {
			m := new(message)
			if s.lost = websocket.JSON.Receive(s.socket, m); s.lost != nil {
				return
			}
			s.heard <- m
		}
	}()
	// A kernel's first words can be missed; an answer can't.
	ready, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err = s.ask(ready, "kernel_info_request", map[string]any{})
	return err
}

// A message of Jupyter's, as it goes over websockets.
type message struct {
	Channel string          `json:"channel"`
	Header  jupyter.Header  `json:"header"`
	Parent  jupyter.Header  `json:"parent_header"`
	Meta    json.RawMessage `json:"metadata"`
	Content json.RawMessage `json:"content"`
	Buffers []string        `json:"buffers"`
}

// ask sends a request to the kernel and returns the content of its reply, once everything that belongs to it has come.
func (s *student) ask(ctx context.Context, kind string, content map[string]any) (map[string]any, error) {
	m := jupyter.NewMessage(s.name, kind, content)
	if err := websocket.JSON.Send(s.socket, message{"shell", m.Header, jupyter.Header{}, json.RawMessage("{}"), m.Content, []string{}}); err != nil {
		return nil, err
	}
	var reply map[string]any
	for idle := false; reply == nil || !idle; {
		select {
		case got, ok := <-s.heard:
			if !ok {
				return nil, fmt.Errorf("the connection to the kernel is lost: %w", s.lost)
			}
			if got.Parent.ID != m.Header.ID {
				continue
			}
			var c map[string]any
			json.Unmarshal(got.Content, &c)
			if got.Header.Type == strings.TrimSuffix(kind, "request")+"reply" {
				reply = c
			}
			idle = idle || got.Header.Type == "status" && c["execution_state"] == "idle"
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return reply, nil
}

// patience is how long anybody waits for anything at all: a machine with much to do is slow, and the times that are
// measured show that.
const patience = 5 * time.Minute

// fail notes what went wrong; the student goes on.
func (s *student) fail(format string, args ...any) {
	s.failures = append(s.failures, s.name+": "+fmt.Sprintf(format, args...))
}

// work runs the lesson's cells, again and again, until ctx ends. What has begun by then is finished. An error means
// that nothing works any more.
func (s *student) work(ctx context.Context) error {
	wait := time.Duration(s.random.Float64() * float64(s.think)) // they don't all begin at once
	for step := 0; ; step++ {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		wait = time.Duration((0.5 + s.random.Float64()) * float64(s.think))
		lap, i := step/len(s.lesson.cells), step%len(s.lesson.cells)
		code := s.lesson.cells[i]
		if lap > 0 || i%3 == 1 {
			code = edited(code, step)
		}
		// They end by themselves, not with the class, whose context is done when its time is up.
		patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		err := s.step(patient, step, i, code)
		cancel()
		if err != nil {
			return fmt.Errorf("%s: cell %d: %w", s.name, i+1, err)
		}
	}
}

// edited is a cell with another text, so that it must be built again.
func edited(code string, step int) string {
	if strings.HasPrefix(code, "//") || strings.HasPrefix(code, "%") || strings.HasPrefix(code, "import") { // what must stay first
		return code
	}
	return fmt.Sprintf("_ = %d\n%s", step, code)
}

func (s *student) step(ctx context.Context, step, i int, code string) error {
	if step%4 == 1 {
		began := time.Now()
		const typed = "fmt.Printl"
		r, err := s.ask(ctx, "complete_request", map[string]any{"code": typed, "cursor_pos": len(typed)})
		if err != nil {
			return fmt.Errorf("completion: %w", err)
		}
		s.complete = append(s.complete, time.Since(began))
		if matches, _ := r["matches"].([]any); len(matches) == 0 {
			s.fail("%s was not completed", typed)
		}
	}
	if step%8 == 5 {
		if err := s.save(ctx); err != nil {
			return fmt.Errorf("save: %w", err)
		}
	}
	if step%8 == 3 {
		if err := s.interruptLoop(ctx); err != nil {
			return fmt.Errorf("interrupt: %w", err)
		}
	}
	began := time.Now()
	r, err := s.run(ctx, code)
	if err != nil {
		return err
	}
	s.cells = append(s.cells, time.Since(began))
	if r["status"] != "ok" {
		s.fail("cell %d: %v: %v", i+1, r["ename"], r["evalue"])
	}
	return nil
}

func (s *student) run(ctx context.Context, code string) (map[string]any, error) {
	return s.ask(ctx, "execute_request", map[string]any{"code": code, "silent": false, "store_history": true, "user_expressions": map[string]any{}, "allow_stdin": false, "stop_on_error": true})
}

// interruptLoop runs a cell that never ends, and ends it.
func (s *student) interruptLoop(ctx context.Context) error {
	type ended struct {
		reply map[string]any
		err   error
	}
	done := make(chan ended, 1)
	go func() {
		r, err := s.run(ctx, "for i := 0; ; i++ {\n\ttime.Sleep(time.Millisecond)\n}")
		done <- ended{r, err}
	}()
	time.Sleep(time.Second)
	began := time.Now()
	if _, err := s.do(ctx, "POST", s.base+"api/kernels/"+s.kernel+"/interrupt", map[string]any{}); err != nil {
		return err
	}
	e := <-done
	if e.err != nil {
		return e.err
	}
	s.interrupt = append(s.interrupt, time.Since(began))
	if e.reply["status"] != "error" {
		s.fail("an endless cell that was interrupted ended with %v", e.reply["status"])
	}
	return nil
}

// save stores the lesson as JupyterLab does.
func (s *student) save(ctx context.Context) error {
	b, err := s.do(ctx, "GET", s.base+"api/contents/"+s.lesson.path, nil)
	if err != nil {
		return err
	}
	var file struct {
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(b, &file); err != nil {
		return err
	}
	_, err = s.do(ctx, "PUT", s.base+"api/contents/"+s.lesson.path, map[string]any{"type": "notebook", "format": "json", "content": file.Content})
	return err
}

// cookie is the value of a cookie for an address.
func (s *student) cookie(address, name string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	for _, c := range s.client.Jar.Cookies(u) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// do sends a request to a server, with JSON if body is not nil, and returns its answer.
func (s *student) do(ctx context.Context, method, address string, body any) ([]byte, error) {
	req := request(ctx, method, address, body)
	req.Header.Set("X-XSRFToken", s.cookie(address, "_xsrf"))
	a, err := s.send(req)
	return a.body, err
}

func request(ctx context.Context, method, address string, body any) *http.Request {
	var r io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			panic(err) // of our own values
		}
		r = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, r)
	if err != nil {
		panic(err) // of our own addresses
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req
}

type answer struct {
	path string // of the page to which redirects have led
	body []byte
}

// A statusError is an answer that says no.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return e.text }

func (s *student) send(req *http.Request) (answer, error) { return send(s.client, req) }

func send(client *http.Client, req *http.Request) (a answer, err error) {
	resp, err := client.Do(req)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	a.path = resp.Request.URL.Path
	if a.body, err = io.ReadAll(resp.Body); err != nil {
		return a, err
	}
	if resp.StatusCode >= 300 {
		return a, &statusError{resp.StatusCode, fmt.Sprintf("%s %s: %s: %.300s", req.Method, req.URL.Path, resp.Status, a.body)}
	}
	return a, nil
}

func get(ctx context.Context, address string) ([]byte, error) {
	a, err := send(http.DefaultClient, request(ctx, "GET", address, nil))
	return a.body, err
}
