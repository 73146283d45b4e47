//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// GoNB's own notebooks, cells and outputs by people who are not us, must do in our kernel what they did in theirs. They
// are read from GoNB's module, in the version that the kernel is built with.

// gonbThreshold is how many cells of GoNB's notebooks must end as stored. It only ever rises.
const gonbThreshold = 126

// omittedNotebooks are GoNB's notebooks that are left out as a whole.
var omittedNotebooks = map[string]string{
	"wasm_demo.ipynb":         "draws in a browser with modules of its own",
	"google_colab_demo.ipynb": "runs on Google's machines",
}

// gonbModule returns the folder of GoNB's module.
func gonbModule() (string, error) {
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/janpfeifer/gonb")
	cmd.Dir = filepath.Join("..", "..", "tools", "cells")
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("GoNB's module: %v\n%s", err, stderr.Bytes())
	}
	dir := strings.TrimSpace(string(b))
	if _, err := os.Stat(filepath.Join(dir, "examples", "tutorial.ipynb")); err != nil {
		return "", fmt.Errorf("GoNB's notebooks: %v", err)
	}
	return dir, nil
}

// A gonbCell is what became of one cell of GoNB's notebooks.
type gonbCell struct {
	name   string // "tutorial 7": the notebook and the index of the cell in it
	differ string // how it differs from the stored outputs; empty if it does not
}

// readReasons reads the list of cells that are known to differ: the notebook, the cell's index and the reason.
func readReasons(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "gonbnotebooks.txt"))
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, ok := strings.Cut(line, ": ")
		if !ok || reasons[name] != "" {
			t.Fatalf("testdata/gonbnotebooks.txt: %q: a line is \"notebook index: reason\", once for each cell", line)
		}
		reasons[name] = reason
	}
	return reasons
}

// TestGoNBNotebooks runs GoNB's notebooks. LECTERN_GROUP limits it to notebooks whose names contain a word.
func TestGoNBNotebooks(t *testing.T) {
	t.Parallel()
	bin, err := tools()
	need(t, err)
	module, err := gonbModule()
	need(t, err)
	examples := filepath.Join(module, "examples")
	var names []string
	filepath.WalkDir(examples, func(path string, _ fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(examples, path); filepath.Ext(path) == ".ipynb" && omittedNotebooks[rel] == "" {
			names = append(names, rel)
		}
		return err
	})
	word := os.Getenv("LECTERN_GROUP")
	whole := long() && word == ""
	reasons := readReasons(t)
	var mu sync.Mutex
	var cells []gonbCell
	t.Run("run", func(t *testing.T) {
		for _, name := range names {
			short := strings.TrimSuffix(filepath.Base(name), ".ipynb")
			if !strings.Contains(short, word) || word == "" && !long() && short != "hello" && short != "vartuple" && short != "script" {
				continue
			}
			t.Run(short, func(t *testing.T) {
				t.Parallel()
				defer func() {
					mu.Lock()
					whole = whole && !t.Skipped()
					mu.Unlock()
				}()
				if short == "script" {
					_, err := exec.LookPath("bc") // which its script calls
					need(t, err)
				}
				list := runGoNB(t, bin, module, name)
				mu.Lock()
				cells = append(cells, list...)
				mu.Unlock()
			})
		}
	})
	good := 0
	var rest []string
	for _, c := range cells {
		switch reason := reasons[c.name]; {
		case c.differ == "":
			good++
			if reason != "" {
				t.Logf("%s ends as stored now: take it off testdata/gonbnotebooks.txt", c.name)
			}
		case reason == "":
			t.Errorf("%s differs from what is stored: %s", c.name, c.differ)
		default:
			rest = append(rest, fmt.Sprintf("%s: %s", c.name, reason))
			t.Logf("%s: %s", c.name, c.differ)
		}
	}
	slices.Sort(rest)
	t.Logf("GoNB notebooks: %d of %d cells end as stored\n%s", good, len(cells), strings.Join(rest, "\n"))
	if whole && good < gonbThreshold {
		t.Errorf("only %d of %d cells end as stored; it was %d before", good, len(cells), gonbThreshold)
	}
}

