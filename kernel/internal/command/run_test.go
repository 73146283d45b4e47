package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lectern-go/lectern/internal/fakecuda"
	"github.com/lectern-go/lectern/internal/linediff"
	"github.com/lectern-go/lectern/kernel/internal/sandbox"
	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/jupyter/fakekernel"
	"github.com/lectern-go/lectern/kernel/notebook"
)

func TestMain(m *testing.M) {
	fakekernel.Hook()
	fakeLab()
	sandbox.Main()
	os.Exit(m.Run())
}

// scripted returns a workspace in a temporary folder and the spec of the scripted kernel.
func scripted(t *testing.T) (*workspace, *jupyter.Spec) {
	t.Helper()
	spec, err := fakekernel.Spec("message")
	if err != nil {
		t.Fatal(err)
	}
	return &workspace{root: t.TempDir(), stdout: io.Discard, stderr: io.Discard}, spec
}

// lesson writes a notebook of code cells and returns its path. A source that begins with "[tag]" gives the cell that
// tag.
func lesson(t *testing.T, dir string, sources ...string) string {
	t.Helper()
	n := &notebook.Notebook{}
	n.Cells = append(n.Cells, &notebook.Cell{ID: "title", Type: "markdown", Source: "# A lesson"})
	for i, s := range sources {
		c := &notebook.Cell{ID: "c" + string(rune('a'+i)), Type: "code", Source: s}
		if tag, rest, ok := strings.Cut(strings.TrimPrefix(s, "["), "]"); ok && strings.HasPrefix(s, "[") {
			c.Source, c.Metadata = rest, notebook.Object{"tags": []string{tag}}
		}
		n.Cells = append(n.Cells, c)
	}
	path := filepath.Join(dir, "lesson.ipynb")
	if err := n.Write(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRunWritesOutputs(t *testing.T) {
	w, spec := scripted(t)
	path := lesson(t, w.root, "print a\nprint b\nvalue 3", "", "update p 0%", "[skip-execution]fail", "[raises-exception]fail on purpose", "print end")
	cells, err := w.runFile(t.Context(), spec, path, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if cells != 4 {
		t.Errorf("%d cells ran, want 4: an empty one and one tagged skip-execution do not count", cells)
	}
	n, err := notebook.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range n.Cells[1:] {
		got = append(got, strings.Join(form(c.Outputs, false), "|"))
	}
	want := []string{
		"stdout:|  a|  b|execute_result text/plain:|  3", "", "display_data text/plain:|  0% (updated)", "",
		"error:|  ERROR: fail: on purpose", "stdout:|  end",
	}
	want[4] = "error:|  ERROR: on purpose"
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("cell %d: got %q, want %q", i+1, got[i], want[i])
		}
	}
	if k, ok := n.Metadata["kernelspec"].(notebook.Object); !ok || k["name"] != kernelName || k["display_name"] != kernelDisplay {
		t.Errorf("kernelspec in the file: %v", n.Metadata["kernelspec"])
	}
	once := read(t, path)
	if _, err := w.runFile(t.Context(), spec, path, time.Minute); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read(t, path), once) {
		t.Error("running twice gives different files")
	}
	link := filepath.Join(t.TempDir(), "link.ipynb")
	n.Cells[1].Outputs = nil
	if err := errors.Join(n.Write(path), os.Symlink(path, link)); err != nil {
		t.Fatal(err)
	}
	before := read(t, path)
	if _, err := w.runFile(t.Context(), spec, link, time.Minute); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 || bytes.Equal(read(t, path), before) {
		t.Errorf("a link to the notebook: %v, %v", info, err)
	}
}

// Stored outputs are English, also where the user works in another language: in a terminal of JupyterLab, for one.
func TestRunIsInEnglish(t *testing.T) {
	t.Setenv("LECTERN_LANG", "zh")
	w, spec := scripted(t)
	path := lesson(t, w.root, "env LECTERN_LANG\nprint end")
	if _, err := w.runFile(t.Context(), spec, path, time.Minute); err != nil {
		t.Fatal(err)
	}
	n, err := notebook.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := n.Cells[1].Outputs[0].Text; got != "\nend\n" {
		t.Errorf("the kernel's language, and a line: %q", got)
	}
}

