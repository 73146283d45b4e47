package e2e

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

// liveSite is the folder of the lessons' pages, whose cells run: LECTERN_LIVE_SITE, or one that is rendered.
var liveSite = sync.OnceValues(func() (string, error) {
	if site := os.Getenv("LECTERN_LIVE_SITE"); site != "" {
		return site, nil
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return "", err
	}
	out := filepath.Join(root, ".lectern", "live-site")
	cmd := exec.Command("go", "run", "./kernel", "render", "-live", "-steps=false", "-o", out)
	cmd.Dir = root
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("render: %w\n%s", err, text)
	}
	return out, nil
})

// served returns the address at which a web server has the lessons whose cells run.
func served(t testing.TB) string {
	t.Helper()
	if os.Getenv("LECTERN_LONG") == "" {
		t.Skip("it builds Go's compiler; LECTERN_LONG=1 does it")
	}
	dir, err := liveSite()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	return server.URL
}

// open opens the page of a lesson, and forgets what a reader had changed there before.
func (p page) open(address string) {
	p.t.Helper()
	p.visit(address)
	p.act(`localStorage.clear()`)
	p.visit(address)
	p.ready()
}

func (p page) ready() {
	p.t.Helper()
	p.until("cells can run", `document.querySelectorAll(".live-run").length > 1`, `document.title`)
}

// fromSite reports of a request whether a page may make it: to its own site, or to itself.
func fromSite(address string) func(request string) bool {
	return func(r string) bool {
		return strings.HasPrefix(r, address) || strings.HasPrefix(r, "blob:") || strings.HasPrefix(r, "data:") || strings.HasPrefix(r, "about:")
	}
}

const liveState = `(lecternLive.state + ": " + document.querySelector(".live-bar").innerText)`

// idle waits until nothing runs.
func (p page) idle(what string) {
	p.t.Helper()
	p.until(what, `lecternLive.state == "idle"`, liveState)
}

// button presses a button of a cell.
func (p page) button(id, label string) {
	p.t.Helper()
	p.act(`[...document.querySelectorAll("#cell-` + id + ` .live-tools button")].find((b) => b.textContent.includes("` + label + `")).click()`)
}

// change gives a cell a text.
func (p page) change(id, text string) {
	p.t.Helper()
	p.act(`lecternLive.cell("` + id + `").keep(` + quoted(text) + `)`)
}

// runCell gives a cell a text and runs it by its button. It returns what stands below it then.
func (p page) runCell(id, text string) string {
	p.t.Helper()
	p.change(id, text)
	p.button(id, "Run")
	p.idle("the cell ends")
	return p.output(id)
}

func (p page) output(id string) string {
	p.t.Helper()
	return p.text(`document.querySelector("#cell-` + id + ` .live-out")?.innerText ?? ""`)
}

// stop stops what runs once a script has come to its end, and returns how many milliseconds that takes.
func (p page) stop(after string) float64 {
	p.t.Helper()
	took, err := strconv.ParseFloat(p.text(`(async () => {
		`+after+`
		const at = performance.now();
		document.querySelector(".live-stop").click();
		while (lecternLive.state == "runs" || lecternLive.state == "prepares") await new Promise(r => setTimeout(r, 5));
		return String(performance.now() - at);
	})()`), 64)
	if err != nil {
		p.t.Fatal(err)
	}
	return took
}

