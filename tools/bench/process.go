package bench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// runJSON runs a command, whose standard output is one JSON value, and decodes it into answer.
func runJSON(ctx context.Context, answer any, env []string, stdin, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	if stdin != "" {
		cmd.Stdin = strings.NewReader(stdin)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		if said := lastLines(stderr.String(), 3); said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	if err := json.Unmarshal(out, answer); err != nil {
		return fmt.Errorf("%s: answer %q: %w", filepath.Base(name), lastLines(string(out), 3), err)
	}
	return nil
}

// runChild runs one of children in a process of its own.
func runChild(ctx context.Context, answer any, threads int, name string, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return runJSON(ctx, answer, []string{fmt.Sprintf("GOMAXPROCS=%d", threads)}, "", self, append([]string{"-child", name}, args...)...)
}

// moduleNames are those of packages whose modules have another name.
var moduleNames = map[string]string{"ggml-python": "ggml"}

// python finds a Python that has the modules of the given packages: the one that LECTERN_PYTHON names, or
// an environment below .lectern/, which is made and filled when it is not there. A package is written as pip wants
// it, such as tokenizers==0.23.3.
func python(ctx context.Context, packages ...string) (string, error) {
	check := "print('true')"
	for _, p := range packages {
		module, _, _ := strings.Cut(p, "==")
		check = "import " + cmp.Or(moduleNames[module], module) + "\n" + check
	}
	has := func(path string) error {
		var ok bool
		return runJSON(ctx, &ok, nil, check, path, "-")
	}
	if path := os.Getenv("LECTERN_PYTHON"); path != "" {
		if err := has(path); err != nil {
			return "", fmt.Errorf("LECTERN_PYTHON is %s: %w; it must be a Python with %s", path, err, strings.Join(append(packages, "the standard library"), " and "))
		}
		return path, nil
	}
	root, err := repository()
	if err != nil {
		return "", err
	}
	env := filepath.Join(root, ".lectern", "peers")
	path := filepath.Join(env, "bin", "python")
	if _, err := os.Stat(path); err != nil {
		base, err := exec.LookPath("python3")
		if err != nil {
			return "", errors.New("no python3 on this machine")
		}
		if out, err := exec.CommandContext(ctx, base, "-m", "venv", env).CombinedOutput(); err != nil {
			return "", fmt.Errorf("make an environment for Python: %w: %s", err, lastLines(string(out), 2))
		}
	}
	if has(path) == nil {
		return path, nil
	}
	install := append([]string{"-m", "pip", "install", "--quiet", "--disable-pip-version-check"}, packages...)
	pip := exec.CommandContext(ctx, path, install...)
	pip.Env = append(os.Environ(), "CMAKE_ARGS=-DGGML_LLAMAFILE=ON") // how ggml is compiled; nothing else is
	if out, err := pip.CombinedOutput(); err != nil {
		return "", fmt.Errorf("pip install %s: %w: %s", strings.Join(packages, " "), err, lastLines(string(out), 2))
	}
	return path, has(path)
}

// repository returns the folder that holds go.mod, above the working directory.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("run this from within the repository: no go.mod above the working directory")
		}
		dir = parent
	}
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " / ")
}
