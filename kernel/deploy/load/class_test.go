package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lectern-go/lectern/internal/testenv"
)

// TestClass lets two students work for a few seconds: no cell may fail, and as root on Linux no student can steal.
func TestClass(t *testing.T) {
	if os.Getenv("LECTERN_LONG") == "" {
		t.Skip("a class takes half a minute: set LECTERN_LONG=1 to run it")
	}
	dir := os.Getenv(hubVar)
	if dir == "" {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s names no folder with JupyterHub", hubVar)
		}
		t.Skipf("it needs JupyterHub and its proxy: set %s to a folder with both, as kernel/deploy/install makes it", hubVar)
	}
	var out, problems bytes.Buffer
	code := start(t.Context(), []string{"-n", "2", "-time", "10s", "-think", "1s"}, &out, &problems)
	t.Logf("%s%s", out.String(), problems.String())
	if code != 0 {
		t.Fatalf("exit status %d", code)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	f := strings.Fields(lines[len(lines)-1])
	if cells, err := strconv.Atoi(f[1]); len(lines) != 2 || err != nil || f[0] != "2" || cells < 2 || f[2] != "0" {
		t.Errorf("what it prints says something else: %q", lines)
	}
}

// A student's server starts with all lessons, also where the disk was full the first time. What the student has changed
// stays, and so does the folder of another student who is the same user.
func TestStartStudent(t *testing.T) {
	script, err := filepath.Abs(filepath.Join("..", "start-student"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"sh", "cksum", "mktemp"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s here", tool)
		}
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	whole := map[string]string{"01-a.ipynb": "the first lesson", "02-b.ipynb": "the second lesson", "mine/mine.go": "package mine", "go.work": "go 1.26"}
	for name, text := range whole {
		write("shared/"+name, text)
	}
	cp, err := exec.LookPath("cp")
	if err != nil {
		t.Skip("there is no cp here")
	}
	write("bin/jupyterhub-singleuser", "#!/bin/sh\necho \"$JUPYTER_RUNTIME_DIR\"\n")
	write("bin/cp", `#!/bin/sh
`+cp+` "$@"
[ -e "$HOME/full" ] || exit 0
for to; do :; done
find "$to" -type f -exec truncate -s 3 {} +
exit 1
`)
	start := func(home string) (sockets string) {
		t.Helper()
		cmd := exec.Command("sh", script)
		cmd.Env = []string{"HOME=" + filepath.Join(dir, home), "LECTERN_LESSONS=" + filepath.Join(dir, "shared"), "PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH")}
		var problems bytes.Buffer
		cmd.Stderr = &problems
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, &problems)
		}
		sockets = strings.TrimSpace(string(out))
		t.Cleanup(func() { os.RemoveAll(sockets) })
		if info, err := os.Stat(sockets); err != nil || info.Mode().Perm() != 0o700 {
			t.Fatalf("the folder of sockets: %v (%v)", info, err)
		}
		return sockets
	}
	write("home/full", "")
	first := start("home")
	if err := os.Remove(filepath.Join(dir, "home", "full")); err != nil {
		t.Fatal(err)
	}
	write("home/lessons/02-b.ipynb", "the student's")
	write("other/file", "")
	other := start("other")
	second := start("home")
	whole["02-b.ipynb"] = "the student's"
	delete(whole, "go.work") // which students may change
	for name, want := range whole {
		if got, err := os.ReadFile(filepath.Join(dir, "home", "lessons", name)); string(got) != want {
			t.Errorf("%s is %q (%v), want %q", name, got, err, want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "home", "lessons", "*.part")); err != nil || len(left) > 0 {
		t.Errorf("left are %q (%v)", left, err)
	}
	if _, err := os.Stat(first); err == nil || first == second {
		t.Error("the folder of sockets of an earlier server is still there")
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("another student's sockets: %v", err)
	}
}

// A missing program is reported with what to do.
func TestMissing(t *testing.T) {
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is not here")
	}
	for _, c := range []struct {
		name     string
		programs []string
		args     []string
		code     int
		want     string
	}{
		{"go", nil, nil, missing, "go.dev"},
		{"node", []string{"go"}, nil, missing, "apt install nodejs npm"},
		{"JupyterHub", []string{"go", "node"}, nil, missing, "pip install -r kernel/deploy/requirements.txt"},
		{"the proxy", []string{"go", "node", "bin/jupyterhub"}, nil, missing, "npm ci --ignore-scripts --prefix"},
		{"a number", nil, []string{"-n", "2,many"}, misused, `"many" is not a number of students`},
		{"students", nil, []string{"-n", "0"}, misused, `"0" is not a number of students`},
		{"time", nil, []string{"-time", "-3s"}, misused, "durations"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := t.TempDir()
			if err := os.Mkdir(filepath.Join(path, "bin"), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, program := range c.programs {
				to := filepath.Join(path, program)
				if program == "go" {
					err = os.Symlink(goCommand, to)
				} else {
					err = os.WriteFile(to, nil, 0o755)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", path)
			t.Setenv(hubVar, path)
			var out, problems bytes.Buffer
			code := start(t.Context(), c.args, &out, &problems)
			if code != c.code || !strings.Contains(problems.String(), c.want) {
				t.Errorf("exit status %d, %q; want %d and %q", code, problems.String(), c.code, c.want)
			}
		})
	}
}

func TestQuantile(t *testing.T) {
	var d []time.Duration
	if got := quantile(d, 0.5); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
	for i := range 20 {
		d = append(d, time.Duration(20-i))
	}
	for q, want := range map[float64]time.Duration{0: 1, 0.05: 1, 0.5: 10, 0.95: 19, 1: 20} {
		if got := quantile(d, q); got != want {
			t.Errorf("%g of 1 … 20: %v, want %v", q, got, want)
		}
	}
}

func TestMissedGoals(t *testing.T) {
	r := &result{students: 30, took: time.Minute, cells: []time.Duration{time.Second}, memory: 5900, kernel: 39}
	if m := r.missed(); len(m) != 0 {
		t.Errorf("missed: %q", m)
	}
	r.cells, r.memory, r.kernel = append(r.cells, 3*time.Second), 6100, 41
	if m := strings.Join(r.missed(), "\n"); !strings.Contains(m, "3.00 s") || !strings.Contains(m, "6.10 GB") || !strings.Contains(m, "41 MB") {
		t.Errorf("missed: %q", m)
	}
}

func TestEdited(t *testing.T) {
	for code, want := range map[string]string{"x := 1": "_ = 3\nx := 1", "//step\nx := 1": "//step\nx := 1", "%vars": "%vars", "import \"fmt\"\nfmt.Println()": "import \"fmt\"\nfmt.Println()"} {
		if got := edited(code, 3); got != want {
			t.Errorf("%q becomes %q, want %q", code, got, want)
		}
	}
}

func TestClosedAbove(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("who may enter a folder is asked on Unix alone")
	}
	top := t.TempDir()
	home := filepath.Join(top, "home")
	cache := filepath.Join(home, "me", "cache")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range above(cache) {
		if strings.HasPrefix(dir, top) {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	was := closedAbove(cache)
	if strings.HasPrefix(was, home) {
		t.Errorf("%s is closed", was)
	}
	if err := os.Chmod(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := closedAbove(cache); was == "" && got != home {
		t.Errorf("%s is closed, want %s", got, home)
	}
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "../../..") }
