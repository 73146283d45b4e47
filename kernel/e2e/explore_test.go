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
const mostExplore = 1_900_000

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
func (p page) shows(exe, name string, settings ...string) {
	p.t.Helper()
	html, err := exec.Command(exe, append([]string{name}, settings...)...).Output()
	if err != nil {
		p.t.Fatal(err)
	}
	p.act(`window.wanted = (() => { const t = document.createElement("template"); t.innerHTML = ` + quoted(strings.TrimSpace(string(html))) + `; return t.content.textContent; })()`)
	p.until(name+" shows what it gives natively", explorer(name)+`.children[1].textContent === wanted`,
		`JSON.stringify([`+explorer(name)+`.textContent, wanted])`)
}

// focus moves the focus to an element of an explorer.
func (p page) focus(name, selector string) {
	p.t.Helper()
	p.act(`(() => { const e = ` + explorer(name) + `.querySelector(` + quoted(selector) + `); e.focus(); e.select?.(); })()`)
}

// fits checks that a page with an explorer is not wider than its window.
func (p page) fits(name string, width int) {
	p.t.Helper()
	if p.text(fmt.Sprintf(`String(document.documentElement.scrollWidth > %d)`, width)) == "true" {
		p.t.Errorf("with %s the page is %s wide in a window of %d", name, p.text(`String(document.documentElement.scrollWidth)`), width)
	}
}

// nears opens a lesson where its explorer is.
func (p page) nears(exe, folder, lesson, name string) {
	p.t.Helper()
	p.window(1280, 900, false)
	p.visit(folder + "/" + lesson + ".html")
	p.act(`localStorage.clear(), document.querySelectorAll(".after[hidden]").forEach((e) => e.removeAttribute("hidden")), ` +
		explorer(name) + `.scrollIntoView({block: "start", behavior: "instant"}), scrollBy(0, -80)`)
	p.shows(exe, name) // as it is at first
}

// explore uses each explorer of the pages in a folder by keyboard, and looks at it then. The
// program says what they show.
func (p page) explore(exe, folder string, look func(name string)) {
	p.t.Helper()
	visit := func(lesson, name string) {
		p.t.Helper()
		p.nears(exe, folder, lesson, name)
	}
	visit("03-number-formats", "formats")
	p.focus("formats", "[data-set=bit]")
	p.press("ArrowRight", keyRight, 0)
	p.press("ArrowRight", keyRight, 0)
	p.write(" ")
	p.shows(exe, "formats", "bit=13")
	p.focus("formats", "[name=number]")
	p.write("70000")
	p.shows(exe, "formats", "bit=13", "number=70000")
	look("formats")

	visit("05-storage-strides-views", "strides")
	drag := func(kind, on string, at, button int) {
		p.act(fmt.Sprintf(`(() => { const c = %s.querySelector("[data-at='%d']"), r = c.getBoundingClientRect();
			(%s).dispatchEvent(new PointerEvent("%s", { bubbles: true, button: %d, clientX: r.x + r.width / 2, clientY: r.y + r.height / 2 })); })()`, explorer("strides"), at, on, kind, button))
	}
	const right = 2 // which opens a menu, so that a page may not hear of its end
	drag("pointerdown", "c", 7, right)
	drag("pointermove", "window", 9, 0)
	p.focus("strides", ".x-picked")
	p.press("ArrowRight", keyRight, 0)
	p.shows(exe, "strides", "pick=1 3")
	drag("pointerdown", "c", 7, 0)
	drag("pointermove", "window", 9, 0)
	drag("pointerup", "window", 9, 0)
	p.shows(exe, "strides", "pick=1 3", "offset=8")
	p.window(390, 900, true)
	p.fits("strides", 390)
	p.shoot("explore-strides-moved", false)
	p.window(1280, 900, false)
	p.focus("strides", "[data-set=undo]")
	p.write(" ")
	p.shows(exe, "strides", "undo=")
	p.focus("strides", "[data-value=transpose]")
	p.write(" ")
	p.shows(exe, "strides", "undo=", "do=transpose")
	p.focus("strides", ".x-picked")
	p.press("ArrowDown", keyDown, 0)
	p.shows(exe, "strides", "undo=", "do=transpose", "pick=1 0")
	p.focus("strides", "[data-value=flat]")
	p.write(" ")
	p.shows(exe, "strides", "undo=", "do=transpose", "pick=1 0", "do=flat")
	look("strides")

	visit("08-named-dimensions", "einsum")
	p.focus("einsum", "[name=pattern]")
	p.write("a b, b c -> a d")
	p.shows(exe, "einsum", "pattern=a b, b c -> a d")
	p.focus("einsum", "[name=shapes]")
	p.write("2 3, 3 5")
	p.focus("einsum", "[name=pattern]")
	p.write("a b, b c -> c a")
	p.shows(exe, "einsum", "pattern=a b, b c -> c a", "shapes=2 3, 3 5")
	look("einsum")

	visit("01-tokenization", "bpe")
	p.focus("bpe", "[data-value=on]")
	p.write(" ")
	p.write(" ")
	p.shows(exe, "bpe", "go=on", "go=on")
	p.focus("bpe", "[name=at]")
	p.press("ArrowRight", keyRight, 0)
	p.shows(exe, "bpe", "at=3")
	look("bpe")

	visit("22-roofline", "roofline")
	p.focus("roofline", "[name=m]")
	p.press("ArrowLeft", keyLeft, 0)
	p.shows(exe, "roofline", "m=9")
	p.focus("roofline", "[name=device]")
	p.press("ArrowDown", keyDown, 0)
	p.shows(exe, "roofline", "m=9", "device=5")
	look("roofline")

	visit("00-napkin-math", "napkin")
	p.focus("napkin", "[name=count]")
	p.write("8")
	p.shows(exe, "napkin", "count=8")
	look("napkin")

	visit("17-optimizers", "bowl")
	p.focus("bowl", "[name=momentum]")
	p.press("End", keyEnd, 0)
	p.shows(exe, "bowl", "momentum=19")
	look("bowl")

	visit("11-gradients", "tape")
	p.focus("tape", "[name=step]")
	p.press("ArrowRight", keyRight, 0)
	p.press("ArrowRight", keyRight, 0)
	p.shows(exe, "tape", "step=2")
	look("tape")

	visit("27-inference", "decode")
	p.focus("decode", "[name=batch]")
	p.press("ArrowLeft", keyLeft, 0)
	p.shows(exe, "decode", "batch=4")
	look("decode")
}

