package live

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A trim leaves a source file of Go's tools with the back end for WebAssembly alone: the other twelve are a quarter of
// the compiler.
type trim struct {
	file string // below GOROOT/src
	cut  func(source string) (string, error)
}

var trims = []trim{
	{"cmd/compile/main.go", func(s string) (string, error) {
		return without(s, `\t"cmd/compile/internal/(?:`+backEnds+`)"\n|\t"(?:`+architectures+`)": +\w+\.Init,\n`)
	}},
	{"cmd/link/main.go", func(s string) (string, error) {
		return without(s, `\t"cmd/link/internal/(?:`+backEnds+`)"\n|\tcase "(?:`+architectures+`)"[^\n]*:\n\t\tarch, theArch = \w+\.Init\(\)\n`)
	}},
	{"cmd/compile/internal/ssa/config.go", func(s string) (string, error) {
		// The cases of the first switch: those of its other switches cost nothing.
		from, to := strings.Index(s, "\tcase \"amd64\":\n"), strings.Index(s, "\tcase \"wasm\":\n")
		if from < 0 || to < from {
			return "", fmt.Errorf("it has no case for amd64 before the one for wasm")
		}
		return s[:from] + s[to:], nil
	}},
}

const (
	backEnds      = "386|amd64|arm|arm64|loong64|mips|mips64|ppc64|riscv64|s390x|x86"
	architectures = "386|amd64|arm|arm64|loong64|mips|mipsle|mips64|mips64le|ppc64|ppc64le|riscv64|s390x"
)

// without removes every match of a pattern, of which there has to be one at least.
func without(s, pattern string) (string, error) {
	re := regexp.MustCompile(pattern)
	if !re.MatchString(s) {
		return "", fmt.Errorf("it does not look as expected: nothing matches %s", pattern)
	}
	return re.ReplaceAllString(s, ""), nil
}

// overlay writes the trimmed files into dir, and the file that tells go build -overlay about them, whose path it
// returns.
func overlay(goroot, dir string) (string, error) {
	replace := map[string]string{}
	for _, t := range trims {
		path := filepath.Join(goroot, "src", filepath.FromSlash(t.file))
		b, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("live: the sources of Go's tools are needed: %w", err)
		}
		s, err := t.cut(string(b))
		if err != nil {
			return "", fmt.Errorf("live: %s: %w; this version of Go is not known here yet", path, err)
		}
		to := filepath.Join(dir, strings.ReplaceAll(t.file, "/", "_"))
		if err := os.WriteFile(to, []byte(s), 0o644); err != nil {
			return "", fmt.Errorf("live: %w", err)
		}
		replace[path] = to
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, b, 0o644)
}