func TestRunReportsFailuresAndLeavesTheFile(t *testing.T) {
	for _, c := range []struct {
		name    string
		sources []string
		limit   time.Duration
		want    string // the whole message
	}{
		{"compile error", []string{"print a", "print b\ncompile 2 undefined: y"}, 0,
			"lesson.ipynb, cell [2]: undefined: y"},
		{"panic", []string{"print a\npanic 2 runtime error: index out of range [3] with length 3"}, 0,
			"lesson.ipynb, cell [1], line 2: panic: runtime error: index out of range [3] with length 3\n    2 | panic 2 runtime error: index out of range [3] with length 3"},
		{"type error", []string{"print a", "fail line 1, column 6: undefined: y"}, 0,
			"lesson.ipynb, cell [2], line 1: undefined: y\n    1 | fail line 1, column 6: undefined: y"},
		{"error in another cell", []string{"print a", "fail nil map (cell [1], line 1)"}, 0,
			"lesson.ipynb, cell [2]: nil map (in cell [1], line 1)"},
		{"exit", []string{"err last words\nfail exit status 3"}, 0,
			"lesson.ipynb, cell [1]: last words (exit status 3)"},
		{"dead kernel", []string{"print a", "die 3"}, 0,
			"lesson.ipynb, cell [2]: the kernel died (exit status 3); it wrote: fatal: told to die"},
		{"hung cell", []string{"wait"}, 200 * time.Millisecond,
			"lesson.ipynb, cell [1]: still running after the time limit of 200ms; interrupted; -timeout sets another limit"},
		{"input", []string{"ask name?"}, 0,
			`lesson.ipynb, cell [1]: it waits for input on stdin (prompt "name?"), and nobody is there to type`},
	} {
		w, spec := scripted(t)
		path := lesson(t, w.root, c.sources...)
		before := read(t, path)
		_, err := w.runFile(t.Context(), spec, path, c.limit)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
		if !bytes.Equal(read(t, path), before) {
			t.Errorf("%s: the file was changed", c.name)
		}
		left, err := os.ReadDir(w.root)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range left {
			if e.Name() != "lesson.ipynb" && e.Name() != ".lectern" {
				t.Errorf("%s: left behind: %s", c.name, e.Name())
			}
		}
		if run, _ := os.ReadDir(w.state("run")); len(run) > 0 {
			t.Errorf("%s: left in .lectern/run: %v", c.name, run)
		}
	}
}

// untilThere waits for a file that a cell makes.
func untilThere(ctx context.Context, path string) {
	for !fileExists(path) && ctx.Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
}

func TestCtrlC(t *testing.T) {
	w, spec := scripted(t)
	runs := filepath.Join(t.TempDir(), "runs")
	path := lesson(t, w.root, "print a", "touch "+runs+"\nsleep 1h")
	before := read(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		untilThere(ctx, runs)
		cancel()
	}()
	_, err := w.runFile(ctx, spec, path, 0)
	if !errors.Is(err, context.Canceled) || !strings.HasSuffix(err.Error(), "interrupted") {
		t.Errorf("got %v, want an interruption", err)
	}
	if !bytes.Equal(read(t, path), before) {
		t.Error("the file was changed")
	}
}

func TestRunKeepsWhatWasSavedMeanwhile(t *testing.T) {
	w, spec := scripted(t)
	dir := t.TempDir()
	runs, saved := filepath.Join(dir, "runs"), filepath.Join(dir, "saved")
	path := lesson(t, w.root, "touch "+runs+"\nuntil "+saved)
	go func() {
		untilThere(t.Context(), runs)
		os.WriteFile(path, []byte("edited"), 0o644)
		os.WriteFile(saved, nil, 0o644)
	}()
	_, err := w.runFile(t.Context(), spec, path, 0)
	if err == nil || !strings.Contains(err.Error(), "changed by another program") {
		t.Errorf("got %v", err)
	}
	if got := string(read(t, path)); got != "edited" {
		t.Errorf("the file holds %q", got)
	}
}

