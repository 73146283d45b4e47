//go:build linux

package command

import (
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/lectern-go/lectern/kernel/notebook"
)

var shellBlock = regexp.MustCompile("(?s)\n```sh\n(.*?)```")

// elsewhere says where the other commands of the page for teachers are run.
var elsewhere = map[string]string{
	"go run ./kernel lab -edit notebooks/09-flops.ipynb":             "TestLab of kernel/e2e",
	"go run ./kernel run notebooks/09-flops.ipynb":                   "TestRealKernel",
	"go run ./kernel check":                                          ".ci/run lessons",
	"go test ./notebooks/...":                                        ".ci/run test",
	"go run ./kernel render -o site":                                 "TestRenderCommand, and kernel/e2e",
	"tar xf lectern-v0.1.0-site.tar.gz && cd lectern-v0.1.0-site":    ".ci/run release makes it; there is none before a release",
	"rm live/*.js && touch .nojekyll":                                "TestHosted serves a site without them",
	`git init -b pages && git add -A && git commit -m "The course"`:  "git's own",
	"git push --force https://github.com/NAME/REPOSITORY pages":      "git's own, and needs a place to push to",
	"go test ./notebooks/lesson -run TestCatalogues -update":         "TestCatalogues of .ci/run test",
	"go test ./kernel/translate":                                     ".ci/run test",
	"go run ./kernel check notebooks/05-storage-strides-views.ipynb": "TestCheck, and .ci/run lessons",
}

// The page for teachers does what it says, command by command: from nothing to grades, and to nbgrader's.
func TestTeachersPage(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	t.Parallel() // it waits more than it computes
	w := realKernel(t)
	canIsolate(t)
	page := string(read(t, filepath.Join(w.root, "docs", "teachers.md")))
	_, rest, ok := strings.Cut(page, "\n## From nothing to grades\n")
	if !ok {
		t.Fatal("the section has another name now")
	}
	section, others, _ := strings.Cut(rest, "\n## ")
	others, _, _ = strings.Cut(others, "\n## A class on JupyterHub") // a server of its own
	for _, m := range shellBlock.FindAllStringSubmatch(others, -1) {
		for line := range strings.Lines(m[1]) {
			command, _, _ := strings.Cut(line, "#")
			if command = strings.TrimSpace(command); elsewhere[command] == "" {
				t.Errorf("nobody runs %q", command)
			}
		}
	}
	blocks := shellBlock.FindAllStringSubmatch(section, -1)
	if len(blocks) != 3 {
		t.Fatalf("%d blocks of commands, want assignment and release, grade, nbgrader", len(blocks))
	}
	course := filepath.Join(w.root, "course") // where the page has it: its paths are relative, as a teacher types them
	if fileExists(course) {
		t.Skipf("%s is there, with somebody's work", course)
	}
	defer os.RemoveAll(course)
	run := func(t *testing.T, as *syscall.SysProcAttr, block string, env ...string) {
		t.Helper()
		cmd := exec.Command("sh", "-ec", block)
		cmd.Dir, cmd.Env, cmd.SysProcAttr = w.root, append(os.Environ(), env...), as
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s%s", err, block, out)
		}
	}
	firstGrades := func(as *syscall.SysProcAttr) func(*testing.T) {
		return func(t *testing.T) {
			if err := os.RemoveAll(course); err != nil {
				t.Fatal(err)
			}
			run(t, as, blocks[0][1])
			run(t, as, blocks[1][1])
			rows := table(t, filepath.Join(course, "grades.csv"))
			if a, b := rows["ada"], rows["bob"]; len(a) < 2 || len(b) < 2 || a[0]+" of "+a[1] != "11 of 11" || b[0]+" of "+b[1] != "0 of 11" {
				t.Errorf("Ada has %q and Bob %q; the page says 11 and 0 of 11", a, b)
			}
			for _, name := range []string{"ada", "bob"} {
				if !fileExists(filepath.Join(course, "feedback", name+".html")) {
					t.Errorf("there is no page for %s", name)
				}
			}
		}
	}
	if os.Getuid() == 0 {
		t.Run("an ordinary user", firstGrades(ordinaryUser()))
		if os.Getenv("LECTERN_LONG") != "" { // as whom TestGradeSubmissions releases and grades
			t.Run("root", firstGrades(nil))
		}
	} else {
		t.Run("an ordinary user", firstGrades(nil))
	}
	python := os.Getenv("LECTERN_PYTHON")
	if python == "" || exec.Command(python, "-c", "import nbgrader").Run() != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("LECTERN_PYTHON has no nbgrader")
		}
		t.Skip("the rest takes nbgrader in the Python that LECTERN_PYTHON names")
	}
	for _, name := range []string{"ada", "bob"} { // who have told us what they can
		if err := os.RemoveAll(filepath.Join(course, "submitted", name)); err != nil {
			t.Fatal(err)
		}
	}
	nbgraderHandIns(t, course)
	home := t.TempDir()
	run(t, nil, blocks[2][1], "PATH="+filepath.Dir(python)+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+home, "IPYTHONDIR="+home,
		"GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"), "GOPATH="+goEnv(t, "GOPATH"))
	points := nbgraderPoints(t, filepath.Join(course, "nbgrader.csv"))
	for student, want := range map[string]string{"cleo": "9.0", "eve": "5.0", "mal": "0.0", "ned": "0.0"} {
		if points[student] != want {
			t.Errorf("nbgrader gives %s %q points, want %s", student, points[student], want)
		}
	}
	feedback := string(read(t, filepath.Join(course, "feedback", "cleo", "ps1", "ps1.html")))
	if !strings.Contains(feedback, "The first case that fails") {
		t.Error("nbgrader's feedback does not say what is wrong")
	}
}

