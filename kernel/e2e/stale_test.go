package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// testStale changes the first of three cells and runs it again. The others are marked, and a note names them;
// %run-stale runs them where they stand.
func testStale(t *testing.T, address string) {
	path := write(t, "stale-marks.ipynb", "x := 4", "y := 10 * x", `fmt.Println("y is", y)`, "%run-stale")
	b := openBrowser(t)
	b.window(1200, 700, false)
	b.do(chromedp.Navigate(at(t, address, path)))
	const code = `[...document.querySelectorAll(".jp-Notebook .jp-CodeCell")]`
	b.until("our kernel is idle", code+`.length == 4 && `+kernelIs+`.includes("Go (Lectern)") && document.querySelector(".jp-Notebook-ExecutionIndicator")?.dataset.status == "idle"`,
		code+`.length + " cells, kernel " + `+kernelIs)
	const outputs = code + `.map(c => c.querySelector(".jp-Cell-outputArea")?.innerText.trim() ?? "").join(" | ")`
	const marks = code + `.slice(0, 4).map(c => c.classList.contains("lectern-stale") ? "!" : ".").join("")`
	edit := func(cell string) {
		b.do(chromedp.Click(chromedp.CSS(`.jp-Notebook .jp-CodeCell:nth-child(` + cell + `) .cm-content`)))
		b.press("End", keyEnd, ctrl)
	}
	edit("1")
	for range 3 {
		b.press("Enter", keyEnter, shift)
	}
	b.until("three cells have run", outputs+`.includes("y is 40")`, outputs)
	if got := ask[string](b, marks); got != "...." {
		t.Errorf("marks at first: %s", got)
	}
	edit("1")
	b.do(chromedp.KeyEvent("2")) // x := 42
	b.press("Enter", keyEnter, shift)
	b.until("two cells are marked", marks+` == ".!!."`, marks+` + " " + `+outputs)
	b.until("a note says so", outputs+`.includes("note: [2] used the earlier x, and [3] what came of it")`, outputs)
	b.shoot("lab-stale", false)
	edit("4")
	b.press("Enter", keyEnter, shift)
	b.until("the cells have run where they stand", marks+` == "...." && `+outputs+`.includes("y is 420")`, marks+` + " " + `+outputs)
	b.until("the note is gone", `!`+outputs+`.includes("note:")`, outputs)
	const below = code + `[0].querySelector(".jp-Cell-outputArea").getBoundingClientRect().height`
	if h := ask[float64](b, below); h != 0 {
		t.Errorf("%v pixels are left of the note", h)
	}
	b.shoot("lab-stale-run", false)
}
