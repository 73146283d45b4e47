//go:build linux

package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lectern-go/lectern/kernel/notebook"
)

// spied is what hidden cases of hostileSource put in and want; no student may see any of it.
var spied = []string{"hid-in-7731", "WANT-zebra", "-31.5", "HIDDEN"}

// hostileSource is an assignment with hidden cases: 4 points for clamp, 6 for secret, 4 for exp.
func hostileSource() []*notebook.Cell {
	return []*notebook.Cell{
		cellOf("clamp", "func clamp(x, lo, hi float64) float64 {\n\t// BEGIN SOLUTION\n\treturn max(lo, min(x, hi))\n\t// END SOLUTION\n}", isSolution),
		testCell("clamp-tests", 4, "lesson.Grade(\"clamp\", clamp, `{\"category\": \"too large\", \"in\": [7.5, 0, 1], \"want\": [1]} {\"category\": \"between\", \"in\": [0.5, 0, 1], \"want\": [0.5]}`)\n"+
			"// BEGIN HIDDEN TESTS\nlesson.Grade(\"more\", clamp, `{\"category\": \"too small\", \"points\": 2, \"in\": [-31.5, 0, 1], \"want\": [0]}`)\n// END HIDDEN TESTS"),
		cellOf("secret", "func secret(s string) string {\n\t// BEGIN SOLUTION\n\tif s == \"hid-in-7731\" {\n\t\treturn \"WANT-zebra\"\n\t}\n\treturn \"1\"\n\t// END SOLUTION\n}", isSolution),
		testCell("secret-tests", 6, "lesson.Grade(\"secret\", secret, `{\"category\": \"visible\", \"in\": [\"a\"], \"want\": [\"1\"]}`)\n"+
			"// BEGIN HIDDEN TESTS\nlesson.Grade(\"more\", secret, `{\"category\": \"other\", \"points\": 5, \"in\": [\"hid-in-7731\"], \"want\": [\"WANT-zebra\"]}`)\n// END HIDDEN TESTS"),
		cellOf("exp", "func expOf(x float64) float64 {\n\t// BEGIN SOLUTION\n\treturn math.Exp(x)\n\t// END SOLUTION\n}", isSolution),
		testCell("exp-tests", 4, "lesson.Grade(\"exp\", expOf, `{\"category\": \"visible\", \"in\": [0], \"want\": [1]}`)\n"+
			"// BEGIN HIDDEN TESTS\nlesson.Grade(\"more\", expOf, `{\"category\": \"overflow\", \"points\": 3, \"in\": [1000], \"want\": [\"Inf\"]}`)\n// END HIDDEN TESTS"),
	}
}

// Solutions that get all points; cells after a test, or before all.
const (
	rightClamp  = "func clamp(x, lo, hi float64) float64 { return max(lo, min(x, hi)) }"
	rightSecret = "func secret(s string) string {\n\tif s == \"hid-in-\"+\"7731\" {\n\t\treturn \"WANT-\" + \"zebra\"\n\t}\n\treturn \"1\"\n}"
	rightExp    = "func expOf(x float64) float64 { return math.Exp(x) }"
)

// stealFrames has a cell take the kernel's connections to the grader, and write text to them.
const stealFrames = `import ("syscall"; "unsafe")
func steal(text string) {
	p, _, _ := syscall.Syscall(434, 1, 0, 0) // pidfd_open
	for fd := 3; fd < 60; fd++ {
		r, _, e := syscall.Syscall(438, p, uintptr(fd), 0) // pidfd_getfd
		if e != 0 {
			continue
		}
		var typ, n int32 = 0, 4
		if _, _, e := syscall.Syscall6(syscall.SYS_GETSOCKOPT, r, 1, 3, uintptr(unsafe.Pointer(&typ)), uintptr(unsafe.Pointer(&n)), 0); e != 0 {
			continue
		}
		if _, err := syscall.Getpeername(int(r)); err == nil {
			syscall.Write(int(r), []byte(text))
		}
	}
	time.Sleep(3 * time.Second)
}
`

// A hostile submission, or an unlucky one.
type hostileSubmission struct {
	name   string
	first  string // a cell before all others
	cells  map[string]string
	last   string // a cell after all others
	times  int    // how often it comes; 0 is once
	points string // for the three tests; "" where nothing can be said
	says   string // in the table or on the page
	short  bool   // in the short form, too
}

