package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// mostExplore is how many bytes the explorers may load over http.
const mostExplore = 1_700_000

// explorer is a place on a page, as an expression.
func explorer(name string) string { return `document.querySelector("[data-explore=` + name + `]")` }

const keyDown = 40

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // no string fails
	}
	return string(b)
}

// native builds the explorers as a program for this machine.
func native(t *testing.T) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "explore.exe")
	cmd := exec.Command("go", "build", "-o", exe, "./notebooks/explore")
	cmd.Dir = root(t)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the explorers: %v\n%s", err, text)
	}
	return exe
}

// shows waits until an explorer shows what the same program gives natively after the settings, which checks both that
// the controls arrived and that WebAssembly computes the same.
func (b *browser) shows(exe, name string, settings ...string) {
	b.t.Helper()
	html, err := exec.Command(exe, append([]string{name}, settings...)...).Output()
	if err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.Evaluate[chromedp.Void](`window.wanted = (() => { const t = document.createElement("template"); t.innerHTML = ` + quoted(strings.TrimSpace(string(html))) + `; return t.content.textContent; })()`))
	b.until(time.Minute, name+" shows what it gives natively", explorer(name)+`.children[1].textContent === wanted`,
		`JSON.stringify([`+explorer(name)+`.textContent, wanted])`)
}

// focus moves the focus to an element of an explorer.
func (b *browser) focus(name, selector string) {
	b.t.Helper()
	ask[bool](b, `(() => { const e = `+explorer(name)+`.querySelector(`+quoted(selector)+`); e.focus(); e.select?.(); return true; })()`)
}

