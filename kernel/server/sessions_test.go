//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/lectern-go/lectern/kernel/jupyter"
)

// A session must work whatever has been typed into it before: after every redefinition, magic,
// shell line and failing cell.

// expect runs a cell and holds its status, unless that is empty, and its outputs to the wanted ones; a word
// that begins with ! must not be there.
func (l *lab) expect(t *testing.T, code, status string, words ...string) {
	t.Helper()
	outs, r := l.run(code)
	got := flat(outs)
	if status != "" && r.Status != status {
		t.Errorf("%q: status %s, want %s: %s", code, r.Status, status, got)
		return
	}
	for _, w := range words {
		if no, ok := strings.CutPrefix(w, "!"); ok {
			if strings.Contains(got, no) {
				t.Errorf("%q: unwanted %q in %s", code, no, got)
			}
		} else if !strings.Contains(got, w) {
			t.Errorf("%q: no %q in %s", code, w, got)
		}
	}
}

const noFalseNote = "!before its values were kept"

// TestIota has iota in the forms of the Go specification.
func TestIota(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	for _, c := range []struct{ cell, show, want string }{
		{"const (A, B = iota, iota+1; C, D; E, F)", "fmt.Println(A, B, C, D, E, F)", "0 1 1 2 2 3"},
		{"const (\n\tc0 = iota\n\tc1\n\tc2\n)", "fmt.Println(c0, c1, c2)", "0 1 2"},
		{"const (\n\ta = 1 << iota\n\tb\n\tc = 3\n\td = 1 << iota\n)", "fmt.Println(a, b, c, d)", "1 2 3 8"},
		{"const (\n\tu = iota * 42\n\tv float64 = iota * 42\n\tw = iota * 42\n)", "fmt.Println(u, v, w)", "0 42 84"},
		{"const x = iota\nconst y = iota", "fmt.Println(x, y)", "0 0"},
		{"const (\n\tbit0, mask0 = 1 << iota, 1<<iota - 1\n\tbit1, mask1\n\t_, _\n\tbit3, mask3\n)", "fmt.Println(bit0, mask0, bit1, mask1, bit3, mask3)", "1 0 2 1 8 7"},
		{"const (\n\t_ = iota\n\tKB, _ = 1 << (10 * iota), 0\n\tMB, _\n)", "fmt.Println(KB, MB)", "1024 1048576"},
		{"type day int\nconst (\n\tmon, tue day = iota, iota + 1\n\twed, thu\n)", "fmt.Printf(\"%T %v %v %v\\n\", wed, tue, wed, thu)", "main.day 1 1 2"},
	} {
		l.expect(t, c.cell, "ok")
		l.expect(t, c.show, "ok", "[stdout]"+c.want+"\n")
	}
}

// The forms in which a name can be declared, and a cell that shows that the name now is what the form made it.
var nameForms = []struct{ name, declare, use, want string }{
	{"x := 1", "%s := 1", "fmt.Println(\"now\", %s + 1)", "now 2"},
	{"var x =", "var %s = \"v\"", "fmt.Println(\"now\", %s + \"w\")", "now vw"},
	{"const x", "const %s = 7", "fmt.Println(\"now\", %s * 2)", "now 14"},
	{"func x", "func %s(n int) int { return n + 40 }", "fmt.Println(\"now\", %s(2))", "now 42"},
	{"type x", "type %s struct{ N int }", "fmt.Println(\"now\", %s{5}.N)", "now 5"},
}

// TestRedefinitions changes a name from each form to each other; a name that Go knows already
// is taken over and given back.
func TestRedefinitions(t *testing.T) {
	t.Parallel()
	t.Run("all pairs", func(t *testing.T) {
		l := startLab(t)
		n := 0
		for i, from := range nameForms {
			for j, to := range nameForms {
				if i == j || !long() && (i+2*j)%5 != 0 {
					continue
				}
				n++
				name := fmt.Sprint("name", n)
				l.expect(t, fmt.Sprintf(from.declare, name), "ok")
				l.expect(t, fmt.Sprintf(from.use, name), "ok", from.want)
				l.expect(t, fmt.Sprintf(to.declare, name), "ok")
				l.expect(t, fmt.Sprintf(to.use, name), "ok", to.want)
			}
		}
		l.expect(t, "1+1", "ok", "[result]2", noFalseNote)
	})
	// Names that mean something to Go or to the kernel: the cell works, or says in a sentence
	// why not, and the session works on.
	names := []string{"len", "fmt", "flag", "init", "main", "string", "strings", "os", "time", "error", "nil", "true", "iota", "any", "max", "persist", "lecternpersist", "runtime", "unsafe"}
	if !long() { // seven of them stand for all, and where that takes too long two
		some := names
		names = nil
		for k := 0; k < len(some) && (long() || k < 6); k += 3 {
			names = append(names, some[k])
		}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			l := startLab(t)
			for _, form := range nameForms {
				if name == "fmt" && strings.Contains(form.use, "fmt.") {
					form.use = ""
				}
				outs, r := l.run(fmt.Sprintf(form.declare, name))
				if r.Status == "ok" && form.use != "" && name != "init" && name != "main" {
					l.expect(t, fmt.Sprintf(form.use, name), "ok", form.want)
				} else if r.Status != "ok" && !strings.Contains(flat(outs), name) {
					t.Errorf("%s: the error does not name it: %s", form.name, flat(outs))
				}
				l.expect(t, "40+2", "ok", "[result]42")
			}
			l.expect(t, "%rm "+name, "ok")
			l.expect(t, "fmt.Println(len(\"abc\"), string(rune(65)))\nvar e1 error = nil\nfmt.Println(e1 == nil, 6*7)", "ok", "3 A", "true 42")
		})
	}
}

