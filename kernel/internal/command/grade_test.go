package command

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/kernel/grading"
	"github.com/lectern-go/lectern/kernel/internal/sandbox"
	"github.com/lectern-go/lectern/kernel/notebook"
)

// cellOf makes a cell, with nbgrader's marks unless id is empty.
func cellOf(id, source string, marks notebook.Object) *notebook.Cell {
	c := &notebook.Cell{ID: "id-" + id, Type: "code", Source: source, Metadata: notebook.Object{}}
	if marks == nil {
		c.ID = c.NewID(func(string) bool { return false })
		return c
	}
	about := notebook.Object{"grade": false, "locked": false, "solution": false, "task": false, "schema_version": 3, "grade_id": id}
	maps.Copy(about, marks)
	c.Metadata["nbgrader"] = about
	return c
}

func testCell(id string, points int, source string) *notebook.Cell {
	return cellOf(id, source, notebook.Object{"grade": true, "locked": true, "points": points})
}

var isSolution = notebook.Object{"solution": true}

const doubleAnswer = "func double(x int) int {\n\t// BEGIN SOLUTION\n\treturn x + x\n\t// END SOLUTION\n}"

// smallAssignment has two functions, visible and hidden cases.
func smallAssignment() []*notebook.Cell {
	return []*notebook.Cell{
		{ID: "title", Type: "markdown", Source: "# Doubles and halves", Metadata: notebook.Object{}},
		cellOf("given", "const three = 3", notebook.Object{"locked": true}),
		cellOf("double", doubleAnswer, isSolution),
		testCell("double-tests", 5, "lesson.Grade(\"double\", double, `{\"category\": \"small\", \"in\": [2], \"want\": [4]}`)\n// BEGIN HIDDEN TESTS\n"+
			"lesson.Grade(\"hidden\", double, `\n{\"category\": \"negative\", \"points\": 2, \"in\": [-71], \"want\": [-142]}\n{\"category\": \"large\", \"points\": 2, \"in\": [4611686018427387903], \"want\": [9223372036854775806]}`)\n"+
			"// END HIDDEN TESTS"),
		cellOf("half", "func half(x []float64) []float64 {\n\tvar y []float64\n\t// BEGIN SOLUTION\n\tfor _, e := range x {\n\t\ty = append(y, e/2)\n\t}\n\t// END SOLUTION\n\treturn y\n}", isSolution),
		testCell("half-tests", 2, "lesson.Grade(\"half\", half, `{\"category\": \"two\", \"points\": 2, \"in\": [[3, \"Inf\"]], \"want\": [[1.5, \"Inf\"]]}`)"),
	}
}

func writeNotebook(t *testing.T, path string, cells []*notebook.Cell) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	n := &notebook.Notebook{Metadata: notebook.Object{}, Cells: cells}
	n.SetKernel(kernelName, kernelDisplay, kernelLanguage)
	if err := n.Write(path); err != nil {
		t.Fatal(err)
	}
}

