//go:build unix

package stdio

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("STDIO_TEST_CHILD") != "" {
		os.Stdout.WriteString("straight")
		os.Exit(3) // without a chance to flush anything
	}
	os.Exit(m.Run())
}

func TestRedirect(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "out")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	r, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "STDIO_TEST_CHILD=1", Var+"="+pipe)
	direct, _ := cmd.Output()
	if len(direct) != 0 {
		t.Errorf("%q came another way", direct)
	}
	if b, err := io.ReadAll(r); err != nil || string(b) != "straight" {
		t.Errorf("read %q, %v", b, err)
	}
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "STDIO_TEST_CHILD=1", Var+"="+pipe+"-gone")
	if direct, _ := cmd.Output(); string(direct) != "straight" {
		t.Errorf("without a reader %q is printed", direct)
	}
}
