//go:build unix

package command

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// forge puts into dir what another user could put into the temporary folder to be taken for a kernel of ours: each of
// it claims to be this process.
func forge(t *testing.T, dir string) {
	t.Helper()
	values := filepath.Join(dir, "values")
	if err := os.Mkdir(values, 0o700); err != nil {
		t.Fatal(err)
	}
	fake := func(parent, name string, mode os.FileMode, values string) string {
		d := filepath.Join(parent, name)
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "about"), fmt.Appendf(nil, "%d\n/forged/%s\n\n%s\n", os.Getpid(), name, values), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(d, mode); err != nil {
			t.Fatal(err)
		}
		return d
	}
	fake(dir, "lectern-kernel-open", 0o755, values)
	fake(dir, "lectern-kernel-writable", 0o777, values)
	open := filepath.Join(dir, "open-values")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	fake(dir, "lectern-kernel-values", 0o700, open)
	target := fake(t.TempDir(), "elsewhere", 0o700, values)
	for name, to := range map[string]string{"lectern-kernel-link": target, "lectern-kernel-dangling": filepath.Join(dir, "nothing")} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	linked := filepath.Join(dir, "lectern-kernel-about")
	if err := os.Mkdir(linked, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(target, "about"), filepath.Join(linked, "about")); err != nil {
		t.Fatal(err)
	}
	piped := filepath.Join(dir, "lectern-kernel-pipe")
	if err := os.Mkdir(piped, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(piped, "about"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "lectern-kernel-file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // only root can give a folder away
		if err := os.Chown(fake(dir, "lectern-kernel-other", 0o700, values), 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
}

// A named pipe in the place of the file must not make the command wait for a writer that never comes.
func TestVarsDoesNotWait(t *testing.T) {
	dir := t.TempDir()
	forge(t, dir)
	if list := runningKernels(dir); len(list) > 0 { // if it waits, it does so until the tests are out of time
		t.Errorf("taken for kernels of ours: %+v", list)
	}
}