func TestCheck(t *testing.T) {
	w, spec := scripted(t)
	path := lesson(t, w.root, "print a\nprint b", "[measured]print took 980 µs for 3 steps", "show image/svg+xml <svg/>")
	if d, err := w.checkFile(t.Context(), spec, path, 0); err != nil || !strings.Contains(d, "has no stored outputs") {
		t.Errorf("before the first run: %q, %v", d, err)
	}
	if _, err := w.runFile(t.Context(), spec, path, 0); err != nil {
		t.Fatal(err)
	}
	if d, err := w.checkFile(t.Context(), spec, path, 0); err != nil || d != "" {
		t.Errorf("after a run: %q, %v", d, err)
	}
	change := func(old, new string) {
		t.Helper()
		b := read(t, path)
		if !bytes.Contains(b, []byte(old)) {
			t.Fatalf("the file does not hold %s", old)
		}
		if err := os.WriteFile(path, bytes.Replace(b, []byte(old), []byte(new), 1), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	change(`"took 980 µs for 3 steps\n"`, `"took 1.25 ms for 12 steps\n"`)
	if d, err := w.checkFile(t.Context(), spec, path, 0); err != nil || d != "" {
		t.Errorf("other digits in a measured cell: %q, %v", d, err)
	}
	change(`"b\n"`, `"c\n"`)
	before := read(t, path)
	d, err := w.checkFile(t.Context(), spec, path, 0)
	want := "lesson.ipynb, cell [1]: outputs differ\n    stdout:\n      a\n  -   c\n  +   b\n"
	if err != nil || d != want {
		t.Errorf("got %v, %s\nwant %s", err, d, want)
	}
	if !bytes.Equal(read(t, path), before) {
		t.Error("check changed the file")
	}
	change(`"took 1.25 ms for 12 steps\n"`, `"took 1.25 ms in 12 steps\n"`)
	if d, err := w.checkFile(t.Context(), spec, path, 0); err != nil || !strings.Contains(d, "- "+"  took #s in # steps") {
		t.Errorf("other words in a measured cell: %q, %v", d, err)
	}
}

// TestCheckForgetsFetching: modules are downloaded once.
func TestCheckForgetsFetching(t *testing.T) {
	output := func(stderr string) []*notebook.Output {
		return []*notebook.Output{{Type: "stream", Name: "stderr", Text: stderr}, {Type: "stream", Name: "stdout", Text: "ready\n"}}
	}
	first := form(output("fetching example.org/a, which this cell imports\ngo: downloading example.org/a v1.0.0\ngo: added example.org/a v1.0.0\n"), false)
	if d := linediff.Of(first, form(output(""), false)); d != "" {
		t.Error(d)
	}
	if d := linediff.Of(first, form(output("go: example.org/a: no such module\n"), false)); d == "" {
		t.Error("what the go command found wrong is forgotten, too")
	}
}

// TestCheckRunsGuessesAgain: who answers a guess runs its cell a second time.
func TestCheckRunsGuessesAgain(t *testing.T) {
	const guess = "show " + notebook.GuessType + " {}\n"
	for _, tt := range []struct {
		cells []string
		want  string
	}{
		{[]string{guess + "print as before", "print b"}, ""},
		{[]string{"print a\ncount"}, ""},
		{[]string{guess + "count"}, "cell [1]: gives a different result when it runs again"},
		{[]string{"[measured]" + guess + "count"}, ""},
		{[]string{"print a", guess + "print b\ncount"}, "cell [2]: gives a different result when it runs again"},
	} {
		w, spec := scripted(t)
		path := lesson(t, w.root, tt.cells...)
		if _, err := w.runFile(t.Context(), spec, path, 0); err != nil {
			t.Fatal(err)
		}
		if d, err := w.checkFile(t.Context(), spec, path, 0); err != nil || tt.want == "" && d != "" || !strings.Contains(d, tt.want) {
			t.Errorf("%q: %q, %v; want %q", tt.cells, d, err, tt.want)
		}
	}
}

// realKernel returns the checkout's workspace with its kernel set up, or skips where it has never been set up.
func realKernel(t *testing.T) *workspace {
	t.Helper()
	w, err := findWorkspace(t.Context(), io.Discard, io.Discard, false)
	if err != nil {
		t.Fatal(err)
	}
	if !fileExists(w.tool("gonb")) {
		if os.Getenv("CI") == "true" {
			t.Fatal("GoNB is not built; CI runs go run ./kernel setup first")
		}
		t.Skip("GoNB is not built: go run ./kernel setup")
	}
	if err := w.ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

// patient is a time limit of cells that do not reach it.
const patient = 10 * time.Minute

func TestRealKernel(t *testing.T) {
	w := realKernel(t)
	dir := t.TempDir()
	path := lesson(t, dir, "x := 1\nfmt.Println(x)", "fmt.Println(x + 1)\nfmt.Fprintln(os.Stderr, \"e\")")
	if cells, err := w.runFile(t.Context(), w.spec(), path, patient); err != nil || cells != 2 {
		t.Fatalf("%d cells, %v", cells, err)
	}
	n, err := notebook.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(form(n.Cells[2].Outputs, false), "|"); got != "stdout:|  2|stderr:|  e" {
		t.Errorf("outputs of the second cell: %s", got)
	}
	if d, err := w.checkFile(t.Context(), w.spec(), path, patient); d != "" || err != nil {
		t.Errorf("check after run: %s, %v", d, err)
	}
}

// TestRealKernelWithADevice: tensors stay on their device from cell to cell, also where a cell doesn't name the
// package that brings it.
func TestRealKernelWithADevice(t *testing.T) {
	w := realKernel(t)
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(cache))) // the stand-in moves the folder of caches
	fakecuda.Use(t)
	const imports = "import (\n\t\"github.com/lectern-go/lectern/gpu\"\n\t\"github.com/lectern-go/lectern/tensor\"\n)\n"
	path := lesson(t, t.TempDir(), imports+"device := gpu.GetDevice(0)\nx := tensor.With(device).Ones(2)\nfmt.Println(device)", "x.AddInPlace(1)\nfmt.Println(x.Device(), x.Sum().Item())",
		"y := tensor.Ones(2).To(device).Add(x)\nfmt.Println(y.Device() == device, y.Floats())")
	if _, err := w.runFile(t.Context(), w.spec(), path, patient); err != nil {
		t.Fatal(err)
	}
	n, err := notebook.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"stdout:|  cuda:0", "stdout:|  cuda:0 4", "stdout:|  true [3 3]"} {
		if got := strings.Join(form(n.Cells[i+1].Outputs, false), "|"); got != want {
			t.Errorf("outputs of cell %d: %s, want %s", i+1, got, want)
		}
	}
}

