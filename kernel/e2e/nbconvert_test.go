package e2e

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// Jupyter's own converter makes pages of the lessons too: figures, tables and tensors are there, and
// nothing that was meant for the kernel.
func TestNbconvert(t *testing.T) {
	t.Parallel()
	py := python(t)
	if out, err := exec.Command(py, "-m", "nbconvert", "--version").CombinedOutput(); err != nil {
		absent(t, "nbconvert is not installed: "+lastLine(out))
	}
	dir := t.TempDir()
	names := []string{"05-storage-strides-views", "19-training-loop"}
	args := []string{"-m", "nbconvert", "--to", "html", "--output-dir", dir}
	for _, n := range names {
		args = append(args, filepath.Join(root(t), "notebooks", n+".ipynb"))
	}
	cmd := exec.Command(py, args...)
	cmd.Env = append(os.Environ(), "JUPYTER_PLATFORM_DIRS=1", "JUPYTER_CONFIG_DIR="+t.TempDir(), "JUPYTER_DATA_DIR="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("nbconvert: %v\n%s", err, out)
	}
	for _, n := range names {
		b := openBrowser(t)
		b.window(1280, 900, false)
		b.do(chromedp.Navigate((&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(dir, n+".html"))}).String()), chromedp.WaitReady("body"))
		cells, withOutputs, _ := outputsWanted(t, filepath.Join(root(t), "notebooks", n+".ipynb"))
		if got := ask[int](b, `document.querySelectorAll(".jp-CodeCell").length`); got != cells {
			t.Errorf("%s: %d code cells, want %d", n, got, cells)
		}
		if got := ask[int](b, `[...document.querySelectorAll(".jp-CodeCell")].filter(c => [...c.querySelectorAll(".jp-OutputArea-output")].some(o => o.getBoundingClientRect().height > 5)).length`); got != withOutputs {
			t.Errorf("%s: %d cells show outputs, want %d", n, got, withOutputs)
		}
		// Every figure has its size on the page and something drawn in it.
		figures := ask[int](b, `document.querySelectorAll(".jp-OutputArea-output svg").length`)
		if drawn := ask[int](b, `[...document.querySelectorAll(".jp-OutputArea-output svg")].filter(s => s.getBoundingClientRect().width > 100 && s.getBoundingClientRect().height > 20 && s.getBBox().width > 20).length`); figures < 3 || drawn != figures {
			t.Errorf("%s: %d of %d figures are drawn", n, drawn, figures)
		}
		if got := ask[int](b, `document.querySelectorAll(".jp-OutputArea-output table td").length`); got == 0 {
			t.Errorf("%s: no tensor and no table is shown", n)
		}
		text := ask[string](b, `document.body.innerText`)
		for what, raw := range map[string]string{"an escape character": "\x1b", "an escape sequence of colors": "[0m", "an escape sequence of displays": "]lectern;", "source text of a figure": "<svg"} {
			if strings.Contains(text, raw) {
				t.Errorf("%s: %s is shown as text", n, what)
			}
		}
		b.shoot("nbconvert-"+n, false)
	}
}

func lastLine(b []byte) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return lines[len(lines)-1]
}
