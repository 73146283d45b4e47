//go:build unix

package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lectern-go/lectern/internal/race"
	"github.com/lectern-go/lectern/internal/testenv"
	"github.com/lectern-go/lectern/kernel/internal/install"
	"github.com/lectern-go/lectern/kernel/jupyter"
)

// The tests run cells through the real kernel. Its tools are built once into a folder of the user's cache, and again
// when the kernel's sources change; the go command decides that.

// TestMain lets more tests run at once than there are processors: a test that runs cells waits for much else.
func TestMain(m *testing.M) {
	flag.Parse()
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "test.parallel" })
	if !set {
		flag.Set("test.parallel", fmt.Sprint(2*runtime.GOMAXPROCS(0)))
	}
	os.Exit(m.Run())
}

// tools returns a folder with the kernel and the tools that it needs.
var tools = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return "", err
	}
	h := fnv.New32a() // another checkout has another kernel
	h.Write([]byte(root + runtime.GOARCH))
	bin := filepath.Join(cache, "lectern-test", fmt.Sprintf("bin-%x", h.Sum32()))
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return "", err
	}
	if missing(filepath.Join(bin, "gonb")) || missing(filepath.Join(bin, "goimports")) {
		if out, err := install.Tools(context.Background(), root, bin, install.GoNB...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("GoNB can't be installed: %v\n%s", err, out)
		}
	}
	// What setup fetches for cells, which import without a network here.
	for _, module := range []string{root, filepath.Join(root, "tools", "gonbui")} {
		modules := exec.Command("go", "mod", "download")
		modules.Dir = module
		if out, err := modules.CombinedOutput(); err != nil {
			return "", fmt.Errorf("what cells can import can't be fetched: %v\n%s", err, out)
		}
	}
	args := []string{"build", "-o", filepath.Join(bin, "lectern-kernel")}
	if race.Enabled {
		args = append(args, "-race")
	}
	if e := os.Getenv(testenv.Emulator); e != "" {
		args = append(args, "-ldflags=-X=main.emulator="+e)
	}
	if mode := testing.CoverMode(); mode != "" {
		args = append(args, "-covermode="+mode, "-coverpkg=../server,../internal/...")
	}
	if out, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("the kernel can't be built: %v\n%s", err, out)
	}
	return bin, nil
})

// needRace skips a test that uses %race where there is no C compiler.
func needRace(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		need(t, fmt.Errorf("the race detector needs a C compiler: %w", err))
	}
}

// need skips a test that can't run here, and fails it where everything must be present.
func need(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatal(err)
	}
	t.Skip(err)
}

// out is one output of a cell.
type out struct {
	kind string // stdout, stderr, display, result, update, error, clear
	text string
	data map[string]any
	id   string
}

// lab is a running kernel.
type lab struct {
	t    testing.TB
	k    *jupyter.Kernel
	cell int
}

func repoRoot(t testing.TB) string {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func startLab(t testing.TB) *lab {
	t.Helper()
	bin, err := tools()
	need(t, err)
	return startLabIn(t, bin, t.TempDir(), []string{offlineVar + "=1"})
}

// patience is how long a kernel may take to start, or a cell to end. A minute is not enough on two cores that other
// tests share, if the standard library has to be compiled for the race detector first.
const patience = 5 * time.Minute

func startLabIn(t testing.TB, bin, dir string, env []string) *lab {
	t.Helper()
	return startLabSeen(t, bin, dir, env, nil)
}

// startLabSeen starts a kernel and shows all that it publishes to seen.
func startLabSeen(t testing.TB, bin, dir string, env []string, seen func(*jupyter.Message)) *lab {
	t.Helper()
	if dir := flag.Lookup("test.gocoverdir"); dir != nil && dir.Value.String() != "" { // what the kernel covers counts, too
		env = append(env, "GOCOVERDIR="+dir.Value.String())
	}
	spec := &jupyter.Spec{Argv: testenv.Argv(filepath.Join(bin, "lectern-kernel"), "-root", repoRoot(t), "-bin", bin, "{connection_file}"), InterruptMode: "message"}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	k, err := jupyter.Start(ctx, spec, jupyter.StartOptions{Dir: dir, Log: os.Stderr, RuntimeDir: t.TempDir(), Env: append(os.Environ(), env...), Published: seen, Ready: patience})
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, k: k}
	t.Cleanup(func() {
		if err := k.Shutdown(patience); err != nil {
			t.Error(err)
		}
	})
	return l
}

// run executes a cell and returns its outputs, neighboring text of a stream joined.
func (l *lab) run(code string) ([]out, jupyter.Result) {
	l.t.Helper()
	outs, r, err := l.try(code, jupyter.ExecuteOptions{Timeout: patience})
	if err != nil {
		l.t.Fatalf("cell %q: %v\noutputs so far: %s", code, err, flat(outs))
	}
	return outs, r
}

func (l *lab) try(code string, o jupyter.ExecuteOptions) ([]out, jupyter.Result, error) {
	var outs []out
	more := o.Output
	o.Output = func(m *jupyter.Message) {
		outs = collect(outs, m)
		if more != nil {
			more(m)
		}
	}
	r, err := l.k.Execute(context.Background(), code, o)
	l.cell = r.Count
	return outs, r, err
}

func collect(outs []out, m *jupyter.Message) []out {
	var c struct {
		Name, Text    string
		Data          map[string]any
		EName, EValue string
		Traceback     []string
		Transient     struct {
			ID string `json:"display_id"`
		}
		Code string
	}
	if err := json.Unmarshal(m.Content, &c); err != nil {
		return append(outs, out{kind: "broken", text: err.Error()})
	}
	text, _ := c.Data["text/plain"].(string)
	switch m.Header.Type {
	case "stream":
		if n := len(outs) - 1; n >= 0 && outs[n].kind == c.Name {
			outs[n].text += c.Text
			return outs
		}
		return append(outs, out{kind: c.Name, text: c.Text})
	case "display_data":
		return append(outs, out{"display", text, c.Data, c.Transient.ID})
	case "update_display_data":
		return append(outs, out{"update", text, c.Data, c.Transient.ID})
	case "execute_result":
		return append(outs, out{"result", text, c.Data, ""})
	case "clear_output":
		return append(outs, out{kind: "clear"})
	case "error":
		return append(outs, out{kind: "error", text: c.EName + ": " + c.EValue + "\n" + strings.Join(c.Traceback, "\n")})
	case "execute_input", "status":
		return outs
	}
	return append(outs, out{kind: m.Header.Type, text: string(m.Content)})
}

var ansi = regexp.MustCompile("\x1b\\[[0-9;]*m")

// flat writes outputs as one text: [kind]text for each.
func flat(outs []out) string {
	var b strings.Builder
	for _, o := range outs {
		b.WriteString("[" + o.kind + "]" + ansi.ReplaceAllString(o.text, ""))
	}
	return b.String()
}