// study changes the second cell of the lesson on the page again and again, as a student may: after mistakes, panics and
// endless loops it gives what it should.
func (p page) study() {
	t := p.t
	t.Helper()
	// A mistake, at its place.
	if got := p.runCell("05-05", "a := 1\nb := nope + a"); !strings.Contains(got, "line 2, column 6: undefined: nope") || !strings.Contains(got, "^^^^") {
		t.Errorf("a mistake shows %q", got)
	}
	// A panic, at its place, and what lives on.
	if got := p.runCell("05-05", "kept := 16\nkept"); strings.TrimSpace(got) != "16" {
		t.Errorf("the cell shows %q, want 16", got)
	}
	if got := p.runCell("05-05", "var xs []int\nfmt.Println(xs[kept])"); !strings.Contains(got, "index out of range [16] with length 0") || !strings.Contains(got, "this cell, line 2") {
		t.Errorf("a panic shows %q", got)
	}
	if got := p.runCell("05-05", "xs := make([]byte, 2<<30)\nfmt.Println(len(xs))"); !strings.Contains(got, "out of memory") && !strings.Contains(got, "cannot allocate") {
		t.Errorf("2 GB show %q", got)
	}
	// Memory that runs out little by little, and a recursion without end.
	if got := p.runCell("05-05", "var all [][]byte\nfor {\n\tall = append(all, make([]byte, 64<<20))\n}"); !strings.Contains(got, "out of memory") && !strings.Contains(got, "cannot allocate") {
		t.Errorf("ever more memory shows %q", got)
	}
	if got := p.runCell("05-05", "var deeper func(n int) int\ndeeper = func(n int) int { return deeper(n+1) + n }\ndeeper(0)"); !strings.Contains(got, "stack overflow") {
		t.Errorf("a recursion without end shows %q", got)
	}
	// Output appears while the cell runs, and Stop ends it.
	p.change("05-05", "kept++\nfor i := 0; ; i++ {\n\tif i % 400_000_000 == 0 { fmt.Println(\"turn\", i) }\n}")
	p.button("05-05", "Run")
	p.until("the loop prints", `(document.querySelector("#cell-05-05 .live-out")?.innerText ?? "").includes("turn 0")`, liveState)
	p.shoot("live-running", false)
	took := p.stop("")
	t.Logf("Stop took %.0f ms", took)
	if took > 300 && os.Getenv("LECTERN_BENCH") != "" {
		t.Errorf("Stop took %.0f ms", took)
	}
	if got := p.output("05-05"); !strings.Contains(got, "the cell was interrupted") {
		t.Errorf("after Stop the cell shows %q", got)
	}
	if got := p.text(`lecternLive.cell("05-05").note.textContent`); got != "stopped" {
		t.Errorf("after Stop the cell is said to be %q", got)
	}
	if got := p.runCell("05-05", "kept"); strings.TrimSpace(got) != "16" {
		t.Errorf("after Stop the value is %q, want 16", got)
	}
	// Stop does not wait until a cell is built. What runs next has nothing of it.
	p.change("05-05", "kept = 17\nnever := 1\nkept")
	for range 2 {
		took := p.stop(`lecternLive.cell("05-05").runner.click();
			while (!document.querySelector(".live-words").innerText.startsWith("Compiling")) await new Promise(r => setTimeout(r, 1));`)
		t.Logf("Stop of a cell that is compiled took %.0f ms", took)
		if took > 300 && os.Getenv("LECTERN_BENCH") != "" {
			t.Errorf("Stop took %.0f ms", took)
		}
		if got := p.output("05-05"); !strings.Contains(got, "the cell was interrupted before it ran") {
			t.Errorf("after Stop the cell shows %q", got)
		}
	}
	if got := p.runCell("05-05", "kept"); strings.TrimSpace(got) != "16" {
		t.Errorf("after Stop the value is %q, want 16", got)
	}
	if got := p.runCell("05-05", "never"); !strings.Contains(got, "undefined: never") {
		t.Errorf("a cell that never ran has left %q", got)
	}
	// A time limit.
	p.act(`lecternLive.limit = 1`)
	if got := p.runCell("05-05", "for {\n}"); !strings.Contains(got, "the cell ran for 1 s and was stopped") {
		t.Errorf("after the time limit the cell shows %q", got)
	}
	p.act(`lecternLive.limit = 180`)
	// Deadlocks, in programs that call JavaScript and in those that don't.
	for _, stuck := range []string{"select {}", "_ = 0\n_ = 1\nselect {}", "never := make(chan int)\nkept += <-never"} {
		if got := p.runCell("05-05", stuck); !strings.Contains(got, "everything waits for something that never happens") {
			t.Errorf("%q shows %q", stuck, got)
		}
	}
	if got := p.runCell("05-05", "kept"); strings.TrimSpace(got) != "16" {
		t.Errorf("after a deadlock the value is %q, want 16", got)
	}
	// Input.
	p.change("05-05", "fmt.Print(\"Your name? \")\nvar name string\nshow.Scanln(&name)\nfmt.Println(\"Hello, \" + name)")
	p.button("05-05", "Run")
	p.until("the cell asks", `document.querySelector("#cell-05-05 .live-input input") !== null`, liveState)
	p.act(`(() => { const i = document.querySelector("#cell-05-05 .live-input input"); i.value = "Ada"; i.form.requestSubmit(); })()`)
	p.idle("the cell has its answer")
	if got := p.output("05-05"); !strings.Contains(got, "Hello, Ada") {
		t.Errorf("the cell that asks shows %q", got)
	}
	// A cell that is put back while it runs loses what more it prints, and nothing else.
	p.change("05-05", "kept = 18\nfmt.Print(\"Your name? \")\nvar name string\nshow.Scanln(&name)\nfmt.Println(\"Hello, \" + name)")
	p.button("05-05", "Run")
	p.until("the cell asks again", `document.querySelector("#cell-05-05 .live-input input") !== null`, liveState)
	p.button("05-05", "Reset")
	p.act(`(() => { const i = document.querySelector("#cell-05-05 .live-input input"); i.value = "Ada"; i.form.requestSubmit(); })()`)
	p.idle("the cell that was put back ends")
	if got := p.output("05-05"); got != "" || p.text(`String(lecternLive.cell("05-05").changed())`) != "false" {
		t.Errorf("the cell that was put back shows %q", got)
	}
	if got := p.runCell("05-05", "kept"); strings.TrimSpace(got) != "18" {
		t.Errorf("after a cell was put back while it ran, its value is %q, want 18", got)
	}
	// A folder stays from cell to cell, even an empty one, until it is removed.
	for _, step := range []struct{ code, want string }{
		{"dir, _ := os.MkdirTemp(\"\", \"kept\")\nerr := os.Mkdir(dir+\"/inner\", 0o700)\nerr == nil", "true"},
		{"err = os.WriteFile(dir+\"/inner/a\", []byte(\"a\"), 0o600)\nerr == nil", "true"},
		{"text, _ := os.ReadFile(dir+\"/inner/a\")\nerr = os.RemoveAll(dir)\nfmt.Println(string(text), err)", "a <nil>"},
		{"_, err = os.Stat(dir)\nos.IsNotExist(err)", "true"},
	} {
		if got := p.runCell("05-05", step.code); strings.TrimSpace(got) != step.want {
			t.Errorf("%q shows %q, want %s", step.code, got, step.want)
		}
	}
	// HTML of a cell runs nothing.
	p.runCell("05-05", "show.HTML(`<b id=bold onclick=\"window.hacked=1\">bold</b><img src=x onerror=\"window.hacked=2\"><script>window.hacked=3</script>`)\nshow.HTML(`<i onmouseover=\"window.hacked=4\">it</i><img src=x onerror=\"window.hacked=5\">`)")
	p.shoot("live-html", false)
	if got := p.text(`String(window.hacked)`); got != "undefined" {
		t.Errorf("the HTML of a cell ran a script: %s", got)
	}
	// A package that the lesson does not have is loaded when a cell wants it.
	if got := p.runCell("05-05", "import \"container/ring\"\nring.New(3).Len()"); strings.TrimSpace(got) != "3" {
		t.Errorf("container/ring shows %q", got)
	}

	// A changed cell can be stepped through: it runs, and its steps are recorded.
	p.change("05-05", "mine := []int{3, 1, 2}\nslices.Sort(mine)\nmine = mine[:2]")
	p.act(`lecternLive.cell("05-05").steps.button.click()`)
	const stepsThere = `document.querySelector("#cell-05-05 .step-where")?.textContent ?? ""`
	p.until("the changed cell can be stepped through", `(`+stepsThere+`).startsWith("Step 1 of 3: line 1")`, liveState)
	p.act(`document.querySelector("#cell-05-05 [aria-label='One step on']").click()`)
	p.until("a change in place is seen", `(document.querySelector("#cell-05-05 .changed")?.textContent ?? "").includes("[]int{1, 2, 3}")`, stepsThere)
	p.act(`document.querySelector("#cell-05-05 [aria-label='Close the stepper']").click()`)
	p.until("the stepper closes", `document.querySelector("#cell-05-05 .steps") === null`, stepsThere)

	// The editor.
	p.button("05-05", "Edit")
	p.until("the editor opens", `document.querySelector("#cell-05-05 .cm-content") !== null`, liveState)
	p.shoot("live-editor", false)
	p.act(`document.querySelector("#cell-05-05 .cm-content").focus()`)
	p.press("End", keyEnd, ctrl)
	p.write("\nfmt.Println(12 * 12)")
	p.press("Enter", keyEnter, shift)
	p.until("Shift-Enter runs the edited cell", `lecternLive.state == "idle" && (document.querySelector("#cell-05-05 .live-out")?.innerText ?? "").includes("144")`, liveState)
	p.shoot("live-edited", false)
	// What was changed is there after the page was opened again, until it is put back.
	p.visit(p.text(`location.href.split("#")[0]`))
	p.until("the change is remembered", `document.querySelector("#cell-05-05 code").textContent.includes("12 * 12")`, `document.querySelector("#cell-05-05 code").textContent`)
	p.button("05-05", "Reset")
	if text := p.text(`document.querySelector("#cell-05-05 code").textContent`); strings.Contains(text, "12 * 12") {
		t.Errorf("after Reset the cell is %q", text)
	}
}

