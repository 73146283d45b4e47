package main

import (
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lectern-go/lectern/internal/testenv"
	"github.com/lectern-go/lectern/kernel/internal/inband"
	"github.com/lectern-go/lectern/kernel/translate"
)

// packageIndex is an index of what cells of these tests import, of archives that are built for this machine.
var packageIndex = sync.OnceValues(func() ([]byte, error) {
	const ours = "github.com/lectern-go/lectern/kernel/"
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Name,Export,Imports", "fmt", "strings", "errors", ours+"persist", ours+"show", ours+"show/widget",
		"github.com/lectern-go/lectern/notebooks/lesson", minePath)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var list []*pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p struct {
			ImportPath, Name, Export string
			Imports                  []string
		}
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		if p.Export == "" { // unsafe
			continue
		}
		p.Imports = slices.DeleteFunc(p.Imports, func(path string) bool { return path == "unsafe" || path == "C" })
		list = append(list, &pkg{Path: p.ImportPath, Name: p.Name, Imports: p.Imports, File: p.Export})
	}
	return json.Marshal(list)
})

// begin returns an engine as a page has it before its first cell.
func begin(t *testing.T) *engine {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not here")
	}
	index, err := packageIndex()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, keep := filepath.Join(dir, "index.json"), filepath.Join(dir, "keep")
	if err := os.WriteFile(file, index, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(keep, 0o700); err != nil {
		t.Fatal(err)
	}
	e, err := newEngine(file, keep)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// message is a message of a cell's program.
func message(kind string, fields ...string) string { return inband.Encode(pageToken, kind, fields...) }

// drawn is the HTML of the new outputs below a cell.
func drawn(c changes) (text string) {
	for _, d := range c.Drawn {
		text += d.HTML
	}
	return html.UnescapeString(text)
}

// TestEnds has programs end in all ways.
func TestEnds(t *testing.T) {
	for _, c := range []struct {
		name, code     string
		stdout, stderr string
		state          string
		failed         bool
		want           string
	}{
		{"well", `fmt.Println("hi")`, "hi\n", "", "exit status 0", false, "hi"},
		{"display", `fmt.Println()`, message("display", "text/html", "<b>bold</b>"), "", "exit status 0", false, "<b>bold</b>"},
		{"panic", `panic("oh")`, "", "panic: oh\n\ngoroutine 1 [running]:\nmain.main()\n\tcell[1]:1 +0x1d\nexit status 2\n", "exit status 2", true, "panic: oh"},
		{"own error", `fmt.Println()`, message("error", "lesson", "it is wrong"), "", "exit status 1", true, "it is wrong"},
		{"own error is the reason", `fmt.Println()`, message("error", "lesson", "it is wrong"), "", "stopped", true, "it is wrong"},
		{"stopped", `for {}`, "some\n", "", "stopped", true, "the cell was interrupted"},
		{"limit", `for {}`, "", "", "limit 180", true, "the cell ran for 180 s and was stopped"},
		{"status", `fmt.Println()`, "", "left over\n", "exit status 3", true, "left over"},
		{"nothing kept", "x := 1\nx", "1\n", "", "exit status 0", false, "x must be defined again"},
		{"endless", `for {}`, strings.Repeat("long", mostText), "", "stopped", true, "the page shows no more of it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := begin(t)
			a := e.rewrite(1, c.code, false, "")
			if a.Program == "" || len(a.Errors)+len(a.Need) > 0 || a.Files["runtime"] == "" {
				t.Fatalf("the answer is %v, it needs %v", a.Errors, a.Need)
			}
			e.now.said(1, c.stdout)
			e.now.said(2, c.stderr)
			v := e.ended(c.state)
			if v.Failed != c.failed {
				t.Errorf("failed is %v", v.Failed)
			}
			if html := drawn(e.now.changes()); !strings.Contains(html, c.want) {
				t.Errorf("the page shows\n%s\nwithout %q", html, c.want)
			}
			if stored := string(e.now.notebook()); !strings.Contains(stored, `"outputs"`) {
				t.Errorf("the cell is stored as %s", stored)
			}
			if len(e.now.changes().Drawn) > 0 {
				t.Error("the same is drawn twice")
			}
		})
	}
}

// TestClear: what a cell shows in the place of something else is drawn, however alike they are.
func TestClear(t *testing.T) {
	e := begin(t)
	e.rewrite(1, "for {}", false, "")
	for _, text := range []string{"step 0\n", "step 1\n", "step 2\n"} {
		e.now.said(1, message("clear", "true")+text)
		if html := drawn(e.now.changes()); !strings.Contains(html, strings.TrimSpace(text)) {
			t.Errorf("the page shows %q without %q", html, text)
		}
	}
}

