package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// testWidgets moves a slider in JupyterLab, before and after the page is opened anew.
func testWidgets(t *testing.T, address string) {
	cells := []string{
		"n := widget.IntSlider(\"n\", 0, 10, 3)\nwidget.Interact(func(n int, unit string) {\n\tfmt.Printf(\"%d squared is %d %s\\n\", n, n*n, unit)\n}, n, widget.Dropdown(\"unit\", \"m²\", \"ft²\"))",
		"n.Value()",
	}
	file := write(t, "widgets.ipynb", cells...)
	b := openBrowser(t)
	b.openLesson(address, file, len(cells))
	b.window(1400, 1000, false)
	const outputs = `[...document.querySelectorAll(".jp-Notebook .jp-OutputArea-output")].map(o => o.innerText).join(" ")`
	shows := func(text string) {
		t.Helper()
		b.until("shows "+text, outputs+`.includes("`+text+`")`, outputs)
	}
	b.do(chromedp.Click(chromedp.CSS(`.jp-Notebook .jp-CodeCell .cm-content`)))
	b.press("Enter", keyEnter, shift)
	shows("3 squared is 9 m²")
	const handle = `.jp-Notebook .widget-slider .noUi-handle`
	b.do(chromedp.Focus(chromedp.CSS(handle)))
	b.press("ArrowRight", keyRight, 0)
	b.press("ArrowRight", keyRight, 0)
	shows("5 squared is 25 m²")
	b.shoot("lab-widgets", false)
	b.do(chromedp.Click(chromedp.CSS(`.jp-Notebook [data-windowed-list-index="1"] .cm-content`)))
	b.press("Enter", keyEnter, ctrl) // with shift it would add a cell
	b.until("the next cell sees it", `document.querySelectorAll(".jp-Notebook .jp-CodeCell")[1].querySelector(".jp-OutputArea-output")?.innerText.trim() == "5"`, outputs)

	// Save, and open the page anew: the kernel still has the widgets.
	b.press("s", keyS, ctrl)
	b.until("the notebook is saved", `!document.querySelector(".jp-mod-dirty")`, outputs)
	b.openLesson(address, file, len(cells))
	b.window(1400, 1000, false)
	shows("5 squared is 25 m²")
	b.do(chromedp.Focus(chromedp.CSS(handle)))
	b.press("ArrowRight", keyRight, 0)
	shows("6 squared is 36 m²")
}