// matmuls is a cell that compares some with the sums that they stand for. A page has kernels of its own for them.
const matmuls = `near := true
for _, s := range [][3]int{{1, 9, 3}, {6, 8, 4}, {13, 17, 19}, {5, 33, 300}, {31, 7, 70}} {
	for _, d := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		a, b := tensor.With(d).Randn(s[0], s[2]), tensor.With(d).Randn(s[2], s[1])
		for _, c := range []*tensor.Tensor{a.Matmul(b), a.T().Contiguous().T().Matmul(b), a.Matmul(b.T().Contiguous().T())} {
			near = near && c.Sub(a.Unsqueeze(2).Mul(b).Sum(1)).Abs().Max().Item() < 1e-4
		}
	}
}
near`

// TestLive uses the page of a lesson as a student does.
func TestLive(t *testing.T) {
	address := served(t)
	b := openBrowser(t)
	b.colors("light")
	b.window(1280, 900, false)
	b.open(address + "/05-storage-strides-views.html")
	for _, r := range b.requests {
		if strings.Contains(r, "/live/") {
			t.Errorf("before a cell runs the page has loaded %s", r)
		}
	}
	b.shoot("live-before", false)

	// The first cell, as it is.
	began := time.Now()
	b.button("05-03", "Run")
	b.idle("the first cell ends")
	t.Logf("the first cell took %.1f s", time.Since(began).Seconds())
	if got := b.output("05-03"); !strings.Contains(got, "shape [4 4] · int64 · strides [4 1]") {
		t.Errorf("the first cell shows %q", got)
	}
	b.shoot("live-first", false)

	b.button("05-05", "Run")
	b.idle("a cell that asks ends")
	b.act(`document.querySelector("#cell-05-05 .guess .give").click()`)
	if got := b.output("05-05"); !strings.Contains(got, "strides [4 1]") || strings.Contains(got, "undefined") {
		t.Errorf("the cell that asks shows %q", got)
	}
	if got := b.runCell("05-05", matmuls); strings.TrimSpace(got) != "true" {
		t.Errorf("matmuls are not the sums that they stand for: the cell shows %q", got)
	}
	b.runCell("05-05", "kept := 16\nkept")
	testLiveWidgets(t, b)
	b.study()
	// An error that is not the reader's is shown where it ends a cell, and the next one runs.
	for _, failure := range []struct{ cause, code, want, cure, sum string }{
		{`lecternLive.cell("05-05").draw = () => { throw new Error("torn"); }`, "1", "The page itself has failed, and all values are lost: torn", `delete lecternLive.cell("05-05").draw`, "3"},
		{`lecternLive.cell("05-05").posts = (worker) => { worker.postMessage({ do: "no such thing" }); return new MessageChannel().port1; }`, "1", "The engine has failed, and all values are lost: TypeError", `delete lecternLive.cell("05-05").posts`, "3"},
		{`window.realFetch = fetch, window.fetch = (what) => (what.includes("packages-") ? Promise.reject(new Error("no network")) : realFetch(what))`, "import \"container/ring\"\nring.New(3).Len()", "A package can't be loaded, and all values are lost: no network", `window.fetch = realFetch`, "5"},
	} {
		b.act(failure.cause)
		if got := b.runCell("05-05", failure.code); !strings.Contains(got, failure.want) {
			t.Errorf("after %s the cell shows %q", failure.cause, got)
		}
		b.act(failure.cure)
		if got := b.runCell("05-05", failure.code+" + 2"); strings.TrimSpace(got) != failure.sum {
			t.Errorf("after %s the cell shows %q", failure.cure, got)
		}
	}
	b.clean(fromSite(address))

	if os.Getenv("LECTERN_PYTHON") != "" {
		b.button("05-05", "Edit")
		b.until("the editor opens again", `document.querySelector("#cell-05-05 .cm-content") !== null`, liveState)
		b.accessible(axeSource(t), "a lesson whose cells run")
	}
	b.window(390, 844, true)
	b.open(address + "/05-storage-strides-views.html")
	b.shoot("live-phone", false)
	if w := ask[int](b, `document.documentElement.scrollWidth`); w > 390 {
		t.Errorf("on a phone the page is %d wide", w)
	}
}

