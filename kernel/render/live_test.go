package render

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/internal/report"
	"github.com/lectern-go/lectern/kernel/notebook"
)

const part = "engine-0123456789abcdef.lzma"

func liveOptions(t *testing.T, dir string) Options {
	t.Helper()
	file := write(t, dir, "01-test.ipynb", md("a", "# A lesson"), code("b", "%%\n1 + 1 < 3"), code("c", "!ls"), code("d", "import \"os/exec\""),
		&notebook.Cell{ID: "e", Type: "code", Source: "boom()", Outputs: []*notebook.Output{{Type: "error", EName: "panic", EValue: "boom"}}},
		&notebook.Cell{ID: "f", Type: "code", Source: "big()", Metadata: tagged([]string{"needs-memory"})})
	return Options{Notebooks: []string{file}, Out: filepath.Join(dir, "site")}
}

func live() *Live {
	return &Live{
		Script: "run()\n", Style: ".live{}\n", Files: map[string][]byte{part: []byte("x"), part + ".js": []byte("y"), "LICENSE-Go.txt": []byte("BSD")},
		Lesson: func(i int) map[string]any { return map[string]any{"first": []int{i}} },
	}
}

func read(t *testing.T, elem ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestBeyondPage: what only reads like a command or an import is no reason not to run a cell.
func TestBeyondPage(t *testing.T) {
	for source, beyond := range map[string]bool{
		"!ls":                             true,
		"x := 1\n%timeit x":               true,
		"//gonb:%test":                    true,
		"import \"C\"":                    true,
		"import (\n\tx \"os/exec\"\n)":    true,
		"import _ \"net/http\"":           true,
		"http.Get(url)":                   true,
		"[]string{\"A\", \"B\", \"C\"}":   false,
		"names := []string{\n\t\"C\",\n}": false,
		"ok := a &&\n\t!b":                false,
		"text := `\n  %d items`":          false,
		"%%\n1 + 1":                       false,
	} {
		if why := beyondPage(&notebook.Cell{Type: "code", Source: source}); (why != "") != beyond {
			t.Errorf("%q: %q", source, why)
		}
	}
}

func TestLive(t *testing.T) {
	dir := t.TempDir()
	o := liveOptions(t, dir)
	if _, err := Site(o); err != nil {
		t.Fatal(err)
	}
	before, index := read(t, o.Out, "01-test.html"), read(t, o.Out, "index.html")
	o.Live = live()
	if _, err := Site(o); err != nil {
		t.Fatal(err)
	}
	page := read(t, o.Out, "01-test.html")
	for _, want := range []string{
		"script-src 'unsafe-inline' 'self' 'wasm-unsafe-eval'; worker-src blob:; connect-src 'self'; style-src", "run()", ".live{}",
		`"first":[0]`, `"folder":"live/"`, `"name":"01-test"`, `{"id":"b","source":"%%\n1 + 1 \u003c 3"}`, `{"id":"c","source":"!ls","why":"This cell uses commands`,
		`"why":"This cell needs programs`, `{"id":"e","source":"boom()","fails":true}`,
		`{"id":"f","source":"big()","why":"This cell needs more memory`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if got := read(t, o.Out, "index.html"); got != index {
		t.Error("the index changed, which has no cells")
	}
	if got := read(t, o.Out, "live", part); got != "x" {
		t.Errorf("the part is %q", got)
	}
	// The user's own file stays; ours go.
	other := filepath.Join(o.Out, "live", "mine.txt")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o.Live = nil
	if _, err := Site(o); err != nil {
		t.Fatal(err)
	}
	if got := read(t, o.Out, "01-test.html"); got != before {
		t.Error("without Live the page is not what it was")
	}
	if left, err := filepath.Glob(filepath.Join(o.Out, "live", "*")); err != nil || len(left) != 1 || left[0] != other {
		t.Errorf("in the folder are %v (%v), want the file that render did not make", left, err)
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if o.Live == nil {
			o.Live = live()
		} else {
			o.Live = nil
		}
		if _, err := Site(o); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(o.Out, "live")); !os.IsNotExist(err) {
		t.Errorf("the empty folder is left: %v", err)
	}
	o.Live, o.Untrusted = live(), true
	if _, err := Site(o); err == nil || !strings.Contains(err.Error(), "-untrusted") {
		t.Errorf("got %v for a notebook that is not trusted", err)
	}
}

// Cells that run bring their own buttons for steps along: the stepper's script must know that when it runs.
func TestLiveBeforeSteps(t *testing.T) {
	dir := t.TempDir()
	file := write(t, dir, "01-test.ipynb", md("a", "# A lesson"), code("b", "1 + 1"))
	record := &report.Record{Steps: []report.Step{{Line: 1}}}
	o := Options{Notebooks: []string{file}, Out: filepath.Join(dir, "site"), Steps: map[string]Steps{file: {"b": {Record: record}}},
		Live: &Live{Script: "live()", Lesson: func(int) map[string]any { return map[string]any{} }}}
	if _, err := Site(o); err != nil {
		t.Fatal(err)
	}
	page := read(t, o.Out, "01-test.html")
	at := -1
	for _, part := range []string{`id="lectern-live"`, "window.lecternStepping =", "live()"} {
		next := strings.Index(page, part)
		if next < at || next < 0 {
			t.Errorf("%s is at %d, and what must stand before it at %d", part, next, at)
		}
		at = next
	}
}

// Where Markdown names an explorer, a page has a place for it, and may run the scripts beside it, whether its cells run
// or not; without explorers it has nothing.
func TestExplorers(t *testing.T) {
	dir := t.TempDir()
	file := write(t, dir, "01-test.ipynb", md("a", "# A lesson\n\nbefore\n\n<!-- explore: dice -->\n\nafter"), code("b", "1 + 1"))
	plain := write(t, dir, "02-test.ipynb", md("a", "# Another"))
	o := Options{Notebooks: []string{file, plain}, Out: filepath.Join(dir, "site")}
	if _, err := Site(o); err != nil {
		t.Fatal(err)
	}
	if page := read(t, o.Out, "01-test.html"); strings.Contains(page, "explore") || !strings.Contains(page, "<p>before</p>\n<p>after</p>") {
		t.Errorf("without explorers the page is\n%s", page)
	}
	without := read(t, o.Out, "02-test.html")
	o.Explore = &Explore{
		Script: "play()", Style: ".dice{}", Files: map[string][]byte{part + ".js": []byte("z")}, Told: map[string]any{"scripts": true},
		Looks: map[string]json.RawMessage{"dice": []byte(`{"title":"Roll"}`), "coins": []byte(`{"title":"Toss"}`)},
	}
	for _, policy := range []string{"script-src 'unsafe-inline' 'self' 'wasm-unsafe-eval'; worker-src blob:; style-src", "worker-src blob:; connect-src 'self'; style-src"} {
		if _, err := Site(o); err != nil {
			t.Fatal(err)
		}
		page := read(t, o.Out, "01-test.html")
		for _, want := range []string{policy, `<div class="explore" data-explore="dice" hidden></div>`, `"explorers":{"dice":{"title":"Roll"}},"folder":"live/","scripts":true}`, "play()", ".dice{}"} {
			if !strings.Contains(page, want) {
				t.Errorf("the page lacks %q:\n%s", want, page)
			}
		}
		if got := read(t, o.Out, "live", part+".js"); o.Live == nil && got != "z" {
			t.Errorf("the part is %q", got)
		}
		if got := read(t, o.Out, "02-test.html"); o.Live == nil && got != without {
			t.Error("a page without explorers has changed")
		}
		o.Live = live()
	}
	o.Live, o.Untrusted = nil, true
	if _, err := Site(o); err == nil || !strings.Contains(err.Error(), "not trusted") {
		t.Errorf("got %v for a notebook that is not trusted", err)
	}
	o.Untrusted = false
	delete(o.Explore.Looks, "dice")
	if _, err := Site(o); err == nil || !strings.Contains(err.Error(), `there is no explorer "dice"; there are coins`) {
		t.Errorf("got %v for an explorer that is not there", err)
	}
}

// Nothing but what render made is replaced or removed.
func TestLiveClaims(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, out, dir string){
		"in the way": func(t *testing.T, out, _ string) {
			if err := os.WriteFile(filepath.Join(out, "live", part), []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"move it away": func(t *testing.T, out, dir string) {
			elsewhere := filepath.Join(dir, "elsewhere")
			if err := os.MkdirAll(elsewhere, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(out, "live")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(elsewhere, filepath.Join(out, "live")); err != nil {
				t.Skip(err)
			}
		},
		"never writes": func(t *testing.T, out, _ string) {
			text := read(t, out, marker) + "live/../../secret.gz\n"
			if err := os.WriteFile(filepath.Join(out, marker), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o := liveOptions(t, dir)
			if _, err := Site(o); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(o.Out, "live"), 0o700); err != nil {
				t.Fatal(err)
			}
			spoil(t, o.Out, dir)
			o.Live = live()
			if _, err := Site(o); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("got %v, want an error with %q", err, name)
			}
		})
	}
}

func TestOutputsOfLiveCells(t *testing.T) {
	d := NewOutputs("live-3-")
	for _, tt := range []struct {
		output     *notebook.Output
		want, lost string
	}{
		{&notebook.Output{Type: "stream", Name: "stdout", Text: "\x1b[31mred\x1b[0m <b>"}, `<span class="af1">red</span> &lt;b&gt;`, "<b>"},
		{&notebook.Output{Type: "error", EName: "panic", EValue: "boom", Traceback: []string{"panic: boom"}}, `<p class="label">Error</p>`, ""},
		{display("text/html", `<div class="lectern-table bar" onclick="x()" style="position:fixed">t</div>`), `<div class="lectern-table">t</div>`, "onclick"},
		{display("text/html", `<p>a</p><script>x()</script>`), `sandbox="allow-scripts"`, "<script"},
		{display("image/svg+xml", `<svg width="4" height="4" onload="x()"><title>a dot</title><defs><g id="c"/></defs><use href="#c"/><script>x()</script></svg>`), `href="#live-3-`, "x()"},
		{display("image/svg+xml", `<svg><title>t</title><style>.bar{display:none}</style></svg>`), `<img src="data:image/svg+xml;base64,`, "<style"},
		{display("text/markdown", "**bold** $x^2$"), "<strong>bold</strong>", ""},
	} {
		got := d.Output(tt.output)
		if !strings.Contains(got, tt.want) || tt.lost != "" && strings.Contains(got, tt.lost) {
			t.Errorf("%v is drawn as\n%s\nwant %q and no %q", tt.output, got, tt.want, tt.lost)
		}
	}
}