// TestShadowedPackage takes a package's name for a variable and gets the package back.
func TestShadowedPackage(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	l.expect(t, "s := 3", "ok")
	l.expect(t, "import s \"strings\"\ns.ToUpper(\"a\")", "ok", `[result]"A"`)
	l.expect(t, "s.Repeat(\"b\", 2)", "ok", `[result]"bb"`)
	l.expect(t, "strings := []string{\"q\"}", "ok", "strings")
	l.expect(t, "strings[0]", "ok", `[result]"q"`)
	outs, _ := l.run("strings.ToUpper(\"a\")")
	if got := flat(outs); !strings.Contains(got, "import") && !strings.Contains(got, "%rm strings") {
		t.Errorf("no way back to package strings is named: %s", got)
	}
	l.expect(t, "import \"strings\"\nstrings.ToUpper(\"a\")", "ok", `[result]"A"`)
	l.expect(t, "strings.ToLower(\"B\")", "ok", `[result]"b"`)
}

// TestDeclarationsThatDontFit has declarations that Go or the session can't take.
func TestDeclarationsThatDontFit(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	l.expect(t, "func nobody(n int) int", "error", "nobody", "body")
	l.expect(t, "1+1", "ok", "[result]2")
	// A renamed field that a method in another cell uses: the method is set aside.
	l.expect(t, "type rec struct{ A int }", "ok")
	l.expect(t, "func (r rec) get() int { return r.A }", "ok")
	l.expect(t, "rec{3}.get()", "ok", "[result]3")
	l.expect(t, "type rec struct{ B int }", "ok", "get")
	l.expect(t, "rec{4}.B", "ok", "[result]4")
	l.expect(t, "func (r rec) get() int { return r.B * 10 }", "ok")
	l.expect(t, "rec{4}.get()", "ok", "[result]40")
}

// TestDeclarationsSurvive runs magics, shell lines and failing cells after declarations.
func TestDeclarationsSurvive(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	l.expect(t, "n := 5\ntype pair struct{ a, b int }\nfunc twice(k int) int { return 2 * k }\nconst limit = 9\nvar p = pair{1, 2}", "ok")
	check := func(after string) {
		t.Helper()
		outs, r := l.run("fmt.Println(n, p, twice(limit), pair{3, 4})")
		if got := flat(outs); r.Status != "ok" || !strings.Contains(got, "5 {1 2} 18 {3 4}") || strings.Contains(got, "before its values were kept") {
			t.Errorf("after %s: %s", after, got)
		}
	}
	check("nothing")
	for i, c := range []struct{ code, status string }{
		{"!true", "ok"}, {"!echo hello", "ok"}, {"%ls", "ok"}, {"undefinedName + 1", "error"}, {"!echo a; echo b", "ok"}, {"panic(\"stop\")", "error"},
		{"%rm nothingOfThatName", ""}, {"!*pwd", "ok"}, {"func broken( {", "error"}, {"%ls", "ok"}, {"var q int = \"s\"", "error"}, {"%env A=b", ""}, {"!false", "error"},
		{"%%bash\necho from bash", "ok"}, {"%noSuchMagic", "error"},
	} {
		outs, r := l.run(c.code)
		got := flat(outs)
		if c.status != "" && r.Status != c.status {
			t.Errorf("%q: status %s, want %s: %s", c.code, r.Status, c.status, got)
		}
		if strings.Contains(got, "before its values were kept") && c.code != "panic(\"stop\")" {
			t.Errorf("%q: false note: %s", c.code, got)
		}
		if long() || i%3 == 2 { // with LECTERN_LONG=1 after each of them
			check(c.code)
		}
	}
	// Declarations right before and after lines that are not Go.
	l.expect(t, "func fresh() int { return 77 }", "ok")
	l.expect(t, "!true", "ok", noFalseNote)
	l.expect(t, "fresh()", "ok", "[result]77")
	l.expect(t, "!echo in one cell\nfunc both() int { return 78 }", "")
	l.expect(t, "both()", "ok", "[result]78")
	l.expect(t, "%rm n", "ok")
	l.expect(t, "n", "error", "undefined: n")
	l.expect(t, "fmt.Println(p, twice(limit))", "ok", "{1 2} 18")
	l.expect(t, "n := \"new\"", "ok")
	l.expect(t, "n", "ok", `[result]"new"`)
	l.expect(t, "%reset", "ok")
	l.expect(t, "twice(1)", "error", "undefined: twice")
	l.expect(t, "n := 1\nn+1", "ok", "[result]2")
}

