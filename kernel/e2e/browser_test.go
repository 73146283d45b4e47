package e2e

import (
	"bytes"
	"context"
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

// kernelCommand builds the kernel command, so that ending it ends the program and not only a "go run" around it.
func kernelCommand(t *testing.T) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "kernel.exe")
	cmd := exec.Command("go", "build", "-o", exe, "./kernel")
	cmd.Dir = root(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the kernel command: %v\n%s", err, out)
	}
	return exe
}

// browser is a tab that notes what a page should not do.
type browser struct {
	context.Context
	t testing.TB

	mu       sync.Mutex
	problems []string // errors on the console, exceptions
	requests []string // addresses that were asked for
}

func openBrowser(t testing.TB) *browser {
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
		chromedp.WSURLReadTimeout(time.Minute),
	)
	if runtime.GOOS == "linux" && os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	alloc, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	b := &browser{Context: ctx, t: t}
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
	ctx, cancel := context.WithTimeout(b.Context, time.Minute)
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

func (b *browser) text(expression string) string {
	b.t.Helper()
	return ask[string](b, expression)
}

// until waits for an expression to become true; otherwise it fails with what state says.
func (b *browser) until(limit time.Duration, what, expression, state string) {
	b.t.Helper()
	if !b.within(limit, expression) {
		b.shoot("failed-"+strings.ReplaceAll(what, " ", "-"), false)
		b.t.Fatalf("%s: not within %v; %s", what, limit, ask[string](b, state))
	}
}

// within waits for an expression to become true, and reports whether it did.
func (b *browser) within(limit time.Duration, expression string) bool {
	b.t.Helper()
	for deadline := time.Now().Add(limit); !ask[bool](b, expression); {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(200 * time.Millisecond)
	}
	return true
}

// shoot writes a screenshot of the window, or of the whole page.
func (b *browser) shoot(name string, whole bool) {
	b.t.Helper()
	dir := filepath.Join(root(b.t), ".lectern", "screenshots")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	shot := chromedp.CaptureScreenshot()
	if whole {
		shot = chromedp.FullScreenshot(100)
	}
	png := get(b, shot)
	path := filepath.Join(dir, name+".png")
	if err := os.WriteFile(path, png, 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.t.Logf("screenshot: .lectern/screenshots/%s.png", name)
}

func (b *browser) window(width, height int64, mobile bool) {
	b.t.Helper()
	b.do(send(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: mobile}))
}

func (b *browser) colours(scheme string) {
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
		case <-time.After(20 * time.Second):
			cmd.Process.Kill()
			t.Errorf("lab did not end after Ctrl-C\n%s", &said)
		}
	})
	// The first time it installs JupyterLab.
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
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
func lessons(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(root(t), "notebooks", "*.ipynb"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no lessons: %v", err)
	}
	return list
}
