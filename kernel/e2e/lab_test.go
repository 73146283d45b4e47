package e2e

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

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
			Type     string `json:"cell_type"`
			Source   any    `json:"source"`
			Metadata struct{ Tags []string }
			Outputs  []struct {
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

func TestLessonInJupyterLab(t *testing.T) {
	b := openBrowser(t)
	lesson := filepath.Join(root(t), "notebooks", "05-storage-strides-views.ipynb")
	before, err := os.ReadFile(lesson)
	if err != nil {
		t.Fatal(err)
	}
	cells, withOutputs, failing := outputsWanted(t, lesson)
	if withOutputs == 0 {
		t.Fatalf("%s has no stored outputs: go run ./kernel run", lesson)
	}
	address := lab(t, kernelCommand(t), lesson)

	// A window in which the whole lesson fits: JupyterLab draws only the cells that can be seen.
	b.window(1400, 20000, false)
	b.do(chromedp.Navigate(address))
	b.until(time.Minute, "the notebook opens", `document.querySelectorAll(".jp-Notebook .jp-CodeCell").length > 0`, `document.title`)
	b.until(time.Minute, "all cells are drawn", `document.querySelectorAll(".jp-Notebook .jp-CodeCell").length == `+strconv.Itoa(cells),
		`document.querySelectorAll(".jp-Notebook .jp-CodeCell").length + " code cells"`)
	b.until(time.Minute, "our kernel is idle",
		`(document.querySelector(".jp-KernelName .jp-ToolbarButtonComponent-label, .jp-KernelName")?.textContent ?? "").includes("Go (Lectern)") &&
		 document.querySelector(".jp-Notebook-ExecutionIndicator")?.dataset.status == "idle"`,
		`"kernel " + document.querySelector(".jp-KernelName")?.textContent + ", status " + document.querySelector(".jp-Notebook-ExecutionIndicator")?.dataset.status`)
	if ask[int](b, `document.querySelectorAll(".jp-Dialog").length`) > 0 {
		b.shoot("lab-dialog", false)
		t.Fatalf("a dialog is open: %s", ask[string](b, `document.querySelector(".jp-Dialog").textContent`))
	}

	// Restart and run all, as a student does: the button, and "Restart" in the dialog.
	b.window(1400, 1000, false)
	b.do(
		chromedp.Click(chromedp.CSS(`[data-jp-item-name="restart-and-run"] jp-button`)),
		chromedp.WaitVisible(chromedp.CSS(".jp-Dialog .jp-mod-accept")),
		chromedp.Click(chromedp.CSS(".jp-Dialog .jp-mod-accept")),
	)
	b.window(1400, 20000, false)
	const prompts = `[...document.querySelectorAll(".jp-Notebook .jp-CodeCell")].filter(c => c.querySelector(".jp-InputArea-editor")?.textContent.trim()).map(c => c.querySelector(".jp-InputPrompt").textContent.trim()).join(" ")`
	b.until(30*time.Second, "the first cell runs", `/\[(\*|1)\]/.test(`+prompts+`)`, prompts)
	b.until(3*time.Minute, "all cells have run", `!/\[[* ]\]/.test(`+prompts+`) && document.querySelector(".jp-Notebook-ExecutionIndicator")?.dataset.status == "idle"`, prompts)
	time.Sleep(time.Second) // the last outputs are drawn
	b.shoot("lab", false)

	if n := ask[int](b, `[...document.querySelectorAll(".jp-Notebook .jp-CodeCell")].filter(c => c.querySelector(".jp-OutputArea-output")).length`); n != withOutputs {
		t.Errorf("%d cells show outputs, %d have them in the file", n, withOutputs)
	}
	const errors = `[...document.querySelectorAll('.jp-OutputArea-output [data-mime-type="application/vnd.jupyter.error"], .jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"]')]`
	if n := ask[int](b, errors+`.length`); n != failing {
		t.Errorf("%d error outputs, want %d: %s", n, failing, ask[string](b, errors+`.map(e => e.textContent).join("\n")`))
	}
	if text := ask[string](b, `document.querySelector(".jp-Notebook").innerText`); strings.Contains(text, "\x1b]") {
		t.Error("an escape sequence of the kernel is shown as text")
	}
	b.window(1400, 1000, false)
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll(".jp-Notebook .jp-CodeCell")[1].scrollIntoView()`))
	time.Sleep(500 * time.Millisecond)
	b.shoot("lab-window", false)
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
	if after, err := os.ReadFile(lesson); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the lesson's file was changed by looking at it (%v)", err)
	}
}