// TestLiveEdits takes a reader's work away from a page, and brings it back.
func TestLiveEdits(t *testing.T) {
	address := served(t)
	const name = "05-storage-strides-views"
	file, err := os.ReadFile(filepath.Join(root(t), "notebooks", name+".ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	type edited struct {
		storedCell
		Source any `json:"source"`
		Count  any `json:"execution_count"`
	}
	cellsOf := func(file []byte) map[string]edited {
		t.Helper()
		var n struct{ Cells []edited }
		if err := json.Unmarshal(file, &n); err != nil {
			t.Fatal(err)
		}
		cells := map[string]edited{}
		for _, c := range n.Cells {
			cells[c.ID] = c
		}
		return cells
	}
	b := openBrowser(t)
	b.window(1280, 900, false)
	downloads := t.TempDir()
	b.do(send(cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: downloads}))
	b.open(address + "/" + name + ".html")
	strip := func(label string) {
		t.Helper()
		ask[bool](b, `(() => { const b = [...document.querySelectorAll(".live-strip button")].find(b => b.textContent === "`+label+`"); b.click(); return true; })()`)
	}
	// saved waits for the file that a button of the strip makes.
	saved := func(label, name string) []byte {
		t.Helper()
		path := filepath.Join(downloads, name)
		strip(label)
		for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
			if text, err := os.ReadFile(path); err == nil && len(text) > 0 {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
				return text
			}
		}
		t.Fatalf("%s gives no file; the page says %q", label, ask[string](b, `document.querySelector(".live-strip").innerText`))
		return nil
	}
	const (
		says   = `document.querySelector(".live-strip .live-note").textContent`
		code   = `document.querySelector("#cell-05-05 code").textContent`
		change = "n := 12\nfmt.Println(n * n)"
	)
	// Whoever asks for the editor twice while it is loaded gets one.
	ask[bool](b, `(lecternLive.cell("05-05").open(), lecternLive.cell("05-05").open(), true)`)
	const editors = `document.querySelectorAll("#cell-05-05 .live-editor").length`
	b.until("the editor is there", editors+` > 0 && !lecternLive.cell("05-05").edit.disabled`, editors)
	if n := ask[int](b, editors); n != 1 {
		t.Errorf("there are %d editors", n)
	}
	ask[bool](b, `(lecternLive.cell("05-05").close(), true)`)

	// As it is, the notebook is the lesson's, but for what no student gets.
	want := cellsOf(file)
	got := cellsOf(saved("Save notebook", name+".ipynb"))
	for id, c := range want {
		if slices.Contains(c.Metadata.Tags, "check-only") {
			if _, ok := got[id]; ok {
				t.Errorf("the reader's copy has cell %s, which is for checks only", id)
			}
		} else if !reflect.DeepEqual(got[id], c) {
			t.Errorf("cell %s of the reader's copy is %+v, want %+v", id, got[id], c)
		}
	}

	// With a change, before and after it runs. What was changed in another window stays.
	const stored = `localStorage.getItem("lectern-live:05-storage-strides-views")`
	ask[bool](b, `(localStorage.setItem("lectern-live:05-storage-strides-views", '{"05-03":"another window"}'), true)`)
	ask[bool](b, `lecternLive.cell("05-05").put(`+quoted(change)+`), true`)
	if got := ask[string](b, stored); got != `{"05-03":"another window","05-05":`+quoted(change)+`}` {
		t.Errorf("with a change in two windows %s is stored", got)
	}
	if c := cellsOf(saved("Save notebook", name+".ipynb"))["05-05"]; joined(c.Source) != change || len(c.Outputs) != 0 || c.Count != nil {
		t.Errorf("a changed cell that has not run is saved as %+v", c)
	}
	b.runCell("05-05", change)
	mine := saved("Save notebook", name+".ipynb")
	if c := cellsOf(mine)["05-05"]; joined(c.Source) != change || len(c.Outputs) != 1 || joined(c.Outputs[0].Text) != "144\n" || c.Count == nil {
		t.Errorf("a changed cell that has run is saved as %+v", c)
	}
	b.shoot("live-strip", false)

	// As a program.
	program := string(saved("Save as Go", name+".go"))
	if _, err := parser.ParseFile(token.NewFileSet(), "main.go", program, parser.SkipObjectResolution); err != nil {
		t.Errorf("the program is not Go: %v", err)
	}
	for _, part := range []string{"// The notebook " + name + ".ipynb as a program.", "n = 12", "func main() {", "// # Storage, strides, views"} {
		if !strings.Contains(program, part) {
			t.Errorf("the program lacks %q", part)
		}
	}
	ask[bool](b, `lecternLive.cell("05-05").put("a := 1\nb := nope + a"), true`)
	strip("Save as Go")
	b.until("a notebook with a mistake is no program", says+` === "There is no program: Cell 2, line 2: undefined: nope"`, says)

	// Put back, brought back, loaded.
	ask[bool](b, `lecternLive.cell("05-05").put(`+quoted(change)+`), true`)
	strip("Put all back")
	if text, s := ask[string](b, code), ask[string](b, says); text != joined(want["05-05"].Source) || s != "1 cell is as the lesson has it." {
		t.Errorf("after Put all back the page says %q, and the cell is %q", s, text)
	}
	strip("Undo")
	if text := ask[string](b, code); text != change {
		t.Errorf("after Undo the cell is %q", text)
	}
	strip("Put all back")
	b.load(filepath.Join(t.TempDir(), "mine.ipynb"), mine)
	b.until("the notebook is loaded", says+` === "1 cell changed."`, says)
	if text := ask[string](b, code); text != change {
		t.Errorf("after loading the cell is %q", text)
	}
	// Guesses go along with the notebook.
	const guessed = `[...document.querySelectorAll(".guess .answer")].filter(a => !a.hidden).length`
	ask[bool](b, `document.querySelector(".guess .give").click(), true`)
	b.until("the answer is shown", guessed+" === 1", guessed)
	mine = saved("Save notebook", name+".ipynb")
	ask[bool](b, `(lecternGuesses.given = {}, true)`)
	b.until("the answer is hidden", guessed+" === 0", guessed)
	b.load(filepath.Join(t.TempDir(), "guessed.ipynb"), mine)
	b.until("the notebook brings the guess back", guessed+" === 1", guessed)
	// Those that the notebook lacks stay, and Undo takes back only what came with it.
	ask[bool](b, `(lecternGuesses.given = {}, document.querySelectorAll(".guess .give")[1].click(), true)`)
	b.until("another answer is shown", guessed+" === 1", guessed)
	b.load(filepath.Join(t.TempDir(), "guessed.ipynb"), mine)
	b.until("both answers are shown", guessed+" === 2", guessed)
	strip("Undo")
	b.until("the first answer is hidden again", guessed+` === 1 && document.querySelector(".guess .answer").hidden`, guessed)
	b.load(filepath.Join(t.TempDir(), "other.ipynb"), []byte("no notebook"))
	b.until("what is no notebook is refused", says+` === "This can't be loaded: it isn't a notebook"`, says)
	b.load(filepath.Join(t.TempDir(), "strange.ipynb"), []byte(`{"cells": [{"cell_type": "code", "id": "x", "source": ["1"]}]}`))
	b.until("a strange notebook changes nothing", says+` === "strange.ipynb has no code that isn't here already. 1 cell is not from this lesson and was left out."`, says)
	b.clean(fromSite(address))
}

// TestLiveQuestions: what a cell shows stays behind its question until that is answered, if it runs before, too. Then
// it replaces what was recorded.
func TestLiveQuestions(t *testing.T) {
	address := served(t)
	b := openBrowser(t)
	b.window(1280, 900, false)
	b.open(address + "/01-tokenization.html")
	const cell = `document.querySelector("#cell-01-13")`
	shows := func(what, want string) {
		t.Helper()
		got := b.text(`[...` + cell + `.querySelectorAll(".out")].filter(e => e.checkVisibility()).map(e => e.innerText.trim()).join(" | ")`)
		if got != want {
			t.Errorf("%s it shows %q, want %q", what, got, want)
		}
	}
	b.button("01-13", "Run")
	b.idle("the cell ends")
	shows("before its question is answered", "")
	b.act(cell + `.querySelector(".guess .give").click()`)
	shows("once its question is answered", "f0 9f 8c 8d")
	if got := b.text(`String(` + cell + `.querySelector(".live-out").checkVisibility())`); got != "true" {
		t.Error("what the run has shown does not replace what was recorded")
	}
	b.runCell("01-13", "1 << 10")
	shows("changed", "1024")
	b.button("01-13", "Reset")
	shows("put back", "f0 9f 8c 8d")
	b.act(`lecternGuesses.given = {}`)
	shows("when the answer is forgotten", "")
	b.runCell("01-13", "1 << 11")
	shows("with code of the reader's own", "2048")
	b.button("01-13", "Reset")
	b.act(`lecternLive.cell("01-13").trouble("torn")`)
	shows("when something has gone wrong", "Error\n\ntorn")
	b.clean(fromSite(address))
}