// runGoNB runs one notebook in a copy of its folder, with nothing but the modules of the module cache.
func runGoNB(t *testing.T, bin, module, name string) (cells []gonbCell) {
	book, err := notebook.Read(filepath.Join(module, "examples", name))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(module, "examples"))); err != nil {
		t.Fatal(err)
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	proxy := "file://" + filepath.ToSlash(filepath.Join(strings.TrimSpace(string(cache)), "cache", "download"))
	env := []string{
		"GONB_GIT_ROOT=" + module, "TEST_DIR=" + t.TempDir() + "/", "LECTERN_GET=" + t.TempDir(),
		"LECTERN_GOPROXY=" + proxy, "GOPROXY=" + proxy, "GONOSUMDB=*", "GOFLAGS=-modcacherw", "GOCOVERDIR=" + t.TempDir(),
	}
	// GoNB takes the working folder of the process that has started it for Jupyter's root.
	jupyterServer := exec.Command("cat")
	jupyterServer.Dir = dir
	if _, err := jupyterServer.StdinPipe(); err != nil { // on which nothing ever comes
		t.Fatal(err)
	}
	if err := jupyterServer.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { jupyterServer.Process.Kill(); jupyterServer.Wait() })
	// The author's home has a copy of GoNB.
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "Projects"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(module, filepath.Join(home, "Projects", "gonb")); err != nil {
		t.Fatal(err)
	}
	env = append(env, "HOME="+home, fmt.Sprint("JPY_PARENT_PID=", jupyterServer.Process.Pid))
	for _, name := range []string{"GOMODCACHE", "GOCACHE", "GOPATH"} {
		v, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(v)))
	}
	page := newPage(t, slices.ContainsFunc(book.Cells, func(c *notebook.Cell) bool { return strings.Contains(c.Source, "gonbui/") }))
	l := startLabSeen(t, bin, filepath.Join(dir, filepath.Dir(name)), env, page.see)
	page.posts(l.k.Post)
	for i, c := range book.Cells {
		if c.Type != "code" {
			continue
		}
		id := fmt.Sprint(strings.TrimSuffix(filepath.Base(name), ".ipynb"), " ", i)
		start := time.Now()
		inputs := storedInputs(c)
		outs, r, err := l.try(c.Source, jupyter.ExecuteOptions{Timeout: patience, Input: func(string, bool) (string, error) {
			if len(inputs) == 0 {
				return "", fmt.Errorf("more input is asked for than was stored")
			}
			line := inputs[0]
			inputs = inputs[1:]
			return line, nil
		}})
		if err != nil {
			cells = append(cells, gonbCell{id, err.Error()})
			if l.k.Pid() == 0 || isClosed(l.k.Exited()) {
				t.Fatalf("%s: %v", id, err)
			}
			continue
		}
		differ := page.compare(id, c, outs, r.Status)
		cells = append(cells, gonbCell{id, differ})
		if d := time.Since(start); d > 3*time.Second {
			t.Logf("%s took %v", id, d.Round(100*time.Millisecond))
		}
	}
	return cells
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// storedInputs are the lines that the user typed when the notebook was stored. Passwords are stored
// as dots; the cell shows what they were.
func storedInputs(c *notebook.Cell) (lines []string) {
	var shown []string
	for _, o := range c.Outputs {
		if o.Name == "stdout" {
			if _, v, ok := strings.Cut(strings.TrimSpace(o.Text), "="); ok {
				shown = append(shown, v)
			}
		}
	}
	for _, o := range c.Outputs {
		if o.Type == "stream" && o.Name == "stdin" {
			f := strings.Fields(o.Text)
			line := f[len(f)-1]
			if strings.HasPrefix(line, "·") && len(lines) < len(shown) {
				line = shown[len(lines)]
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// What differs from one run to the next: addresses, times, counts, names of folders.
var gonbMasks = []struct {
	re *regexp.Regexp
	by string
}{
	{regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`), ""},
	{regexp.MustCompile(`[^\n]*\r`), ""},
	{regexp.MustCompile(`gonb_[0-9a-f]{8}\b`), "GONB"},
	{regexp.MustCompile(`go1\.[0-9.]+`), "GO"},
	{regexp.MustCompile(`\bgo 1\.[0-9.]+`), "go N"},
	{regexp.MustCompile(`(gonb_tests_gowork_)[A-Za-z0-9]{8}`), "${1}X"},
	{regexp.MustCompile(`(?m)^cpu: .*$`), "cpu"},
	{regexp.MustCompile(`(?m)^pkg: .*$`), "pkg"},
	{regexp.MustCompile(`(?m)^goarch: .*$`), "goarch"},
	{regexp.MustCompile(`(?m)^goos: .*$`), "goos"},
	{regexp.MustCompile(`(?m)^(Benchmark\w+)(-\d+)?(\s+[\d.]+)(\s+[\d.]+ ns/op).*$`), "$1 N ns/op"},
	{regexp.MustCompile(`(?m)^(Benchmark\w+)$\n`), ""},
	{regexp.MustCompile(`\(\d+\.\d+s\)`), "(T)"},
	{regexp.MustCompile(`<li><pre>_~[0-9]+</pre></li>\n`), ""}, // GoNB's own name for a blank variable
	{regexp.MustCompile(`(_|\b)[0-9a-f]{8}\b`), "${1}ID"},
	{regexp.MustCompile(`\d\d\d\d/\d\d/\d\d \d\d:\d\d:\d\d`), "DATE"},
	{regexp.MustCompile(`(?m)replace (lectern\.local/get|github\.com/lectern-go/lectern) => .*\n+`), ""}, // the modules of our own workspace
	{regexp.MustCompile(`(?m)(^|[\s"'=])(/[\w.@!-]+){2,}/?`), "${1}PATH"},
	{regexp.MustCompile(`(steps/s|it/s)`), "$1"},
	{regexp.MustCompile(`\d+(\.\d+)? (steps/s|it/s)`), "N $2"},
	{regexp.MustCompile(`(?m)(total|[-drwxs]{10}) .*$`), "FILE"},
	{regexp.MustCompile(`(FILE\n)+`), "FILES\n"},
	{regexp.MustCompile(`(CachedValue|lastRenderTime)=[\d.]+`), "$1=N"},
	{regexp.MustCompile(`(?m)(main\.go|cell\[\d+\]):\d+(:\d+)?`), "main.go:N"},                                     // we name the cell
	{regexp.MustCompile(`(?m)^(fetching \S+, which this cell imports|go: (added|upgraded|downloading) .*)\n`), ""}, // what fetches say
	{regexp.MustCompile(`(?m)^note: .* still running when the cell ended, .*\n?`), ""},                             // GoNB says nothing of goroutines
	{regexp.MustCompile(`(?m)^note: .* not remembered by later cells: .*\n?`), ""},                                 // GoNB remembers no values
	{regexp.MustCompile(`(steps/s\)):0s\]*`), "$1"},                                                                // what an earlier, longer line has left
	{regexp.MustCompile(`coverage: .*`), "coverage"},
	{regexp.MustCompile(`\(statements\)\t[\d.]+%`), "(statements)"},
}

func gonbMask(s string) string {
	for _, m := range gonbMasks {
		s = m.re.ReplaceAllString(s, m.by)
	}
	return strings.TrimSpace(s)
}

// gonbOwn are cells whose outputs say something of their author's machine; of those the first match is compared.
var gonbOwn = map[string]*regexp.Regexp{
	"tutorial 64": regexp.MustCompile(`^module GONB\s+go N\s+`), // go.mod as it happens to be
	"tutorial 54": regexp.MustCompile(`^PATH\nFILES`),           // the files of the kernel's folder
	"tutorial 52": regexp.MustCompile(`^go version GO .*\nPATH\nFILES`),
}

// compare says how a cell's outputs differ from the stored ones: the status, the printed text, and
// displays, by kind, in order.
func (p *page) compare(id string, c *notebook.Cell, outs []out, status string) string {
	want := map[string]string{}
	var shown []string
	wantStatus := "ok"
	for _, o := range c.Outputs {
		switch o.Type {
		case "stream":
			want[o.Name] += o.Text
		case "error":
			wantStatus = "error"
		default:
			shown = append(shown, describe(o.Data))
		}
	}
	got := map[string]string{}
	var gotShown []string
	for _, o := range outs {
		switch o.kind {
		case "stdout", "stderr":
			got[o.kind] += o.text
		case "display", "result", "update":
			gotShown = append(gotShown, describe(o.data))
		}
	}
	if status != wantStatus {
		return fmt.Sprintf("status %s, want %s: %s", status, wantStatus, shorten(flat(outs)))
	}
	w, g := gonbMask(want["stdout"]), gonbMask(got["stdout"])
	if own := gonbOwn[id]; own != nil {
		w, g = own.FindString(w), own.FindString(g)
		if w == "" {
			return "the stored output is not what gonbOwn says"
		}
	}
	if w != g {
		return fmt.Sprintf("stdout: want %s\ngot %s\nall: %s", shorten(w), shorten(g), shorten(flat(outs)))
	}
	if wantStatus == "error" { // how an error is told is our own affair
		return ""
	}
	if w, g := gonbMask(want["stderr"]), gonbMask(got["stderr"]); w != g {
		return fmt.Sprintf("stderr: want %s\ngot %s", shorten(w), shorten(g))
	}
	// An update without text takes the place of what it updates: the stored notebook has the last state alone.
	shown, gotShown = nonEmpty(shown), nonEmpty(gotShown)
	left := slices.Clone(gotShown)
	for _, w := range shown {
		i := slices.IndexFunc(left, func(g string) bool { return w == g || strings.HasPrefix(w, "long ") && g == w })
		if i < 0 {
			return fmt.Sprintf("no display %s; there is %s\nall: %s", shorten(w), shorten(fmt.Sprintf("%q", gotShown)), shorten(flat(outs)))
		}
		left = slices.Delete(left, i, i+1)
	}
	return ""
}

// describe returns the part of a display that is compared: the kinds of its data, and the text where that is
// short enough to be anything but a picture.
func describe(data map[string]any) string {
	kinds := slices.Sorted(maps.Keys(data))
	kinds = slices.DeleteFunc(kinds, func(k string) bool { return k == "text/plain" && len(data) > 1 })
	for _, k := range kinds {
		s, ok := data[k].(string)
		if !ok {
			b, _ := json.Marshal(data[k])
			s = string(b)
		}
		switch {
		case strings.TrimSpace(s) == "":
			return ""
		case k == "text/javascript" && len(s) < 400: // GoNB indents a cell's lines, those inside raw strings among them
			return k + " " + gonbMask(strings.ReplaceAll(s, "\n\t", "\n"))
		case len(s) < 400 && strings.HasPrefix(k, "text/"):
			return k + " " + gonbMask(s)
		}
	}
	return "long " + strings.Join(kinds, " ")
}

func nonEmpty(list []string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

func shorten(s string) string {
	if len(s) > 500 {
		s = s[:250] + " … " + s[len(s)-250:]
	}
	return fmt.Sprintf("%q", s)
}
