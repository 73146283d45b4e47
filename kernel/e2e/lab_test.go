package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// outputsWanted counts the code cells of a notebook and those of them that have stored outputs.
func outputsWanted(t *testing.T, path string) (cells, withOutputs, failing int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var n struct {
		Cells []struct {
			Type    string `json:"cell_type"`
			Source  any    `json:"source"`
			Outputs []struct {
				Type string `json:"output_type"`
			}
		}
	}
	if err := json.Unmarshal(b, &n); err != nil {
		t.Fatal(err)
	}
	for _, c := range n.Cells {
		if c.Type != "code" {
			continue
		}
		cells++
		if len(c.Outputs) > 0 {
			withOutputs++
		}
		for _, o := range c.Outputs {
			if o.Type == "error" {
				failing++
			}
		}
	}
	return cells, withOutputs, failing
}

// These lessons are run whole in JupyterLab: steps, charts and a chart that grows while the cell runs. With
// LECTERN_LONG=1 so are the others: text in many scripts and files; figures and tensors.
var wholeLessons = []string{"19-training-loop", "01-tokenization", "05-storage-strides-views"}

func TestJupyterLab(t *testing.T) {
	t.Parallel()
	exe := kernelCommand(t)
	address := lab(t, exe)
	up := time.Now()
	// First, because the first completion is the slowest.
	t.Run("completion", func(t *testing.T) { testCompletion(t, address, up) })
	t.Run("guesses", func(t *testing.T) { testGuessForms(t, address) })
	t.Run("strangers", func(t *testing.T) { testStrangersGuess(t, address) })
	t.Run("steps", func(t *testing.T) { testSteps(t, address) })
	t.Run("explorers", func(t *testing.T) { testExplorers(t, address) })
	t.Run("widgets", func(t *testing.T) { testWidgets(t, address) })
	t.Run("pages", func(t *testing.T) { testPages(t, address) })
	for i, name := range wholeLessons {
		if i > 0 && os.Getenv("LECTERN_LONG") == "" {
			break
		}
		t.Run(name, func(t *testing.T) { testLesson(t, address, name) })
	}
}

// at is the address of a notebook in a lab that printed address for its folder.
func at(t testing.TB, address, notebook string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(root(t), notebook)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/lab/tree/" + filepath.ToSlash(rel)
	q := u.Query()
	q.Set("reset", "") // of the tabs that were open before
	u.RawQuery = q.Encode()
	return u.String()
}

