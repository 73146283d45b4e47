package layered

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lectern-go/lectern/internal/testenv"
)

const serveVar = "LECTERN_TEST_LAYERED"

func TestMain(m *testing.M) {
	if os.Getenv(serveVar) != "" { // as the go command starts it
		if err := Serve(os.Stdin, os.Stdout, os.Args[1], os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// files lists the files of a folder with their sizes and times.
func files(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		i, err := d.Info()
		if err == nil {
			fmt.Fprintln(&b, path, i.Size(), i.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The go command compiles into the private cache what the shared one does not have, and nothing into the shared one.
func TestGoBuilds(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not here")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, shared, private := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "private")
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.org/m\n\ngo 1.26\n")
	write("one/one.go", "package one\n\nfunc One() int { return 1 }\n")
	write("two/two.go", "package two\n\nimport \"example.org/m/one\"\n\nfunc Two() int { return 2 * one.One() }\n")
	export := func(pkg string, env ...string) string {
		t.Helper()
		cmd := exec.Command("go", "list", "-export", "-f", "{{.Export}}", "./"+pkg)
		cmd.Dir = dir
		cmd.Env = append(append(os.Environ(), "GOCACHE="+shared, "GOFLAGS=", "GOWORK=off", "GOPROXY=off"), env...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, stderr.String())
		}
		return strings.TrimSpace(string(out))
	}
	one := export("one")
	before := files(t, shared)
	layered := []string{serveVar + "=1", fmt.Sprintf("GOCACHEPROG='%s' '%s' '%s'", self, shared, private)}
	if got := export("one", layered...); got != one {
		t.Errorf("what the shared cache has is taken from %s, want %s", got, one)
	}
	two := export("two", layered...)
	if rel, err := filepath.Rel(private, two); err != nil || strings.HasPrefix(rel, "..") {
		t.Errorf("what is new is in %s, want it in %s", two, private)
	}
	if again := export("two", layered...); again != two {
		t.Errorf("a second time it is in %s, want %s", again, two)
	}
	if after := files(t, shared); after != before {
		t.Errorf("the shared cache has changed:\n%s\nwas\n%s", after, before)
	}
	if got := export("two", "GOCACHE="+private); got != two { // it is an ordinary cache
		t.Errorf("without the shared cache it is in %s, want %s", got, two)
	}
}

// A cache that is damaged loses entries and gives no wrong ones; a body that is cut off is an error.
func TestServeRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := put(dir, []byte{1, 2}, []byte{3, 4}, []byte("body")); err != nil {
		t.Fatal(err)
	}
	if a, ok := get(dir, []byte{1, 2}); !ok || a.Size != 4 || !bytes.Equal(a.OutputID, []byte{3, 4}) {
		t.Fatalf("%+v, %v", a, ok)
	}
	if err := os.WriteFile(file(dir, []byte{3, 4}, "d"), []byte("bo"), 0o644); err != nil {
		t.Fatal(err)
	}
	if a, ok := get(dir, []byte{1, 2}); ok {
		t.Errorf("a body that was cut off is found: %+v", a)
	}
	for name, text := range map[string]string{
		"a cut body":         `{"ID":1,"Command":"put","ActionID":"AQ==","OutputID":"Ag==","BodySize":3}` + "\n",
		"another size":       `{"ID":1,"Command":"put","ActionID":"AQ==","OutputID":"Ag==","BodySize":3}` + "\n\"AQ==\"\n",
		"what is no request": "hello",
	} {
		if err := Serve(strings.NewReader(text), io.Discard, dir, dir); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
	var out bytes.Buffer
	if err := Serve(strings.NewReader(`{"ID":1,"Command":"fly"}`), &out, dir, dir); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(&out)
	var hello, refusal response
	if d.Decode(&hello) != nil || d.Decode(&refusal) != nil || refusal.Err == "" {
		t.Errorf("an unknown command is answered by %+v", refusal)
	}
}

func TestWritable(t *testing.T) {
	dir := t.TempDir()
	if !Writable(filepath.Join(dir, "new")) {
		t.Error("a folder that can be made is not writable")
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if Writable(filepath.Join(dir, "file", "cache")) {
		t.Error("a folder below a file is writable")
	}
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "../../..") }
