package e2e

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// brightness is that of the page's background, from 0 to 255.
const brightness = `(() => {
	for (const e of [document.body, document.documentElement]) {
		const c = getComputedStyle(e).backgroundColor.match(/[\d.]+/g).map(Number);
		if (c.length == 3 || c[3] > 0) return (c[0] + c[1] + c[2]) / 3;
	}
	return 255;
})()`

// pageLimit is the size of a page in bytes that a phone still opens at once.
const pageLimit = 1_500_000

// search finds a lesson by keyboard alone, from the index, without a network.
func (b *browser) search(site string) {
	b.t.Helper()
	b.do(chromedp.Navigate((&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(site, "index.html"))}).String()), chromedp.WaitReady("body"))
	b.press("Tab", keyTab, 0)
	if text := ask[string](b, `document.activeElement.className`); text != "skip" {
		b.t.Errorf("the first Tab reaches %q, want the link that skips to the text", text)
	}
	b.do(chromedp.KeyEvent("/"), chromedp.KeyEvent("roofline"))
	const found = `[...document.querySelectorAll("#results a")].map(a => a.getAttribute("href")).join(" ")`
	b.until("the search finds the lesson", found+`.includes("22-roofline.html")`, found)
	b.shoot("site-search", false)
	b.press("Enter", keyEnter, 0)
	b.until("Enter opens the first result", `location.pathname.endsWith("22-roofline.html")`, `location.href`)
	b.until("the page can be searched", `document.readyState == "complete" && document.querySelector(".search")?.hidden === false`, `document.readyState`)
	b.press("K", 'K', ctrl|shift) // an editor deletes a line with it, and browsers have it, too
	if ask[bool](b, `document.activeElement.matches("#search")`) {
		b.t.Error("Ctrl-Shift-K goes to the search")
	}
	// What readers look for stands first: under a heading that names it, or by another word for it.
	for _, tt := range []struct{ query, first, mark string }{
		{"mfu", "10-", "MFU"},
		{"1e-8", "", "1e-8"},
		{"dataloader", "16-", ""},
		{"learning rate", "", "learning rate"},
		{"rooflien", "22-", "roofline"},
		{"chekpoint", "20-", "checkpoint"},
		{"xyzzyx", "none", ""},
	} {
		b.press("k", 'K', ctrl)
		b.do(chromedp.KeyEvent(tt.query))
		if tt.first == "none" {
			b.until("nothing is found", `document.querySelector("#results .none")?.textContent.includes("xyzzyx") ?? false`, found)
			continue
		}
		b.until(tt.query+" is found", `[...document.querySelectorAll("#results a")].slice(0, 1).some(a => a.getAttribute("href").startsWith("`+tt.first+`") && a.querySelector("mark").textContent.toLowerCase().includes("`+strings.ToLower(tt.mark)+`"))`, found+` + " | " + (document.querySelector("#results a")?.textContent)`)
	}
	b.press("Escape", keyEscape, 0)
	// Each figure leads to the cell that drew it.
	if lost := ask[int](b, `[...document.querySelectorAll("figure")].filter(f => !document.querySelector(f.querySelector("figcaption a")?.getAttribute("href") ?? "#none")?.contains(f)).length`); lost > 0 {
		b.t.Errorf("%d figures have no link to their cell", lost)
	}
}

// figures makes a figure large and small again by keyboard.
func (b *browser) figures() {
	b.t.Helper()
	ask[bool](b, `document.querySelector(".asks button")?.click(), true`) // figures may lie behind a question
	b.do(chromedp.Focus(".enlarge"))
	const picture = `document.querySelector("dialog[open] .picture")`
	before := ask[float64](b, `document.querySelector("figure .picture > svg, figure .picture > img").getBoundingClientRect().width`)
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until("the figure is large", `(`+picture+`?.firstElementChild.getBoundingClientRect().width ?? 0) > 1.2 * `+strconv.FormatFloat(before, 'f', 1, 64), `document.querySelector("dialog").outerHTML.slice(0, 200)`)
	if cut := ask[float64](b, picture+`.scrollHeight - `+picture+`.clientHeight`); cut > 1 {
		b.t.Errorf("%g pixels of the large figure are cut off", cut)
	}
	b.shoot("site-large-figure", false)
	b.press("Escape", keyEscape, 0)
	b.until("the figure is in its place", `!`+picture, picture)
	ask[bool](b, `document.querySelector("figure .picture > svg, figure .picture > img").dispatchEvent(new MouseEvent("click", { bubbles: true }))`)
	b.until("a click makes it large, too", picture+` !== null`, picture)
	b.press("Escape", keyEscape, 0)
	b.until("the figure is back in its place, and so is the keyboard", `!`+picture+` && document.activeElement.matches("figure:has(.picture) > .enlarge")`, `document.activeElement.outerHTML.slice(0, 200)`)
}

