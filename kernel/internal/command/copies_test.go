package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/notebook"
	"github.com/lectern-go/lectern/kernel/translate"
	"github.com/lectern-go/lectern/notebooks/course"
)

// aLesson is a lesson with one cell of each kind. Its text is part of the first cell.
func aLesson(text string) *notebook.Notebook {
	cell := func(id, kind, source string, tags ...string) *notebook.Cell {
		c := &notebook.Cell{ID: id, Type: kind, Source: source}
		if len(tags) > 0 {
			c.Metadata = notebook.Object{"tags": tags}
		}
		if kind == "code" {
			c.Count = 1
			c.Outputs = []*notebook.Output{{Type: "stream", Name: "stdout", Text: "the result\n"}}
		}
		return c
	}
	return &notebook.Notebook{
		Metadata: notebook.Object{"lectern": notebook.Object{"summary": "What it is about."}},
		Cells: []*notebook.Cell{
			cell("a", "markdown", "# "+text), cell("b", "code", "x := 1"), cell("c", "code", `lesson.Expect("x", x, 1)`, "check-only"),
			cell("d", "code", "var answer any = nil", "exercise"), cell("e", "code", "answer = 7", "solution"), cell("f", "markdown", "Because.", "solution"), cell("g", "code", "last()"),
		},
	}
}

func TestWorkingCopy(t *testing.T) {
	n := workingCopy(aLesson("T"), nil)
	var all []string
	for _, c := range n.Cells {
		if len(c.Outputs) > 0 || c.Count > 0 {
			t.Errorf("cell %s has outputs or a number", c.ID)
		}
		all = append(all, c.Type+" "+c.Source)
	}
	want := []string{"markdown # T", "code x := 1", "code var answer any = nil",
		"markdown <details>\n<summary>Show a solution</summary>\n\n```go\nanswer = 7\n```\n\nBecause.\n\n</details>", "code last()"}
	if got := strings.Join(all, "\n--\n"); got != strings.Join(want, "\n--\n") {
		t.Errorf("the cells are\n%s", got)
	}
	if about, _ := n.Metadata["lectern"].(notebook.Object); about["summary"] != "What it is about." {
		t.Errorf("metadata %v", n.Metadata)
	}
}

// Where no copy can be read, whatever its name, that is said instead of trying for ever.
func TestCopiesWhereNothingCanBeRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if to, made, err := (&lessonCopy{in: workingCopy(aLesson("T"), nil)}).place(filepath.Join(file, "a.ipynb")); err == nil {
		t.Errorf("below a file: %q, %v", to, made)
	}
}

