package e2e

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestTalk presents a lesson. Each key press shows one more block, or the answer to a question; cells can be stepped
// through, and a second window follows.
func TestTalk(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	b.colors("light")
	b.window(1280, 720, false)
	site := rendered(t, "-steps", filepath.Join("notebooks", steppedLesson+".ipynb"))
	server := httptest.NewServer(http.FileServer(http.Dir(site))) // the windows of pages on a disk can't look into each other
	defer server.Close()
	b.do(chromedp.Navigate(server.URL+"/"+steppedLesson+".html"), chromedp.WaitReady("body"))
	const (
		now   = `(document.querySelector(".talk-now")?.textContent.trim() ?? "")`
		later = `[...document.querySelectorAll(".talk-later")].filter(e => e.checkVisibility()).length`
		hash  = `location.hash`
		empty = `[...document.querySelectorAll(".cell")].filter(e => e.checkVisibility() && e.offsetHeight > 0 && !e.innerText.replace("Your turn", "").trim() && !e.querySelector("img, svg, canvas")).length`
	)
	b.do(chromedp.Click(chromedp.CSS("#talk")))
	b.until("the title is shown, and nothing after it", now+`.startsWith("Gradients") && `+later+` == 0 && `+hash+` == "#talk-1"`, now)
	if n := ask[int](b, empty); n != 0 {
		t.Errorf("%d boxes are shown, and not what is in them", n)
	}
	if side := ask[bool](b, `document.querySelector(".side").checkVisibility()`); side {
		t.Error("the list of lessons is still there")
	}
	b.press("ArrowRight", keyRight, 0)
	b.until("a block on", hash+` == "#talk-2" && `+later+` == 0`, now)
	second := ask[string](b, now)
	b.press("ArrowDown", keyDown, 0)
	b.until("the next heading", `document.querySelector(".talk-now").matches("h2")`, now)
	for range 3 {
		b.press("PageUp", keyPageUp, 0)
	}
	b.press("Home", keyHome, 0)
	b.press("PageDown", keyPageDown, 0)
	if got := ask[string](b, now); got != second {
		t.Errorf("there and back again: %q, and was %q", got, second)
	}
	// The answer to a question comes after the question.
	toGuess := `document.querySelector(".talk-now").matches(".guess")`
	for range 60 {
		if ask[bool](b, toGuess) {
			break
		}
		b.press("ArrowRight", keyRight, 0)
	}
	answer := `document.querySelector(".talk-now .answer, .answer.talk-now")`
	b.until("a question, without its answer", toGuess+` && !`+answer+`.checkVisibility()`, now)
	b.accessible(axeSource(t), "a talk")
	b.shoot("talk-question", false)
	b.press("ArrowRight", keyRight, 0)
	b.until("the answer", answer+`?.matches(".talk-now") && `+answer+`.checkVisibility()`, now)
	if got, want := ask[string](b, hash), "#talk-"; !strings.HasPrefix(got, want) {
		t.Errorf("the address is %q", got)
	}
	// The same page again goes on where it was.
	at := ask[string](b, hash)
	ask[bool](b, `(window.old = true, location.reload(), true)`)
	b.until("the talk goes on", `!window.old && document.readyState == "complete" && `+hash+` == "`+at+`" && `+answer+`?.checkVisibility()`, hash)

	// A window for the audience.
	ask[bool](b, `(() => { const open = window.open; window.open = (...a) => (window.second = open.apply(window, a)); return true; })()`)
	b.press("w", 'W', 0)
	const audience = `(window.second?.document?.querySelector(".talk-audience .talk-now")?.textContent.trim() ?? "")`
	b.until("the audience sees what is shown", audience+` == `+now, audience)
	if ahead := ask[int](b, later); ahead == 0 {
		t.Error("the speaker does not see what comes")
	}
	b.press("ArrowRight", keyRight, 0)
	b.until("the audience follows", audience+` == `+now, audience)
	// A window for the audience that is there is shown, and not opened again. It may be loaded again.
	ask[bool](b, `(() => { window.opened = 0; const open = window.open; window.open = (...a) => { opened++; return open.apply(window, a); }; return true; })()`)
	b.press("w", 'W', 0)
	if n := ask[int](b, `opened`); n != 0 {
		t.Errorf("W has opened %d more windows", n)
	}
	ask[bool](b, `(second.old = true, second.location.reload(), true)`)
	b.until("the audience's window is loaded again", `!second.old && second.document.readyState == "complete" && `+audience+` == `+now, audience)
	b.press("ArrowRight", keyRight, 0)
	b.until("the audience follows again", audience+` == `+now+` && document.documentElement.matches(".talk-speaker")`, audience)
	b.until("there is a place for notes", `document.querySelector(".talk-bar textarea").checkVisibility() && !second.document.querySelector(".talk-bar").checkVisibility()`, hash)
	ask[bool](b, `(() => { const e = document.querySelector(".talk-now"), r = e.getBoundingClientRect();
		e.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: r.left + r.width / 2, clientY: r.top + r.height / 2 })); return true; })()`)
	b.until("the pointer is where it was in the block", `(() => { const d = second.document.querySelector(".talk-dot"), r = second.document.querySelector(".talk-now").getBoundingClientRect();
		return !d.hidden && Math.abs(parseFloat(d.style.left) - r.left - r.width / 2) < 2; })()`, `second.document.querySelector(".talk-dot").outerHTML`)
	// Steps, in both windows; after the last one the talk goes on.
	for range 60 {
		if ask[bool](b, `document.querySelector(".talk-now").closest(".cell").querySelector(".step-open") != null`) {
			break
		}
		b.press("ArrowRight", keyRight, 0)
	}
	where := func(window string) string {
		return `(` + window + `document.querySelector(".step-where")?.textContent ?? "")`
	}
	b.press("s", 'S', 0)
	b.until("the stepper opens in both", where("")+`.startsWith("Step 1 ") && `+where("second.")+` == `+where(""), where("second."))
	b.press("ArrowRight", keyRight, 0)
	b.until("they step together", where("")+`.startsWith("Step 2 ") && `+where("second.")+` == `+where(""), where("second."))
	b.accessible(axeSource(t), "the speaker's window")
	b.shoot("talk-speaker", false)
	before := ask[string](b, hash)
	b.press("End", keyEnd, 0)
	b.press("ArrowRight", keyRight, 0)
	b.until("the talk goes on in both", `!document.querySelector(".steps") && !second.document.querySelector(".steps") && `+hash+` != "`+before+`" && `+audience+` == `+now, hash)
	// Keys that an explorer takes, or a figure that fills the window, are not the talk's.
	before = ask[string](b, hash)
	ask[bool](b, `(() => { const e = document.querySelector(".explore"); e.addEventListener("keydown", (k) => k.preventDefault(), { once: true });
		return e.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true })); })()`)
	const figure = `document.querySelector("dialog[open]")`
	ask[bool](b, `document.querySelector("figure .picture > svg").dispatchEvent(new MouseEvent("click", { bubbles: true }))`)
	b.until("the figure is large", figure+` !== null`, hash)
	b.press("ArrowRight", keyRight, 0)
	b.press("Escape", keyEscape, 0)
	b.until("the figure is small, and the talk where it was", figure+` === null && document.documentElement.matches(".talk") && `+hash+` == "`+before+`"`, hash)
	b.press("Escape", keyEscape, 0)
	b.until("the talk has ended, and its window is closed", `second.closed && !document.documentElement.matches(".talk") && `+later+` == 0 && document.querySelector(".side").checkVisibility()`, hash)
	// What a cell that runs in the page adds is no block of its own, and comes and goes with what is stored.
	const count = `document.querySelector(".talk-bar span").textContent`
	b.do(chromedp.Click(chromedp.CSS("#talk")))
	blocks := ask[string](b, count)
	b.press("Escape", keyEscape, 0)
	ask[bool](b, `(() => {
		window.stored = [...document.querySelectorAll(".cell.run")].find(c => c.querySelector(".out")).querySelector(".out");
		const added = document.createElement("template");
		added.innerHTML = '<div class="live-tools">Run</div><div class="out live-out">6</div>';
		stored.closest(".cell").querySelector(".in").after(added.content);
		return true;
	})()`)
	b.do(chromedp.Click(chromedp.CSS("#talk")))
	if got := ask[string](b, count); got != blocks {
		t.Errorf("with a cell that has run it is at block %s, and was at %s", got, blocks)
	}
	const later2 = `stored.closest(".cell").querySelector(".live-out").matches(".talk-later")`
	for range 60 {
		stored, live := ask[bool](b, `stored.matches(".talk-later")`), ask[bool](b, later2)
		if stored != live {
			t.Fatalf("what is stored comes later: %t; what the cell has given: %t", stored, live)
		}
		if !stored {
			break
		}
		b.press("ArrowRight", keyRight, 0)
	}
	b.clean(func(address string) bool {
		return strings.HasPrefix(address, server.URL) || strings.HasPrefix(address, "data:") || strings.HasPrefix(address, "about:")
	})
}