// inLab writes a notebook into a folder that lab can show, and returns its path.
func inLab(t *testing.T, name string, text []byte) string {
	t.Helper()
	parent := filepath.Join(root(t), "my-lessons") // in no list of lessons, and git ignores it
	err := os.MkdirAll(parent, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(parent, "test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// write makes a notebook with cells of code for lab, and returns its path.
func write(t *testing.T, name string, code ...string) string {
	t.Helper()
	var cells []map[string]any
	for i, c := range code {
		cells = append(cells, map[string]any{"cell_type": "code", "id": "c" + strconv.Itoa(i), "metadata": map[string]any{}, "outputs": []any{}, "execution_count": nil, "source": c})
	}
	text, err := json.Marshal(map[string]any{"nbformat": 4, "nbformat_minor": 5, "cells": cells,
		"metadata": map[string]any{"kernelspec": map[string]string{"name": "lectern", "display_name": "Go (Lectern)", "language": "go"}}})
	if err != nil {
		t.Fatal(err)
	}
	return inLab(t, name, text)
}

// copyOf is a copy of a lesson, such as students work in. JupyterLab saves by itself, every two minutes, what has been
// typed and run.
func copyOf(t *testing.T, lesson string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "notebooks", lesson+".ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	return inLab(t, lesson+".ipynb", text)
}

const kernelIs = `(document.querySelector(".jp-KernelName .jp-ToolbarButtonComponent-label, .jp-KernelName")?.textContent ?? "")`

// openLesson opens a notebook and waits for our kernel.
func (b *browser) openLesson(address, lesson string, cells int) {
	b.t.Helper()
	// A window in which the whole lesson fits: JupyterLab draws only the cells that can be seen.
	b.window(1400, 30000, false)
	b.do(chromedp.Navigate(at(b.t, address, lesson)))
	b.opened(cells)
}

// opened waits for a notebook with so many cells of code, and for our kernel.
func (b *browser) opened(cells int) {
	b.t.Helper()
	b.until("the notebook opens", `document.querySelectorAll(".jp-Notebook .jp-CodeCell").length > 0`, `document.title`)
	b.until("all cells are drawn", `document.querySelectorAll(".jp-Notebook .jp-CodeCell").length == `+strconv.Itoa(cells),
		`document.querySelectorAll(".jp-Notebook .jp-CodeCell").length + " code cells"`)
	b.until("our kernel is idle",
		kernelIs+`.includes("Go (Lectern)") && document.querySelector(".jp-Notebook-ExecutionIndicator")?.dataset.status == "idle"`,
		`"kernel " + `+kernelIs+` + ", status " + document.querySelector(".jp-Notebook-ExecutionIndicator")?.dataset.status`)
	if ask[int](b, `document.querySelectorAll(".jp-Dialog").length`) > 0 {
		b.shoot("lab-dialog", false)
		b.t.Fatalf("a dialog is open: %s", ask[string](b, `document.querySelector(".jp-Dialog").textContent`))
	}
}

// press presses and releases a key that writes nothing.
func (b *browser) press(key string, code, modifiers int64) {
	b.t.Helper()
	p := input.DispatchKeyEventParams{Type: "rawKeyDown", Key: key, Code: key, WindowsVirtualKeyCode: code, Modifiers: modifiers}
	b.do(send(input.DispatchKeyEvent, p))
	p.Type = "keyUp"
	b.do(send(input.DispatchKeyEvent, p))
}

const (
	keyBackspace = 8
	keyTab       = 9
	keyEnter     = 13
	keyEscape    = 27
	keyEnd       = 35
	keyPageUp    = 33
	keyPageDown  = 34
	keyHome      = 36
	keyLeft      = 37
	keyRight     = 39
	keyS         = 83
	alt          = 1
	ctrl         = 2
	shift        = 8
)

// testCompletion types into a cell as a student does, and asks with Tab and Shift-Tab.
func testCompletion(t *testing.T, address string, up time.Time) {
	lesson := copyOf(t, "02-tensors")
	cells, _, _ := outputsWanted(t, lesson)
	b := openBrowser(t)
	b.openLesson(address, lesson, cells)
	ready := time.Now()
	b.window(1400, 1000, false)
	b.do(
		chromedp.Evaluate[chromedp.Void](`document.querySelector(".jp-Notebook .jp-CodeCell").scrollIntoView()`),
		chromedp.Click(chromedp.CSS(`.jp-Notebook .jp-CodeCell .cm-content`)),
	)
	b.press("End", keyEnd, ctrl)
	b.do(chromedp.KeyEvent("\rtensor.A"))
	const offered = `(document.querySelector(".jp-Completer")?.innerText ?? "").split("\n").join(" ")`
	// On a machine that does much else the kernel may take longer than JupyterLab waits. Then one presses Tab again.
	for until := time.Now().Add(patience); time.Now().Before(until); {
		b.press("Tab", keyTab, 0)
		if b.within(25*time.Second, offered+` != ""`) {
			break
		}
		t.Log("no completion yet: Tab again")
	}
	b.until("Tab completes", offered+`.includes("Arange")`, offered)
	t.Logf("the first completion came %.1f s after lab was up, %.1f s after the notebook was open", time.Since(up).Seconds(), time.Since(ready).Seconds())
	b.shoot("lab-completion", false)

	// Go on typing until one is left, take it, and ask what it wants.
	b.do(chromedp.KeyEvent("rang"))
	const line = `[...document.querySelectorAll(".jp-Notebook .jp-CodeCell")[0].querySelectorAll(".cm-line")].at(-1).innerText.trim()`
	b.press("Enter", keyEnter, 0)
	b.until("Enter takes what is offered", line+` == "tensor.Arange"`, line)
	b.do(chromedp.KeyEvent("("))
	asked := time.Now()
	b.press("Tab", keyTab, shift)
	const help = `(document.querySelector(".jp-Tooltip")?.innerText ?? "")`
	b.until("Shift-Tab explains", help+`.includes("func tensor.Arange(") && `+help+`.includes("Arange(start, stop, step)")`, help)
	t.Logf("help came after %.1f s", time.Since(asked).Seconds())
	b.shoot("lab-help", false)
}

// testPages asks for documentation in a cell: the answer stands below it.
func testPages(t *testing.T, address string) {
	b := openBrowser(t)
	b.openLesson(address, write(t, "pages.ipynb", "strings.ToUpper?"), 1)
	b.window(1000, 500, false)
	b.do(chromedp.Click(chromedp.CSS(`.jp-Notebook .jp-CodeCell .cm-content`)))
	b.press("Enter", keyEnter, shift)
	const output = `(document.querySelector(".jp-Notebook .jp-OutputArea-output.jp-RenderedMarkdown")?.innerText ?? "")`
	b.until("the documentation is there", output+`.includes("func strings.ToUpper(s string) string") && `+output+`.includes("ToUpper returns s")`, output)
	b.shoot("lab-page", false)
}

// folded is how many texts of a lesson are folded until one asks for them.
func folded(t *testing.T, lesson []byte) (folds int) {
	t.Helper()
	var n struct {
		Cells []struct {
			Type     string `json:"cell_type"`
			Metadata struct{ Tags []string }
		}
	}
	if err := json.Unmarshal(lesson, &n); err != nil {
		t.Fatal(err)
	}
	for _, c := range n.Cells {
		if c.Type == "markdown" && slices.ContainsFunc(c.Metadata.Tags, func(tag string) bool { return slices.Contains([]string{"pytorch", "explanation", "recorded"}, tag) }) {
			folds++
		}
	}
	return folds
}

// testLesson runs a lesson from its first cell to its last, with the buttons that a student uses.
func testLesson(t *testing.T, address, name string) {
	b := openBrowser(t)
	lesson := copyOf(t, name)
	source, err := os.ReadFile(lesson)
	if err != nil {
		t.Fatal(err)
	}
	cells, withOutputs, failing := outputsWanted(t, lesson)
	if withOutputs == 0 {
		t.Fatalf("%s has no stored outputs: go run ./kernel run", lesson)
	}
	b.openLesson(address, lesson, cells)
	if text := ask[string](b, `document.querySelector(".jp-Notebook").innerText`); strings.Contains(text, " is right.") {
		t.Error("a solution is shown before anybody asked for it")
	}
	if n := ask[int](b, `document.querySelectorAll(".jp-Notebook .jp-RenderedMarkdown details:not([open])").length`); n != folded(t, source) {
		t.Errorf("%d folded texts, want %d", n, folded(t, source))
	}

	b.runAll()
	const shown = `[...document.querySelectorAll(".jp-Notebook .jp-CodeCell")].filter(c => c.querySelector(".jp-OutputArea-output")).length`
	b.until(fmt.Sprintf("outputs of %d cells, which have them in the file, are drawn", withOutputs), shown+fmt.Sprintf(" == %d", withOutputs), shown)
	b.shoot("lab-"+name, false)

	const errors = `[...document.querySelectorAll('.jp-OutputArea-output [data-mime-type="application/vnd.jupyter.error"], .jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"]')]`
	b.until(fmt.Sprintf("%d errors are drawn", failing), errors+fmt.Sprintf(".length == %d", failing), errors+`.map(e => e.textContent).join("\n")`)
	if text := ask[string](b, `document.querySelector(".jp-Notebook").innerText`); strings.Contains(text, "\x1b]") {
		t.Error("an escape sequence of the kernel is shown as text")
	}
	b.window(1400, 1000, false)
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll(".jp-Notebook .jp-CodeCell")[1].scrollIntoView()`))
	const place = `document.querySelectorAll(".jp-Notebook .jp-CodeCell")[1].getBoundingClientRect()`
	b.until("the second cell is in sight", place+`.bottom > 0 && `+place+`.top < innerHeight`, `JSON.stringify(`+place+`)`)
	b.shoot("lab-"+name+"-window", false)
	host := ""
	if u, err := url.Parse(address); err == nil {
		host = u.Host
	}
	b.mu.Lock()
	for _, r := range b.requests {
		if u, err := url.Parse(r); err == nil && u.Host != "" && u.Host != host {
			t.Errorf("JupyterLab asks another host: %s", r)
		}
	}
	b.mu.Unlock()
}

// runAll restarts the kernel and runs all cells, as a student does: the button, and "Restart" in the dialog.
func (b *browser) runAll() {
	b.t.Helper()
	b.window(1400, 1000, false)
	b.do(
		chromedp.Click(chromedp.CSS(`[data-jp-item-name="restart-and-run"] jp-button`)),
		chromedp.WaitVisible(chromedp.CSS(".jp-Dialog .jp-mod-accept")),
		chromedp.Click(chromedp.CSS(".jp-Dialog .jp-mod-accept")),
	)
	b.window(1400, 30000, false)
	const prompts = `[...document.querySelectorAll(".jp-Notebook .jp-CodeCell")].filter(c => c.querySelector(".jp-InputArea-editor")?.textContent.trim()).map(c => c.querySelector(".jp-InputPrompt").textContent.trim()).join(" ")`
	b.until("the first cell runs", `/\[(\*|1)\]/.test(`+prompts+`)`, prompts)
	b.until("all cells have run", `!/\[[* ]\]/.test(`+prompts+`) && document.querySelector(".jp-Notebook-ExecutionIndicator")?.dataset.status == "idle"`, prompts)
}
