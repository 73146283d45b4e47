package e2e

import (
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const steppedLesson = "11-gradients"

// TestStepping goes through a cell by keyboard, by click and by playing, and looks at what a reader sees and hears.
func TestStepping(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	b.colors("light")
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
		b.until(what, where+`.startsWith("Step `+step+` ")`, where)
	}
	ask[bool](b, `document.querySelector(".asks button")?.click(), true`) // what steps tell lies behind the questions
	text := ask[string](b, `document.querySelector(".in .code code").textContent`)
	b.do(chromedp.Focus(".step-open"), chromedp.KeyEvent(kb.Enter))
	b.until("the stepper opens and has the keyboard", opened+` == 1 && document.activeElement.matches(".steps")`, `document.activeElement.outerHTML.slice(0, 200)`)
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
	b.until("the address leads here", `/^#cell-.+\.step-\d+$/.test(location.hash) && location.hash.endsWith(".step-" + document.querySelector(".step-where").textContent.match(/of (\d+)/)[1])`, `location.hash`)
	last := ask[string](b, where)
	b.press("ArrowLeft", keyLeft, 0)
	b.until("a step back", where+` != `+strconv.Quote(last), where)
	b.press("Home", keyHome, 0)
	at("the first step again", "1")
	// The address opens the stepper at a step, on another page as on this one.
	ask[bool](b, `location.hash = location.hash.replace(/\d+$/, "3"), true`)
	at("the step of the address", "3")
	ask[bool](b, `(window.old = true, location.reload(), true)`)
	b.until("the page is there again", `!window.old && document.readyState == "complete" && `+opened+` == 1`, `location.hash`)
	at("the step of the address, again", "3")
	// A click on a line goes to its next step, and the line is marked for eyes and for ears.
	line := ask[string](b, `(() => { const l = [...document.querySelectorAll(".step-line.reached")].at(-1); l.click(); return l.textContent.trim(); })()`)
	b.until("the line is marked", now+` == `+strconv.Quote(line)+` && document.querySelector("[aria-current='step']").textContent.trim() == `+strconv.Quote(line), now)
	// Tensors come with their facts, and totals run along.
	for _, fact := range []string{"shape [3]", "float32", "strides [1]", "requires grad", "12 bytes"} {
		if !ask[bool](b, `document.querySelector(".step-vars").textContent.includes(`+strconv.Quote(fact)+`)`) {
			t.Errorf("the variables don't say %q: %s", fact, ask[string](b, `document.querySelector(".step-vars").textContent`))
		}
	}
	if bars := ask[string](b, `[...document.querySelectorAll(".step-bars dt")].map(e => e.textContent).join()`); bars != "FLOPs,Moved,Held by variables" {
		t.Errorf("the totals are %q", bars)
	}
	// Each number unfolds into what it consists of, and stays so from step to step.
	ask[bool](b, `[...document.querySelectorAll(".cell.run")].find(c => c.querySelector("code")?.textContent.includes(".Sub(5)")).querySelector(".step-open").click(), true`)
	b.until("the cell with a constant opens", `[...document.querySelectorAll(".step-line")].some(l => l.textContent.includes(".Sub(5)"))`, opened)
	ask[bool](b, `[...document.querySelectorAll(".step-line.reached")].find(l => l.textContent.includes(".Sub(5)")).click(), true`)
	const sub = `[...document.querySelectorAll(".step-did li")].find(l => l.textContent.startsWith("sub "))`
	b.until("its operations", sub+` !== undefined`, where)
	ask[bool](b, `document.querySelectorAll(".steps details").forEach(d => { d.open = true; }), true`)
	for _, part := range []string{"1 FLOP: 1 for the one element of the result", "input 1, [] of float32: reads 4 bytes", "input 2: a Go number, which is part of the code and takes no memory", "the result, [] of float32: writes 4 bytes"} {
		if text := ask[string](b, sub+`.textContent`); !strings.Contains(text, part) {
			t.Errorf("sub does not say %q: %s", part, text)
		}
	}
	held := ask[string](b, `[...document.querySelectorAll(".step-consists tr")].map(r => [...r.cells].map(c => c.textContent).join(" ")).join(" | ")`)
	for _, part := range []string{"x 12 bytes: its elements", "w 12 bytes: its elements", "saved by pow for Backward: its left operand"} {
		if !strings.Contains(held, part) {
			t.Errorf("what is held does not say %q: %s", part, held)
		}
	}
	b.accessible(axeSource(t), "the stepper, unfolded")
	b.shoot("site-steps-unfolded", false)
	ask[bool](b, `document.querySelector("[aria-label='One step back']").click(), true`)
	b.until("operations stay unfolded", `document.querySelector(".step-did details").open`, where)
	// A function of the library leads to its source, and an operation to what the library says of it.
	for name, link := range map[string]string{"Tensor.Matmul": `[...document.querySelectorAll(".step-source")].find(a => a.textContent == "Matmul")`, "op.matmul": `[...document.querySelectorAll(".step-did a")].find(a => a.textContent == "matmul")`} {
		back := ask[string](b, `location.hash`)
		ask[bool](b, link+`.click(), true`)
		b.until("the source of "+name, `location.pathname.endsWith("source-tensor.html") && document.readyState == "complete" && document.querySelector(":target")?.id == `+strconv.Quote(name), `location.href`)
		if text := ask[string](b, `document.querySelector(":target").textContent`); !strings.Contains(text, "atmul") {
			t.Errorf("at %s there is %q", name, text)
		}
		const top = `document.querySelector(":target").getBoundingClientRect().top`
		b.until("it is in the window", top+` >= 40 && `+top+` < 900`, top)
		b.accessible(axeSource(t), "the source of a package")
		b.shoot("site-source", false)
		ask[bool](b, `(setTimeout(() => history.back()), true)`) // an answer is there before the page is left
		b.until("back at the step", `document.readyState == "complete" && location.hash == `+strconv.Quote(back)+` && `+opened+` == 1`, `location.href`)
	}
	if st, err := os.Stat(filepath.Join(site, "source-tensor.html")); err != nil || st.Size() > pageLimit {
		t.Errorf("the source of tensor is not there, or too large for a page: %v", err)
	}
	// Backward, operation by operation: the cell whose code calls it.
	b.press("Escape", keyEscape, 0)
	b.until("it closes, and the button has the keyboard", opened+` == 0 && document.activeElement.matches(".step-open")`, `document.activeElement.outerHTML.slice(0, 200)`)
	ask[bool](b, `[...document.querySelectorAll(".cell.run")].find(c => c.querySelector("code")?.textContent.startsWith("loss.Backward()")).querySelector(".step-open").click(), true`)
	b.until("another cell opens", opened+` == 1`, opened)
	b.press("ArrowRight", keyRight, 0)
	b.until("an operation of Backward", where+`.includes("Backward") && document.querySelector(".step-did").textContent.includes("gradient of")`, where)
	// Playing ends at the last step, and can be stopped before.
	b.press("Home", keyHome, 0)
	ask[bool](b, `(() => { const s = document.querySelector(".steps select"); s.value = "1"; document.querySelector("[aria-label='Play the steps']").click(); return true; })()`)
	at("it plays", "2")
	ask[bool](b, `document.querySelector("[aria-label='Stop playing']").click(), true`)
	if ask[string](b, `document.querySelector("[aria-label='Play the steps']").getAttribute("aria-pressed")`) != "false" {
		t.Error("it still plays")
	}
	ask[bool](b, `(() => { const s = document.querySelector(".steps select"); s.value = "20"; document.querySelector("[aria-label='Play the steps']").click(); return true; })()`)
	b.until("it has played to the end", `document.querySelector("[aria-label='One step on']").disabled && document.querySelector("[aria-label='Play the steps']") != null`, where)
	b.accessible(axeSource(t), "the stepper")
	b.shoot("site-steps", false)
	// Who types elsewhere goes on typing when a stepper opens.
	b.do(chromedp.Focus("#search"))
	cell := ask[string](b, `document.querySelector(".step-open:not([hidden])").closest(".cell").id`)
	ask[bool](b, `(location.hash = "`+cell+`.step-2", true)`)
	b.until("it opens", `document.querySelector("#`+cell+` .step-where")?.textContent.startsWith("Step 2 ")`, `location.hash`)
	if has := ask[string](b, `document.activeElement.id`); has != "search" {
		t.Errorf("the keyboard has gone from the search to %q", has)
	}
	// On a phone nothing is wider than the window, and fingers find the buttons.
	b.window(390, 844, true)
	b.colors("dark")
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

// testSteps goes through a cell in JupyterLab, where the lines are marked in the cell itself.
func testSteps(t *testing.T, address string) {
	file := write(t, "steps.ipynb",
		"func square(n int) int {\n\treturn n * n\n}",
		"x := tensor.Arange(6)\nsum := 0\nfor i := range 3 {\n\tsum += square(i)\n}\ny := x.Mul(x)\nfmt.Println(sum, y)",
	)
	b := openBrowser(t)
	b.openLesson(address, file, 2)
	b.window(1200, 900, false)
	const (
		cell  = `document.querySelectorAll(".jp-Notebook .jp-CodeCell")[1]`
		where = `(` + cell + `.querySelector(".step-where")?.textContent ?? "")`
		now   = `[...` + cell + `.querySelectorAll(".cm-line.lectern-now")].map(l => l.textContent.trim()).join(" | ")`
		code  = `(() => { const c = ` + cell + `.querySelector(".steps-code"); return c ? String(!c.hidden) : "none"; })()`
		has   = `document.activeElement?.matches(".steps")`
	)
	b.do(chromedp.Click(chromedp.CSS(`.jp-Notebook .jp-CodeCell .cm-content`)))
	b.press("Enter", keyEnter, shift)
	b.press("Enter", keyEnter, alt|shift)
	b.until("the stepper opens and has the keyboard", where+`.startsWith("Step 1 ") && `+has, where+` + document.activeElement?.outerHTML.slice(0, 200)`)
	b.until("the code is shown once, and a line is marked", now+` == "x := tensor.Arange(6)" && `+code+` == "false"`, now+` + " " + `+code)
	b.press("ArrowRight", keyRight, 0)
	b.until("a step on", now+` == "sum := 0"`, now)
	b.press("ArrowDown", keyDown, 0)
	b.press("ArrowDown", keyDown, 0)
	b.until("on, and the stepper has kept the keyboard", now+` == "sum += square(i)" && `+has, now)
	b.shoot("lab-steps", false)
	b.do(chromedp.Click(chromedp.CSS(`.jp-Notebook [data-windowed-list-index="1"] .cm-line:nth-child(7)`)))
	b.until("a click on a line goes there", now+` == "y := x.Mul(x)"`, now)
	if cost := ask[string](b, cell+`.querySelector(".lectern-now").dataset.cost`); !strings.Contains(cost, "6 FLOPs") {
		t.Errorf("the line's costs are %q", cost)
	}
	// What was changed since is not what ran: then the stepper shows the code, until the change is taken back.
	b.do(chromedp.KeyEvent("z"))
	b.until("the stepper shows the code", now+` == "" && `+code+` == "true" && `+cell+`.querySelector(".step-line.now").textContent.trim() == "y := x.Mul(x)"`, now+` + " " + `+code)
	b.shoot("lab-steps-edited", false)
	b.press("Backspace", keyBackspace, 0)
	b.do(chromedp.Click(chromedp.CSS(`.jp-Notebook [data-windowed-list-index="1"] [aria-label="One step back"]`)))
	b.until("the cell is marked again", now+` != "" && `+code+` == "false"`, now+` + " " + `+code)
	b.press("Escape", keyEscape, 0)
	b.until("the cell has the keyboard", `document.activeElement === `+cell, `document.activeElement?.outerHTML.slice(0, 200)`)
	b.press("Enter", keyEnter, ctrl)
	b.until("it ran again", where+`.startsWith("Step 1 ") && `+now+` == "x := tensor.Arange(6)" && `+code+` == "false"`, where+` + " " + `+now+` + " " + `+code)
	// Without the steps nothing is marked.
	b.do(chromedp.Click(chromedp.CSS(`.jp-Notebook [data-windowed-list-index="1"] .cm-line:nth-child(1)`)))
	b.press("End", keyEnd, 0)
	b.press("Backspace", keyBackspace, 0)
	b.press("Enter", keyEnter, ctrl)
	b.until("nothing is marked", now+` == "" && `+code+` == "none"`, now+` + " " + `+code)
}
