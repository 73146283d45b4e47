//go:build unix

package jupyter_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/lectern-go/lectern/kernel/jupyter"
	"github.com/lectern-go/lectern/kernel/jupyter/fakekernel"
)

// connectionOf finds the connection file that Start has written below a folder.
func connectionOf(t *testing.T, runtimeDir string) jupyter.ConnectionInfo {
	t.Helper()
	found, _ := filepath.Glob(filepath.Join(runtimeDir, "kernel-*", "kernel-*.json"))
	if len(found) != 1 {
		t.Fatalf("connection files: %q", found)
	}
	info, err := jupyter.ReadConnectionFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// All that a kernel publishes can be read by every process that reaches its iopub, so other users may not.
func TestOtherUsersCantReachAKernel(t *testing.T) {
	dir := t.TempDir()
	spec, err := fakekernel.Spec("message")
	if err != nil {
		t.Fatal(err)
	}
	k, err := jupyter.Start(t.Context(), spec, jupyter.StartOptions{RuntimeDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Kill)
	info := connectionOf(t, dir)
	if info.Transport != "ipc" {
		t.Fatalf("transport %q of %s: every user of the machine can read ports", info.Transport, info.IP)
	}
	if i, err := os.Stat(filepath.Dir(info.IP)); err != nil || i.Mode().Perm() != 0o700 {
		t.Errorf("folder of the sockets: %v, %v, want mode 0700", i.Mode(), err)
	}
	sockets, _ := filepath.Glob(info.IP + "-*")
	if len(sockets) != 5 {
		t.Fatalf("sockets: %q", sockets)
	}
	for _, s := range sockets {
		if i, err := os.Stat(s); err != nil || i.Mode().Perm() != 0o600 || i.Mode()&os.ModeSocket == 0 {
			t.Errorf("%s: %v, %v, want a socket of mode 0600", s, i.Mode(), err)
		}
		c, err := net.Dial("unix", s)
		if err != nil {
			t.Fatalf("the user can't connect either: %v; the test would prove nothing", err)
		}
		c.Close()
	}
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		return // only Linux's root can become another user for one thread
	}
	for _, d := range []string{filepath.Dir(info.IP), dir, filepath.Dir(dir)} { // even if the folders were open
		if err := os.Chmod(d, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range sockets {
		if err := dialAs(65534, s); !errors.Is(err, syscall.EACCES) {
			t.Errorf("another user dials %s: %v, want to be refused", s, err)
		}
	}
	if err := os.Chmod(sockets[0], 0o666); err != nil {
		t.Fatal(err)
	}
	if err := dialAs(65534, sockets[0]); err != nil {
		t.Logf("another user can't enter %s at all (%v): the refusals above prove nothing, but the folders do", dir, err)
	}
}

// A kernel that was killed leaves its sockets' files; one that is started with the same connection file, as a restart
// does, begins afresh.
func TestListenAfterAKill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	info, err := jupyter.NewConnectionInfo(dir)
	if err != nil {
		t.Fatal(err)
	}
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: info.IP + "-1", Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := jupyter.Listen(info); err == nil || !strings.Contains(err.Error(), "another kernel") {
		t.Errorf("a socket that somebody listens on was taken: %v", err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
	if err := os.WriteFile(info.IP+"-2", []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := jupyter.Listen(info); err == nil {
		t.Error("a file was taken for a socket")
	}
	if err := os.Remove(info.IP + "-2"); err != nil {
		t.Fatal("the file is gone")
	}
	s, err := jupyter.Listen(info)
	if err != nil {
		t.Fatalf("after a kill: %v", err)
	}
	s.Close()
}

// Where the user's temporary folder has a long path the sockets lie in a folder with a short one, and neither is left
// behind.
func TestLongRuntimeFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	spec, err := fakekernel.Spec("message")
	if err != nil {
		t.Fatal(err)
	}
	k, err := jupyter.Start(t.Context(), spec, jupyter.StartOptions{RuntimeDir: dir, Ready: patience})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Kill()
	info := connectionOf(t, dir)
	if info.Transport != "ipc" || strings.HasPrefix(info.IP, dir) {
		t.Errorf("%s at %s, want sockets in a folder with a short path", info.Transport, info.IP)
	}
	if err := k.Shutdown(patience); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(info.IP)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of the sockets is left: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left in the runtime folder: %v", left)
	}
}

// Sockets are not put where others could reach or exchange them.
func TestSocketsNeedAPrivateFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "open")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := jupyter.NewConnectionInfo(dir); err == nil || !strings.Contains(err.Error(), "not private") {
		t.Errorf("got %v", err)
	}
}
