package sandbox

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const badArg = "lectern-bad-program"

func TestMain(m *testing.M) {
	Main()
	if len(os.Args) == 4 && os.Args[1] == badArg {
		bad(os.Args[2], os.Args[3])
		return
	}
	os.Exit(m.Run())
}

// bad is a program that tries something and says how it went.
func bad(what, arg string) {
	say := func(err error) {
		if err == nil {
			fmt.Println("DONE")
		} else {
			fmt.Println("refused:", err)
		}
	}
	switch what {
	case "read":
		_, err := os.ReadFile(arg)
		say(err)
	case "write":
		say(os.WriteFile(arg, []byte("x"), 0o644))
	case "dial":
		c, err := net.DialTimeout("tcp", arg, time.Second)
		if err == nil {
			c.Close()
		}
		say(err)
	case "kill":
		say(syscall.Kill(-1, 0)) // whoever there is but ourselves
	case "fork":
		var err error
		for range 500 {
			if err = exec.Command("/bin/sleep", "20").Start(); err != nil {
				break
			}
		}
		say(err)
	case "fill":
		var err error
		for i := 0; i < 200 && err == nil; i++ {
			err = os.WriteFile(filepath.Join(arg, fmt.Sprint(i)), make([]byte, 1<<20), 0o644)
		}
		say(err)
	case "memory":
		var all [][]byte
		n, _ := strconv.Atoi(arg)
		for range n / 10 {
			b := make([]byte, 10<<20)
			for i := range b {
				b[i] = 1
			}
			all = append(all, b)
		}
		fmt.Println("DONE", len(all))
		time.Sleep(10 * time.Second)
	case "memories":
		for range 4 {
			exec.Command(os.Args[0], badArg, "memory", arg).Start()
		}
		time.Sleep(20 * time.Second)
		fmt.Println("DONE")
	case "families":
		err := exec.Command("/usr/bin/unshare", "-Ur", "true").Run()
		say(err)
	case "mount":
		say(syscall.Mount("tmpfs", "/tmp", "tmpfs", 0, ""))
	case "leave":
		say(exec.Command("/bin/sleep", "1000").Start())
	}
}

// run runs a bad program with a file of its submission in its home.
func run(t *testing.T, what, arg string) string {
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
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Mount: filepath.Join(base, "m"), Shared: filepath.Join(base, "s"), Work: filepath.Join(base, "w"), Read: []string{self}, Memory: 300 << 20, Disk: 50 << 20,
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
	args, variable, value, err := c.Command(self, badArg, what, strings.ReplaceAll(arg, "SHARED", c.Shared))
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
	secret := filepath.Join(t.TempDir(), "secret.json")
	if err := os.WriteFile(secret, []byte("42"), 0o644); err != nil {
		t.Fatal(err)
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
		{"memory", "1000", "out of memory"},       // of one process
		{"memories", "150", "sandbox: it takes "}, // of all together
		{"families", "", "refused"},
		{"mount", "", "refused"},
		{"leave", "", "DONE"},
	} {
		if tt.arg == "/mine.txt" && os.Getuid() != 0 {
			continue // the root of its world is its own then, and in memory
		}
		got := run(t, tt.what, tt.arg)
		if !strings.Contains(got, tt.want) || tt.want != "DONE" && strings.Contains(got, "DONE") {
			t.Errorf("%s %s: got %.300q, want %q", tt.what, tt.arg, got, tt.want)
		}
	}
}
