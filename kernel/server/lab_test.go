//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lectern-go/lectern/kernel/jupyter"
)

// request asks the kernel something on shell.
func (l *lab) request(msgType string, content any) map[string]any {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	m, err := l.k.Request(ctx, msgType, content)
	if err != nil {
		l.t.Fatal(msgType, ": ", err)
	}
	var c map[string]any
	if err := json.Unmarshal(m.Content, &c); err != nil {
		l.t.Fatal(err)
	}
	return c
}

// complete asks what can stand at the bar in a cell.
func (l *lab) complete(code string) (matches []string, replaced string) {
	l.t.Helper()
	before, after, _ := strings.Cut(code, "|")
	n := len([]rune(before))
	c := l.request("complete_request", map[string]any{"code": before + after, "cursor_pos": n})
	for _, m := range c["matches"].([]any) {
		matches = append(matches, m.(string))
	}
	runes := []rune(before + after)
	return matches, string(runes[int(c["cursor_start"].(float64)):int(c["cursor_end"].(float64))])
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func TestCompletionAndHelp(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	if r := l.request("inspect_request", map[string]any{"code": "len(x)", "cursor_pos": 1, "detail_level": 0}); !strings.Contains(fmt.Sprint(r["data"]), "The len built-in function") {
		t.Errorf("len: %v", r["data"])
	}
	l.run("remembered := 42\n// scale multiplies.\nfunc scale(x float64) float64 { return 2 * x }")
	start := time.Now()
	m, rep := l.complete("fmt.Printl|")
	first := time.Since(start)
	if !contains(m, "Println") || rep != "Printl" {
		t.Errorf("fmt.Printl: %v replacing %q", m, rep)
	}
	for _, c := range []struct{ code, want, replaced string }{
		{"remem|", "remembered", "remem"},
		{"日本 := \"😀é\"; _ = 日本\nremem|", "remembered", "remem"},
		{"s := \"😀日本\" + strings.ToU|", "ToUpper", "ToU"},
		{"y := 3\nfor i := range y {\n\tfmt.Printl|\n}", "Println", "Printl"},
		{"sca|", "scale", "sca"},
		{"type T struct{ Field int }\nv := T{}\nv.Fi|", "Field", "Fi"},
		{"%va|", "%vars", "%va"},
		{"%time fmt.Printl|", "Println", "Printl"},
		{"import \"math/ra|\"", "math/rand/v2", "math/ra"},
		{"import (\n\t\"fmt\"\n\t\"github.com/lectern-go/lectern/te|", "github.com/lectern-go/lectern/tensor", "github.com/lectern-go/lectern/te"},
		{"func f() {\n\tstrings.Repea|\n}\nf()", "Repeat", "Repea"},
		{"if x := strings.Inde|", "Index", "Inde"},
		{"fmt.Println(\"a\", remem|", "remembered", "remem"},
		{"c := 'x' /* c */ + remem|", "remembered", "remem"},
	} {
		start := time.Now()
		m, rep := l.complete(c.code)
		if !contains(m, c.want) || rep != c.replaced {
			t.Errorf("%q: %.200s replacing %q", c.code, fmt.Sprint(m), rep)
		}
		t.Logf("%q: %d matches in %v", c.code, len(m), time.Since(start).Round(time.Millisecond))
	}
	for _, code := range []string{"// remem|", "x := 1 // remem|\ny := 2", "/* remem| */", "/* remem|", "s := `\nremem|\n`", "s := `remem|", "s := \"remem|\"", "fmt.Println(\"remem|", "r := 'remem|",
		"%time // remem|", "fmt.Println(\"a\", `remem|`, x)"} {
		if m, _ := l.complete(code); len(m) > 0 {
			t.Errorf("%q: %.200s", code, fmt.Sprint(m))
		}
	}
	t.Logf("first completion in %v", first.Round(time.Millisecond))
	l.run("t := tensor.Arange(3)\n// A dot is small.\ntype dot struct{ x int }\nd := &dot{}")
	for _, c := range []struct {
		code string
		at   int
		want string
	}{
		{"strings.ToUpper(\"a\")", 10, "ToUpper returns"},
		{"s := \"😀\"; strings.ToUpper(s)", 21, "ToUpper returns"},
		{"strings.Repeat(\"a\", 3)", 19, "Repeat returns"},
		{"scale(3)", 2, "scale multiplies"},
		{"remembered + 1", 3, "remembered int"},
		{"tensor.Arange(3)", 9, "func tensor.Arange("},
		{"tensor.Arange(3)", 9, "Arange(start, stop, step)"},
		{"t", 1, "var t *tensor.Tensor"},
		{"t", 1, "A Tensor is"},
		{"d", 1, "A dot is small."},
		{"strings.NewReader(\"\")", 9, "[Reader]"},
		{"io.EOF.Error()", 9, "func (error) Error() string"}, // which no file declares
	} {
		r := l.request("inspect_request", map[string]any{"code": c.code, "cursor_pos": c.at, "detail_level": 0})
		data, _ := r["data"].(map[string]any)
		text, _ := data["text/plain"].(string)
		if !strings.Contains(text, c.want) {
			t.Errorf("%q at %d: %q, want %q", c.code, c.at, text, c.want)
		}
	}
	// While a cell runs, questions are answered all the same: this one ends only after the answer.
	goOn := filepath.Join(t.TempDir(), "go on")
	runs, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		begun := sync.OnceFunc(func() { close(runs) })
		r, err := l.k.Execute(context.Background(), waitFor(goOn), jupyter.ExecuteOptions{Output: func(m *jupyter.Message) {
			if m.Header.Type == "stream" {
				begun()
			}
		}})
		if err != nil || r.Status != "ok" {
			t.Errorf("the cell that waits: %v, %v", r, err)
		}
		begun()
	}()
	<-runs
	if m, _ := l.complete("fmt.Printl|"); !contains(m, "Println") {
		t.Errorf("during a cell: %v", m)
	}
	if isClosed(done) {
		t.Error("the answer came after the cell")
	}
	create(t, goOn)
	<-done
}