// TestWaitingForTimers has cells that wait for nothing but a timer, and one that can never end.
func TestWaitingForTimers(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	for _, code := range []string{
		"var wg sync.WaitGroup\nwg.Add(1)\ntime.AfterFunc(3*time.Second, wg.Done)\nwg.Wait()\nfmt.Println(\"finished\")",
		"c := make(chan int)\ntime.AfterFunc(2500*time.Millisecond, func() { c <- 1 })\n<-c\nfmt.Println(\"finished\")",
		"ctx, cancel := context.WithTimeout(context.Background(), 2500*time.Millisecond)\n<-ctx.Done()\ncancel()\nfmt.Println(\"finished\")",
		"var mu sync.Mutex\nmu.Lock()\ntime.AfterFunc(2500*time.Millisecond, mu.Unlock)\nmu.Lock()\nfmt.Println(\"finished\")",
		"cmd := exec.Command(\"sleep\", \"2.5\")\nfmt.Println(cmd.Run(), \"finished\")",
	} {
		l.expect(t, code, "ok", "finished")
		if !long() {
			break
		}
	}
	l.expect(t, "<-make(chan int)", "error", "deadlock")
	l.expect(t, "1+1", "ok", "[result]2")
}

// runAll sends cells as JupyterLab's run-all does, without waiting for answers. The first prints something when it
// runs, and may end once goOn has been called, which is when the kernel has all others. It returns at the first one's
// end.
func (l *lab) runAll(first string, rest []string, goOn func()) {
	l.t.Helper()
	runs, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		begun := sync.OnceFunc(func() { close(runs) })
		defer begun()
		outs, r, err := l.try(first, jupyter.ExecuteOptions{Timeout: patience, Output: func(m *jupyter.Message) {
			if m.Header.Type == "stream" {
				begun()
			}
		}})
		if err != nil || r.Status != "error" {
			l.t.Errorf("%s: status %s, %v: %s", first, r.Status, err, flat(outs))
		}
	}()
	<-runs
	for _, code := range rest {
		if err := l.k.Post("execute_request", map[string]any{"code": code, "silent": false, "store_history": true,
			"user_expressions": map[string]any{}, "allow_stdin": false, "stop_on_error": true}); err != nil {
			l.t.Error(err)
		}
	}
	l.request("kernel_info_request", map[string]any{}) // the kernel takes requests in order
	goOn()
	<-ended
}

// create makes a file that a cell waits for.
func create(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Error(err)
	}
}

// TestShellFailures has shell lines, scripts and magics that fail, and what comes behind them in a run of all cells.
func TestShellFailures(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	l.expect(t, "before := 1", "ok")
	l.expect(t, "!false", "error")
	l.expect(t, "!exit 3", "error", "3")
	l.expect(t, "%%bash\nexit 3", "error", "3")
	l.expect(t, "%noSuchMagic", "error", "noSuchMagic")
	l.expect(t, "!noSuchProgram", "error", "noSuchProgram")
	l.expect(t, "before", "ok", "[result]1")
	// Cells behind a failing shell line and behind an interrupted one are not run.
	file := filepath.Join(t.TempDir(), "file")
	rest := []string{"before = 2", "before = 3"}
	l.runAll("!echo runs; until [ -e "+file+" ]; do sleep 0.1; done; false", rest, func() { create(t, file) })
	l.expect(t, "before", "ok", "[result]1")
	l.runAll("!echo runs; sleep 1000", rest, func() {
		if err := l.k.Interrupt(); err != nil {
			t.Error(err)
		}
	})
	l.expect(t, "before", "ok", "[result]1")
}

