//go:build unix

package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/testenv"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// exporting writes a notebook as a program and returns what that prints.
func exporting(t *testing.T, file, out string) string {
	t.Helper()
	t.Setenv("LECTERN_OFFLINE", "1")
	if err := exportNotebook(config{root: repoRoot(t)}, file, out); err != nil {
		t.Fatal(err)
	}
	return printing(t, file, out)
}

// printing builds the program of a notebook and returns what it prints.
func printing(t *testing.T, file, out string) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "program")
	build := exec.Command("go", "build", "-o", exe, ".")
	build.Dir = out
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	cmd := exec.Command(exe)
	cmd.Dir = filepath.Dir(file)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	printed, err := cmd.Output()
	if err != nil {
		t.Errorf("the program of %s: %v\n%s", filepath.Base(file), err, &stderr)
	}
	formatted := exec.Command("gofmt", "-l", out)
	if said, err := formatted.CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("gofmt: %v %s", err, said)
	}
	return inProgram.ReplaceAllString(string(printed), "")
}

// inProgram is what the library says of a line of a program, and not of one of a cell.
var inProgram = regexp.MustCompile(`, at main\.go:\d+`)

// inRepository is a folder of this module, for programs that need no go.mod of their own.
func inRepository(t *testing.T) string {
	t.Helper()
	state := filepath.Join(repoRoot(t), ".lectern")
	if err := os.MkdirAll(state, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(state, "export-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// shownText is what a program can print of a cell's outputs.
func shownText(outputs []*notebook.Output) string {
	var b strings.Builder
	for _, o := range outputs {
		text := o.Text
		if o.Type == "stream" && o.Name == "stderr" {
			continue
		}
		if o.Type == "display_data" || o.Type == "execute_result" {
			text, _ = o.Data["text/plain"].(string)
			if text != "" && !strings.HasSuffix(text, "\n") {
				text += "\n"
			}
		}
		b.WriteString(text)
	}
	return b.String()
}

// TestExport compares programs with the notebooks that they were, on names that change their meaning above all.
func TestExport(t *testing.T) {
	cells := []string{
		"x := 1\nfunc twice() int { return 2 * x }\ntwice()",
		"x = 5\ntwice()",
		"y := x + 1\nx := \"now a string\" // another type\nfunc twice() string { return x + x }\nfmt.Println(x, y)",
		"func call() string { return twice() + \"!\" }\ncall()",
		"func twice() string { return \"<\" + x + \">\" }\ncall()", // an earlier cell's function calls the new one
		"type point struct{ A, B int }\nfunc (p point) sum() int { return p.A + p.B }\np := point{1, 2}\np.sum()",
		"func (p point) product() int { return p.A * p.B }\np.product()",
		"type point struct{ A, B, C float64 }\nfunc (p point) sum() float64 { return p.A + p.B + p.C }\np := point{1, 2, 3.5}\np.sum()",
		"p.C",
		"const (\n\ta = iota\n\tb\n\tc\n)\n[]int{a, b, c}",
		"import \"math/rand\"\nr := rand.New(rand.NewSource(1))\nr.Intn(100)",
		"count := 0\nnext := func() int { count++; return count }\nnext()\nnext()",
		"count",
		"m := map[string]int{\"a\": 1}\nfor k, v := range m {\n\tfmt.Println(k, v)\n}\ntext := `raw\n\ttext`\ntext",
		"[raises-exception]var none []int\nfmt.Println(\"before\")\nnone[3] = 1",
		"[raises-exception]var wrong int = \"a string\"",
		"%autoget\nlen(m)",
		"time := 3 // hides the package\ntime * 2",
		"func generic[T any](v T) []T { return []T{v, v} }\ngeneric(time)",
		"var e error = fmt.Errorf(\"wrapped: %w\", os.ErrNotExist)\nerrors.Is(e, os.ErrNotExist)",
		"len := 4\nfmt.Println(len)",
		"%test\nfunc TestTwice(t *testing.T) {\n\tif twice() == \"\" {\n\t\tt.Fail()\n\t}\n}",
		"_, err := strconv.Atoi(\"x\")\nerr",
	}
	dir := t.TempDir()
	n := &notebook.Notebook{}
	for i, source := range cells {
		c := &notebook.Cell{ID: fmt.Sprint("c", i), Type: "code", Source: source}
		if rest, ok := strings.CutPrefix(source, "[raises-exception]"); ok {
			c.Source, c.Metadata = rest, notebook.Object{"tags": []string{"raises-exception"}}
		}
		n.Cells = append(n.Cells, c, &notebook.Cell{ID: fmt.Sprint("m", i), Type: "markdown", Source: "Some text,\n\n- `with marks`"})
	}
	file := filepath.Join(dir, "a.ipynb")
	if err := n.Write(file); err != nil {
		t.Fatal(err)
	}
	run := func(n *notebook.Notebook) string { // as a kernel shows it
		l := startLab(t)
		var all strings.Builder
		for _, c := range n.Cells {
			if c.Type != "code" || strings.HasPrefix(c.Source, "%test") || strings.Contains(c.Source, "testing.T") { // go test prints about itself
				continue
			}
			outs, r := l.run(c.Source)
			if r.Status != "ok" && !c.HasTag("raises-exception") {
				t.Errorf("%s\n%s", c.Source, flat(outs))
			}
			for _, o := range outs {
				if o.kind == "stdout" || o.kind == "display" || o.kind == "result" {
					all.WriteString(strings.TrimSuffix(o.text, "\n") + "\n")
				}
			}
		}
		return all.String()
	}
	out := inRepository(t)
	want := run(n)
	if got := exporting(t, file, out); got != want {
		t.Errorf("the program prints\n%s\nthe notebook\n%s", got, want)
	}
	source, err := os.ReadFile(filepath.Join(out, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"// Some text,\n//\n// - `with marks`\n", "func twice3() string", "is left out: it is there to show a mistake", "// %autoget\n", "attempt(cell15)"} {
		if !bytes.Contains(source, []byte(want)) {
			t.Errorf("the program lacks %q:\n%s", want, source)
		}
	}
	test := exec.Command("go", "test", ".")
	test.Dir = out
	if said, err := test.CombinedOutput(); err != nil {
		t.Errorf("its test: %v\n%s", err, said)
	}

	// What was not exported is not written over.
	for _, name := range []string{"main.go", "main_test.go", "go.mod"} {
		own := t.TempDir()
		writeFiles(t, own, map[string]string{name: "package main\n"})
		if err := exportNotebook(config{root: repoRoot(t)}, file, own); err == nil || !strings.Contains(err.Error(), name+" is there and was not exported") {
			t.Errorf("%s is there: %v", name, err)
		}
	}
}

// TestNotExported: a program that would not build is not written, and the cell at fault is named.
func TestNotExported(t *testing.T) {
	t.Setenv("LECTERN_OFFLINE", "1")
	for code, want := range map[string]string{
		"// int one() { return 1; }\nimport \"C\"\nC.one()":              "cell [1] has C in it",
		"import _ \"embed\"\n//go:embed some.txt\nvar some string\nsome": "cell [1], line 2: go:embed doesn't work in cells",
	} {
		n := &notebook.Notebook{Metadata: notebook.Object{}, Cells: []*notebook.Cell{{ID: "a", Type: "code", Source: code}}}
		file := filepath.Join(t.TempDir(), "x.ipynb")
		if err := n.Write(file); err != nil {
			t.Fatal(err)
		}
		if err := exportNotebook(config{root: repoRoot(t)}, file, inRepository(t)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", code, err, want)
		}
	}
}

// TestExportLessons compares what programs print with the stored outputs of the lessons that they were, but for cells
// that measure. Two lessons stand for all unless LECTERN_LONG is set.
func TestExportLessons(t *testing.T) {
	if testing.Short() {
		t.Skip("it executes lessons")
	}
	lessons := []string{"03-number-formats", "11-gradients"}
	if long() {
		all, err := filepath.Glob(filepath.Join(repoRoot(t), "notebooks", "*.ipynb"))
		if err != nil {
			t.Fatal(err)
		}
		lessons = nil
		for _, file := range all {
			lessons = append(lessons, strings.TrimSuffix(filepath.Base(file), ".ipynb"))
		}
	}
	t.Setenv("LECTERN_OFFLINE", "1")
	for _, name := range lessons {
		t.Run(name, func(t *testing.T) {
			file, out := filepath.Join(repoRoot(t), "notebooks", name+".ipynb"), inRepository(t)
			if err := exportNotebook(config{root: repoRoot(t)}, file, out); err != nil {
				t.Fatal(err)
			}
			passed := passedBefore(t, file, out)
			if _, err := os.Stat(passed); err == nil {
				t.Skip("it has passed, and since then neither the lesson nor what it imports has changed")
			}
			printsWhatIsStored(t, file, out)
			if !t.Failed() {
				if err := os.WriteFile(passed, nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// printsWhatIsStored compares what the program of a lesson prints with the lesson's stored outputs.
func printsWhatIsStored(t *testing.T, file, out string) {
	t.Helper()
	got := printing(t, file, out)
	n, err := notebook.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range n.Cells {
		want := shownText(c.Outputs)
		if c.HasTag("measured") || strings.HasPrefix(c.Source, "//step") { // steps are the kernel's to show
			continue
		}
		at := strings.Index(got, want)
		if at < 0 {
			t.Errorf("the program does not print, after what it has printed before,\n%s\nbut\n%.2000s", want, got)
			return
		}
		got = got[at+len(want):]
	}
}

// passedBefore is the file in the user's cache that says that a lesson's program has passed. Its name is a digest of
// everything that the program is built from, of the lesson, and of how they are compared. Lessons read no other files.
func passedBefore(t *testing.T, file, out string) string {
	t.Helper()
	var inputs strings.Builder // a template: the files of each package that isn't Go's, a line each
	for _, kind := range []string{"GoFiles", "CgoFiles", "CFiles", "HFiles", "SFiles", "EmbedFiles"} {
		fmt.Fprintf(&inputs, `{{$dir := .Dir}}{{if not .Standard}}{{range .%s}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{end}}`, kind)
	}
	list := exec.Command("go", "list", "-deps", "-f", inputs.String(), ".")
	list.Dir = out
	names, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := append(strings.Split(strings.TrimSpace(string(names)), "\n"), file, "export_test.go")
	digest := sha256.New()
	fmt.Fprintln(digest, runtime.Version(), runtime.GOARCH)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(digest, "%s %x\n", filepath.Base(name), sha256.Sum256(text))
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(cache, "lectern-test", "lessons")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(folder, fmt.Sprintf("%x", digest.Sum(nil)))
}

// TestExportElsewhere: in a module that does not require ours, programs build and print, and its requirements stay as
// they are. Two modules stand for all unless LECTERN_LONG is set.
func TestExportElsewhere(t *testing.T) {
	cells := []string{
		"%s",
		"x := []int{1, 2}\nx",
		"type point struct{ A, B int }\npoint{1, 2}",
		"\"text\"",
		"strconv.Atoi(\"3\")",
		"os.Chdir(\".\")",
		"var e error = fmt.Errorf(\"wrong\")\ne",
		"func echo() int { return 7 }\necho()",
		"dep.Here",
	}
	const printed = "[1 2]\n{A:1 B:2}\n\"text\"\n3\nwrong\n7\n42\n"
	served := proxy(t, map[string]string{"gonum.org/v1/gonum@v0.9.0": "1.20", "example.net/dep@v1.0.0": "1.20"})
	for _, c := range []struct {
		name  string
		files map[string]string // the notebook lies in m/notes
		path  string            // of the package that it imports as dep
		show  bool              // it calls package show, too
	}{
		{"requires nothing", map[string]string{"m/dep/dep.go": "package dep\n\nconst Here = 42\n"}, "example.org/m/dep", false},
		{"calls show", map[string]string{"m/dep/dep.go": "package dep\n\nconst Here = 42\n"}, "example.org/m/dep", true},
		{"old gonum", map[string]string{"m/go.mod": "module example.org/m\n\ngo 1.22\n\nrequire gonum.org/v1/gonum v0.9.0\n"}, "gonum.org/v1/gonum", false},
		{"workspace", map[string]string{"go.work": "go 1.22\n\nuse (\n\t./m\n\t./near\n)\n", "near/go.mod": "module example.org/near\n\ngo 1.22\n", "near/near.go": "package near\n\nconst Here = 42\n"}, "example.org/near", false},
		{"vendor", map[string]string{"m/go.mod": "module example.org/m\n\ngo 1.22\n\nrequire example.net/dep v1.0.0\n", "m/vendor/modules.txt": "# example.net/dep v1.0.0\n## explicit; go 1.20\nexample.net/dep\n",
			"m/vendor/example.net/dep/dep.go": "package dep\n\nconst Here = 42\n", "m/m.go": "package m\n\nimport _ \"example.net/dep\"\n"}, "example.net/dep", true},
		{"replace", map[string]string{"m/go.mod": "module example.org/m\n\ngo 1.22\n\nrequire example.net/dep v1.0.0\n\nreplace example.net/dep => ../fork\n",
			"fork/go.mod": "module example.net/dep\n\ngo 1.20\n", "fork/dep.go": "package dep\n\nconst Here = 42\n"}, "example.net/dep", false},
	} {
		if !long() && c.name != "calls show" && c.name != "workspace" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			dir, cache := t.TempDir(), moduleCache(t)
			t.Setenv("GOMODCACHE", cache)
			t.Setenv("GOPROXY", served+",file://"+machineModules(t))
			t.Setenv("GONOSUMDB", "*")
			t.Setenv("GOFLAGS", "-modcacherw")
			writeFiles(t, dir, map[string]string{"m/go.mod": "module example.org/m\n\ngo 1.22\n"})
			writeFiles(t, dir, c.files)
			download := exec.Command("go", "mod", "download", "all")
			download.Dir, download.Env = filepath.Join(dir, "m"), append(os.Environ(), "GOFLAGS=-mod=mod -modcacherw")
			if c.name != "workspace" {
				download.Env = append(download.Env, "GOWORK=off")
			}
			if out, err := download.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			n := &notebook.Notebook{}
			for i, source := range cells {
				if i == 0 {
					source = fmt.Sprintf("import dep %q", c.path)
				}
				n.Cells = append(n.Cells, &notebook.Cell{ID: fmt.Sprint("c", i), Type: "code", Source: source})
			}
			want := printed
			if c.show {
				n.Cells = append(n.Cells, &notebook.Cell{ID: "s", Type: "code", Source: "show.Value(x)\nshow.Table([]string{\"n\"}, [][]any{{1}})"})
				want += "[]int{1, 2}\nn\n-\n1\n"
			}
			file := filepath.Join(dir, "m", "notes", "a.ipynb")
			os.MkdirAll(filepath.Dir(file), 0o755)
			if err := n.Write(file); err != nil {
				t.Fatal(err)
			}
			before := texts(t, dir)
			out := filepath.Join(dir, "m", "notes", "a")
			if got := exporting(t, file, out); got != want {
				t.Errorf("it prints\n%s\nwant\n%s", got, want)
			}
			for name, text := range before {
				if now, err := os.ReadFile(name); err != nil || string(now) != text {
					t.Errorf("%s is now\n%s\nand was\n%s", name, now, text)
				}
			}
			source, _ := os.ReadFile(filepath.Join(out, "main.go"))
			if strings.Contains(string(source), "lectern-go/lectern") || !c.show && strings.Contains(string(source), "lectern\"") {
				t.Errorf("the program is\n%s", source)
			}
			if _, err := os.Stat(filepath.Join(out, copiesFolder, "LICENSE")); (err == nil) != c.show {
				t.Errorf("copies of our packages: %v", err)
			}
		})
	}
}

// texts are the go.mod, go.sum, go.work and modules.txt of a folder, by name.
func texts(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if base := filepath.Base(name); err == nil && (strings.HasPrefix(base, "go.") || base == "modules.txt") {
			b, err := os.ReadFile(name)
			found[name] = string(b)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "../..") }