// testExplorers plays in JupyterLab with what a text names, by keyboard: no key is the notebook's.
func testExplorers(t *testing.T, address string) {
	path := write(t, "explore.ipynb", "1")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const cell = `"cells":[{"cell_type":"markdown","id":"m","metadata":{},"source":"Roll it down.\n\n<!-- explore: bowl -->"},`
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), `"cells":[`, cell, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(root(t), ".lectern", "share", "jupyter", "labextensions", "lectern-cells", "static", "explore", "explore.js")
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Second) { // lab builds them when cells run already
		if _, err := os.Stat(script); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("lab has not built the explorers within %v", patience)
		}
	}
	b := openBrowser(t)
	b.window(1200, 900, false)
	b.do(chromedp.Navigate(at(t, address, path)))
	b.opened(1)
	exe := native(t)
	b.shows(exe, "bowl")
	b.focus("bowl", "[name=momentum]")
	b.press("End", keyEnd, 0)
	b.shows(exe, "bowl", "momentum=19")
	b.press("ArrowLeft", keyLeft, 0)
	b.shows(exe, "bowl", "momentum=18")
	if cells := ask[int](b, `document.querySelectorAll(".jp-Notebook .jp-Cell").length`); cells != 2 {
		t.Errorf("keys for an explorer have left %d cells of 2", cells)
	}
	b.shoot("lab-explorer", false)
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
	look := func(name string) {
		if axe != "" {
			b.accessible(axe, "a lesson with the explorer "+name)
		}
		for _, way := range []struct {
			name, colors string
			width        int64
		}{{"light", "light", 1280}, {"dark", "dark", 1280}, {"phone", "light", 390}} {
			b.colors(way.colors)
			b.window(way.width, 900, way.width < 500)
			ask[bool](b, `(`+explorer(name)+`.scrollIntoView({block: "start", behavior: "instant"}), scrollBy(0, -70), true)`)
			b.fits(name, int(way.width))
			b.shoot("explore-"+name+"-"+way.name, false)
		}
	}

	b.explore(exe, address, look)
	// Without a web server, too.
	b.nears(exe, (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String(), "22-roofline", "roofline")
	b.focus("roofline", "[name=m]")
	b.press("ArrowLeft", keyLeft, 0)
	b.shows(exe, "roofline", "m=9")

	b.clean(func(r string) bool {
		return strings.HasPrefix(r, address) || strings.HasPrefix(r, "file:") || strings.HasPrefix(r, "blob:") || strings.HasPrefix(r, "data:") || strings.HasPrefix(r, "about:")
	})
}