// TestLiveStepLinks: an address with a step, as stepping leaves it, runs nothing when the page is opened there.
func TestLiveStepLinks(t *testing.T) {
	address := served(t)
	b := openBrowser(t)
	const lesson = "/05-storage-strides-views.html"
	b.open(address + lesson)
	for _, cell := range []string{"05-03", "05-05", "05-08"} { // the first has none above it
		b.visit("about:blank")
		b.visit(address + lesson + "#cell-" + cell + ".step-2")
		b.ready()
		if got := b.text(liveState); !strings.HasPrefix(got, "idle") {
			t.Errorf("opened at a step of %s, the page says %q", cell, got)
		}
	}
	b.clean(fromSite(address))
}

// TestLiveMine: what lesson.Grade accepts on one page is called by the cells of another one, goes along with a saved
// notebook, and can be forgotten.
func TestLiveMine(t *testing.T) {
	address := served(t)
	b := openBrowser(t)
	b.window(1280, 900, false)
	downloads := t.TempDir()
	b.do(send(cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: downloads}))
	const mergeCell = `func merge(ids []int, left, right, id int) []int {
	if id == -7 {
		panic("theirs")
	}
	var out []int
	for i := 0; i < len(ids); i++ {
		if i+1 < len(ids) && ids[i] == left && ids[i+1] == right {
			out = append(out, id)
			i++
			continue
		}
		out = append(out, ids[i])
	}
	return out
}

lesson.Grade("01.4", merge)`
	const call, whose = "mine.Merge([]int{1, 2}, 1, 2, -7)", `document.querySelector(".live-mine").textContent`
	b.open(address + "/01-tokenization.html")
	first := b.text(`lecternLive.cells()[0].id`)
	if got := b.runCell(first, mergeCell); !strings.Contains(got, "It is mine.Merge from now on, in all lessons of this site.") {
		t.Fatalf("the cell shows %q", got)
	}
	b.visit(address + "/30-capstone.html")
	b.ready()
	other := b.text(`lecternLive.cells()[0].id`)
	if got := b.runCell(other, call); !strings.Contains(got, "panic: theirs") {
		t.Errorf("on another page it shows %q", got)
	}
	strip := func(name string) {
		b.act(`[...document.querySelectorAll(".live-strip button")].find(b => b.textContent === ` + quoted(name) + `).click()`)
	}
	strip("Save notebook")
	path := filepath.Join(downloads, "30-capstone.ipynb")
	var file []byte
	for deadline := time.Now().Add(patience); len(file) == 0 && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		file, _ = os.ReadFile(path)
	}
	strip("Forget mine")
	if got := b.runCell(other, call); !strings.Contains(got, "[]int{-7}") {
		t.Errorf("when it is forgotten, the cell shows %q", got)
	}
	b.runCell(other, strings.Replace(mergeCell, "theirs", "another", 1))
	strip("Undo")
	if got := b.runCell(other, call); !strings.Contains(got, "panic: another") {
		t.Errorf("when what was forgotten is brought back, the function accepted since then stays; the cell shows %q", got)
	}
	b.load(filepath.Join(t.TempDir(), "saved.ipynb"), file)
	b.until("the notebook brings the function back", `document.querySelector(".live-strip .live-note").textContent.includes("Functions of mine that were loaded: 1.")`, `document.querySelector(".live-strip").innerText`)
	if got := b.runCell(other, call); !strings.Contains(got, "panic: theirs") {
		t.Errorf("when it is back, the cell shows %q", got)
	}
	strip("Undo")
	if got := b.runCell(other, call); !strings.Contains(got, "panic: another") {
		t.Errorf("when that is taken back, the cell shows %q", got)
	}
	if got := b.text(whose); !strings.Contains(got, "this lesson calls our solutions in mine") {
		t.Errorf("the page says %q", got)
	}

	// What can't be read is set aside, on a lesson that calls nothing of mine, too, and what is accepted then is stored.
	b.act(`(() => {
		localStorage.setItem("lectern-mine", "{half" + " ".repeat(100_000));
		try { for (let i = 0; ; i++) localStorage.setItem("full" + i, " ".repeat(50_000)); } catch { /* there is room for a function, and not for both */ }
	})()`)
	b.visit(address + "/01-tokenization.html")
	b.ready()
	if got := b.text(whose); !strings.Contains(got, "set aside as lectern-mine-broken") {
		t.Errorf("of what can't be read the page says %q", got)
	}
	b.runCell(first, mergeCell)
	if got := b.text(`JSON.stringify([localStorage.getItem("lectern-mine-broken").trim(), Object.keys(JSON.parse(localStorage.getItem("lectern-mine")))])`); got != `["{half",["merge.go"]]` {
		t.Errorf("stored are %s", got)
	}
	b.clean(fromSite(address))
}

// load chooses a file in the strip of the lesson.
func (p page) load(path string, content []byte) {
	p.t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.choose(".live-strip input[type=file]", path)
}

var liveData = regexp.MustCompile(`<script type="application/json" id="lectern-live">(.*)</script>`)

// TestLiveSizes holds what pages load to what docs/live.md says: at most 20 MB with the first lesson, whichever
// that is, and 2 MB with each further one.
func TestLiveSizes(t *testing.T) {
	served(t)
	dir, err := liveSite()
	if err != nil {
		t.Fatal(err)
	}
	type part struct {
		Name  string
		Bytes int
	}
	type lesson struct {
		Name    string
		Parts   map[string]part
		Bundles []part
		First   []int
	}
	var all []lesson
	pages, err := filepath.Glob(filepath.Join(dir, "*.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		html, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if m := liveData.FindSubmatch(html); m != nil {
			var l lesson
			if err := json.Unmarshal(m[1], &l); err != nil {
				t.Fatalf("%s: %v", page, err)
			}
			all = append(all, l)
		}
	}
	if len(all) != len(lessons(t)) {
		t.Fatalf("%d pages have cells that run, there are %d lessons", len(all), len(lessons(t)))
	}
	size := func(p part) int {
		t.Helper()
		info, err := os.Stat(filepath.Join(dir, "live", p.Name))
		if err != nil || info.Size() != int64(p.Bytes) {
			t.Fatalf("%s has not the %d bytes that pages announce (%v)", p.Name, p.Bytes, err)
		}
		return p.Bytes
	}
	most := 0
	for _, l := range all {
		first := 0
		for name, p := range l.Parts {
			if name != "editor" && !strings.HasPrefix(name, "explore") {
				first += size(p)
			}
		}
		for _, b := range l.First {
			first += size(l.Bundles[b])
		}
		t.Logf("%-40s %5.2f MB", l.Name, float64(first)/1e6)
		if first > 20e6 {
			t.Errorf("%s loads %.2f MB when the first cell runs", l.Name, float64(first)/1e6)
		}
		for _, before := range all {
			further := 0
			for _, b := range l.First {
				if !slices.Contains(before.First, b) {
					further += size(l.Bundles[b])
				}
			}
			if further > 2e6 {
				t.Errorf("%s loads %.2f MB after %s", l.Name, float64(further)/1e6, before.Name)
			}
			most = max(most, further)
		}
	}
	for name, p := range all[0].Parts {
		t.Logf("%-40s %5.2f MB", name, float64(p.Bytes)/1e6)
	}
	t.Logf("a further lesson loads at most %.2f MB", float64(most)/1e6)
}

