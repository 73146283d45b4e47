//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestJupyterKernelTest runs the Jupyter project's own tests of kernels. They come from PyPI, into an
// environment that is kept in the user's cache.
func TestJupyterKernelTest(t *testing.T) {
	t.Parallel()
	needLong(t)
	bin, err := tools()
	need(t, err)
	python, err := testPython()
	need(t, err)
	data := t.TempDir()
	dir := filepath.Join(data, "kernels", "lectern")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	spec := map[string]any{"argv": []string{filepath.Join(bin, "lectern-kernel"), "-root", repoRoot(t), "-bin", bin, "{connection_file}"},
		"display_name": "Go (Lectern)", "language": "go", "interrupt_mode": "message"}
	b, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "kernel.json"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, filepath.Join("testdata", "test_kernel.py"), "-v")
	cmd.Env = append(os.Environ(), "JUPYTER_PATH="+data, "JUPYTER_RUNTIME_DIR="+t.TempDir(), "JUPYTER_PLATFORM_DIRS=1")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

// testPython returns a Python that has jupyter_kernel_test.
func testPython() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	env := filepath.Join(cache, "lectern-test", "venv")
	python := filepath.Join(env, "bin", "python")
	has := func() bool { return exec.Command(python, "-c", "import jupyter_kernel_test").Run() == nil }
	if has() {
		return python, nil
	}
	if _, err := exec.LookPath("python3"); err != nil {
		return "", err
	}
	if out, err := exec.Command("python3", "-m", "venv", env).CombinedOutput(); err != nil {
		return "", fmt.Errorf("no Python environment: %v\n%s", err, out)
	}
	if out, err := exec.Command(python, "-m", "pip", "install", "-q", "jupyter_kernel_test==0.7.0").CombinedOutput(); err != nil {
		return "", fmt.Errorf("jupyter_kernel_test can't be installed: %v\n%s", err, out)
	}
	if !has() {
		return "", fmt.Errorf("jupyter_kernel_test is not there after its installation")
	}
	return python, nil
}