func hostileSubmissions() []hostileSubmission {
	all := func() map[string]string {
		return map[string]string{"clamp": rightClamp, "secret": rightSecret, "exp": rightExp}
	}
	with := func(id, source string) map[string]string {
		m := all()
		m[id] = source
		return m
	}
	return []hostileSubmission{
		{name: "frame", first: stealFrames + "steal(\"\\x02\\x00\\x00\\x40\\x00\\x00\\x00\\x00\\x00\")", cells: all(), points: "0 0 0", says: "it broke the protocol", short: true},
		{name: "frame2", first: stealFrames + "steal(\"\\x02\\x40\\x00\\x00\\x00\\x00\\x00\\x00\\x00\")", cells: all(), points: "0 0 0", says: "it broke the protocol"},
		{name: "flags", first: stealFrames + "steal(\"\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\")", cells: all(), points: "0 0 0", says: "it broke the protocol"},
		{name: "parts", first: stealFrames + "steal(strings.Repeat(\"\\x01\\x00\", 10000))", cells: all(), points: "0 0 0", says: "it broke the protocol"},
		{name: "command", first: stealFrames + "steal(\"\\x06\\x00\\x00\\x40\\x00\\x00\\x00\\x00\\x00\")", cells: all(), points: "0 0 0", says: "it broke the protocol"},
		{name: "kept", cells: with("secret", "var seen []string\nfunc secret(s string) string {\n\tseen = append(seen, s)\n\treturn \"1\"\n}"),
			last: "fmt.Println(\"seen:\", seen)", points: "4 1 4", says: "seen: [a]", short: true},
		{name: "file", cells: with("secret", "func secret(s string) string {\n\tf, _ := os.OpenFile(\"/tmp/spy\", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)\n\tfmt.Fprintln(f, s)\n\tf.Close()\n\treturn \"1\"\n}"),
			last: "b, _ := os.ReadFile(\"/tmp/spy\")\nfmt.Printf(\"file: %s\", b)", points: "4 1 4", says: "file: a\n"},
		{name: "prints", cells: with("secret", "func secret(s string) string {\n\tfmt.Println(\"called with\", s)\n\tfmt.Fprintln(os.Stderr, s)\n\treturn \"1\"\n}"), points: "4 1 4"},
		{name: "panics", cells: with("clamp", "func clamp(x, lo, hi float64) float64 {\n\tif x < 0 {\n\t\tpanic(fmt.Sprint(\"called with \", x))\n\t}\n\treturn max(lo, min(x, hi))\n}"), points: "2 6 4"},
		{name: "ends", cells: with("clamp", "func clamp(x, lo, hi float64) float64 {\n\tif x < 0 {\n\t\tgo panic(fmt.Sprint(\"called with \", x))\n\t\tselect {}\n\t}\n\treturn max(lo, min(x, hi))\n}"), points: "2 6 4"},
		{name: "log", cells: with("clamp", "func clamp(x, lo, hi float64) float64 {\n\tif x < 0 {\n\t\tf, _ := os.OpenFile(\"/proc/1/fd/2\", os.O_WRONLY, 0)\n\t\tfmt.Fprintln(f, \"sandbox: called with\", x)\n\t\tsyscall.Kill(1, 9)\n\t\tsyscall.Kill(-1, 9)\n\t}\n\treturn max(lo, min(x, hi))\n}")},
		{name: "tables", first: "import \"syscall\"\nb, err := syscall.Mmap(-1, 0, 1300<<29, syscall.PROT_READ, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)\nsum := 0\nfor i := 0; i < len(b); i += 2<<20 {\n\tsum += int(b[i])\n}\n_ = err\ntime.Sleep(5 * time.Second)",
			cells: all(), points: "0 0 0", says: "MiB of memory, and 900 MiB are allowed", short: true},
		{name: "shared", first: "import \"syscall\"\n_, err := syscall.Mmap(-1, 0, 1300<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED|syscall.MAP_ANON)\nfmt.Println(err)", cells: all(), points: "4 6 4", says: "operation not permitted"},
		{name: "memfd", first: fmt.Sprintf("import \"syscall\"\n_, _, e := syscall.Syscall(%d, 0, 0, 0)\nfmt.Println(e)", unix.SYS_MEMFD_CREATE), cells: all(), points: "4 6 4", says: "function not implemented"},
		{name: "disk", first: "for i := range 3000 {\n\tif err := os.WriteFile(fmt.Sprint(\"/tmp/\", i), make([]byte, 1<<20), 0o644); err != nil {\n\t\tpanic(err)\n\t}\n}", cells: all(), says: "no space left"},
		{name: "sockets", first: "dirs, _ := filepath.Glob(\"/tmp/lg-*/r\")\nfor _, d := range dirs {\n\t_, err := os.OpenFile(d, os.O_RDWR|0x410000, 0o600)\n\tfmt.Println(err)\n\tfmt.Println(os.WriteFile(d+\"/x\", nil, 0o600))\n}\nfmt.Println(len(dirs), \"folder\")",
			cells: all(), points: "4 6 4", says: "read-only file system"},
		{name: "prints20", cells: all(), last: "fmt.Print(strings.Repeat(\"x\", 900_000))", times: 20, points: "4 6 4", says: "the submission printed more than 16 MiB"},
		{name: "asks", first: "var s string\nfmt.Scanln(&s)", cells: all(), points: "4 6 4"},
		{name: "infinite", cells: with("exp", "func expOf(x float64) float64 {\n\tif x == 0 {\n\t\treturn 1\n\t}\n\treturn 0.25\n}"), points: "4 6 1", short: true},
		{name: "negative", cells: with("exp", "func expOf(x float64) float64 {\n\tif x == 0 {\n\t\treturn 1\n\t}\n\treturn math.Inf(-1)\n}"), points: "4 6 1"},
		{name: "nan", cells: with("exp", "func expOf(x float64) float64 {\n\tif x == 0 {\n\t\treturn 1\n\t}\n\treturn math.NaN()\n}"), points: "4 6 1"},
		{name: "keys", first: "b, _ := os.ReadFile(\"/proc/keys\")\nfmt.Printf(\"keys: %q\\n\", b)", cells: all(), points: "4 6 4", says: "keys: &#34;&#34;"},
		{name: "run", first: "fmt.Println(filepath.Glob(\"*\"))", cells: all(), points: "4 6 4", says: "mine.txt] &lt;nil&gt;"},
	}
}

