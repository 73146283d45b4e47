package e2e

import (
	"bufio"
	"context"
	"encoding/json"
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
	page
	conn *websocket.Conn
	name string // of the tab, in the protocol
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

// openFirefox opens a tab with the preferences beside those above.
func openFirefox(t *testing.T, preferences ...string) *firefox {
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
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(firefoxPreferences+strings.Join(preferences, "\n")), 0o600); err != nil {
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
	f := &firefox{}
	f.page = page{tab: f, t: t}
	select {
	case url := <-address:
		if f.conn, _, err = websocket.Dial(ctx, url+"/session", nil); err != nil {
			t.Fatal(err)
		}
	case <-heard:
		t.Fatal("Firefox ended before it listened")
	case <-time.After(patience):
		t.Fatal("Firefox did not come up")
	}
	t.Cleanup(func() { f.conn.CloseNow() })
	f.conn.SetReadLimit(-1)
	var session struct {
		Capabilities struct{ BrowserVersion string }
	}
	if err := json.Unmarshal(f.call("session.new", map[string]any{"capabilities": map[string]any{}}), &session); err != nil {
		t.Fatal(err)
	}
	t.Logf("Firefox %s", session.Capabilities.BrowserVersion)
	var made struct{ Context string }
	// The tab that is there has no keyboard in a window that is not visible; a new one has.
	if err := json.Unmarshal(f.call("browsingContext.create", map[string]any{"type": "tab"}), &made); err != nil || made.Context == "" {
		t.Fatalf("Firefox has no tab (%v)", err)
	}
	f.name = made.Context
	return f
}

// call sends a command and waits for what it gives.
func (f *firefox) call(method string, parameters map[string]any) json.RawMessage {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
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

func (f *firefox) visit(address string) {
	f.t.Helper()
	f.call("browsingContext.navigate", map[string]any{"context": f.name, "url": address, "wait": "complete"})
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
	b := f.call("script.evaluate", map[string]any{"expression": expression, "target": map[string]any{"context": f.name}, "awaitPromise": true})
	if err := json.Unmarshal(b, &answer); err != nil {
		f.t.Fatal(err)
	}
	s, ok := answer.Result.Value.(string)
	if answer.Type != "success" || !ok {
		f.t.Fatalf("in Firefox: %.200s gives no text: %s %s", expression, answer.Result.Type, answer.ExceptionDetails.Text)
	}
	return s
}

func (f *firefox) holds(expression string) bool {
	f.t.Helper()
	return f.text(`String(`+expression+`)`) == "true"
}

// key is what the protocol calls a key.
var key = map[string]string{
	"Enter": "\uE007", "Shift": "\uE008", "Control": "\uE009", "Escape": "\uE00C", "End": "\uE010",
	"ArrowLeft": "\uE012", "ArrowUp": "\uE013", "ArrowRight": "\uE014", "ArrowDown": "\uE015",
}

// keys presses and releases keys: "+" before one presses it, "-" releases it.
func (f *firefox) keys(moves []string) {
	f.t.Helper()
	var actions []map[string]string
	for _, m := range moves {
		does := map[byte]string{'+': "keyDown", '-': "keyUp"}[m[0]]
		actions = append(actions, map[string]string{"type": does, "value": m[1:]})
	}
	f.call("input.performActions", map[string]any{"context": f.name, "actions": []any{map[string]any{"type": "key", "id": "keyboard", "actions": actions}}})
}

func (f *firefox) press(name string, _, modifiers int64) {
	f.t.Helper()
	moves := []string{"+" + key[name], "-" + key[name]}
	for bit, m := range map[int64]string{ctrl: "Control", shift: "Shift"} {
		if modifiers&bit != 0 {
			moves = append(append([]string{"+" + key[m]}, moves...), "-"+key[m])
		}
	}
	f.keys(moves)
}

func (f *firefox) write(text string) {
	f.t.Helper()
	var moves []string
	for _, r := range text {
		k := string(r)
		if k == "\n" {
			k = key["Enter"]
		}
		moves = append(moves, "+"+k, "-"+k)
	}
	f.keys(moves)
}

func (f *firefox) window(width, height int64, _ bool) {
	f.t.Helper()
	f.call("browsingContext.setViewport", map[string]any{"context": f.name, "viewport": map[string]int64{"width": width, "height": height}})
}

func (f *firefox) choose(selector, path string) {
	f.t.Helper()
	var found struct{ Nodes []struct{ SharedID string } }
	b := f.call("browsingContext.locateNodes", map[string]any{"context": f.name, "locator": map[string]string{"type": "css", "value": selector}})
	if err := json.Unmarshal(b, &found); err != nil || len(found.Nodes) != 1 {
		f.t.Fatalf("%s: %d nodes (%v)", selector, len(found.Nodes), err)
	}
	f.call("input.setFiles", map[string]any{"context": f.name, "element": map[string]string{"sharedId": found.Nodes[0].SharedID}, "files": []string{path}})
}

func (f *firefox) shoot(name string, whole bool) {
	f.t.Helper()
	origin := "viewport"
	if whole {
		origin = "document"
	}
	var shot struct{ Data []byte }
	if err := json.Unmarshal(f.call("browsingContext.captureScreenshot", map[string]any{"context": f.name, "origin": origin}), &shot); err != nil {
		f.t.Fatal(err)
	}
	screenshot(f.t, name, shot.Data)
}

// TestLiveFirefoxLessons runs lessons in the other engine for web pages.
func TestLiveFirefoxLessons(t *testing.T) {
	address := served(t)
	for _, name := range liveLessons(t, "LECTERN_FIREFOX_LESSONS") {
		t.Run(name, func(t *testing.T) { openFirefox(t).lesson(address, name) })
	}
}

// TestLiveFirefox uses the page of a lesson as a student does.
func TestLiveFirefox(t *testing.T) {
	address := served(t)
	f := openFirefox(t)
	f.window(1280, 900, false)
	f.open(address + "/05-storage-strides-views.html")
	f.study()
}

// TestLiveFirefoxExplorers uses each explorer by keyboard.
func TestLiveFirefoxExplorers(t *testing.T) {
	address := served(t)
	f := openFirefox(t)
	f.explore(native(t), address, func(name string) { f.shoot("explore-"+name+"-firefox", false) })
}

// TestLiveFirefoxForgets opens a lesson without a web server in a browser that stores nothing, and says so.
func TestLiveFirefoxForgets(t *testing.T) {
	served(t)
	f := openFirefox(t, `user_pref("browser.privatebrowsing.autostart", true);`, `user_pref("dom.storage.enabled", false);`)
	f.window(1280, 900, false)
	f.fromFile()
	const says = `document.querySelector(".live-strip .live-note").textContent`
	if got := f.text(says); !strings.Contains(got, "keeps nothing") {
		t.Errorf("after a change that isn't stored the page says %q", got)
	}
	f.shoot("live-forgets", false)
}
