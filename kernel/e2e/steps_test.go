package e2e

import (
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const steppedLesson = "11-gradients"

// TestStepping goes through a cell by keyboard, by click and by playing, and looks at what a reader sees and hears.
func TestStepping(t *testing.T) {
	b := openBrowser(t)
	b.colours("light")
	b.window(1280, 900, false)
	site := rendered(t, "-steps", filepath.Join("notebooks", steppedLesson+".ipynb"))
	file := filepath.Join(site, steppedLesson+".html")
	if st, err := os.Stat(file); err != nil || st.Size() > pageLimit {
		t.Fatalf("the page is not there, or too large: %v", err)
	}
	address := (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
	b.do(chromedp.Navigate(address), chromedp.WaitReady("body"))
	const (
		where  = `document.querySelector(".step-where").textContent`
		now    = `(document.querySelector(".step-line.now")?.textContent.trim() ?? "")`
		opened = `document.querySelectorAll(".steps").length`
	)
	at := func(what, step string) {
		t.Helper()
		b.until(5*time.Second, what, where+`.startsWith("Step `+step+` ")`, where)
	}
	ask[bool](b, `document.querySelector(".asks button")?.click(), true`) // what steps tell lies behind the questions
	text := ask[string](b, `document.querySelector(".in .code code").textContent`)
	b.do(chromedp.Focus(".step-open"), chromedp.KeyEvent(kb.Enter))
	b.until(5*time.Second, "the stepper opens and has the keyboard", opened+` == 1 && document.activeElement.matches(".steps")`, `document.activeElement.outerHTML.slice(0, 200)`)
	if got := ask[string](b, `document.querySelector(".in .code code").textContent`); got != text {
		t.Errorf("the code is %q, and was %q", got, text)
	}
	at("the first step", "1")
	b.press("ArrowRight", keyRight, 0)
	at("a step on", "2")
	b.press("End", keyEnd, 0)
	if at := ask[bool](b, `document.querySelector("[aria-label='One step on']").disabled`); !at {
		t.Error("there is a step behind the last")
	}
	last := ask[string](b, where)
	b.press("ArrowLeft", keyLeft, 0)
	b.until(5*time.Second, "a step back", where+` != `+strconv.Quote(last), where)
	b.press("Home", keyHome, 0)
	at("the first step again", "1")
	// A click on a line goes to its next step, and the line is marked for eyes and for ears.
	line := ask[string](b, `(() => { const l = [...document.querySelectorAll(".step-line.reached")].at(-1); l.click(); return l.textContent.trim(); })()`)
	b.until(5*time.Second, "the line is marked", now+` == `+strconv.Quote(line)+` && document.querySelector("[aria-current='step']").textContent.trim() == `+strconv.Quote(line), now)
	// Tensors come with their facts, and totals run along.
	for _, fact := range []string{"shape [3]", "float32", "strides [1]", "requires grad", "12 bytes"} {
		if !ask[bool](b, `document.querySelector(".step-vars").textContent.includes(`+strconv.Quote(fact)+`)`) {
			t.Errorf("the variables don't say %q: %s", fact, ask[string](b, `document.querySelector(".step-vars").textContent`))
		}
	}
	if bars := ask[string](b, `[...document.querySelectorAll(".step-bars dt")].map(e => e.textContent).join()`); bars != "FLOPs,Moved,Held by variables" {
		t.Errorf("the totals are %q", bars)
	}
	// Backward, operation by operation: the cell whose code calls it.
	b.press("Escape", keyEscape, 0)
	b.until(5*time.Second, "it closes, and the button has the keyboard", opened+` == 0 && document.activeElement.matches(".step-open")`, `document.activeElement.outerHTML.slice(0, 200)`)
	ask[bool](b, `[...document.querySelectorAll(".cell.run")].find(c => c.querySelector("code")?.textContent.startsWith("loss.Backward()")).querySelector(".step-open").click(), true`)
	b.until(5*time.Second, "another cell opens", opened+` == 1`, opened)
	b.press("ArrowRight", keyRight, 0)
	b.until(5*time.Second, "an operation of Backward", where+`.includes("Backward") && document.querySelector(".step-did").textContent.includes("gradient of")`, where)
	// Playing ends at the last step, and can be stopped before.
	b.press("Home", keyHome, 0)
	ask[bool](b, `(() => { const s = document.querySelector(".steps select"); s.value = "1"; document.querySelector("[aria-label='Play the steps']").click(); return true; })()`)
	at("it plays", "2")
	ask[bool](b, `document.querySelector("[aria-label='Stop playing']").click(), true`)
	if ask[string](b, `document.querySelector("[aria-label='Play the steps']").getAttribute("aria-pressed")`) != "false" {
		t.Error("it still plays")
	}
	ask[bool](b, `(() => { const s = document.querySelector(".steps select"); s.value = "20"; document.querySelector("[aria-label='Play the steps']").click(); return true; })()`)
	b.until(20*time.Second, "it has played to the end", `document.querySelector("[aria-label='One step on']").disabled && document.querySelector("[aria-label='Play the steps']") != null`, where)
	b.accessible(axeSource(t), "the stepper")
	b.shoot("site-steps", false)
	// On a phone nothing is wider than the window, and fingers find the buttons.
	b.window(390, 844, true)
	b.colours("dark")
	if w := ask[int](b, `document.documentElement.scrollWidth`); w > 390 {
		t.Errorf("%d wide on a phone of 390", w)
	}
	if small := ask[string](b, `[...document.querySelectorAll(".steps button")].filter(e => !e.hidden && Math.min(e.offsetWidth, e.offsetHeight) < 28).map(e => e.textContent).join()`); small != "" {
		t.Errorf("small buttons: %s", small)
	}
	b.accessible(axeSource(t), "the stepper on a phone")
	b.shoot("site-steps-phone", false)
	b.clean(func(address string) bool {
		return strings.HasPrefix(address, "file:") || strings.HasPrefix(address, "data:") || strings.HasPrefix(address, "about:")
	})
}
