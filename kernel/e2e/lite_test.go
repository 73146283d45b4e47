package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestLite is a student's way through a lesson in the JupyterLab that render -lite makes: run all of it, make mistakes,
// stop, type, move a slider, change, come back. No other host is asked for anything.
func TestLite(t *testing.T) {
	site := served(t)
	dir, err := liveSite()
	if err != nil {
		t.Fatal(err)
	}
	const lesson = "05-storage-strides-views"
	copied := filepath.Join(dir, "lite", "files", lesson+".ipynb")
	if _, err := os.Stat(copied); err != nil {
		absent(t, "there is no Python, so render -lite makes no JupyterLab")
	}
	address := site + "/lite/lab/index.html?path=" + lesson + ".ipynb"
	cells, _, _ := outputsWanted(t, copied)

	b := openBrowser(t)
	t.Cleanup(func() {
		for _, p := range b.problems {
			t.Logf("on the console: %s", p)
		}
	})
	b.window(1400, 30000, false)
	b.visit(address)
	b.opened(cells)
	began := time.Now()
	b.runAll()
	t.Logf("all cells have run after %.1f s", time.Since(began).Seconds())
	b.shoot("lite-lesson", false)
	b.asStored(lesson)

	b.window(1400, 1000, false)
	b.tries(`kept := 16; fmt.Println("defined")`, "defined")
	b.tries("b := nope + 1", "line 1, column 6: undefined: nope")
	b.tries("kept", "16")
	b.tries("panic(kept)", "panic: 16")
	b.replaceCode(`fmt.Println("turning"); for { fmt.Print() }`)
	b.until("the cell runs", liteOutput+`.includes("turning")`, liteOutput)
	b.press("Escape", keyEscape, 0)
	b.do(chromedp.Click(chromedp.CSS(`[data-jp-item-name="interrupt"] jp-button`)))
	b.says("the cell was interrupted")
	b.tries("kept + 1", "17")
	b.replaceCode(`fmt.Print("Your name? "); var who string; show.Scanln(&who); fmt.Println("Hello,", who)`)
	b.until("the cell asks", `document.querySelector(".jp-Stdin-input") !== null`, liteOutput)
	b.do(chromedp.Focus(chromedp.CSS(".jp-Stdin-input")), chromedp.KeyEvent("Ada"))
	b.press("Enter", keyEnter, 0)
	b.says("Hello, Ada")
	b.tries(`n := widget.IntSlider("n", 0, 10, 3); widget.Interact(func(n int) { kept++; fmt.Println(n, "squared is", n*n) }, n)`, "3 squared is 9")
	b.do(chromedp.Focus(chromedp.CSS(`.jp-Notebook .widget-slider .noUi-handle`)))
	b.press("ArrowRight", keyRight, 0)
	b.says("4 squared is 16")
	b.shoot("lite-student", false)
	b.tries("fmt.Println(n.Value(), kept)", "4 18")

	b.write("\rtensor.A")
	b.press("Tab", keyTab, 0)
	const offered = `(document.querySelector(".jp-Completer")?.innerText ?? "")`
	b.until("Tab completes", offered+`.includes("Arange")`, offered)
	b.write("rang")
	b.press("Enter", keyEnter, 0)
	b.write("(")
	b.press("Tab", keyTab, shift)
	const help = `(document.querySelector(".jp-Tooltip")?.innerText ?? "")`
	b.until("Shift-Tab explains", help+`.includes("func tensor.Arange(")`, help)

	const changed = `fmt.Println("kept is", kept) // mine`
	b.tries(changed, "kept is 18")
	b.save()
	b.visit(address)
	b.opened(cells)
	b.until("what was changed is there", liteCell+`.querySelector(".cm-content").innerText.trim() == `+quoted(changed), liteCell+`.innerText`)
	b.tries("kept", "undefined: kept") // it is another kernel

	b.clean(func(address string) bool {
		return strings.HasPrefix(address, site+"/lite/") || strings.HasPrefix(address, site+"/live/") || strings.HasPrefix(address, "data:") || strings.HasPrefix(address, "blob:"+site)
	})
}

const (
	liteCell   = `document.querySelector(".jp-Notebook .jp-CodeCell")` // the first, in which the test writes
	liteOutput = `(` + liteCell + `.querySelector(".jp-Cell-outputArea")?.innerText ?? "")`
)

// replaceCode writes another text into the first cell of code, and runs it.
func (b *browser) replaceCode(text string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(`.jp-Notebook .jp-CodeCell .cm-content`)))
	b.press("a", 'A', ctrl)
	b.press("Backspace", keyBackspace, 0)
	b.do(chromedp.KeyEvent(text))
	b.press("Enter", keyEnter, ctrl)
	b.do(chromedp.Click(chromedp.CSS(`.jp-Notebook .jp-CodeCell .cm-content`)))
	b.press("End", keyEnd, ctrl)
}

// says waits for an output of the first cell, which has then ended.
func (b *browser) says(text string) {
	b.t.Helper()
	b.until("the cell shows "+text, liteOutput+`.includes(`+quoted(text)+`) && document.querySelector(".jp-Notebook-ExecutionIndicator")?.dataset.status == "idle"`, liteOutput)
}

// tries has the first cell run a text.
func (b *browser) tries(text, want string) {
	b.t.Helper()
	b.replaceCode(text)
	b.says(want)
}

// asStored saves the notebook, and compares what its cells have shown with what the lesson has stored.
func (b *browser) asStored(lesson string) {
	b.t.Helper()
	b.save()
	text := b.text(`(async () => {
		const opened = indexedDB.open("JupyterLite Storage - /lite/");
		await new Promise((done) => { opened.onsuccess = done; });
		const file = opened.result.transaction("files").objectStore("files").get("` + lesson + `.ipynb");
		await new Promise((done) => { file.onsuccess = done; });
		return JSON.stringify(file.result?.content ?? {});
	})()`)
	var now struct{ Cells []storedCell }
	if err := json.Unmarshal([]byte(text), &now); err != nil {
		b.t.Fatal(err)
	}
	shown := map[string]storedCell{}
	for _, c := range now.Cells {
		shown[c.ID] = c
	}
	compared := compared(b.t, lesson)
	if len(compared) == 0 {
		b.t.Error("no cell has an output")
	}
	for _, c := range compared {
		if shown[c.ID].Type != "code" || elsewhere[c.ID] != "" {
			continue // students get the answer to an exercise as text
		}
		for _, d := range differences(c, shown[c.ID]) {
			b.t.Errorf("%s, %s", c.ID, d)
		}
	}
}

func (b *browser) save() {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(`[data-jp-item-name="save"] jp-button`)))
	b.until("the notebook is saved", `!document.querySelector(".jp-mod-dirty")`, liteOutput)
}