func TestRealFailures(t *testing.T) {
	w := realKernel(t)
	for _, c := range []struct {
		name, source string
		limit        time.Duration
		want         string // after the name of the cell
		linux        bool
	}{
		{"type error", "x := 3\nfmt.Println(x, y)", patient, ", line 2: undefined: y\n    2 | fmt.Println(x, y)", false},
		{"hint", "fmt.Printn(1)", patient, ", line 1: undefined: fmt.Printn\n    1 | fmt.Printn(1)\n  hint: did you mean fmt.Print", false},
		{"syntax error", "a := 1\nx := := 3", patient, ", line 2: expected operand, found ':='", false},
		{"panic", "func at(i int) int {\n\treturn []int{1}[i]\n}\n\nfmt.Println(at(7))", patient,
			", line 2: panic: runtime error: index out of range [7] with length 1\n    2 | \treturn []int{1}[i]", false},
		{"exit", "fmt.Fprintln(os.Stderr, \"last words\")\nos.Exit(3)", patient, ": last words (the cell ended with exit status 3", false},
		{"hung cell", "for {\n\ttime.Sleep(time.Second)\n}", 2 * time.Second, ": still running after the time limit of 2s; interrupted", false},
		{"stdin", "var s string\nfmt.Scanln(&s)", patient, ": it waits for input on stdin", true},
		{"dead kernel", "syscall.Kill(os.Getppid(), syscall.SIGKILL)\ntime.Sleep(time.Minute)", patient, ": the kernel", true},
	} {
		if c.linux && runtime.GOOS != "linux" {
			continue
		}
		path := lesson(t, t.TempDir(), c.source)
		before := read(t, path)
		_, err := w.runFile(t.Context(), w.spec(), path, c.limit)
		for range 2 {
			if c.name != "panic" || strings.Contains(err.Error(), ", line ") {
				break
			}
			// GoNB marks the lines of a trace in each piece that it reads from the cell's stderr; a mark is lost where
			// a piece ends in the middle of a place. The text has to be there each time, the line most times.
			if !strings.Contains(err.Error(), "panic: runtime error: index out of range [7]") {
				t.Errorf("panic: got %v", err)
			}
			_, err = w.runFile(t.Context(), w.spec(), path, c.limit)
		}
		if err == nil || !strings.Contains(err.Error(), "lesson.ipynb, cell [1]"+c.want) {
			t.Errorf("%s:\n got %v\nwant … cell [1]%s", c.name, err, c.want)
		}
		if !bytes.Equal(read(t, path), before) {
			t.Errorf("%s: the file was changed", c.name)
		}
	}
}