// themes goes through light, dark and back to what the system says; the page keeps a choice when it is opened again.
func (b *browser) themes() {
	b.t.Helper()
	dark := func(want bool, when string) {
		b.t.Helper()
		b.until(when, `(`+brightness+` < 128) == `+strconv.FormatBool(want), brightness)
	}
	click := func() { b.t.Helper(); ask[bool](b, `document.querySelector("#theme").click(), true`) }
	ask[bool](b, `(s => { document.head.prepend(s); Object.defineProperty(s.sheet, "cssRules", { get() { throw new DOMException("an extension's", "SecurityError"); } }); return true; })(document.createElement("style"))`)
	b.colors("light")
	dark(false, "the system is light")
	click() // light
	b.colors("dark")
	dark(false, "light was chosen on a dark system")
	click() // dark
	b.colors("light")
	dark(true, "dark was chosen on a light system")
	b.do(chromedp.Reload(), chromedp.WaitReady("body"))
	dark(true, "the choice is remembered")
	b.shoot("site-chosen-dark", false)
	click()
	dark(false, "as the system again")
}

// renderedSite is the folder of the rendered lessons, without steps.
func renderedSite(t *testing.T) string { return rendered(t, "-steps=false") }

// rendered is the folder of what render makes with these arguments. Tests have it in common.
func rendered(t *testing.T, args ...string) string {
	t.Helper()
	exe := kernelCommand(t)
	site, _ := sites.LoadOrStore(strings.Join(args, " "), sync.OnceValues(func() (string, error) {
		out, err := os.MkdirTemp(common, "site-")
		if err != nil {
			return "", err
		}
		cmd := exec.Command(exe, append([]string{"render", "-o", out}, args...)...)
		cmd.Dir = filepath.Join("..", "..")
		if text, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("render: %w\n%s", err, text)
		}
		return out, nil
	}))
	out, err := site.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var sites sync.Map // by the arguments of render

// languages changes to Chinese and back: the place stays, and so does what the reader has guessed. The search
// takes Chinese.
func (b *browser) languages(site string) {
	b.t.Helper()
	at := func(file string) string {
		return (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(site, file))}).String()
	}
	b.do(chromedp.Navigate(at("05-storage-strides-views.html")), chromedp.WaitReady("body"))
	const guess = `document.querySelector("#cell-05-05 .guess")`
	before := ask[string](b, `location.href`)
	ask[bool](b, `(() => {
		const f = document.querySelector("#cell-05-05 form");
		f.querySelector("input").value = "4, 1";
		f.requestSubmit();
		document.querySelector("#cell-05-05").scrollIntoView({ behavior: "instant" });
		setTimeout(() => document.querySelector(".language").click());
		return true;
	})()`)
	b.until("the Chinese page is there", `location.pathname.endsWith("/zh/05-storage-strides-views.html") && document.readyState == "complete"`, `location.href`)
	if lang := ask[string](b, `document.documentElement.lang`); lang != "zh-Hans" {
		b.t.Errorf("its language is %q", lang)
	}
	b.until("the place is the same", `/^#cell-05-0[45]$/.test(location.hash)`, `location.hash`)
	b.until("the guess is, too", guess+`.classList.contains("right")`, guess+`.outerHTML`)
	b.shoot("site-chinese", false)
	const found = `[...document.querySelectorAll("#results a")].map(a => a.textContent).join(" | ")`
	for _, query := range []string{"mfu", "第一讲"} {
		ask[bool](b, `(() => { const e = document.getElementById("search"); e.value = "`+query+`"; e.dispatchEvent(new Event("input")); return true; })()`)
		b.until("the search answers "+query, `document.getElementById("said").textContent != ""`, found)
	}
	ask[bool](b, `(setTimeout(() => document.querySelector(".language").click()), true)`)
	b.until("the English page is there", `location.pathname == new URL("`+before+`").pathname && document.readyState == "complete"`, `location.href`)
}

