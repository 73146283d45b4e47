//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// GoNB's magics are obeyed by the kernel, which has the only book of what the cells have
// declared; GoNB runs what speaks with it.

// makeModule writes a module with one package.
func makeModule(t *testing.T, path, version, more, code string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "a module")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go.mod": "module " + path + "\n\ngo " + version + "\n" + more, "pkg.go": code} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestModulesOfTheUser imports from folders that go.work names. A module that the go command
// can't live with spoils no other cell.
func TestModulesOfTheUser(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	good := makeModule(t, "example.org/good/pkg", "1.21", "", "package pkg\n\nfunc A() string { return \"first\" }\n")
	bad := makeModule(t, "example.org/bad", "1.16", "\nrequire example.org/nowhere v1.2.3\n", "package bad\n")
	l.expect(t, "%goworkfix", "error", "there is no go.work")
	l.expect(t, "!*rm -f go.work && go work init && go work use . '"+good+"'", "ok", "!note:")
	l.expect(t, "%goworkfix", "ok", "\t- Added replace rule for module \"example.org/good/pkg\" to local directory \""+good+"\".")
	l.expect(t, "%goworkfix", "ok", "already exists")
	l.expect(t, "!*cat go.mod", "ok", "module gonb_", "replace example.org/good/pkg => "+strconv.Quote(good), "!lectern")
	outs, _ := l.run("%track")
	if len(outs) != 1 || !strings.Contains(outs[0].data["text/html"].(string), "<li>"+good+"</li>") {
		t.Errorf("%%track: %v", outs)
	}
	l.expect(t, "%untrack "+filepath.Dir(good)+"...", "ok", "Untracked")
	l.expect(t, "import \"example.org/good/pkg\"\n\nfmt.Println(pkg.A())", "ok", "[stdout]first\n")
	if err := os.WriteFile(filepath.Join(good, "pkg.go"), []byte("package pkg\n\nfunc A() string { return \"second\" }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	l.expect(t, "fmt.Println(pkg.A())", "ok", "[stdout]second\n")
	l.expect(t, "!*go work use '"+bad+"'", "ok", "note: cells can't import from "+bad)
	l.expect(t, "1 + 1", "ok", "[result]2")
	l.expect(t, "fmt.Println(pkg.A())", "ok", "[stdout]second\n")
	l.expect(t, "%reset", "ok", "* State reset")
	l.expect(t, "!*cat go.mod", "ok", "!replace")
	l.expect(t, "import \"example.org/good/pkg\"", "error")
	l.expect(t, "1 + 1", "ok", "[result]2")
}

// TestListAndRemove has names of each kind.
func TestListAndRemove(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	l.expect(t, "import \"strings\"\n\nconst c = 1\ntype T struct{ N int }\nfunc (T) M() {}\nfunc f() string { return strings.ToUpper(\"a\") }\nv := T{2}", "ok")
	outs, _ := l.run("%ls")
	var text []string
	for _, o := range outs {
		text = append(text, strings.NewReplacer("<h3>", "", "</h3>", "", "<h4>", "", "</h4>", "", "<ul>", "", "</ul>", "", "<li><pre>", " ", "</pre></li>", "", "\n", "").Replace(o.data["text/html"].(string)))
	}
	if got, want := strings.Join(text, "; "), "Memorized Definitions; Imports strings; Constants c; Types T; Variables v; Functions T.M f"; got != want {
		t.Errorf("%%ls: %s\nwant %s", got, want)
	}
	l.expect(t, "%rm strings c v f nothing T", "ok", ". removed import strings\n", ". removed const c\n", ". removed var v\n", ". removed func f\n", ". removed type T\n",
		". key \"nothing\" not found in any definition, not removed\n")
	if outs, _ := l.run("%ls"); len(outs) != 1 {
		t.Errorf("after %%rm: %v", outs)
	}
}

// TestFlagsOfEarlierCells gives values to flags that an earlier cell has defined, in each of the ways that GoNB has.
func TestFlagsOfEarlierCells(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	l.expect(t, "import \"flag\"\n\nconst usage = \"how often\"\nvar n = flag.Int(\"n\", 1, usage)\n\nfunc show() { fmt.Println(\"n is\", *n) }\n\n%% -n=17\nshow()", "ok", "n is 17\n")
	l.expect(t, "%% -n=18\nshow()", "ok", "n is 18\n")
	l.expect(t, "//gonb:%exec show -n=19", "ok", "n is 19\n")
	l.expect(t, "%args -n=20\n\nfunc main() {\n\tflag.Parse()\n\tshow()\n}", "ok", "n is 20\n")
	l.expect(t, "flag := 3 // now something else\nfmt.Println(flag)", "ok")
	l.expect(t, "%% -n=21\nshow()", "ok", "n is 21\n")
	l.expect(t, "func TestN(t *testing.T) {\n\tif *n != 21 {\n\t\tt.Error(*n)\n\t}\n}\n%test", "ok", "PASS")
}

// TestGoFlags builds cells with flags of go build. Values and places are what they are without.
func TestGoFlags(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	cover := t.TempDir()
	l.expect(t, "x := 40", "ok")
	l.expect(t, "%env GOCOVERDIR "+cover+"\n%goflags -cover", "ok", "%goflags=[\"-cover\"]")
	l.expect(t, "func A() int {\n\treturn 2\n}\n\nfunc B() int {\n\treturn 3\n}\n\nfmt.Println(x + A())", "ok", "[stdout]42\n")
	outs, _ := l.run("!go tool covdata func -i " + cover)
	got := flat(outs)
	for _, w := range []string{":\tA\t\t100.0%", ":\tB\t\t0.0%", "cell["} {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), strings.Join(strings.Fields(strings.ReplaceAll(w, ":\t", " ")), " ")) {
			t.Errorf("no %q in %s", w, got)
		}
	}
	if strings.Contains(got, "persist") {
		t.Errorf("the kernel's own packages are in the user's coverage: %s", got)
	}
	l.expect(t, "y := x\nvar p *int\n*p = y", "error", "this cell, line 3")
	l.expect(t, "type point struct{ A int }\nq := point{1}", "ok")
	l.expect(t, "%goflags -nosuch", "ok")
	l.expect(t, "fmt.Println(x)", "error", "-nosuch")
	l.expect(t, "type point struct{ A, B int }\npoint{1, 2}", "error", "-nosuch") // would take q away
	l.expect(t, "%reset\nfmt.Println(1)", "error", "-nosuch")
	l.expect(t, "%goflags \"\"", "ok", "%goflags=[]")
	l.expect(t, "fmt.Println(x, q.A)", "ok", "[stdout]40 1\n")
}