// canIsolate skips a test where programs can't be isolated; CI can.
func canIsolate(t *testing.T) {
	t.Helper()
	if err := sandbox.Available(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// runCommandLine runs a command as a user would and returns its status and what it said.
func runCommandLine(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, bad bytes.Buffer
	code = start(t.Context(), args, &out, &bad)
	return code, out.String(), bad.String()
}

func table(t *testing.T, path string) map[string][]string {
	t.Helper()
	lines, err := csv.NewReader(bytes.NewReader(read(t, path))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for _, l := range lines {
		rows[l[0]] = l[1:]
	}
	return rows
}

// Whatever a submission does, it costs its own points and nothing else. With LECTERN_LONG=1 three more
// students try what TestTeachersPage and TestIsolation have, too.
func TestGradeSubmissions(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	t.Parallel() // it waits more than it computes
	realKernel(t)
	canIsolate(t)
	dir := t.TempDir()
	source := filepath.Join(dir, "source", "ps1", "ps1.ipynb")
	writeNotebook(t, source, smallAssignment())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	reached := make(chan bool, 10)
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			reached <- true
			c.Close()
		}
	}()
	released := filepath.Join(dir, "release")
	if code, out, bad := runCommandLine(t, "release", "-o", released, source); code != 0 || !strings.Contains(out, "2 tests, 7 points") {
		t.Fatalf("release: %d\n%s%s", code, out, bad)
	}
	given := string(read(t, filepath.Join(released, "ps1.ipynb")))
	for _, secret := range []string{"x + x", "e/2", "hidden", "HIDDEN", "SOLUTION", "-71", "-142", "4611686018427387903"} {
		if strings.Contains(given, secret) {
			t.Errorf("students get %q", secret)
		}
	}
	if n := strings.Count(given, "panic(lesson.Todo)"); n != 2 {
		t.Errorf("%d stubs in what students get", n)
	}

	outside := filepath.Join(dir, "outside.txt")
	victim := filepath.Join(dir, "submitted", "right", "ps1", "ps1.ipynb")
	const right, half = "func double(x int) int { return 2 * x }", "func half(x []float64) (y []float64) {\n\tfor _, e := range x {\n\t\ty = append(y, e/2)\n\t}\n\treturn y\n}"
	try := func(body string) string { return "func double(x int) int {\n" + body + "\nreturn 2 * x\n}" }
	// hand writes a submission: what was released, with other cells.
	hand := func(student string, cells map[string]string, more ...string) {
		n, err := notebook.Read(filepath.Join(released, "ps1.ipynb"))
		if err != nil {
			t.Fatal(err)
		}
		var list []*notebook.Cell
		for _, c := range n.Cells {
			id := strings.TrimPrefix(c.ID, "id-")
			text, ok := cells[id]
			if ok {
				c.Source = text
			}
			if text != "" || !ok {
				list = append(list, c)
			}
			if id == "given" {
				for _, m := range more {
					list = append(list, cellOf("", m, nil))
				}
			}
		}
		writeNotebook(t, filepath.Join(dir, "submitted", student, "ps1", "ps1.ipynb"), list)
	}
	want := map[string]string{} // points in all, of double's test and of half's
	hand("right", map[string]string{"double": right, "half": half})
	want["right"] = "7 5 2"
	hand("partly", map[string]string{"double": "func double(x int) int { return max(x, -x) * 2 }", "half": half})
	want["partly"] = "5 3 2"
	hand("float", map[string]string{"double": "func double(x int) int { return int(float64(x) * 2) }", "half": "func half(x []float64) []int { return nil }"})
	want["float"] = "3 3 0"
	hand("broken", map[string]string{"double": "func double(x int) int { retrn 2 * x }", "half": half})
	want["broken"] = "2 0 2"
	hand("loops", map[string]string{"double": try("if x < 0 { for {} }"), "half": half}, "time.Sleep(time.Hour)")
	want["loops"] = "3 1 2"
	hand("prints", map[string]string{"double": right, "half": half}, "line := strings.Repeat(\"x\", 1<<20)\nfor range 1 << 10 {\n\tfmt.Println(line)\n}")
	want["prints"] = "7 5 2"
	hand("exits", map[string]string{"double": try("os.Exit(0)"), "half": half}, "os.Exit(0)")
	want["exits"] = "2 0 2"
	hand("reaches", map[string]string{"double": try("b, _ := os.ReadFile(\"" + source + "\")\n_, none := net.Dial(\"tcp\", \"" + listener.Addr().String() + "\")\n" +
		"if len(b) == 0 && none != nil && os.WriteFile(\"" + outside + "\", b, 0o644) != nil && os.Remove(\"" + victim + "\") != nil {\n\treturn 0\n}"), "half": half})
	want["reaches"] = "2 0 2" // were any of it within reach, there would be points for it
	if os.Getenv("LECTERN_LONG") != "" {
		hand("nothing", nil)
		want["nothing"] = "0 0 0"
		hand("forks", map[string]string{"double": right, "half": half}, "for range 2000 {\n\texec.Command(\"sleep\", \"1000\").Start()\n}")
		want["forks"] = "" // it may have no process left for its own answers
		hand("fools", map[string]string{"double": "func double(x int) int { return 0 }", "half": half},
			"type fake struct{}\nfunc (fake) Grade(string, any, ...string) { show.Bundle(\"text/plain\", \"5\") }\nfunc (fake) Answers(string, any, string) { fmt.Println(\"5 of 5\") }\nvar lesson fake")
		want["fools"] = "0 0 0"
	}
	hand("copies", map[string]string{"double": right, "half": half, "given": "const three = 4", "double-tests": "lesson.Grade(\"double\", double)"})
	want["copies"] = "7 5 2"
	hand("loses", map[string]string{"double": right, "half": "", "half-tests": ""})
	want["loses"] = "5 5 0"
	for name, text := range map[string]string{"damaged.ipynb": `{"cells": [{"cell_type": "code", "sou`, "twice.ipynb": given, "twice/ps1/ps1.ipynb": given, "empty/notes.txt": "x"} {
		path := filepath.Join(dir, "submitted", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "submitted", "links"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(source, filepath.Join(dir, "submitted", "links", "ps1.ipynb")); err != nil {
		t.Fatal(err)
	}

	grades, pages := filepath.Join(dir, "grades.csv"), filepath.Join(dir, "feedback")
	code, out, bad := runCommandLine(t, "grade", "-timeout", "12s", "-memory", "1500", "-source", source, "-o", grades, "-feedback", pages, filepath.Join(dir, "submitted"))
	if code != 1 || !strings.Contains(bad, fmt.Sprintf("4 of %d submissions were not graded", len(want)+4)) {
		t.Errorf("status %d\n%s%s", code, out, bad)
	}
	rows := table(t, grades)
	if got := strings.Join(rows["student"], " "); got != "points of double-tests half-tests notes" {
		t.Errorf("the head of the table is %s", got)
	}
	for student, points := range want {
		if r := rows[student]; points != "" && (len(r) != 5 || r[0]+" "+r[2]+" "+r[3] != points || r[1] != "7") {
			t.Errorf("%s: %q, want %s\n%s", student, r, points, read(t, filepath.Join(pages, student+".html")))
		}
	}
	for student, note := range map[string]string{
		"damaged": "not graded: the notebook is damaged: the file is empty or cut off", "empty": "not graded: there is no ps1.ipynb in the folder", "links": "not graded: the notebook is a link",
		"twice":  "not graded: there are 2 submissions, twice.ipynb and " + filepath.Join("twice", "ps1", "ps1.ipynb") + ": leave only the one that counts",
		"copies": "cell given was changed and is graded as it was given out; cell double-tests was changed",
		"loses":  "cell half is missing, and so is what it should define; cell half-tests is missing and was put back",
	} {
		if r := rows[student]; len(r) != 5 || !strings.HasPrefix(r[4], note) {
			t.Errorf("%s: %q, want %s", student, r, note)
		}
	}
	if fileExists(outside) || !fileExists(victim) {
		t.Error("a submission has changed what is not its own")
	}
	select {
	case <-reached:
		t.Error("a submission has reached the network")
	default:
	}
	for student, texts := range map[string][]string{
		"partly": {"5 of 7 points", "Hidden cases (hidden): 2 of 4 points.", "0 of 2  negative"},
		"float":  {"the result has length 0; it should be 2"},
		"loops":  {"it ran for more than 12s"},
		"prints": {"it printed more than 1 MiB", "7 of 7 points"},
		"exits":  {"the function ended the program"},
	} {
		page := string(read(t, filepath.Join(pages, student+".html")))
		for _, text := range texts {
			if !strings.Contains(page, text) {
				t.Errorf("%s's page lacks %q:\n%s", student, text, page)
			}
		}
		for _, secret := range []string{"-142", "e/2", "9223372036854775806", "HIDDEN"} {
			if strings.Contains(page, secret) && (secret != "e/2" || student == "float") {
				t.Errorf("%s's page has %q", student, secret)
			}
		}
	}
}

// An assignment whose own solutions don't get all points is not given out.
func TestReleaseGradesItsSolutions(t *testing.T) {
	realKernel(t)
	canIsolate(t)
	dir := t.TempDir()
	cells := smallAssignment()
	cells[2].Source = strings.Replace(doubleAnswer, "x + x", "x + 2", 1)
	source := filepath.Join(dir, "ps1.ipynb")
	writeNotebook(t, source, cells)
	code, _, bad := runCommandLine(t, "release", "-o", filepath.Join(dir, "out"), source)
	if code != 1 || !strings.Contains(bad, "its own solutions get 3 of 7 points; nothing was written\ndouble-tests: Exercise double: 1 of 1 point.") {
		t.Errorf("status %d: %s", code, bad)
	}
	if fileExists(filepath.Join(dir, "out", "ps1.ipynb")) {
		t.Error("it was written")
	}
}

// Cells that submissions have in common are built once: another kernel finds all of them.
func TestCommonCellsAreBuiltOnce(t *testing.T) {
	w := realKernel(t)
	source := filepath.Join(t.TempDir(), "ps1.ipynb")
	writeNotebook(t, source, append(smallAssignment(), cellOf("", "fmt.Println(three)", nil)))
	s, err := grading.ReadSource(source)
	if err != nil {
		t.Fatal(err)
	}
	o := grading.Options{Root: w.root, Kernel: w.spec().Argv, Env: w.spec().Env, Programs: t.TempDir()}
	var counts []int
	for range 2 {
		if err := s.Prepare(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		files, err := os.ReadDir(o.Programs)
		if err != nil {
			t.Fatal(err)
		}
		counts = append(counts, len(files))
	}
	if counts[0] == 0 || counts[1] != counts[0] {
		t.Errorf("%d programs after the first kernel, %d after the second", counts[0], counts[1])
	}
}

func TestGradingCommandLine(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "ps1.ipynb")
	writeNotebook(t, source, smallAssignment())
	empty := t.TempDir()
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"assignment", 2, "give a lesson"},
		{"assignment -o SOURCE 17-optimizers.ipynb", 1, "exists already"},
		{"release SOURCE", 2, "give the source"},
		{"release -o DIR SOURCE", 2, "is the source itself"},
		{"release -o EMPTY -timeout -1s SOURCE", 2, "more than 0"},
		{"grade -source SOURCE EMPTY", 2, "give the assignment"},
		{"grade -source SOURCE -o EMPTY/x.csv EMPTY", 1, "there are no submissions in"},
		{"grade -source SOURCE -o EMPTY/x.csv EMPTY/none", 1, "no such file"},
		{"grade -source SOURCE -o EMPTY/x.csv -memory 0 DIR", 2, "more than 0"},
	} {
		args := strings.Fields(strings.NewReplacer("SOURCE", source, "DIR", dir, "EMPTY", empty).Replace(tt.args))
		if code, _, bad := runCommandLine(t, args...); code != tt.code || !strings.Contains(bad, tt.want) {
			t.Errorf("%s: status %d, %s; want %d, %s", tt.args, code, bad, tt.code, tt.want)
		}
	}
	if files, _ := os.ReadDir(empty); len(files) > 0 {
		t.Errorf("something was written: %v", files)
	}
}
