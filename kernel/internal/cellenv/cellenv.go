// Package cellenv says how the go command is set up for cells: setup and the kernel must agree, or the build cache that
// setup fills is of no use to the first cell.
package cellenv

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// LinkFlags are the linker's flags for cells. A cell spends most of its time on linking: no symbol table, no debugging
// data and, where cgo is used, Go's own linker instead of the system's, save most of it. Package persist sees what of
// Go's own state tells waiting from a deadlock, which the linker must let it.
func LinkFlags() []string {
	flags := []string{"-s", "-w", "-checklinkname=0"}
	if runtime.GOOS == "linux" {
		flags = append(flags, "-linkmode=internal")
	}
	return flags
}

// Flags is the GOFLAGS that cells are built with. gonum/plot comes without its
// writers of file formats: the rewriter imports those into cells that may write a
// file.
func Flags() string {
	return "-buildvcs=false -tags=minimal,lectern_cell '-ldflags=" + strings.Join(LinkFlags(), " ") + "'"
}

// Env is the part of the environment that decides how cells are built.
func Env() map[string]string {
	return map[string]string{
		"GOFLAGS": Flags(),
		"GOPROXY": "off", // else each cell asks the network about its modules
		"GOSUMDB": "off",
		"GOWORK":  "", // the cell's own go.work, not one that the user has named
	}
}

// ours are settings of a user's shell, or of the user's go env file, that
// would change what cells mean, or make setup's work useless. Cells don't see
// them:
//
//   - GOFLAGS, GO111MODULE, GOWORK, GOROOT: cells have their own modules, and
//     the Go on PATH knows its own root;
//   - GOOS, GOARCH: cells run on this machine;
//   - GOEXPERIMENT, GOFIPS140, CGO_ENABLED: another standard library, which would
//     be built in the first cell; cells use cgo if there is a C compiler;
//   - GODEBUG: of the tools; what the cells' programs get is up to the kernel;
//   - GOTOOLCHAIN: a Go that is too old for the lessons' go.mod hands over to a
//     newer one that has been downloaded already, and downloads none.
//
// What chooses places and tools stays: GOCACHE, GOMODCACHE, GOPATH, CC, GOAMD64.
var ours = []string{"GOFLAGS", "GO111MODULE", "GOWORK", "GOROOT", "GOOS", "GOARCH", "GOEXPERIMENT", "GOFIPS140", "CGO_ENABLED", "GODEBUG",
	"GOTOOLCHAIN", "GOENV", "GOTOOLDIR", "GO_EXTLINK_ENABLED", "LECTERN_GOPROXY"}

// Offline turns the environment of a process into the one in which cells are
// built, whatever the user's shell and go env file say. It never uses the
// network.
func Offline(env []string) []string {
	env = clean(env, "GOPROXY", "GOSUMDB")
	for k, v := range Env() {
		env = append(env, k+"="+v)
	}
	return append(env, "GO111MODULE=on", "GOTOOLCHAIN=auto", "GOENV=off")
}

// Online is like Offline, but modules may be downloaded, by the user's own
// GOPROXY and its like. It never downloads another Go: a module that asks for
// one fails.
func Online(env []string) []string {
	proxy := ""
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		// Kernelspecs of earlier versions set the user's own aside.
		if k == "LECTERN_GOPROXY" && !strings.HasPrefix(v, "${") {
			proxy = v
		}
	}
	env = clean(env)
	if proxy != "" {
		env = append(slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "GOPROXY=") }), "GOPROXY="+proxy)
	}
	return append(env, "GOFLAGS="+Flags(), "GO111MODULE=on", "GOTOOLCHAIN=local", "GOENV=off", "GIT_TERMINAL_PROMPT=0")
}

// clean leaves out our own settings, and some more names, and adds the others of
// the user's go env file.
func clean(env []string, more ...string) []string {
	drop := func(k string) bool { return slices.Contains(ours, k) || slices.Contains(more, k) }
	file := ""
	if dir, err := os.UserConfigDir(); err == nil {
		file = filepath.Join(dir, "go", "env")
	}
	var out []string
	set := map[string]bool{}
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		if k == "GOENV" && v != "" {
			file = v
		}
		if v == "" && strings.HasPrefix(k, "GO") { // as if it were not set
			continue
		}
		if !drop(k) {
			out = append(out, kv)
			set[k] = true
		}
	}
	b, err := os.ReadFile(file) // there is none if the user has chosen nothing
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(b)) {
		k, v, ok := strings.Cut(strings.TrimSpace(line), "=")
		if ok && !strings.HasPrefix(k, "#") && v != "" && !drop(k) && !set[k] {
			out = append(out, k+"="+v)
		}
	}
	return out
}