// TestRefused: cells that can't run say why, and change nothing.
func TestRefused(t *testing.T) {
	for code, want := range map[string]string{
		"nope + 1":            "undefined: nope",
		"%vars":               "works only in the notebook: a page runs nothing but Go",
		"%%bash\nls":          "needs a real computer",
		"import \"C\"\nC.x()": "this cell needs the notebook",
	} {
		e := begin(t)
		before := e.Current()
		a := e.rewrite(1, code, false, "")
		if a.Program != "" {
			t.Errorf("%q has a program", code)
		}
		if v := e.ended("exit status 0"); !v.Failed || e.Current() != before {
			t.Errorf("%q: failed %v", code, v.Failed)
		}
		if html := drawn(e.now.changes()); !strings.Contains(html, want) {
			t.Errorf("%q shows\n%s\nwithout %q", code, html, want)
		}
	}
	e := begin(t)
	e.rewrite(1, "fmt.Println()", false, "")
	e.now.refused("cell[1]:1:1: internal compiler error")
	if v := e.ended("exit status 0"); !v.Failed || !strings.Contains(drawn(e.now.changes()), "internal compiler error") {
		t.Error("the page doesn't say what the compiler does")
	}
}

// TestNeed: what a cell imports is loaded first.
func TestNeed(t *testing.T) {
	e := begin(t)
	file := e.packages.known["strings"].File
	e.packages.known["strings"].File = filepath.Join(t.TempDir(), "later")
	if a := e.rewrite(1, `strings.ToUpper("a")`, false, ""); !slices.Contains(a.Need, "strings") || a.Program != "" {
		t.Errorf("the answer is %+v", a)
	}
	if c := e.complete(`strings.ToUp`, 12); !slices.Contains(c.Need, "strings") {
		t.Errorf("the completion is %+v", c)
	}
	e.packages.known["strings"].File = file
	if a := e.rewrite(1, `strings.ToUpper("a")`, false, ""); len(a.Need) > 0 || a.Program == "" {
		t.Errorf("then the answer is %+v", a)
	}
}

// TestAsk: a cell asks for a line after what it has printed of it.
func TestAsk(t *testing.T) {
	e := begin(t)
	e.rewrite(1, `fmt.Println()`, false, "")
	e.now.said(1, "one\nYour name? "+message("input"))
	if p := e.now.changes().Prompt; p == nil || *p != "Your name? " {
		t.Errorf("the prompt is %v", p)
	}
	if p := e.now.changes().Prompt; p != nil {
		t.Errorf("it is asked again: %q", *p)
	}
}

// TestChains: several cells are one program, as long as they are those that the page said.
func TestChains(t *testing.T) {
	more := func(codes ...string) string {
		var list []next
		for i, code := range codes {
			list = append(list, next{i + 2, code})
		}
		return text(list)
	}
	e := begin(t)
	a := e.rewrite(1, `fmt.Println(1)`, false, more(`fmt.Println(2)`, `fmt.Println(3)`, `nope`))
	if a.Alone == nil || !strings.Contains(a.Program, "Println(3)") || strings.Contains(a.Alone.Program, "Println(2)") {
		t.Fatalf("the answer is %v, it needs %v", a.Errors, a.Need)
	}
	e.ended("exit status 0")
	if runs, ok := e.turn(2, `fmt.Println(2)`, 0); !runs || !ok {
		t.Errorf("the second cell: %v, %v", runs, ok)
	}
	e.ended("exit status 0")
	if _, ok := e.turn(3, `fmt.Println(4)`, 0); ok {
		t.Error("a cell that has changed meanwhile is run as it was")
	}
	if _, ok := e.turn(3, `fmt.Println(3)`, 0); ok {
		t.Error("the chain goes on after another cell")
	}
}

