package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/lectern-go/lectern/internal/testenv"
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
	c := Config{Mount: filepath.Join(base, "m"), Given: filepath.Join(base, "s"), Work: filepath.Join(base, "w"), Read: []string{bad}, Memory: 300 << 20, Disk: 50 << 20,
		Processes: 100, CPU: 20}
	for _, dir := range []string{c.Mount, c.Given, c.Work} {
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
	args, variable, value, err := c.Command(bad, what, strings.ReplaceAll(arg, "GIVEN", c.Given))
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
		{"write", "GIVEN/mine.txt", "refused"},
		{"fill", "GIVEN", "refused"},
		{"memory", "1000", "out of memory|cannot allocate memory"}, // of one process; Go's words for its heap and for its own books
		{"memories", "150", "sandbox: it uses "},                   // of all together
		{"shared", "600", "refused"},
		{"read", "/dev/zero", "no such file"}, // mapping it would give such memory, too
		{"tables", "600", "sandbox: it uses "},
		{"sockets", "twice", "sandbox: it has "},
		{"call", fmt.Sprint(unix.SYS_MEMFD_CREATE), "not implemented"},
		{"call", fmt.Sprint(memfdSecret), "not implemented"},
		{"call", fmt.Sprint(unix.SYS_SHMGET), "not implemented"},
		{"call", fmt.Sprint(unix.SYS_MSGGET), "not implemented"},
		{"call", fmt.Sprint(unix.SYS_SEMGET), "not implemented"},
		{"call", fmt.Sprint(unix.SYS_MQ_OPEN), "not implemented"},
		{"call", fmt.Sprint(unix.SYS_ADD_KEY), "not implemented"},
		{"call", fmt.Sprint(unix.SYS_KEYCTL), "not implemented"},
		{"call", fmt.Sprint(unix.SYS_BPF), "not implemented"},
		{"call", fmt.Sprint(ioUringSetup), "not implemented"},
		{"empty", "/proc/keys", "DONE"},
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

// No path that isn't absolute enters: inside it would lead from the root, to the system's own files.
func TestPathsAreAbsolute(t *testing.T) {
	good := Config{Mount: "/m", Given: "/s", Work: "/w", Read: []string{"/r"}}
	for name, change := range map[string]func(*Config){
		"":      func(*Config) {},
		"mount": func(c *Config) { c.Mount = "m" },
		"given": func(c *Config) { c.Given = "./s" },
		"work":  func(c *Config) { c.Work = "run/ps1" },
		"read":  func(c *Config) { c.Read = append(c.Read, "etc") },
	} {
		c := good
		change(&c)
		_, _, _, err := c.Command("/bin/true")
		var bad *PathError
		if errors.As(err, &bad) != (name != "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Too many files, or too many bytes of them, are reported in a sentence; other things than files are left out.
func TestCopyFiles(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files int
		bytes int
		want  string
	}{
		{"few", 3, 100, ""},
		{"large", 3, 1 << 20, "the files beside the notebook take more than 2 MiB in all, with f2: leave out what the notebook doesn't open"},
		{"many", mostFiles, 0, "there are more than 10000 files and folders beside the notebook, with f"},
	} {
		from, to := t.TempDir(), t.TempDir()
		for i := range tt.files {
			if err := os.WriteFile(filepath.Join(from, fmt.Sprint("f", i)), make([]byte, tt.bytes), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := unix.Mkfifo(filepath.Join(from, "pipe"), 0o644); err != nil {
			t.Fatal(err)
		}
		err := CopyFiles(from, to, 2<<20)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
		if _, err := os.Lstat(filepath.Join(to, "pipe")); err == nil {
			t.Errorf("%s: a named pipe is copied", tt.name)
		}
	}
}

// Whatever a student puts in the place of a file while it is copied, nothing but that file comes in, without waiting.
func TestFilesThatChange(t *testing.T) {
	from, to, aside := t.TempDir(), t.TempDir(), t.TempDir()
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Error(err)
		}
	}
	secret := filepath.Join(t.TempDir(), "secret.json")
	write(secret, "secret")
	write(filepath.Join(from, "hidden.ipynb"), "hidden")
	name, next := filepath.Join(from, "data.txt"), filepath.Join(aside, "next")
	stop := make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() {
		for i := 0; ; i++ {
			var err error
			switch i % 6 {
			case 1:
				err = os.Symlink(secret, next)
			case 3:
				err = os.Symlink("hidden.ipynb", next)
			case 5:
				err = unix.Mkfifo(next, 0o644)
			default:
				write(next, "mine")
			}
			if err := errors.Join(err, os.Rename(next, name)); err != nil {
				t.Error(err)
				return
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	for range 20000 {
		CopyFiles(from, to, 1<<20) // that data.txt is gone is an error, too
		copied := filepath.Join(to, "data.txt")
		if b, err := os.ReadFile(copied); err == nil && len(b) > 0 && string(b) != "mine" {
			t.Errorf("there is %q in the copy", b)
			break
		}
		os.Remove(copied)
	}
	close(stop)
	others.Wait()
}

func TestDependsOn(t *testing.T) { testenv.DependsOn(t, "../../..") }