// A class with hostile submissions: every other student gets the points that are due, and a page, and each of the
// hostile ones a line with a reason. With LECTERN_LONG=1 it has 25 students besides them, and all that was tried.
func TestHostileClass(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	t.Parallel() // it waits more than it computes
	realKernel(t)
	canIsolate(t)
	long := os.Getenv("LECTERN_LONG") != ""
	dir := t.TempDir()
	source, class := filepath.Join(dir, "source", "own.ipynb"), filepath.Join(dir, "class")
	writeNotebook(t, source, hostileSource())
	hand := func(student, first string, cells map[string]string, last ...string) {
		var list []*notebook.Cell
		if first != "" {
			list = append(list, cellOf("", first, nil))
		}
		for _, c := range hostileSource() {
			if text, ok := cells[strings.TrimPrefix(c.ID, "id-")]; ok {
				c.Source = text
			} else {
				c.Source, _, _ = strings.Cut(c.Source, "\n// BEGIN HIDDEN")
			}
			list = append(list, c)
		}
		for _, text := range last {
			list = append(list, cellOf("", text, nil))
		}
		writeNotebook(t, filepath.Join(class, student, "own.ipynb"), list)
	}
	want := map[string]string{}
	students := 2
	if long {
		students = 25
	}
	for i := range students { // each has solved some
		cells, points := map[string]string{"clamp": "func clamp(x, lo, hi float64) float64 { return -1 }", "secret": "func secret(s string) string { return \"\" }", "exp": "func expOf(x float64) float64 { return -1 }"}, [3]int{}
		for k, id := range []string{"clamp", "secret", "exp"} {
			if (i+1)>>k&1 == 1 {
				cells[id] = []string{rightClamp, rightSecret, rightExp}[k]
				points[k] = []int{4, 6, 4}[k]
			}
		}
		name := fmt.Sprintf("student%02d", i)
		hand(name, "", cells)
		want[name] = fmt.Sprint(points[0], " ", points[1], " ", points[2])
	}
	says := map[string]string{}
	for _, h := range hostileSubmissions() {
		if h.short || long {
			var last []string
			for i := range max(h.times, 1) { // cells have their IDs from their content
				last = append(last, h.last+strings.Repeat("\n", i))
			}
			hand(h.name, h.first, h.cells, last...)
			want[h.name], says[h.name] = h.points, h.says
		}
	}
	if long {
		if err := os.WriteFile(filepath.Join(class, "run", "mine.txt"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// A file that is no submission is one student's, too.
	done := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	done(os.Symlink(filepath.Join(class, "student00"), filepath.Join(class, "link")))
	done(syscall.Mkfifo(filepath.Join(class, "pipe"), 0o644))
	done(os.Mkdir(filepath.Join(class, "pipes"), 0o755))
	done(syscall.Mkfifo(filepath.Join(class, "pipes", "own.ipynb"), 0o644))
	done(os.MkdirAll(filepath.Join(class, "deep", strings.Repeat("d/", 50)), 0o755))
	done(os.MkdirAll(filepath.Join(class, strings.Repeat("n", 255)), 0o755))
	refused := map[string]string{"link": "a link or something else", "pipe": "a link or something else", "pipes": "has to be a file", "deep": "there is no own.ipynb", strings.Repeat("n", 255): "there is no own.ipynb"}
	hand("closed", "", nil)
	done(os.Chmod(filepath.Join(class, "closed"), 0))
	defer os.Chmod(filepath.Join(class, "closed"), 0o755)
	if os.Getuid() != 0 { // to whom nothing is closed
		refused["closed"] = "can't be read"
	}

	grades, pages := filepath.Join(dir, "grades.csv"), filepath.Join(dir, "feedback")
	code, out, bad := runCommandLine(t, "grade", "-timeout", "1m", "-memory", "900", "-source", source, "-o", grades, "-feedback", pages, class)
	if code != 1 || !strings.Contains(bad, "submissions were not graded") {
		t.Errorf("status %d\n%s%s", code, out, bad)
	}
	rows := table(t, grades)
	for student, points := range want {
		page := string(read(t, filepath.Join(pages, student+".html")))
		r := rows[student]
		if len(r) != 6 || points != "" && strings.Join(r[2:5], " ") != points {
			t.Errorf("%s: %q, want %s\n%s", student, r, points, page)
		}
		if text := says[student]; !strings.Contains(page+strings.Join(r, "\n"), text) {
			t.Errorf("%s: neither %q nor the page says %q\n%s", student, r, text, page)
		}
		for _, secret := range spied {
			if strings.Contains(page+strings.Join(r, " "), secret) {
				t.Errorf("%s sees %q:\n%s", student, secret, page)
			}
		}
	}
	for student, reason := range refused {
		if r := rows[student]; len(r) != 6 || !strings.HasPrefix(r[5], "not graded: ") || !strings.Contains(r[5], reason) {
			t.Errorf("%s: %q, want %q", student, r, reason)
		}
	}
}

// Many cells, each within its limit, have a limit together; what they have given before counts.
func TestSubmissionsHaveALimitOfTime(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	t.Parallel() // it waits more than it computes
	realKernel(t)
	canIsolate(t)
	dir := t.TempDir()
	source, class := filepath.Join(dir, "own.ipynb"), filepath.Join(dir, "class")
	writeNotebook(t, source, hostileSource())
	list := hostileSource()
	for i := range 10_000 {
		list = append(list, cellOf("", fmt.Sprintf("time.Sleep(time.Second) // %d", i), nil))
	}
	writeNotebook(t, filepath.Join(class, "many.ipynb"), list)
	grades := filepath.Join(dir, "grades.csv")
	code, out, bad := runCommandLine(t, "grade", "-total", "20s", "-source", source, "-o", grades, class)
	r := table(t, grades)["many"]
	if code != 0 || len(r) != 6 || !strings.Contains(r[5], "nothing more ran: the submission ran for more than 20s") {
		t.Errorf("status %d, %q\n%s%s", code, r, out, bad)
	}
}