// TestWidgets: the page draws the widgets that cells make, and what stands below them.
func TestWidgets(t *testing.T) {
	e := begin(t)
	e.rewrite(1, `fmt.Println()`, false, "")
	e.now.said(1, message("widget", "open", "out", "", "Output")+message("widget", "open", "s", "out", "IntSlider", "value:n", "1")+message("widget", "set", "s", "value:n", "2"))
	e.now.said(1, message("widget", "into", "out")+"below\n"+message("widget", "into", "")+"beside\n")
	e.now.said(1, message("widget", "set", "gone", "value:n", "2")+message("widget", "open")+message("widget", "into", ""))
	c := e.now.changes()
	var ids []string
	for _, m := range c.Models {
		ids = append(ids, m.ID)
	}
	if got := fmt.Sprint(ids, c.Models[1].State["value"]); got != "[out s s]2" {
		t.Errorf("widgets: %s", got)
	}
	if len(c.Below) != 1 || c.Below[0].ID != "out" || !strings.Contains(c.Below[0].Drawn[0].HTML, "below") {
		t.Errorf("below widgets stands %+v", c.Below)
	}
	if html := drawn(c); !strings.Contains(html, "beside") || strings.Contains(html, "below") {
		t.Errorf("below the cell stands %s", html)
	}
	if v := e.ended("exit status 0"); v.Failed || !v.Fresh {
		t.Errorf("the verdict is %+v", v)
	}

	// What the cell kept of them is not there, since no program ran; so the page says what to do.
	e.event("s")
	e.ended("exit status 0")
	if c := e.now.changes(); len(c.Below) != 1 || !strings.Contains(c.Below[0].Drawn[0].HTML, "run the cell that made it once more") {
		t.Errorf("below widgets stands %+v", c.Below)
	}
	if !e.forget(1) || e.forget(1) || e.widgets.Get("s") != nil {
		t.Error("the widgets are not forgotten once")
	}
	e.event("s") // by a click that came late
	e.ended("exit status 0")
	if c := e.now.changes(); len(c.Below) > 0 {
		t.Errorf("below a widget that is gone stands %+v", c.Below)
	}
}

// TestSteps: the page gets the record that it wants.
func TestSteps(t *testing.T) {
	e := begin(t)
	a := e.rewrite(1, "x := 1\nx++\nfmt.Println(x)", true, "")
	if a.Program == "" {
		t.Fatalf("the answer is %v, it needs %v", a.Errors, a.Need)
	}
	e.now.said(1, "2\n")
	if v := e.ended("exit status 2"); !v.Failed {
		t.Errorf("the verdict is %+v", v)
	}
}

// TestCompletes: completion and help know what cells have declared, and packages.
func TestCompletes(t *testing.T) {
	e := begin(t)
	e.rewrite(1, "// Twice doubles.\nfunc twice(n int) int { return 2 * n }", false, "")
	e.ended("exit status 0")
	for code, want := range map[string]string{"é := twi": "twice", "strings.ToUp": "ToUpper", `import "str`: "strings"} {
		c := e.complete(code, len([]rune(code)))
		if !slices.ContainsFunc(c.Matches, func(s suggestion) bool { return s.Text == want }) {
			t.Errorf("%s: %+v", code, c)
		}
	}
	if c := e.complete("é := twi", 8); c.Start != 5 || c.End != 8 {
		t.Errorf("it stands at %d to %d", c.Start, c.End)
	}
	if m := e.help("twice(3)", 7); !strings.Contains(m.Text, "func twice(n int) int") {
		t.Errorf("help says %q", m.Text)
	}
	if m := e.help("3 + 4", 2); m.Text != "" {
		t.Errorf("help says %q of nothing", m.Text)
	}
}

// TestErrorsInALanguage: what an error means in the page's language stands behind it.
func TestErrorsInALanguage(t *testing.T) {
	e := begin(t)
	e.language = translate.ReadErrors([]byte("msgid \"undefined: %s\"\nmsgstr \"%s kennt niemand.\"\n"))
	e.rewrite(1, "nope + 1", false, "")
	e.ended("exit status 0")
	if got := drawn(e.now.changes()); !strings.Contains(got, "undefined: nope") || !strings.Contains(got, "nope kennt niemand.") {
		t.Errorf("the page shows %s", got)
	}
}

// TestExports: a notebook becomes a program, or the page says whose mistake is in the way.
func TestExports(t *testing.T) {
	stored := func(code string) string {
		return fmt.Sprintf(`{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"id": "a", "cell_type": "code", "source": %q, "metadata": {}, "execution_count": null, "outputs": []}]}`, code)
	}
	e := begin(t)
	if x := e.export("a.ipynb", stored("fmt.Println(1)")); !strings.Contains(x.Program, "func cell1()") {
		t.Errorf("the program is %+v", x)
	}
	if x := e.export("a.ipynb", stored("nope")); x.Cell != "a" || !strings.Contains(x.Problem, "undefined: nope") {
		t.Errorf("the problem is %+v", x)
	}
	if x := e.export("a.ipynb", "{}"); x.Problem == "" || x.Program != "" {
		t.Errorf("of what is no notebook comes %+v", x)
	}
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "../../..") }
