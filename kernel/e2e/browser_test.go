package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// absent skips the test, or fails it where everything has to be there.
func absent(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
}

func root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// common is a folder for what tests have in common; it is there until the last of them has ended.
var common string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "lectern-e2e-")
	if err != nil {
		panic(err)
	}
	common = dir
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// kernelCommand is the kernel command, so that ending it ends the program and not only a "go run" around it.
func kernelCommand(t *testing.T) string {
	t.Helper()
	exe, err := buildCommand()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

var buildCommand = sync.OnceValues(func() (string, error) {
	exe := filepath.Join(common, "kernel.exe")
	cmd := exec.Command("go", "build", "-o", exe, "./kernel/cmd/lectern")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the kernel command: %w\n%s", err, out)
	}
	return exe, nil
})

// A tab is what a browser has to do for tests that run in more than one: all else is said in JavaScript.
type tab interface {
	visit(address string)
	text(expression string) string           // what an expression, or the promise that it gives, is: a text
	holds(expression string) bool            // whether it is true; while a page gives way to another nothing is
	write(text string)                       // by keyboard
	press(key string, code, modifiers int64) // a key that writes nothing
	window(width, height int64, mobile bool)
	choose(selector, path string) // a file, in an input for files
	shoot(name string, whole bool)
}

// A page is a tab with what tests do in it, whichever browser it belongs to.
type page struct {
	tab
	t testing.TB
}

// act evaluates an expression for what it does.
func (p page) act(expression string) {
	p.t.Helper()
	p.text(`(` + expression + `, "")`)
}

// patience is how long anything may take that a test waits for. It ends what would never come, on the slowest machine.
const patience = 10 * time.Minute

// until waits for an expression to become true, and to stay so until the test goes on; otherwise it fails with what
// state says.
func (p page) until(what, expression, state string) {
	p.t.Helper()
	if !p.within(patience, expression) {
		p.shoot("failed-"+strings.ReplaceAll(what, " ", "-"), false)
		p.t.Fatalf("%s: not within %v; %s", what, patience, p.text(`String(`+state+`)`))
	}
}

// within waits for an expression to become true, and reports whether it did.
func (p page) within(limit time.Duration, expression string) bool {
	p.t.Helper()
	for deadline := time.Now().Add(limit); !p.holds(expression); {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(200 * time.Millisecond)
	}
	return true
}

// screenshot keeps a picture of a page.
func screenshot(t testing.TB, name string, png []byte) {
	t.Helper()
	dir := filepath.Join(root(t), ".lectern", "screenshots")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("screenshot: .lectern/screenshots/%s.png", name)
}

// browser is a tab of Chromium that notes what a page should not do.
type browser struct {
	context.Context
	page

	mu       sync.Mutex
	problems []string // errors on the console, exceptions
	requests []string // addresses that were asked for
}

func openBrowser(t testing.TB, more ...chromedp.ExecAllocatorOption) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		absent(t, "no Chromium in PATH")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.WSURLReadTimeout(patience),
	)
	if runtime.GOOS == "linux" && os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	alloc, cancel := chromedp.NewExecAllocator(t.Context(), append(options, more...)...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	b := &browser{Context: ctx}
	b.page = page{tab: b, t: t}
	// The browser lives as long as the context of the first call, so this one must not be do, which has a time limit.
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	err := chromedp.Listen(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *cdpruntime.EventExceptionThrown:
			b.problems = append(b.problems, (&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError {
				b.problems = append(b.problems, "console: "+e.Entry.Text+" "+e.Entry.URL)
			}
		case *network.EventRequestWillBeSent:
			b.requests = append(b.requests, e.Request.URL)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	get(b, chromedp.Steps(steps...))
}

// get runs one step and returns its value.
func get[T any](b *browser, step chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.Context, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, step)
	if err != nil {
		b.t.Fatalf("in the browser: %v", err)
	}
	return v
}

// send is the step that sends a command of the protocol.
func send[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, command, params)
		return chromedp.Void{}, err
	}
}

// ask evaluates an expression of JavaScript.
func ask[T any](b *browser, expression string) T {
	b.t.Helper()
	return get(b, chromedp.Evaluate[T](expression))
}

func (b *browser) visit(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address), chromedp.WaitReady("body"))
}

func (b *browser) text(expression string) string {
	b.t.Helper()
	return get(b, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise))
}

func (b *browser) holds(expression string) bool {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.Context, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[string](`String(`+expression+`)`))
	if err != nil && !strings.Contains(err.Error(), "Inspected target navigated or closed") {
		b.t.Fatalf("in the browser: %v", err)
	}
	return err == nil && v == "true"
}

func (b *browser) write(text string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(text))
}

func (b *browser) choose(selector, path string) {
	b.t.Helper()
	b.do(chromedp.SetUploadFiles(chromedp.CSS(selector), []string{path}, chromedp.NodeReady))
}

// shoot takes a picture of the window, or of the whole page.
func (b *browser) shoot(name string, whole bool) {
	b.t.Helper()
	shot := chromedp.CaptureScreenshot()
	if whole {
		shot = chromedp.FullScreenshot(100)
	}
	screenshot(b.t, name, get(b, shot))
}

func (b *browser) window(width, height int64, mobile bool) {
	b.t.Helper()
	b.do(send(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: mobile}))
}

func (b *browser) colors(scheme string) {
	b.t.Helper()
	b.do(send(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}))
}

// clean fails if the page complained or asked for anything that allowed does not accept.
func (b *browser) clean(allowed func(address string) bool) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		b.t.Errorf("the page complains: %s", p)
	}
	for _, r := range b.requests {
		if !allowed(r) {
			b.t.Errorf("the page asks for %.200s", r)
		}
	}
	b.problems, b.requests = nil, nil
}

// lab runs `kernel lab` and returns the address it prints.
func lab(t *testing.T, exe string, args ...string) string {
	t.Helper()
	var said syncBuffer
	cmd := exec.Command(exe, append([]string{"lab", "-no-browser"}, args...)...)
	cmd.Dir = root(t)
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("lab ended with %v\n%s", err, &said)
			}
		case <-time.After(patience):
			cmd.Process.Kill()
			t.Errorf("lab did not end after Ctrl-C\n%s", &said)
		}
	})
	// The first time it installs JupyterLab.
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		for line := range strings.Lines(said.String()) {
			if address, ok := strings.CutPrefix(strings.TrimSpace(line), "JupyterLab: "); ok {
				return address
			}
			if strings.Contains(line, "JupyterLab needs Python") {
				absent(t, strings.TrimSpace(line))
			}
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("lab ended before it served: %v\n%s", err, &said)
		default:
		}
	}
	t.Fatalf("lab did not come up\n%s", &said)
	return ""
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// lessons returns the lessons' notebooks.
func lessons(t testing.TB) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(root(t), "notebooks", "*.ipynb"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no lessons: %v", err)
	}
	return list
}