// waitFor is code that says that it runs, and waits for a file.
func waitFor(file string) string {
	return fmt.Sprintf("fmt.Println(\"runs\")\nfor {\n\tif _, err := os.Stat(%q); err == nil {\n\t\tbreak\n\t}\n\ttime.Sleep(10 * time.Millisecond)\n}\n", file)
}

func TestIsComplete(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	for code, want := range map[string]string{
		"x := 1": "complete", "for i := range 3 {": "incomplete", "fmt.Println(": "incomplete", "x := 1 +": "incomplete", "s := `a": "incomplete",
		"": "complete", "x := := 3": "invalid", "func f() int {\n\treturn 1\n}": "complete", "%vars": "complete", "}": "invalid", "!ls": "complete",
	} {
		if got := l.request("is_complete_request", map[string]any{"code": code})["status"]; got != want {
			t.Errorf("%q is %v, want %s", code, got, want)
		}
	}
	if got := l.request("history_request", map[string]any{"hist_access_type": "tail", "n": 5, "output": false, "raw": true})["status"]; got != "ok" {
		t.Errorf("history: %v", got)
	}
}

func TestQueueStopsAtAnError(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	l.run("q1 := 1")
	file := filepath.Join(t.TempDir(), "file")
	l.runAll(waitFor(file)+"panic(\"stop\")", []string{"q1 = 2", "q1 = 3"}, func() { create(t, file) })
	if outs, _ := l.run("q1"); !strings.Contains(flat(outs), "[result]1") {
		t.Errorf("cells behind the failing one ran: q1 shows %s", flat(outs))
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	needLong(t)
	l := startLab(t)
	for _, c := range []struct{ name, code, after, want string }{
		{"loop", "n := 0\nfor {\n\tif n++; n == 11 {\n\t\tfmt.Println(\"go\")\n\t}\n\ttime.Sleep(time.Millisecond)\n}", "n > 10", "[result]true"},
		{"sleep", "m := 7\nm = 8\nfmt.Println(\"go\")\ntime.Sleep(time.Hour)", "m", "[result]8"},
		{"function", "type acc struct{ n int }\nfunc (a *acc) spin() {\n\tfor {\n\t\tif a.n++; a.n == 1001 {\n\t\t\tfmt.Println(\"go\")\n\t\t}\n\t}\n}\na := &acc{}\na.spin()", "a.n > 1000", "[result]true"},
		{"nothing kept", "fmt.Println(\"go\")\nfor { time.Sleep(time.Second) }", "1", "[result]1"},
		{"shell", "!echo go; sleep 1000", "2", "[result]2"},
		{"channel", "k := 5\nfmt.Println(\"go\")\n<-make(chan int)", "k", "[result]5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			interrupt := sync.OnceFunc(func() { l.k.Interrupt() })
			started := func(m *jupyter.Message) { // when the cell says that it runs
				if m.Header.Type == "stream" {
					interrupt()
				}
			}
			outs, r, err := l.try(c.code, jupyter.ExecuteOptions{Timeout: patience, Output: started})
			if err != nil || r.Status != "error" && c.name != "shell" {
				t.Fatalf("status %s, %v: %s", r.Status, err, flat(outs))
			}
			if !strings.Contains(flat(outs), "interrupted") && c.name != "shell" {
				t.Errorf("shows %s", flat(outs))
			}
			if outs, _ := l.run(c.after); !strings.Contains(flat(outs), c.want) {
				t.Errorf("afterwards %s shows %s", c.after, flat(outs))
			}
		})
	}
}