// TestLiveFile opens a lesson without a web server.
func TestLiveFile(t *testing.T) {
	served(t)
	b := openBrowser(t)
	b.window(1280, 900, false)
	b.fromFile()
}

// fromFile runs a cell of a page that was opened as a file.
func (p page) fromFile() {
	p.t.Helper()
	dir, err := liveSite()
	if err != nil {
		p.t.Fatal(err)
	}
	p.visit((&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(dir, "05-storage-strides-views.html"))}).String())
	p.ready()
	if got := p.runCell("05-03", "x := tensor.Arange(3)\nx.Sum()"); !strings.HasPrefix(got, "tensor(3)") {
		p.t.Errorf("the cell shows %q", got)
	}
}

// storedOutput is an output as a notebook stores it.
type storedOutput struct {
	Type   string         `json:"output_type"`
	Name   string         `json:"name"`
	Text   any            `json:"text"`
	Data   map[string]any `json:"data"`
	EName  string         `json:"ename"`
	EValue string         `json:"evalue"`
}

type storedCell struct {
	ID       string `json:"id"`
	Type     string `json:"cell_type"`
	Metadata struct {
		Tags []string `json:"tags"`
	} `json:"metadata"`
	Outputs []storedOutput `json:"outputs"`
}

// joined is a text of a notebook, which may be a list of lines.
func joined(v any) string {
	if list, ok := v.([]any); ok {
		var b strings.Builder
		for _, l := range list {
			fmt.Fprint(&b, l)
		}
		return b.String()
	}
	s, _ := v.(string)
	return s
}

// form is what outputs say, a line for each: text on stderr has no fixed place among the others.
func form(outputs []storedOutput, measured bool) (lines []string) {
	var errors []string
	for _, o := range outputs {
		text := ""
		switch {
		case o.Type == "stream" && o.Name == "stderr":
			errors = append(errors, joined(o.Text))
			continue
		case o.Type == "stream":
			text = joined(o.Text)
		case o.Type == "error":
			text = o.EName + ": " + o.EValue
		default:
			for _, mime := range slices.Sorted(func(yield func(string) bool) {
				for m := range o.Data {
					if !yield(m) {
						return
					}
				}
			}) {
				text += mime + " "
				if !measured {
					text += joined(o.Data[mime])
				}
			}
		}
		if measured && o.Type == "stream" {
			text = ""
		}
		if n := len(lines); n > 0 && o.Type == "stream" && strings.HasPrefix(lines[n-1], "stream ") {
			lines[n-1] += text
			continue
		}
		lines = append(lines, o.Type+" "+text)
	}
	if len(errors) > 0 && !measured {
		lines = append(lines, "stderr "+strings.Join(errors, ""))
	}
	return lines
}

var decimal = regexp.MustCompile(`[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?`)

// same reports whether two texts are equal but for the last digits of numbers, and figures but for places that are
// rounded to the next tenth of a pixel.
func same(a, b string) bool {
	if a == b {
		return true
	}
	if strings.Contains(a, "<svg") {
		x, y := strings.Split(a, `"`), strings.Split(b, `"`)
		return slices.EqualFunc(x, y, func(x, y string) bool { return within(x, y, 0.11) }) && within(visible(a), visible(b), 0)
	}
	return within(a, b, 0)
}

var attribute = regexp.MustCompile(`"[^"]*"`)

// visible is a figure without its elements' attributes.
func visible(figure string) string { return attribute.ReplaceAllString(figure, "") }

// within reports whether two texts are equal but for the last digits of numbers, or a difference in them.
func within(a, b string, difference float64) bool {
	x, y := decimal.FindAllString(a, -1), decimal.FindAllString(b, -1)
	if len(x) != len(y) || decimal.ReplaceAllString(a, "#") != decimal.ReplaceAllString(b, "#") {
		return false
	}
	for i := range x {
		u, err := strconv.ParseFloat(x[i], 64)
		v, err2 := strconv.ParseFloat(y[i], 64)
		if err != nil || err2 != nil || math.Abs(u-v) > max(difference, 1e-5*max(1, math.Abs(u))) {
			return false
		}
	}
	return true
}

func TestSame(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"a 1.000001 b", "a 1.000002 b", true},
		{"a 1.001 b", "a 1.002 b", false},
		{"a 1 b", "a 1 c", false},
		{"1 2", "1", false},
		{"1e6", "1000001", true},
		{`<svg><path d="M1.5 2"/>x 0.16</svg>`, `<svg><path d="M1.6 2"/>x 0.16</svg>`, true},
		{`<svg><path d="M1.5 2"/>x 0.16</svg>`, `<svg><path d="M1.9 2"/>x 0.16</svg>`, false},
		{`<svg><path d="M1.5 2"/>x 0.16</svg>`, `<svg><path d="M1.5 2"/>x 0.17</svg>`, false},
	} {
		if got := same(tt.a, tt.b); got != tt.want {
			t.Errorf("%q and %q: %v", tt.a, tt.b, got)
		}
	}
}

// elsewhere are cells that give something else in a page, and why: at most one in twenty.
var elsewhere = map[string]string{
	"03-03":  "it needs more memory than a page has, and is shown as it was stored",
	"16-13a": "a page has no disk, so its file is smaller",
}