// TestLiveExplorers uses each explorer by keyboard.
func TestLiveExplorers(t *testing.T) {
	address := served(t)
	dir, err := liveSite()
	if err != nil {
		t.Fatal(err)
	}
	var size int64
	parts, err := filepath.Glob(filepath.Join(dir, "live", "explore*"))
	if err != nil || len(parts) == 0 {
		t.Fatalf("the site has no explorers (%v)", err)
	}
	for _, part := range parts {
		if info, err := os.Stat(part); err != nil {
			t.Fatal(err)
		} else if !strings.HasSuffix(part, ".js") {
			size += info.Size()
		}
	}
	t.Logf("explorers load %.2f MB", float64(size)/1e6)
	if size > mostExplore {
		t.Errorf("explorers load %d bytes, more than %d", size, mostExplore)
	}

	exe := native(t)
	b := openBrowser(t)
	axe := ""
	if os.Getenv("LECTERN_PYTHON") != "" {
		axe = axeSource(t)
	}
	folder := address
	visit := func(lesson, name string) {
		b.window(1280, 900, false)
		b.colours("light")
		b.do(chromedp.Navigate(folder+"/"+lesson+".html"), chromedp.WaitReady("body"))
		ask[bool](b, `(localStorage.clear(), document.querySelectorAll(".after[hidden]").forEach((e) => e.removeAttribute("hidden")), `+explorer(name)+`.scrollIntoView({block: "start", behavior: "instant"}), scrollBy(0, -80), true)`)
		b.shows(exe, name) // as it is at first
	}
	fits := func(name string, width int) {
		if got := ask[int](b, `document.documentElement.scrollWidth`); got > width {
			t.Errorf("with %s the page is %d wide in a window of %d", name, got, width)
		}
	}
	look := func(name string) {
		if axe != "" {
			b.accessible(axe, "a lesson with the explorer "+name)
		}
		for _, way := range []struct {
			name, colours string
			width         int64
		}{{"light", "light", 1280}, {"dark", "dark", 1280}, {"phone", "light", 390}} {
			b.colours(way.colours)
			b.window(way.width, 900, way.width < 500)
			ask[bool](b, `(`+explorer(name)+`.scrollIntoView({block: "start", behavior: "instant"}), scrollBy(0, -70), true)`)
			fits(name, int(way.width))
			b.shoot("explore-"+name+"-"+way.name, false)
		}
	}

	visit("03-number-formats", "formats")
	b.focus("formats", "[data-set=bit]")
	b.press("ArrowRight", keyRight, 0)
	b.press("ArrowRight", keyRight, 0)
	b.do(chromedp.KeyEvent(" "))
	b.shows(exe, "formats", "bit=13")
	b.focus("formats", "[name=number]")
	b.do(chromedp.KeyEvent("70000"))
	b.shows(exe, "formats", "bit=13", "number=70000")
	look("formats")

	visit("05-storage-strides-views", "strides")
	drag := func(kind, on string, at int) {
		ask[bool](b, fmt.Sprintf(`(() => { const c = %s.querySelector("[data-at='%d']"), r = c.getBoundingClientRect();
			(%s).dispatchEvent(new PointerEvent("%s", { bubbles: true, clientX: r.x + r.width / 2, clientY: r.y + r.height / 2 })); return true; })()`, explorer("strides"), at, on, kind))
	}
	drag("pointerdown", "c", 7)
	drag("pointermove", "window", 9)
	drag("pointerup", "window", 9)
	b.shows(exe, "strides", "offset=8")
	b.window(390, 900, true)
	fits("strides", 390)
	b.shoot("explore-strides-moved", false)
	b.window(1280, 900, false)
	b.focus("strides", "[data-set=undo]")
	b.do(chromedp.KeyEvent(" "))
	b.shows(exe, "strides", "undo=")
	b.focus("strides", "[data-value=transpose]")
	b.do(chromedp.KeyEvent(" "))
	b.shows(exe, "strides", "undo=", "do=transpose")
	b.focus("strides", ".x-picked")
	b.press("ArrowDown", keyDown, 0)
	b.shows(exe, "strides", "undo=", "do=transpose", "pick=1 0")
	b.focus("strides", "[data-value=flat]")
	b.do(chromedp.KeyEvent(" "))
	b.shows(exe, "strides", "undo=", "do=transpose", "pick=1 0", "do=flat")
	look("strides")

	visit("08-named-dimensions", "einsum")
	b.focus("einsum", "[name=pattern]")
	b.do(chromedp.KeyEvent("a b, b c -> a d"))
	b.shows(exe, "einsum", "pattern=a b, b c -> a d")
	b.focus("einsum", "[name=shapes]")
	b.do(chromedp.KeyEvent("2 3, 3 5"))
	b.focus("einsum", "[name=pattern]")
	b.do(chromedp.KeyEvent("a b, b c -> c a"))
	b.shows(exe, "einsum", "pattern=a b, b c -> c a", "shapes=2 3, 3 5")
	look("einsum")

	visit("01-tokenization", "bpe")
	b.focus("bpe", "[data-value=on]")
	b.do(chromedp.KeyEvent(" "))
	b.do(chromedp.KeyEvent(" "))
	b.shows(exe, "bpe", "go=on", "go=on")
	b.focus("bpe", "[name=at]")
	b.press("ArrowRight", keyRight, 0)
	b.shows(exe, "bpe", "at=3")
	look("bpe")

	visit("22-roofline", "roofline")
	b.focus("roofline", "[name=m]")
	b.press("ArrowLeft", keyLeft, 0)
	b.shows(exe, "roofline", "m=9")
	b.focus("roofline", "[name=device]")
	b.press("ArrowDown", keyDown, 0)
	b.shows(exe, "roofline", "m=9", "device=5")
	look("roofline")

	visit("00-napkin-math", "napkin")
	b.focus("napkin", "[name=count]")
	b.do(chromedp.KeyEvent("8"))
	b.shows(exe, "napkin", "count=8")
	look("napkin")

	visit("17-optimizers", "bowl")
	b.focus("bowl", "[name=momentum]")
	b.press("End", keyEnd, 0)
	b.shows(exe, "bowl", "momentum=19")
	look("bowl")

	// Without a web server, too.
	folder = (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String()
	visit("22-roofline", "roofline")
	b.focus("roofline", "[name=m]")
	b.press("ArrowLeft", keyLeft, 0)
	b.shows(exe, "roofline", "m=9")

	b.clean(func(r string) bool {
		return strings.HasPrefix(r, address) || strings.HasPrefix(r, "file:") || strings.HasPrefix(r, "blob:") || strings.HasPrefix(r, "data:") || strings.HasPrefix(r, "about:")
	})
}