// ordinaryUser has a command of root's run as one who isn't: a user of a namespace, to whom root's files belong there.
func ordinaryUser() *syscall.SysProcAttr {
	me := []syscall.SysProcIDMap{{ContainerID: 1000, HostID: 0, Size: 1}}
	return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: me, GidMappings: me}
}

// nbgraderHandIns adds a submission that is partly right, and three that do what they shouldn't.
func nbgraderHandIns(t *testing.T, course string) {
	t.Helper()
	hand := func(student string, change func(id, source string) string) {
		n, err := notebook.Read(filepath.Join(course, "source", "ps1", "ps1.ipynb"))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range n.Cells {
			if about, ok := c.Metadata["nbgrader"].(notebook.Object); ok {
				c.Source = change(about["grade_id"].(string), c.Source)
			}
		}
		path := filepath.Join(course, "submitted", student, "ps1", "ps1.ipynb")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := n.Write(path); err != nil {
			t.Fatal(err)
		}
	}
	hand("cleo", func(id, source string) string {
		if id == "exercise-00-5" { // without the GPUs that memory asks for
			return "func gpusFor(parameters, tokens, days float64) int {\n\treturn int(math.Ceil(trainingTime(parameters, tokens, 1, 1979e12, 0.5) / days))\n}"
		}
		return source
	})
	secrets := "for _, name := range []string{\"" + filepath.Join(course, "gradebook.db") + "\", \"" + filepath.Join(course, "source", "ps1", "ps1.ipynb") + "\", \"ps1.ipynb\"} {\n" +
		"\tif _, err := os.Stat(name); err == nil {\n\t\tos.Remove(name)\n\t}\n}"
	hand("eve", func(id, source string) string {
		switch id {
		case "exercise-00-4":
			return "func trainingTime(parameters, tokens, gpus, sheet, mfu float64) float64 {\n" + secrets + "\nfmt.Fprintln(os.Stderr, \"a note\")\n" +
				"return 6 * parameters * tokens / (gpus * sheet / 2 * mfu) / 86400\n}"
		case "exercise-00-5":
			return "func gpusFor(parameters, tokens, days float64) int {\n\tos.Exit(0)\n\treturn 0\n}"
		}
		return source
	})
	hand("ned", func(id, source string) string {
		if id == "exercise-00-4" {
			return stealFrames + source + "\nsteal(\"\\x02\\x00\\x00\\x40\\x00\\x00\\x00\\x00\\x00\")"
		}
		return source
	})
	hand("mal", func(id, source string) string {
		switch id {
		case "exercise-00-4":
			return "type fake struct{}\nfunc (fake) Grade(string, any, ...string) int { return 5 }\nfunc (fake) Answers(string, any, string) int { return 5 }\nvar lesson fake\n" +
				"func trainingTime(parameters, tokens, gpus, sheet, mfu float64) float64 { return 5 }"
		case "exercise-00-5":
			return "func gpusFor(parameters, tokens, days float64) int { return 5 }\n\n5"
		}
		return source + "\n5" // of a locked cell
	})
}

// nbgraderPoints reads what nbgrader exports.
func nbgraderPoints(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil || len(lines) == 0 {
		t.Fatalf("%s: %v", path, err)
	}
	column := map[string]int{}
	for i, name := range lines[0] {
		column[name] = i
	}
	points := map[string]string{}
	for _, l := range lines[1:] {
		points[l[column["student_id"]]] = l[column["score"]]
	}
	return points
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
