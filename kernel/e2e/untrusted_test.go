package e2e

import (
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// hostile are outputs that each try to run a script or to load something.
var hostile = []map[string]any{
	{"text/html": `<script>window.hacked = "script"</script><p>harmless</p>`},
	{"text/html": `<img src="x" onerror="window.hacked = 'handler'"><img src="https://example.org/x.png"><svg onload="window.hacked = 'svg'"></svg>`},
	{"text/html": `<link rel="stylesheet" href="https://example.org/x.css"><style>@import "https://example.org/y.css"; .search { display: none !important }</style><iframe src="https://example.org/"></iframe>`},
	{"text/html": `<div style="position:fixed;inset:0;z-index:99;background:red" id="cover">over the page</div>`},
	{"image/svg+xml": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><title>a plot</title><script>window.hacked = "figure"</script><image href="https://example.org/z.png"/><rect width="9" height="9" fill="green"/></svg>`},
	{"text/markdown": `<b onmouseover="window.hacked = 'markdown'">m</b> ![a](https://example.org/w.png)`},
}

// TestUntrusted looks at a stranger's notebook in a browser: nothing of it runs or loads, and the page around it works.
func TestUntrusted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cells := []any{map[string]any{"cell_type": "markdown", "id": "a", "metadata": map[string]any{}, "source": "# From a stranger\n\n<img src=x onerror=\"window.hacked = 1\" alt=\"\">"}}
	for i, data := range hostile {
		cells = append(cells, map[string]any{"cell_type": "code", "id": "c" + string(rune('0'+i)), "metadata": map[string]any{}, "source": "1", "execution_count": i + 1,
			"outputs": []any{map[string]any{"output_type": "display_data", "metadata": map[string]any{}, "data": data}}})
	}
	b, err := json.Marshal(map[string]any{"nbformat": 4, "nbformat_minor": 5, "metadata": map[string]any{}, "cells": cells})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "01-stranger.ipynb")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "site")
	cmd := exec.Command(kernelCommand(t), "render", "-untrusted", "-o", out, file)
	cmd.Dir = root(t)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("render: %v\n%s", err, text)
	}
	tab := openBrowser(t)
	tab.window(1280, 900, false)
	address := func(file string) string {
		return (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(out, file))}).String()
	}
	tab.do(chromedp.Navigate(address("01-stranger.html")), chromedp.WaitReady("body"))
	// The page's own script shows the search, so it has run.
	tab.until("the page's own script runs", `!document.querySelector(".search").hidden && getComputedStyle(document.querySelector(".search")).display != "none"`, `document.querySelector(".search").outerHTML`)
	if got := ask[string](tab, `String(window.hacked)`); got != "undefined" {
		t.Errorf("a script of the notebook ran: %s", got)
	}
	if got := ask[string](tab, `document.elementFromPoint(600, 12).closest("header")?.className ?? document.elementFromPoint(600, 12).outerHTML`); got != "bar" {
		t.Errorf("over the page's bar lies %s", got)
	}
	if n := ask[int](tab, `[...document.images].filter(i => !i.complete || !i.naturalWidth).length`); n != 0 {
		t.Errorf("%d pictures are broken", n)
	}
	if n := ask[int](tab, `document.images.length`); n != 1 {
		t.Errorf("%d pictures, want the figure alone", n)
	}
	// Had the filter missed something, the page's policy would still forbid it.
	if got := ask[string](tab, `(() => {
		const s = document.createElement("div");
		s.innerHTML = '<img src="data:x" onerror="window.hacked = 2">';
		document.body.append(s);
		const t = document.createElement("script");
		t.textContent = "window.hacked = 3";
		document.body.append(t);
		return String(window.hacked);
	})()`); got != "undefined" {
		t.Errorf("the policy let a script run: %s", got)
	}
	for _, r := range tab.requests {
		if !strings.HasPrefix(r, "file:") && !strings.HasPrefix(r, "data:") {
			t.Errorf("the page asked for %s", r)
		}
	}
}