// The message after an interrupt is true, whenever it came: before there is a program, while that begins, or twice at
// once.
func TestInterruptSaysWhatIsTrue(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	for _, c := range []struct {
		name, when string // the message that the interrupts follow
		times      int
	}{{"before it runs", "execute_input", 1}, {"twice before it runs", "execute_input", 2}, {"twice while it runs", "stream", 2}} {
		t.Run(c.name, func(t *testing.T) {
			l.run("%reset")
			l.run("m := 1")
			interrupt := sync.OnceFunc(func() {
				for range c.times {
					l.k.Interrupt()
				}
			})
			outs, r, err := l.try("m = 2\nn := 1\nfmt.Println(\"go\")\nfor { n++ }", jupyter.ExecuteOptions{Timeout: patience, Output: func(m *jupyter.Message) {
				if m.Header.Type == c.when {
					interrupt()
				}
			}})
			if err != nil || r.Status != "error" {
				t.Fatalf("status %s, %v: %s", r.Status, err, flat(outs))
			}
			said, m, n := flat(outs), "[result]1", "undefined: n"
			switch {
			case strings.Contains(said, "Variables have the values that they had at that moment"):
				m, n = "[result]2", "[result]true"
			case c.when == "stream":
				t.Errorf("the values are not kept: %s", said)
			case !strings.Contains(said, "variables are as they were") && !strings.Contains(said, "ended before its values were kept"):
				t.Errorf("nothing is said of the values: %s", said)
			}
			for code, want := range map[string]string{"m": m, "n > 0": n} {
				if outs, _ := l.run(code); !strings.Contains(flat(outs), want) {
					t.Errorf("%s shows %s after\n%s", code, flat(outs), said)
				}
			}
		})
	}
}

func TestInput(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	lines := []string{"Ada", "41 1", "last"}
	var prompts []string
	outs, r, err := l.try(`var who string
fmt.Print("your name? ")
fmt.Scanln(&who)
var a, b int
fmt.Scan(&a, &b)
in := bufio.NewScanner(os.Stdin)
in.Scan()
fmt.Println("hello", who, a+b, in.Text())`, jupyter.ExecuteOptions{Timeout: patience, Input: func(prompt string, password bool) (string, error) {
		prompts = append(prompts, prompt)
		if len(lines) == 0 {
			return "", fmt.Errorf("asked too often")
		}
		s := lines[0]
		lines = lines[1:]
		return s, nil
	}})
	if err != nil || r.Status != "ok" || !strings.Contains(flat(outs), "hello Ada 42 last") {
		t.Errorf("%v %s: %s", err, r.Status, flat(outs))
	}
	if len(prompts) != 3 || prompts[0] != "your name? " {
		t.Errorf("prompts %q", prompts)
	}
	outs, r, err = l.try("var s string\nn, err := fmt.Scan(&s)\nfmt.Println(n, err)", jupyter.ExecuteOptions{Timeout: patience})
	if err != nil || !strings.Contains(flat(outs), "0 ") || !strings.Contains(flat(outs), "nobody is there to type") {
		t.Errorf("without a user: %v %s: %s", err, r.Status, flat(outs))
	}
}

