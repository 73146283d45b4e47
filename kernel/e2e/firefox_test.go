package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

// firefox is a tab of Firefox, driven by WebDriver BiDi, which Firefox speaks itself.
type firefox struct {
	t    *testing.T
	conn *websocket.Conn
	tab  string
	sent int
}

// firefoxPreferences keep Firefox from asking, updating and reporting.
const firefoxPreferences = `user_pref("app.update.disabledForTesting", true);
user_pref("browser.aboutwelcome.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.startup.homepage_override.mstone", "ignore");
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("extensions.update.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("services.settings.server", "data:,");
user_pref("toolkit.telemetry.enabled", false);
`

func openFirefox(t *testing.T) *firefox {
	t.Helper()
	var path string
	for _, name := range []string{"firefox", "firefox-esr"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		absent(t, "no Firefox in PATH")
	}
	home, err := os.MkdirTemp("", "firefox-") // its last children may write there for a moment longer
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	profile := filepath.Join(home, "profile")
	if err := os.MkdirAll(profile, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(firefoxPreferences), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, path, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port=0", "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_RUNTIME_DIR="+home, "MOZ_CRASHREPORTER_DISABLE=1")
	cmd.WaitDelay = 5 * time.Second // its children may hold the pipe
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address := make(chan string, 1)
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		lines := bufio.NewScanner(said)
		for lines.Scan() {
			if _, url, ok := strings.Cut(lines.Text(), "WebDriver BiDi listening on "); ok {
				address <- url
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		cmd.Wait() // it was killed
		<-heard
	})
	f := &firefox{t: t}
	select {
	case url := <-address:
		if f.conn, _, err = websocket.Dial(ctx, url+"/session", nil); err != nil {
			t.Fatal(err)
		}
	case <-heard:
		t.Fatal("Firefox ended before it listened")
	case <-time.After(2 * time.Minute):
		t.Fatal("Firefox did not come up")
	}
	t.Cleanup(func() { f.conn.CloseNow() })
	f.conn.SetReadLimit(-1)
	f.call("session.new", map[string]any{"capabilities": map[string]any{}})
	var tree struct{ Contexts []struct{ Context string } }
	if err := json.Unmarshal(f.call("browsingContext.getTree", map[string]any{}), &tree); err != nil || len(tree.Contexts) == 0 {
		t.Fatalf("Firefox has no tab (%v)", err)
	}
	f.tab = tree.Contexts[0].Context
	return f
}

// call sends a command and waits for what it gives.
func (f *firefox) call(method string, parameters map[string]any) json.RawMessage {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), time.Minute)
	defer cancel()
	f.sent++
	if err := wsjson.Write(ctx, f.conn, map[string]any{"id": f.sent, "method": method, "params": parameters}); err != nil {
		f.t.Fatalf("in Firefox: %s: %v", method, err)
	}
	for {
		var answer struct {
			ID      int
			Result  json.RawMessage
			Error   string
			Message string
		}
		if err := wsjson.Read(ctx, f.conn, &answer); err != nil {
			f.t.Fatalf("in Firefox: %s: %v", method, err)
		}
		if answer.ID != f.sent { // an event
			continue
		}
		if answer.Error != "" {
			f.t.Fatalf("in Firefox: %s: %s: %s", method, answer.Error, answer.Message)
		}
		return answer.Result
	}
}

func (f *firefox) open(address string) {
	f.t.Helper()
	f.call("browsingContext.navigate", map[string]any{"context": f.tab, "url": address, "wait": "complete"})
}

func (f *firefox) text(expression string) string {
	f.t.Helper()
	var answer struct {
		Type   string
		Result struct {
			Type  string
			Value any
		}
		ExceptionDetails struct{ Text string }
	}
	b := f.call("script.evaluate", map[string]any{"expression": expression, "target": map[string]any{"context": f.tab}, "awaitPromise": true})
	if err := json.Unmarshal(b, &answer); err != nil {
		f.t.Fatal(err)
	}
	s, ok := answer.Result.Value.(string)
	if answer.Type != "success" || !ok {
		f.t.Fatalf("in Firefox: %.200s gives no text: %s %s", expression, answer.Result.Type, answer.ExceptionDetails.Text)
	}
	return s
}

// until waits for an expression to become true; otherwise it fails with what state says.
func (f *firefox) until(limit time.Duration, what, expression, state string) {
	f.t.Helper()
	for deadline := time.Now().Add(limit); f.text("String("+expression+")") != "true"; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Fatalf("%s: not within %v; %s", what, limit, f.text("String("+state+")"))
		}
	}
}

// TestLiveFirefox runs a lesson in the other engine for web pages.
func TestLiveFirefox(t *testing.T) {
	address := served(t)
	for _, name := range liveLessons("05-storage-strides-views") {
		t.Run(name, func(t *testing.T) {
			f := openFirefox(t)
			f.open(fmt.Sprintf("%s/%s.html", address, name))
			f.until(time.Minute, "cells can run", `document.querySelectorAll(".live-run").length > 1`, `document.title`)
			checkLesson(t, f, name)
		})
	}
}