// TestTestsThatFail gives %test a failing test: the line is the cell's.
func TestTestsThatFail(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	l.expect(t, "func half(n int) int { return n / 2 }", "ok")
	outs, r := l.run("import \"testing\"\n\nfunc TestHalf(t *testing.T) {\n\tif half(3) != 1 {\n\t\tt.Error(\"never\")\n\t}\n\tif half(4) != 3 {\n\t\tt.Errorf(\"half(4) is %d\", half(4))\n\t}\n}\n%test")
	got := flat(outs)
	if r.Status != "error" || !strings.Contains(got, "half(4) is 2") {
		t.Errorf("status %s: %s", r.Status, got)
	}
	if strings.Contains(got, "os.Exit") || strings.Contains(got, "main_test.go:") || !strings.Contains(got, "line 8") && !strings.Contains(got, ":8") {
		t.Errorf("the failure does not give line 8 of the cell, or talks of os.Exit: %s", got)
	}
	l.expect(t, "half(10)", "ok", "[result]5")
}

// TestEndsByForce ends cells by os.Exit and by a signal: the note is true, also for large
// arrays that were changed in place.
func TestEndsByForce(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	for _, end := range []string{"os.Exit(3)", "syscall.Kill(os.Getpid(), syscall.SIGKILL)", "go panic(\"in a goroutine\")\ntime.Sleep(time.Minute)"} {
		l.expect(t, "small := 1\nlarge := make([]float64, 1_000_000)\nlarge[7] = 1", "ok")
		outs, r := l.run("small = 2\nlarge[7] = 2\n" + end)
		said := flat(outs)
		if r.Status != "error" {
			t.Errorf("%s: status %s: %s", end, r.Status, said)
		}
		outs, r = l.run("fmt.Println(small, large[7])")
		got := flat(outs)
		if r.Status != "ok" || !strings.Contains(got, "1 1\n") && !strings.Contains(got, "2 2\n") {
			// Half of the cell's changes are there: then the note must say so of the variable.
			if !strings.Contains(said, "large") {
				t.Errorf("%s: the values are %s, and the cell said %s", end, got, said)
			}
		} else if strings.Contains(got, "2 2") == strings.Contains(said, "have the values from before") {
			t.Errorf("%s: the values are %s, and the cell said %s", end, got, said)
		}
	}
}

// TestFlood prints many lines: they come in few messages, and all of them if that is asked for.
func TestFlood(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	l.run("%output 0")
	for _, code := range []string{
		"for i := range 200_000 {\n\tfmt.Println(\"line\", i)\n}",
		"for i := range 200_000 {\n\tfmt.Fprintln(os.Stderr, \"line\", i)\n}",
	} {
		messages := 0
		var text strings.Builder
		_, r, err := l.try(code, jupyter.ExecuteOptions{Timeout: patience, Output: func(m *jupyter.Message) {
			if m.Header.Type == "stream" {
				messages++
				var c struct{ Text string }
				m.DecodeContent(&c)
				text.WriteString(c.Text)
			}
		}})
		if err != nil || r.Status != "ok" {
			t.Fatal(err, r)
		}
		if n := strings.Count(text.String(), "\n"); n != 200_000 || !strings.HasSuffix(text.String(), "line 199999\n") {
			t.Errorf("%d lines have come, the last is %q", n, text.String()[max(0, text.Len()-40):])
		}
		if messages > 150 {
			t.Errorf("200,000 lines came in %d messages, want 150 at most", messages)
		}
		t.Logf("%d messages", messages)
		if !long() {
			break
		}
	}
}

// TestClosureWithoutItsName: when a name is removed, a closure that uses it can be held, passed on and replaced;
// only who calls it learns what it lacks.
func TestClosureWithoutItsName(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	type cell struct{ code, status, shows string }
	for _, c := range []cell{
		{"ab, count := 2, 4", "ok", ""},
		{"f := func() int { ab++; return ab }\ng := func(s string) int { return ab + strings.Count(s, \"a\") }", "ok", ""},
		{"m := map[string]any{\"f\": func() int { ab++; return ab }}\nn := &m", "ok", ""},
		{"%rm ab", "ok", "removed var ab"},
		{"f := func() int { count++; return count }\nmore := 1", "ok", ""},
		{"f()", "ok", "5"},
		{"m[\"g\"] = 2\nlen(*n)", "ok", "2"},
		{"g != nil", "ok", "true"},
		{"g(\"banana\")", "error", "cell [2], line 2: undefined: ab; %rm removed it in cell [4]"},
		{"m[\"f\"].(func() int)()", "error", "cell [3], line 1: undefined: ab; %rm removed it in cell [4]"},
		{"ab := 7", "ok", ""},
		{"m[\"f\"].(func() int)() + g(\"banana\")", "ok", "19"},
		{"type T struct{ A int }", "ok", ""},
		{"h := func(x T) int { return x.A }", "ok", ""},
		{"%rm T", "ok", ""},
		{"h", "error", "T has not been a type since cell [15]"},
	} {
		l.expect(t, c.code, c.status, c.shows)
	}
}