// checkout is a workspace for lessons alone.
func checkout(t *testing.T) *workspace {
	t.Helper()
	w, _ := scripted(t)
	w.root = filepath.Join(w.root, "CS336 [2026]") // to a pattern that is CS336 2
	if err := os.Mkdir(w.root, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.root, "go.mod"), []byte("module x\n\ngo 1.26.0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return w
}

// Nothing that a student did is ever overwritten; a new version stands beside it, once.
func TestCopiesKeepWork(t *testing.T) {
	w := checkout(t)
	publish := func(text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(w.root, "notebooks"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := aLesson(text).Write(filepath.Join(w.root, "notebooks", "01-x.ipynb")); err != nil {
			t.Fatal(err)
		}
	}
	refresh := func(want ...string) {
		t.Helper()
		newer, err := w.workingCopies(filepath.Join(w.root, copiesDir), "")
		if err != nil || strings.Join(newer, " ") != strings.Join(want, " ") {
			t.Fatalf("newer copies %q, %v; want %q", newer, err, want)
		}
	}
	at := func(name string) string { return filepath.Join(w.root, "my-lessons", name) }
	read := func(name string) *notebook.Notebook {
		t.Helper()
		n, err := notebook.Read(at(name))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	first := func(name, want string) {
		t.Helper()
		if got := read(name).Cells[0].Source; got != want {
			t.Errorf("%s begins with %q, want %q", name, got, want)
		}
	}
	publish("one")
	refresh()
	first("01-x.ipynb", "# one")
	publish("two") // without work on it
	refresh()
	first("01-x.ipynb", "# two")

	n := read("01-x.ipynb") // the student runs a cell
	n.Cells[1].Count = 1
	if err := n.Write(at("01-x.ipynb")); err != nil {
		t.Fatal(err)
	}
	refresh()
	publish("three")
	refresh("my-lessons/01-x.newer.ipynb")
	first("01-x.ipynb", "# two")
	first("01-x.newer.ipynb", "# three")
	refresh() // it is there already
	publish("four")
	refresh("my-lessons/01-x.newer.ipynb")
	first("01-x.newer.ipynb", "# four")

	n = read("01-x.newer.ipynb") // and works on the new one, too
	n.Cells[2].Source = "var answer any = 7"
	if err := n.Write(at("01-x.newer.ipynb")); err != nil {
		t.Fatal(err)
	}
	publish("five")
	refresh("my-lessons/01-x.newer2.ipynb")
	if got := read("01-x.newer.ipynb").Cells[2].Source; got != "var answer any = 7" {
		t.Errorf("the student's answer is now %q", got)
	}
	if err := os.WriteFile(at("01-x.newer2.ipynb"), []byte("not a notebook"), 0o644); err != nil {
		t.Fatal(err)
	}
	publish("six")
	refresh("my-lessons/01-x.newer3.ipynb")
	if b, err := os.ReadFile(at("01-x.newer2.ipynb")); err != nil || string(b) != "not a notebook" {
		t.Errorf("a file that is no notebook is now %q, %v", b, err)
	}
}

// The notebook that JupyterLab opens with says how far the student is, until the student makes it their own; and each
// copy but the last leads on.
func TestCopiesHaveAHome(t *testing.T) {
	w := checkout(t)
	lessons, dir := filepath.Join(w.root, "notebooks"), filepath.Join(w.root, copiesDir)
	if err := os.MkdirAll(lessons, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, title := range map[string]string{"01-x.ipynb": "One", "02-y.ipynb": "Two: and more"} {
		if err := aLesson(title).Write(filepath.Join(lessons, name)); err != nil {
			t.Fatal(err)
		}
	}
	home := filepath.Join(dir, "home.ipynb")
	refresh := func() *notebook.Notebook {
		t.Helper()
		if newer, err := w.workingCopies(dir, ""); err != nil || len(newer) > 0 {
			t.Fatalf("%v, %v", newer, err)
		}
		n, err := notebook.Read(home)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	shows := func(n *notebook.Notebook, want string) {
		t.Helper()
		if got, _ := n.Cells[1].Outputs[0].Data["text/markdown"].(string); !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	shows(refresh(), "**Begin with [01 One](01-x.ipynb).**")

	one := filepath.Join(dir, "01-x.ipynb")
	n, err := notebook.Read(one)
	if err != nil {
		t.Fatal(err)
	}
	if last := n.Cells[len(n.Cells)-1].Source; last != "**Next:** [Two](02-y.ipynb) · [How far you are](home.ipynb)" {
		t.Errorf("the first copy ends with %q", last)
	}
	n.Cells[1].Count, n.Cells[2].Source = 1, `lesson.Check("1.1", nil)`
	if err := n.Write(one); err != nil {
		t.Fatal(err)
	}
	mine := refresh()
	shows(mine, "**Continue with [01 One](01-x.ipynb#cell-id=d).** You have solved 0 of 1 exercise")

	mine.Cells[0].Source = "# My notes"
	if err := mine.Write(home); err != nil {
		t.Fatal(err)
	}
	if got := refresh().Cells[0].Source; got != "# My notes" {
		t.Errorf("the student's text is now %q", got)
	}
	if err := os.WriteFile(home, []byte("not a notebook"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := w.workingCopies(dir, ""); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(home); err != nil || string(b) != "not a notebook" {
		t.Errorf("a file that is no notebook is now %q, %v", b, err)
	}
}

// The notebook that JupyterLab opens with is in the student's language, and changes with it.
func TestHomeInALanguage(t *testing.T) {
	zh, err := translate.Load("../../../notebooks/zh")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	lesson := aLesson("One")
	lesson.Metadata = notebook.Object{} // its summary is English
	if err := lesson.Write(filepath.Join(dir, "01-x.ipynb")); err != nil {
		t.Fatal(err)
	}
	english, han := regexp.MustCompile(`[a-z]+(?: [a-z]+){2}`), regexp.MustCompile(`\p{Han}`)
	for _, l := range []*translate.Language{zh, nil, zh} {
		if err := writeHome(dir, "../docs", l); err != nil {
			t.Fatal(err)
		}
		n, err := notebook.Read(filepath.Join(dir, course.HomeFile))
		if err != nil {
			t.Fatal(err)
		}
		texts := []string{n.Cells[1].Outputs[0].Data["text/markdown"].(string)}
		for _, c := range n.Cells {
			texts = append(texts, c.Source)
		}
		for _, text := range texts {
			if han.MatchString(text) != (l != nil) || english.MatchString(text) != (l == nil) {
				t.Errorf("in Chinese: %t\n%s", l != nil, text)
			}
		}
		if !strings.Contains(n.Cells[2].Source, "](../docs/kernel.md)") {
			t.Errorf("no way to the documents:\n%s", n.Cells[2].Source)
		}
	}
}

// What a student's copy of a real lesson shows before anything is opened gives no solution away.
func TestCopiesOfTheLessons(t *testing.T) {
	lessons, err := filepath.Glob("../../../notebooks/*.ipynb")
	if err != nil || len(lessons) == 0 {
		t.Fatalf("there are no lessons: %v", err)
	}
	for _, path := range lessons {
		n, err := notebook.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		solutions := 0
		for _, c := range workingCopy(n, nil).Cells {
			if c.HasTag("solution") {
				solutions++
				if c.Type != "markdown" || !strings.HasPrefix(c.Source, "<details>\n<summary>Show a solution</summary>\n\n") {
					t.Errorf("%s: a solution is open: %s", path, c.Source)
				}
			}
			if strings.Contains(c.Source, "lesson.Check(") && c.Type == "code" && !c.HasTag("exercise") {
				t.Errorf("%s: a cell that is no exercise asks for an answer: %s", path, c.Source)
			}
		}
		if solutions < 3 {
			t.Errorf("%s: %d solutions", path, solutions)
		}
	}
}

// Beside the lessons a student's package begins, and what the student has made of it stays.
func TestCopiesHaveAPackage(t *testing.T) {
	w := checkout(t)
	dir := filepath.Join(w.root, copiesDir)
	file := filepath.Join(dir, "mine", "doc.go")
	if _, err := w.workingCopies(dir, ""); err != nil {
		t.Fatal(err)
	}
	if !fileExists(file) {
		t.Fatal("there is no package")
	}
	if err := os.WriteFile(file, []byte("package mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := w.workingCopies(dir, ""); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "package mine\n" {
		t.Errorf("the student's file is %q, %v", b, err)
	}
	cmd := exec.Command("go", "vet", "./mine")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=", "GOPROXY=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go vet ./mine: %v\n%s", err, out)
	}
}

// A student who changes the language goes on in the same files: what they wrote stays, and what they left alone is in
// the new language. Untouched copies are replaced.
func TestCopiesInALanguage(t *testing.T) {
	w := checkout(t)
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	notebooks := filepath.Join(w.root, "notebooks")
	write(filepath.Join(notebooks, "zh", "site.po"), "msgid \"\"\nmsgstr \"Language: zh-Hans\\nX-Language-Name: 中文\\n\"\n\nmsgid \"One title\"\nmsgstr \"一个标题\"\n\nmsgid \"Because.\"\nmsgstr \"因为。\"\n")
	for _, name := range []string{"01-x.ipynb", "02-y.ipynb"} {
		if err := aLesson("One title").Write(filepath.Join(notebooks, name)); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(w.root, copiesDir)
	in := func(lang string) {
		t.Helper()
		if newer, err := w.workingCopies(dir, lang); err != nil || len(newer) > 0 {
			t.Fatalf("%q: %v, %v", lang, newer, err)
		}
	}
	read := func(name string) *notebook.Notebook {
		t.Helper()
		n, err := notebook.Read(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	in("zh")
	if got := read("01-x.ipynb").Cells[0].Source; got != "# 一个标题" {
		t.Errorf("in Chinese it begins with %q", got)
	}
	n := read("01-x.ipynb")
	n.Cells[1].Source, n.Cells[1].Count = "x := 7", 1
	if err := n.Write(filepath.Join(dir, "01-x.ipynb")); err != nil {
		t.Fatal(err)
	}
	for _, lang := range []string{"", "zh", "zh", "en"} {
		in(lang)
		title := map[string]string{"zh": "# 一个标题"}[lang]
		if title == "" {
			title = "# One title"
		}
		for _, name := range []string{"01-x.ipynb", "02-y.ipynb"} {
			if got := read(name).Cells[0].Source; got != title {
				t.Errorf("%q: %s begins with %q", lang, name, got)
			}
		}
		if c := read("01-x.ipynb").Cells[1]; c.Source != "x := 7" || c.Count != 1 {
			t.Errorf("%q: the student's cell is %q, with the number %d", lang, c.Source, c.Count)
		}
	}
	if _, err := w.workingCopies(dir, "xx"); err == nil || !strings.Contains(err.Error(), "en, zh") {
		t.Errorf("a language that is not there: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*newer*")); err != nil || len(left) > 0 {
		t.Errorf("beside them: %v, %v", left, err)
	}
}

// check names the cells of a lesson whose texts have no translation, or one of an older English text.
func TestCheckNamesWhatIsNotTranslated(t *testing.T) {
	w := checkout(t)
	dir := filepath.Join(w.root, "notebooks")
	if err := os.MkdirAll(filepath.Join(dir, "zh"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "01-x.ipynb")
	if err := aLesson("One title").Write(path); err != nil {
		t.Fatal(err)
	}
	catalogue := "msgid \"\"\nmsgstr \"Language: zh-Hans\\nX-Language-Name: 中文\\n\"\n\nmsgid \"What it is about.\"\nmsgstr \"内容。\"\n\n#, fuzzy\n#| msgid \"A title\"\nmsgid \"One title\"\nmsgstr \"标题\"\n"
	if err := os.WriteFile(filepath.Join(dir, "zh", "site.po"), []byte(catalogue), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := w.untranslated(path)
	if want := "in zh: 2 texts without a translation, for 1 of them the English has changed since; in cells a f\n"; err != nil || !strings.HasSuffix(got, want) {
		t.Errorf("%q, %v; want %q at the end", got, err, want)
	}
}
