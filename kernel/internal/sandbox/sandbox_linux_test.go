package sandbox

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

// run runs a bad program with a file of its submission in its home.
func run(t *testing.T, bad, what, arg string) string {
	t.Helper()
	if err := Available(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	base, err := os.MkdirTemp("/tmp", "sandbox-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	c := Config{Mount: filepath.Join(base, "m"), Shared: filepath.Join(base, "s"), Work: filepath.Join(base, "w"), Read: []string{bad}, Memory: 300 << 20, Disk: 50 << 20,
		Processes: 100, CPU: 20}
	for _, dir := range []string{c.Mount, c.Shared, c.Work} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"data.txt": "1", "hidden.ipynb": "2"} {
		if err := os.WriteFile(filepath.Join(c.Work, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/shadow", filepath.Join(c.Work, "link.txt")); err != nil {
		t.Fatal(err)
	}
	args, variable, value, err := c.Command(bad, what, strings.ReplaceAll(arg, "SHARED", c.Shared))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), variable+"="+value)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.Run()
	if files, _ := os.ReadDir(c.Mount); len(files) > 0 {
		t.Errorf("what was mounted shows outside: %v", files)
	}
	return said.String()
}

func TestIsolation(t *testing.T) {
	t.Setenv("GORACE", "atexit_sleep_ms=0") // else each program with the race detector rests a second before it ends
	secret := filepath.Join(t.TempDir(), "secret.json")
	if err := os.WriteFile(secret, []byte("42"), 0o644); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad")
	build := exec.Command("go", "build", "-o", bad, "./testdata/bad")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for _, tt := range []struct{ what, arg, want string }{
		{"read", "data.txt", "DONE"},
		{"write", "mine.txt", "DONE"},
		{"write", "/tmp/mine.txt", "DONE"},
		{"write", "SHARED/mine.txt", "DONE"},
		{"read", "/etc/passwd", "DONE"},
		{"read", "hidden.ipynb", "no such file"},
		{"read", "link.txt", "no such file"},
		{"read", secret, "no such file"},
		{"read", "/etc/shadow", "no such file"},
		{"read", "/proc/1/root/.old/etc/shadow", "refused"},
		{"write", "/usr/mine.txt", "refused"},
		{"write", "/mine.txt", "refused"},
		{"dial", listener.Addr().String(), "refused"},
		{"dial", "[2001:db8::1]:80", "refused"},
		{"kill", "", "no such process"},
		{"fork", "", "refused"},
		{"fill", "/tmp", "no space left"},
		{"fill", "SHARED", "it writes into the folder of its sockets"},
		{"memory", "1000", "out of memory|cannot allocate memory"}, // of one process; Go's words for its heap and for its own books
		{"memories", "150", "sandbox: it takes "},                  // of all together
		{"families", "", "refused"},
		{"mount", "", "refused"},
		{"leave", "", "DONE"},
	} {
		if tt.arg == "/mine.txt" && os.Getuid() != 0 {
			continue // the root of its world is its own then, and in memory
		}
		got := run(t, bad, tt.what, tt.arg)
		if !regexp.MustCompile(tt.want).MatchString(got) || tt.want != "DONE" && strings.Contains(got, "DONE") {
			t.Errorf("%s %s: got %.300q, want %q", tt.what, tt.arg, got, tt.want)
		}
	}
}