// TestLastCellForTools looks at the last cell with a tool: it is there as its user might have written it.
func TestLastCellForTools(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	l.expect(t, "type Point struct{ X, Y float64 }\n\nfunc (p *Point) Sum() float64 {\n\treturn p.X + p.Y\n}\n\np := Point{3, 4}\nfmt.Println(p.Sum())", "ok", "7\n")
	l.expect(t, "!*go build -gcflags=-m && go vet . && ./$(basename $PWD)", "ok", "can inline (*Point).Sum", "p does not escape", "[stdout]7\n", "!lectern")
	l.expect(t, "fmt.Println(p.X)", "ok")
	l.expect(t, "!*go build && ./$(basename $PWD)", "ok", "[stdout]0\n")
}

// TestProgramsUnderGoNB runs programs that speak with GoNB: they keep their values, and fail at the user's
// line. GoNB may die and be there again.
func TestProgramsUnderGoNB(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	l.expect(t, "%fallbacks", "ok", "the kernel has run every cell itself")
	l.expect(t, "n := 40", "ok")
	outs, _ := l.run("import \"github.com/janpfeifer/gonb/gonbui\"\n\nn += 2\ngonbui.DisplayHTML(fmt.Sprint(\"<b>\", n, \"</b>\"))")
	if len(outs) != 1 || outs[0].data["text/html"] != "<b>42</b>" {
		t.Errorf("a display: %v", outs)
	}
	l.expect(t, "n", "ok", "[result]42")
	file := filepath.Join(t.TempDir(), "captured")
	l.expect(t, "%capture "+file+"\nfmt.Println(\"text\")\ngonbui.DisplayMarkdown(\"# shown\\n\")", "ok", "[stdout]text\n")
	b, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(b), "text\n") || !strings.Contains(string(b), "# shown\n") {
		t.Errorf("%%capture has %q (%v)", b, err)
	}
	l.expect(t, "gonbui.DisplayHTML(\"a\")\nvar p *int\n*p = n", "error", "this cell, line 3")
	l.expect(t, "gonbui.DisplayHTML(\"a\")\nos.Exit(3)", "error", "exit status 3")
	l.expect(t, "%fallbacks", "ok", "gonbui 4")
	t.Run("GoNB dies", func(t *testing.T) {
		if _, err := exec.LookPath("pkill"); err != nil { // and pgrep, which comes with it
			need(t, err)
		}
		l.expect(t, "!pkill -KILL -P $PPID -x gonb; while pgrep -P $PPID -x gonb; do sleep 0.1; done", "ok")
		outs, r := l.run("n++\ngonbui.DisplayHTML(fmt.Sprint(n))")
		if r.Status != "ok" || outs[0].data["text/html"] != "43" {
			t.Errorf("after GoNB's death: %v", flat(outs))
		}
		l.expect(t, "%fallbacks", "ok", "gonbui 5")
	})
}

// TestPagesNeedJupyter says what a %wasm cell lacks without a server.
func TestPagesNeedJupyter(t *testing.T) {
	t.Parallel()
	bin, err := tools()
	need(t, err)
	l := startLabIn(t, bin, t.TempDir(), []string{"JPY_PARENT_PID="})
	l.expect(t, "%wasm 3\nfmt.Println(1)", "error", "%wasm takes no arguments")
	l.expect(t, "%wasm\nfmt.Println(1)", "error", "Jupyter server")
	l.expect(t, "1 + 1", "ok", "[result]2")
}