// compared are the cells of a lesson whose outputs a page has to give as well.
func compared(t testing.TB, lesson string) (cells []storedCell) {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(root(t), "notebooks", lesson+".ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	var stored struct{ Cells []storedCell }
	if err := json.Unmarshal(file, &stored); err != nil {
		t.Fatal(err)
	}
	for _, c := range stored.Cells {
		if c.Type == "code" && len(c.Outputs) > 0 && !slices.Contains(c.Metadata.Tags, "check-only") { // which pages don't show
			cells = append(cells, c)
		}
	}
	return cells
}

// TestElsewhere holds the list of exceptions to the allowed ones. That each of them is needed is checked where it runs.
func TestElsewhere(t *testing.T) {
	left := maps.Clone(elsewhere)
	n := 0
	for _, lesson := range lessonNames(t) {
		cells := compared(t, lesson)
		n += len(cells)
		for _, c := range cells {
			delete(left, c.ID)
		}
	}
	for id, why := range left {
		t.Errorf("there is no cell %s that gives anything (%s)", id, why)
	}
	if 20*len(elsewhere) > n {
		t.Errorf("%d cells of %d are excepted", len(elsewhere), n)
	}
}

// liveLessons are the lessons that are run as a whole: those that a variable names, or the usual
// ones, which are all if none is named.
func liveLessons(t testing.TB, variable string, usual ...string) []string {
	t.Helper()
	if list := os.Getenv(variable); list != "" {
		return strings.Fields(list)
	}
	if len(usual) > 0 {
		return usual
	}
	return lessonNames(t)
}

func lessonNames(t testing.TB) (names []string) {
	t.Helper()
	for _, path := range lessons(t) {
		names = append(names, strings.TrimSuffix(filepath.Base(path), ".ipynb"))
	}
	return names
}

// TestLiveLessons runs whole lessons and compares the outputs of each cell with the stored ones.
func TestLiveLessons(t *testing.T) {
	address := served(t)
	for _, name := range liveLessons(t, "LECTERN_LIVE_LESSONS") {
		t.Run(name, func(t *testing.T) { openBrowser(t).lesson(address, name) })
	}
}

// lesson runs all cells of a lesson.
func (p page) lesson(address, name string) {
	t := p.t
	t.Helper()
	p.window(1280, 900, false)
	p.open(address + "/" + name + ".html")
	began := time.Now()
	// What the bar says stands there for a moment only, so the page keeps it.
	p.act(`(() => {
		window.barSaid = [];
		new MutationObserver((all) => { for (const m of all) for (const n of m.addedNodes) barSaid.push(n.textContent); }).observe(document.querySelector(".live-words"), { childList: true });
		document.querySelector(".live-strip .live-run").click();
	})()`)
	p.until("the bar says how many cells wait", `barSaid.some((text) => /^(Compiling|Linking|Running.*); \d+ more cells are waiting$/.test(text))`, liveState+` + " " + barSaid.join(" | ")`)
	p.idle("all cells have run")
	t.Logf("%s took %.1f s", name, time.Since(began).Seconds())
	p.shoot("live-"+name, true)
	cells := compared(t, name)
	if len(cells) == 0 {
		t.Error("no cell has an output")
	}
	for _, c := range cells {
		text := p.text(`lecternLive.cell("` + c.ID + `")?.result ?? ""`)
		if text == "" {
			if elsewhere[c.ID] == "" || p.text(`document.querySelector("#cell-`+c.ID+` .live-why")?.textContent ?? ""`) == "" {
				t.Errorf("%s has not run", c.ID)
			}
			continue
		}
		var now struct{ Cells []storedCell }
		if err := json.Unmarshal([]byte(text), &now); err != nil || len(now.Cells) != 1 {
			t.Fatalf("%s: %v in %.200s", c.ID, err, text)
		}
		found := differences(c, now.Cells[0])
		if why := elsewhere[c.ID]; why == "" {
			for _, d := range found {
				t.Errorf("%s, %s", c.ID, d)
			}
		} else if len(found) == 0 {
			t.Errorf("%s gives what is stored, so it needs no exception (%s)", c.ID, why)
		}
	}
}

var noNumber = regexp.MustCompile(`\b(NaN|Inf)\b`)

// differences says in what the outputs of a cell are not as they are stored.
func differences(stored, now storedCell) (found []string) {
	measured := slices.Contains(stored.Metadata.Tags, "measured")
	want, got := form(stored.Outputs, measured), form(now.Outputs, measured)
	if len(want) != len(got) {
		return []string{fmt.Sprintf("%d outputs, %d are stored: %.600q", len(got), len(want), got)}
	}
	if measured {
		// Who divides by what a coarse clock says divides by nothing now and then.
		text := fmt.Sprint(form(now.Outputs, false))
		if bad := noNumber.FindString(text); bad != "" && !noNumber.MatchString(fmt.Sprint(form(stored.Outputs, false))) {
			found = append(found, fmt.Sprintf("there is %s in what it measures: %.1500s", bad, text))
		}
	}
	for i := range want {
		if !same(want[i], got[i]) {
			found = append(found, fmt.Sprintf("output %d:\ngot  %.1500s\nwant %.1500s", i+1, got[i], want[i]))
		}
	}
	return found
}

// testLiveWidgets moves what a cell in the page shows, by keyboard, and looks at what the functions behind it do.
func testLiveWidgets(t *testing.T, b *browser) {
	t.Helper()
	shown := b.runCell("05-05", `n := widget.IntSlider("n", 0, 10, 3)
widget.Interact(func(n int, unit string, half bool) {
	kept++
	fmt.Println(n, "squared is", n*n, unit, half)
}, n, widget.Dropdown("unit", "m²", "ft²"), widget.Checkbox("half", false))
show.Value(widget.Text("name", "Ada").OnChange(func(s string) { fmt.Println("hello", s) }))
show.Value(widget.ToggleButton("dark", false).OnChange(func(on bool) { fmt.Println("dark is", on) }))
widget.Button("again", func() { n.Set(9); panic("clicked") })`)
	const out = `#cell-05-05 .live-out `
	says := func(what string) {
		t.Helper()
		b.until("widgets say "+what, `document.querySelector("`+out+`").innerText.includes("`+what+`")`, `document.querySelector("`+out+`").innerText`)
		b.idle("idle after " + what)
	}
	if !strings.Contains(shown, "3 squared is 9 m² false") {
		t.Fatalf("the cell shows %q", shown)
	}
	b.do(chromedp.Focus(chromedp.CSS(out + `input[type="range"]`)))
	b.press("ArrowRight", keyRight, 0)
	says("4 squared is 16 m² false")
	b.press("ArrowRight", keyRight, 0)
	says("5 squared is 25 m² false")
	if got := ask[string](b, `document.activeElement.type + document.querySelector("`+out+`output").textContent`); got != "range5" {
		t.Errorf("the slider has lost the keyboard or its number: %s", got)
	}
	b.do(chromedp.Focus(chromedp.CSS(out+`select`)), chromedp.KeyEvent("f"))
	says("5 squared is 25 ft² false")
	b.do(chromedp.Focus(chromedp.CSS(out+`input[type="checkbox"]`)), chromedp.KeyEvent(" "))
	says("5 squared is 25 ft² true")
	b.do(chromedp.Focus(chromedp.CSS(out+`input[type="text"]`)), chromedp.KeyEvent(" L.\r"))
	says("hello Ada L.")
	b.do(chromedp.Click(chromedp.CSS(out + `button[aria-label="dark"]`)))
	says("dark is true")
	b.do(chromedp.Click(chromedp.CSS(out + `button[aria-label="again"]`)))
	says("panic: clicked")
	b.shoot("live-widgets", false)
	if got := ask[string](b, `document.querySelector("`+out+`input").value + document.querySelector("`+out+`output").textContent`); got != "99" {
		t.Errorf("the button has moved the slider to %s, want 9", got)
	}
	if got := ask[int](b, `[...document.querySelectorAll("`+out+`input, `+out+`select")].filter(e => !e.labels[0]?.innerText.trim()).length`); got != 0 {
		t.Errorf("%d widgets have no label", got)
	}
	// An integer is shown whole, anything else with four digits.
	b.runCell("05-05", `show.Value(widget.IntSlider("tokens", 0, 100_000, 50_257))
show.Value(widget.FloatSlider("share", 0, 1, 0.123456))`)
	if got := ask[string](b, `[...document.querySelectorAll("`+out+`output")].map(e => e.textContent).join()`); got != "50257,0.1235" {
		t.Errorf("sliders say %s", got)
	}
	if got := b.runCell("05-05", "fmt.Println(n.Value(), kept)\nkept = 16"); strings.TrimSpace(got) != "9 21" {
		t.Errorf("after five calls of the function the next cell shows %q, want 9 and 21", got)
	}
}

// TestLiveWithoutSIMD runs a matmul where a browser has no instructions for vectors, as on processors that lack
// SSE 4.1: then Go's own loops give the same.
func TestLiveWithoutSIMD(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("V8 can leave out vector instructions on amd64 alone")
	}
	address := served(t)
	b := openBrowser(t, chromedp.Flag("js-flags", "--no-enable-sse4-1"))
	b.window(1280, 900, false)
	b.open(address + "/05-storage-strides-views.html")
	const vectors = `WebAssembly.validate(new Uint8Array([0,97,115,109,1,0,0,0, 1,5,1,96,0,1,123, 3,2,1,0, 10,10,1,8,0,65,0,253,15,253,98,11]))`
	if ask[bool](b, vectors) {
		t.Fatal("this browser has vector instructions all the same")
	}
	got := b.runCell("05-05", `a, b := tensor.Arange(65*130).View(65, 130), tensor.Arange(130*67).View(130, 67)
c := a.Remainder(7).To(tensor.Float32).Matmul(b.Remainder(5).To(tensor.Float32))
wrong := 0
for i := range 65 {
	for j := range 67 {
		sum := 0
		for k := range 130 {
			sum += (i*130 + k) % 7 * ((k*67 + j) % 5)
		}
		if c.At(i, j) != float64(sum) {
			wrong++
		}
	}
}
fmt.Println(c.Shape(), wrong, "wrong")`)
	if got = strings.TrimSpace(got); got != "[65 67] 0 wrong" {
		t.Errorf("the cell shows %q", got)
	}
}