func TestMuchOutput(t *testing.T) {
	t.Parallel()
	needLong(t)
	l := startLab(t)
	l.run("%output 0")
	outs, _ := l.run("for i := range 2000 { fmt.Println(\"line\", i) }")
	if len(outs) != 1 || strings.Count(outs[0].text, "\n") != 2000 || !strings.HasSuffix(outs[0].text, "line 1999\n") {
		t.Errorf("2000 prints came as %d outputs", len(outs))
	}
	outs, _ = l.run("fmt.Print(strings.Repeat(\"0123456789abcde\\n\", 1<<17))")
	if len(outs) != 1 || len(outs[0].text) != 1<<21 {
		t.Errorf("2 MB came as %d outputs, the first of %d bytes", len(outs), len(outs[0].text))
	}
	outs, _ = l.run("for range 50 { fmt.Print(strings.Repeat(\"日本語é😀\", 3000)) }")
	if len(outs) != 1 || outs[0].text != strings.Repeat("日本語é😀", 150_000) {
		t.Errorf("much text that is not ASCII: %d outputs, %d characters that are lost", len(outs), strings.Count(flat(outs), "\ufffd"))
	}
	var cell strings.Builder
	for i := range 300 {
		fmt.Fprintf(&cell, "v%d := %d\nfmt.Sprint(v%d)\n", i, i, i)
	}
	cell.WriteString("v299 + v1")
	l.run("type none struct{}\nfmt.Sprint()\n1")
	big := strings.ReplaceAll(cell.String(), "fmt.Sprint(", "_ = fmt.Sprint(")
	if outs, _ = l.run(big); flat(outs) != "[result]300" {
		t.Errorf("a cell of 600 lines shows %s", flat(outs))
	}
	if outs, _ = l.run("v0 + v150"); flat(outs) != "[result]150" {
		t.Errorf("its variables: %s", flat(outs))
	}
	const start = "show.HTML(strings.Repeat(\"x\", 1<<20))"
	if outs, _ = l.run("import \"github.com/lectern-go/lectern/kernel/show\"\n" + start); len(outs) != 1 || len(outs[0].data["text/html"].(string)) != 1<<20 {
		t.Errorf("a display of 1 MB: %.200s", flat(outs))
	}
}

func TestTwoNotebooks(t *testing.T) {
	t.Parallel()
	needLong(t)
	a, b := startLab(t), startLab(t)
	var wg sync.WaitGroup
	for i, l := range []*lab{a, b} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := range 4 {
				outs, _, err := l.try(fmt.Sprintf("v := %d\nv", 10*i+n), jupyter.ExecuteOptions{Timeout: patience})
				if err != nil || flat(outs) != fmt.Sprintf("[result]%d", 10*i+n) {
					t.Errorf("notebook %d: %v %s", i, err, flat(outs))
				}
			}
		}()
	}
	wg.Wait()
}

// traces of kernels in the file system: those that belong to the test alone, since it has a TMPDIR of its own.
func leftovers(tmp string) (found []string) {
	for _, p := range []string{filepath.Join(tmp, "*"), filepath.Join(memoryDisk, folderPrefix+"*", "lock")} {
		m, _ := filepath.Glob(p)
		for _, f := range m {
			if filepath.Base(f) == "lock" {
				if b, err := os.ReadFile(f); err != nil || !strings.HasPrefix(string(b), tmp) {
					continue
				}
			}
			if !strings.HasPrefix(filepath.Base(f), "kernel-") { // the client's connection file
				found = append(found, f)
			}
		}
	}
	return found
}