// TestSiteByKeyboard uses what pages offer beside their text.
func TestSiteByKeyboard(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	b.colors("light")
	b.window(1280, 900, false)
	site := renderedSite(t)
	b.search(site)
	b.languages(site)
	b.figures()
	b.themes()
	b.clean(func(address string) bool {
		return strings.HasPrefix(address, "file:") || strings.HasPrefix(address, "data:")
	})
}

// TestDamagedStorage opens a lesson where the browser has stored what no page has written, by an address that is none.
func TestDamagedStorage(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	b.window(1280, 900, false)
	lesson := onDisk(renderedSite(t), "17-optimizers.html")
	b.visit(lesson)
	for key, value := range map[string]string{"lectern-theme": "purple", "lectern-guesses": "?", "lectern-guesses:17-optimizers": "[1", "lectern-notes:17-optimizers": "5"} {
		b.act(`localStorage.setItem(` + quoted(key) + `, ` + quoted(value) + `)`)
	}
	b.visit("about:blank")
	b.visit(lesson + "#%")
	const asked = `[...document.querySelectorAll(".guess")].every(g => g.querySelector(".ask")?.hidden === false)`
	b.until("all questions are asked", asked+` && document.querySelectorAll(".asks").length == 1`, asked)
	if !ask[bool](b, `!document.querySelector(".search").hidden && !document.querySelector("#theme").hidden`) {
		t.Error("the page can't be searched, or has no switch for its colours")
	}
	const note = `document.querySelector(".talk-bar textarea").value`
	b.act(`document.querySelector("#talk").click()`)
	b.act(`(() => { const n = document.querySelector(".talk-bar textarea"); n.value = "slowly"; n.dispatchEvent(new Event("input")); })()`)
	b.press("ArrowDown", keyDown, 0)
	b.until("another cell has no note", note+` == ""`, note)
	b.press("Home", keyHome, 0)
	b.until("the note is there", note+` == "slowly"`, note)
	b.clean(func(address string) bool {
		return strings.HasPrefix(address, "file:") || strings.HasPrefix(address, "data:") || strings.HasPrefix(address, "about:")
	})
}

// TestSearchOnNarrowScreens types into the field of pages in both languages: all that is found is on the screen, the
// field has room for what is typed, and the page doesn't scroll sideways.
func TestSearchOnNarrowScreens(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	site := renderedSite(t)
	for _, page := range []string{"index.html", "14-models.html", "zh/14-models.html"} {
		for _, width := range []int64{320, 390, 640, 660, 768, 800} { // 320 is what a window of 1280 has at 400 %
			b.window(width, 844, false)
			b.do(chromedp.Navigate((&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(site, page))}).String()), chromedp.WaitReady("body"))
			b.until("the page can be searched", `document.readyState == "complete" && document.querySelector(".search")?.hidden === false`, `document.readyState`)
			b.do(chromedp.KeyEvent("/"), chromedp.KeyEvent("gradient"))
			b.until("the search finds something", `document.querySelectorAll("#results a").length > 0`, `document.querySelector("#results").outerHTML`)
			const bad = `(() => {
				const field = document.getElementById("search").getBoundingClientRect(), found = document.getElementById("results").getBoundingClientRect();
				const bad = [];
				if (found.left < 0 || found.right > innerWidth) bad.push("what is found goes from " + found.left + " to " + found.right);
				if (field.width < 240) bad.push("the field is " + field.width + " wide");
				if (document.documentElement.scrollWidth > innerWidth) bad.push("the page is " + document.documentElement.scrollWidth + " wide");
				return bad.join(", ");
			})()`
			if what := ask[string](b, bad); what != "" {
				t.Errorf("%s in a window of %d: %s", page, width, what)
			}
		}
	}
}

// unfit are the figures that a phone would show cut off or with text of less than 11 pixels: what they are, how wide
// they are and in what room, and their smallest text.
const unfit = `(() => {
	const all = document.querySelector(".asks button"); // figures may be behind a question; the page remembers the choice
	if (all?.textContent.startsWith("Show")) all.click();
	return [...document.querySelectorAll(".picture")].flatMap(p => {
		const drawn = [...p.children].find(e => e.checkVisibility());
		if (!drawn) return ["not shown: " + p.innerHTML.slice(0, 80)];
		const scale = drawn.getBoundingClientRect().width / (drawn.viewBox?.baseVal.width || drawn.naturalWidth);
		const sizes = [...drawn.querySelectorAll("text")].map(e => scale * parseFloat(getComputedStyle(e).fontSize));
		const smallest = Math.min(99, ...sizes);
		const fits = p.scrollWidth <= p.clientWidth + 1 && smallest >= 10.95;
		return fits ? [] : [drawn.getAttribute("aria-label").slice(0, 60) + ": " + p.scrollWidth + " in " + p.clientWidth + ", text of " + smallest.toFixed(1)];
	}).join("\n");
})()`