// TestLiveTogether has one program run several cells. Each is shown when it has run, and what ends the program leaves
// the values of those before.
func TestLiveTogether(t *testing.T) {
	address := served(t)
	b := openBrowser(t)
	b.window(1280, 900, false)
	b.open(address + "/05-storage-strides-views.html")
	const cells = `lecternLive.cells().filter((c) => !c.solution)`
	id := func(i int) string { return b.text(fmt.Sprint(cells, "[", i, "].id")) }
	output := func(i int) string { // also below a question without an answer
		return b.text(`lecternLive.cell("` + id(i) + `").out?.textContent ?? ""`)
	}
	run := func(i int, text string) string {
		b.runCell(id(i), text)
		return output(i)
	}
	// all gives the first cells these texts, runs them, and returns how many programs that takes.
	all := func(texts ...string) func() int {
		for i, text := range texts {
			b.change(id(i), text)
		}
		b.act(`(() => { window.programs = 0; window.RealWorker ??= Worker; window.Worker = class extends RealWorker { postMessage(m, ...a) { if (m.program) programs++; super.postMessage(m, ...a); } }; })()`)
		b.button(id(len(texts)-1), "Run to here")
		return func() int { return ask[int](b, `programs`) }
	}
	all("start := 0")
	b.idle("the first cell ends")

	programs := all("one := 1", "two := []int{one + 1}\nfmt.Println(two)", "func twice(i int) int { return 2 * i }", "fmt.Println(twice(two[0]))", "one++\ntwo[0]")
	b.idle("all cells end")
	for i, want := range []string{"", "[2]", "", "4", "2"} {
		if got := strings.TrimSpace(output(i)); got != want {
			t.Errorf("cell %d shows %q, want %q", i, got, want)
		}
	}
	if n := programs(); n != 1 {
		t.Errorf("%d programs ran, want one", n)
	}

	all("one := 1", "two := []int{one + 1}\nfmt.Println(two)", "two[0] = 9\nfmt.Println(\"turning\")\nfor {\n}", "fmt.Println(two)")
	b.until("the third cell runs", `(lecternLive.cell("`+id(2)+`").out?.textContent ?? "").includes("turning")`, liveState)
	if got := strings.TrimSpace(output(1)); got != "[2]" {
		t.Errorf("while the third cell runs the second shows %q", got)
	}
	b.act(`document.querySelector(".live-stop").click()`)
	b.idle("Stop ends the cell")
	if got := output(2); !strings.Contains(got, "the cell was interrupted") {
		t.Errorf("after Stop the cell shows %q", got)
	}
	if got := strings.TrimSpace(run(1, "fmt.Println(one, two)")); got != "1 [2]" {
		t.Errorf("after Stop the values are %q, want 1 [2]", got)
	}

	// A cell that is changed while it waits runs as it is then.
	all("n := 5", "fmt.Print(\"Go on? \")\nvar line string\nshow.Scanln(&line)", "fmt.Println(n)", "fmt.Println(n, \"end\")")
	asked := `document.querySelector("#cell-` + id(1) + ` .live-input input")`
	b.until("the second cell waits", asked+` !== null`, liveState)
	b.change(id(2), "fmt.Println(n + 1)")
	b.act(`(() => { const i = ` + asked + `; i.value = "yes"; i.form.requestSubmit(); })()`)
	b.idle("all cells end")
	if got, end := strings.TrimSpace(output(2)), strings.TrimSpace(output(3)); got != "6" || end != "5 end" {
		t.Errorf("the changed cell shows %q and the next %q, want 6 and 5 end", got, end)
	}

	all("n := 1", "n++\nvar xs []int\nfmt.Println(xs[n])", "fmt.Println(n)")
	b.idle("the panic ends")
	if got := output(1); !strings.Contains(got, "index out of range [2] with length 0") || !strings.Contains(got, "this cell, line 3") || strings.Contains(got, "lectern") {
		t.Errorf("a panic shows %q", got)
	}
	if said := b.text(`lecternLive.cell("` + id(2) + `").note.textContent`); said != "" {
		t.Errorf("the cell behind the panic says %q, though it has not run", said)
	}
	alone := run(0, "fmt.Println(n)")
	run(0, "n := 1")
	run(0, "n++\nvar xs []int\nfmt.Println(xs[n])")
	if want := run(0, "fmt.Println(n)"); alone != want {
		t.Errorf("after the panic the value is %q, and %q if each cell has its program", alone, want)
	}
	b.clean(fromSite(address))
}