func TestSteps(t *testing.T) {
	t.Parallel()
	needLong(t)
	l := startLab(t)
	outs, _ := l.run("//step\ntotal := 0\nfor i, s := range []string{\"a\", \"<b>\"} {\n\ttotal += size(s) * i\n\tfmt.Println(s)\n}\nfunc size(s string) int {\n\tn := len(s)\n\treturn n\n}\nbig := make([]int, 100000)\ntotal")
	var page out
	for _, o := range outs {
		if o.kind == "display" {
			page = o
		}
	}
	want := []string{"line 2: total = 0", "line 3: i = 0, s = \"a\"", "call of size", "  line 7: s = \"a\"", "  line 8: n = 1", "  line 9: return = 1", "line 4: total = 0", "line 4: total = 3", "line 11: big = []int{0, 0,", "100000 elements"}
	for _, w := range want {
		if !strings.Contains(page.text, w) {
			t.Errorf("no %q in\n%s", w, page.text)
		}
	}
	html, _ := page.data["text/html"].(string)
	for _, bad := range []string{"http://", "https://", "src=", "\"<b>\""} {
		if strings.Contains(html, bad) {
			t.Errorf("the page contains %s", bad)
		}
	}
	if !strings.Contains(html, "ArrowRight") || len(html) > 40_000 {
		t.Errorf("a page of %d bytes", len(html))
	}
	// What a call changes in place is shown at the step that called it, under each name that it has.
	outs, _ = l.run("//step\nweights := []int{1, 2}\nsame := weights\nclear(weights)\nweights[1]++\n_ = same")
	if s := flat(outs); !strings.Contains(s, "line 4: same = []int{0, 0}, weights = []int{0, 0}") || !strings.Contains(s, "same = []int{0, 1}") {
		t.Errorf("values changed in place: %s", s)
	}
	// A long run is cut, a panic shows the steps up to it, and names live on.
	outs, _ = l.run("//step\nn := 0\nfor range 10000 {\n\tn++\n}\nn")
	if s := flat(outs); !strings.Contains(s, "[result]10000") || !strings.Contains(s, "more steps") {
		t.Errorf("a long run: %.300s", s)
	}
	outs, r := l.run("//step\nvar m map[string]int\nn = 3\nm[\"a\"] = n")
	if s := flat(outs); r.Status != "error" || !strings.Contains(s, "line 3: n = 3") || !strings.Contains(s, "this cell, line 4") {
		t.Errorf("a panic: %s", s)
	}
	if outs, _ = l.run("n + size(\"four\")"); flat(outs) != "[result]7" {
		t.Errorf("afterwards: %s", flat(outs))
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	needLong(t)
	bin, err := tools()
	need(t, err)
	get := t.TempDir()
	env := []string{"LECTERN_GET=" + get}
	l := startLabIn(t, bin, t.TempDir(), env)
	outs, r := l.run("%get rsc.io/quote@v1.5.2")
	if r.Status != "ok" {
		need(t, fmt.Errorf("the network: %s", flat(outs)))
	}
	outs, _ = l.run("import \"rsc.io/quote\"\nquote.Go()")
	if !strings.Contains(flat(outs), "share memory by communicating") {
		t.Errorf("shows %s", flat(outs))
	}
	b, err := os.ReadFile(filepath.Join(get, "go.mod"))
	if err != nil || !strings.Contains(string(b), "rsc.io/quote v1.5.2") {
		t.Errorf("go.mod of the fetched packages: %s %v", b, err)
	}
	for code, want := range map[string]string{"%get": "write %get path@version", "%get --x": "is not path@version", "%get rsc.io/no-such-thing-at-all": "could not be fetched"} {
		outs, r := l.run(code)
		if r.Status != "error" || !strings.Contains(flat(outs), want) {
			t.Errorf("%s: %s %s", code, r.Status, flat(outs))
		}
	}
}