// TestFiguresFitPhones opens all lessons in a window of a phone's width: figures neither scroll
// nor shrink until they can't be read.
func TestFiguresFitPhones(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	b.window(390, 844, true)
	out := renderedSite(t)
	for _, l := range lessons(t) {
		page := strings.TrimSuffix(filepath.Base(l), ".ipynb") + ".html"
		b.do(chromedp.Navigate((&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(out, page))}).String()), chromedp.WaitReady("body"))
		if list := ask[string](b, unfit); list != "" {
			t.Errorf("%s:\n%s", page, list)
		}
		if n := ask[int](b, `document.querySelectorAll(".picture").length`); n == 0 {
			t.Errorf("%s has no figures", page)
		}
	}
}

func TestSite(t *testing.T) {
	t.Parallel()
	axe := axeSource(t)
	out := renderedSite(t)
	pages := []string{"index.html", "404.html"}
	for _, l := range lessons(t) {
		pages = append(pages, strings.TrimSuffix(filepath.Base(l), ".ipynb")+".html")
	}
	for _, p := range pages {
		if st, err := os.Stat(filepath.Join(out, p)); err != nil || st.Size() > pageLimit {
			t.Errorf("%s is larger than %d bytes, or is not there (%v)", p, pageLimit, err)
		}
	}
	for _, look := range []struct {
		name   string
		scheme string
		width  int64
		height int64
		mobile bool
	}{
		{"light", "light", 1200, 900, false},
		{"dark", "dark", 1280, 900, false},
		{"phone", "light", 390, 844, true},
	} {
		t.Run(look.name, func(t *testing.T) {
			t.Parallel()
			b := openBrowser(t)
			b.colors(look.scheme)
			b.window(look.width, look.height, look.mobile)
			for i, p := range pages {
				address := (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(out, p))}).String()
				b.do(chromedp.Navigate(address), chromedp.WaitReady("body"))
				if text := ask[string](b, `document.body.innerText`); len(text) < 100 {
					t.Errorf("%s: the page is nearly empty: %q", p, text)
				}
				if l := ask[float64](b, brightness); (l < 128) != (look.scheme == "dark") {
					t.Errorf("%s: the background's brightness is %.0f", p, l)
				}
				if w := ask[int64](b, `document.documentElement.scrollWidth`); w > look.width {
					wide := ask[string](b, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && getComputedStyle(e).position != "fixed").slice(0, 3).map(e => e.tagName + "." + e.className).join(", ")`)
					t.Errorf("%s: %d wide in a window of %d: it scrolls sideways (%s)", p, w, look.width, wide)
				}
				const sideways = `(() => {
					const folds = [...document.querySelectorAll("main details:not([open])")];
					folds.forEach(f => f.open = true);
					const wide = [...document.querySelectorAll("main .code pre, main details pre")].filter(e => e.scrollWidth > e.clientWidth + 1);
					folds.forEach(f => f.open = false);
					return wide.map(e => e.innerText.slice(0, 80)).join(" | ");
				})()`
				if list := ask[string](b, sideways); list != "" && !look.mobile {
					t.Errorf("%s: code scrolls sideways in a window of %d: %s", p, look.width, list)
				}
				if n := ask[int](b, `[...document.images].filter(i => !i.complete || !i.naturalWidth).length`); n > 0 {
					t.Errorf("%s: %d pictures are broken", p, n)
				}
				if os.Getenv("LECTERN_LONG") == "" && look.name != "light" && (look.name == "dark") == (i%2 == 1) {
					continue // pictures and axe take long: a page gets them in the dark or on a phone
				}
				b.shoot("site-"+strings.TrimSuffix(p, ".html")+"-"+look.name, look.name == "phone")
				b.accessible(axe, p+", "+look.name)
			}
			b.clean(func(address string) bool {
				return strings.HasPrefix(address, "file:") || strings.HasPrefix(address, "data:")
			})
		})
	}
}
