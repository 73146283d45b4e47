package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// testDebugger stops a cell at a breakpoint, looks at a variable, and lets it run on.
func testDebugger(t *testing.T, address string) {
	b := openBrowser(t)
	b.openLesson(address, write(t, "debugger.ipynb", "total := 0\nfor i := range 3 {\n\ttotal += 10 * (i + 1)\n}\nfmt.Println(\"total\", total)"), 1)
	b.window(1400, 1000, false)
	const (
		bug     = `document.querySelector(".jp-DebuggerBugButton")`
		output  = `[...document.querySelectorAll(".jp-Notebook .jp-OutputArea-output")].map(e => e.innerText).join("\n")` // a note comes first when Delve is built
		sidebar = `(document.querySelector(".jp-DebuggerSidebar")?.innerText ?? "")`
		gutter  = `.jp-Notebook .jp-CodeCell .cm-breakpoint-gutter`
	)
	b.do(chromedp.Click(chromedp.CSS(`.jp-Notebook .jp-CodeCell .cm-content`))) // without that there may be no bug, see docs/kernel.md
	b.until("the bug can be clicked", bug+` != null && !`+bug+`.disabled && `+bug+`.getAttribute("aria-disabled") != "true"`, bug+`?.outerHTML ?? "no bug"`)
	b.do(chromedp.Click(chromedp.CSS(`.jp-DebuggerBugButton`)))
	const line = gutter + ` .cm-gutterElement:nth-child(4)` // the third: before them stands one that nobody sees
	b.do(chromedp.WaitVisible(chromedp.CSS(line)), chromedp.Click(chromedp.CSS(line)))
	b.until("a breakpoint is set", `document.querySelector("`+line+` .cm-breakpoint-icon") != null`, sidebar)
	b.do(chromedp.Click(chromedp.CSS(`.jp-Notebook .jp-CodeCell .cm-content`)))
	b.press("Enter", keyEnter, shift)
	const variables = `[...document.querySelectorAll(".jp-DebuggerVariables-body:not(.lm-mod-hidden) .jp-TreeItem")].map(e => e.innerText.trim().replace(/\s+/g, " ")).join(", ")`
	goOn := func() {
		b.do(chromedp.Click(chromedp.CSS(`.jp-DebuggerSidebar [data-command="debugger:continue"]`)))
	}
	b.until("the cell stands still", variables+` == "i 0"`, sidebar) // the first time Delve is built
	b.shoot("lab-debugger", false)
	goOn()
	b.until("it stands still again", variables+` == "i 1"`, sidebar)
	if got := ask[string](b, output); strings.Contains(got, "total") {
		t.Errorf("it stands still, and shows %s", got)
	}
	goOn()
	b.until("and once more", variables+` == "i 2"`, sidebar)
	goOn()
	b.until("the cell ends", output+`.trim().endsWith("total 60")`, output)
}
